import { parseMoment } from "../../wasm/callgate.js";
import { CallgateError } from "../errors.js";
import { member, members, reading } from "../members.js";
import type { ApprovalOffer, CallContext, Explanation, Gated, PreparedToolArgs, ToolCall, Verdict } from "../types.js";
import { type Interest, type Snapshot, writeArguments } from "./arguments.js";
import { ask, type Built, type Tool, type WasmHandle } from "./handle.js";
import * as wasm from "./module.js";
import type { Purpose } from "./plain-data.js";
import { readPrepared, viewOf } from "./prepared.js";
import { isWellFormed } from "./text.js";

/** Stands for any tool without an annotation. */
const NO_TOOL = 0xffff_ffff;
/** Stands for a verdict that is not shared. */
const UNSHARED = 0xffff_ffff;
/** Stands beside the number of a verdict whose reason depends on the call. */
const WITH_REASON = 0x1_0000;
/** The most room for calls that an engine keeps, in bytes. */
const ROOM = 1 << 16;

const FAULT = frozen({
  decision: "deny",
  rule: "structural-engine-fault",
  reason: "The engine broke and was replaced",
});
const BUSY = frozen({
  decision: "deny",
  rule: "structural-host-error",
  reason: "The host failed to answer: a callback called the engine that was asking it",
});

/** Options that a caller may give beside the arguments of a call. */
interface CallOptions {
  readonly containerWorkspaceDir?: string | undefined;
  readonly context?: CallContext | undefined;
  readonly now?: number | string | undefined;
}

/** No options. */
export const NOTHING: Readonly<Record<never, never>> = Object.freeze(Object.create(null));

/**
 * Returns the options.
 *
 * @throws {@link CallgateError} `invalid-argument` if they are not an object.
 */
export function checkedOptions<Options extends object>(options: Options): Options {
  if (typeof options !== "object" || options === null) {
    throw new CallgateError("invalid-argument", "the options are not an object");
  }
  return options;
}

const CALL_OPTIONS = ["containerWorkspaceDir", "context", "now"] as const;

/** The options of a call. */
function checked(options: CallOptions): CallOptions {
  return options === NOTHING ? NOTHING : reading("options", () => members(checkedOptions(options), CALL_OPTIONS));
}

/** The verdict on a call whose arguments are prepared. */
export function evaluate(handle: WasmHandle, call: ToolCall, options: CallOptions = NOTHING): Verdict {
  const { context, now } = checked(options);
  return judged(
    handle,
    (built) => {
      approve(handle, built, now);
      const { tool } = write(built, call, "evaluate", undefined, context, built.approvals !== undefined);
      const verdict = verdictOf(built, built.engine.evaluate(tool, built.writer.length));
      shrink(built);
      return verdict;
    },
    (verdict) => verdict,
  );
}

/** The verdict on a call, and the arguments that were judged. */
export function gate(handle: WasmHandle, call: ToolCall, options: CallOptions = NOTHING): Gated {
  const { containerWorkspaceDir, context, now } = checked(options);
  return judged(
    handle,
    (built) => {
      approve(handle, built, now);
      const lists = built.approvals !== undefined;
      const { tool, snapshot } = write(built, call, "gate", containerWorkspaceDir, context, lists);
      const verdict = verdictOf(built, built.engine.gate(tool, built.writer.length));
      const argsForTransport = viewOf(snapshot, prepared(built), "transport");
      shrink(built);
      return { verdict, argsForTransport };
    },
    (verdict) => ({ verdict, argsForTransport: {} }),
  );
}

/** The verdict on a call that is JSON text. */
export function evaluateText(handle: WasmHandle, text: string, options: CallOptions = NOTHING): Verdict {
  const { context, now } = checked(options);
  const given = context === undefined ? undefined : contextText(context);
  return ask(handle, "invalid-call", (built) => {
    approve(handle, built, now);
    return verdictOf(built, built.engine.evaluateText(text, given));
  });
}

/** The constraints of an approval that would cover the call, if it escalates and can be covered. */
export function offer(handle: WasmHandle, call: ToolCall, options: CallOptions = NOTHING): ApprovalOffer | undefined {
  const { containerWorkspaceDir, context } = checked(options);
  return ask(handle, "invalid-call", (built) => {
    const { tool } = write(built, call, "gate", containerWorkspaceDir, context, true);
    const text = built.engine.offer(tool, built.writer.length);
    return text === undefined ? undefined : (JSON.parse(text) as ApprovalOffer);
  });
}

/** The verdict of `evaluate` or of `gate`, with everything that led to it. */
export function explain(
  handle: WasmHandle,
  call: ToolCall,
  purpose: "evaluate" | "gate",
  options: CallOptions & { readonly audience?: "operator" | "agent" | undefined } = NOTHING,
): Explanation {
  const { containerWorkspaceDir, context, now } = checked(options);
  const audience = reading("options", () => member(options, "audience"));
  return ask(handle, "invalid-call", (built) => {
    approve(handle, built, now);
    const container = purpose === "gate" ? containerWorkspaceDir : undefined;
    const { tool } = write(built, call, purpose, container, context, built.approvals !== undefined);
    const { length } = built.writer;
    return built.engine.explain(tool, length, purpose === "gate", audience === "agent") as Explanation;
  });
}

/** The same, with the options of a program. */
export function prepareGiven(
  handle: WasmHandle,
  call: ToolCall,
  allowedDirectory: string | undefined,
  options: CallOptions = NOTHING,
): PreparedToolArgs {
  return prepare(handle, call, allowedDirectory, checked(options).containerWorkspaceDir);
}

/** The two views of a call's arguments, without judging them. */
export function prepare(
  handle: WasmHandle,
  call: ToolCall,
  allowedDirectory: string | undefined,
  container: string | undefined,
): PreparedToolArgs {
  if (typeof (allowedDirectory ?? "") !== "string" || !isWellFormed(allowedDirectory ?? "")) {
    throw new CallgateError("invalid-argument", "`allowedDirectory` is not a well-formed string");
  }
  return ask(handle, "unprepared", (built) => {
    const { tool, snapshot } = write(built, call, "prepare", container, undefined, false);
    built.engine.prepare(tool, built.writer.length, allowedDirectory);
    const changes = prepared(built);
    return {
      argsForTransport: viewOf(snapshot, changes, "transport"),
      argsForPolicy: viewOf(snapshot, changes, "policy"),
    };
  });
}

/** The roles of each argument in the call; `undefined` for a tool that is not annotated. */
export function annotationOf(
  handle: WasmHandle,
  call: ToolCall,
): readonly (readonly [string, readonly string[]])[] | undefined {
  return ask(handle, "invalid-call", (built) => {
    const { tool } = write(built, call, "prepare", undefined, undefined, false);
    const pairs: unknown = built.engine.annotation(tool, built.writer.length);
    return (pairs as readonly (readonly [string, readonly string[]])[] | null) ?? undefined;
  });
}

/** The context as JSON text. One that JSON cannot represent counts as empty, so whatever needs it is denied. */
export function contextText(context: CallContext): string {
  try {
    return JSON.stringify(context) ?? "{}";
  } catch {
    return "{}";
  }
}

/**
 * Asks for a verdict, which is never thrown: if the engine is busy or breaks, `denied` turns a denial into the answer.
 *
 * @throws {@link CallgateError} only for mistakes of the calling program.
 */
function judged<T>(handle: WasmHandle, question: (built: Built) => T, denied: (verdict: Verdict) => T): T {
  try {
    return ask(handle, "engine-fault", question);
  } catch (thrown) {
    const code = thrown instanceof CallgateError ? thrown.code : "engine-fault";
    switch (code) {
      case "busy":
        return denied(BUSY);
      case "engine-fault":
        return denied(FAULT);
      default:
        throw thrown;
    }
  }
}

/**
 * Has the engine judge by the approvals of now. Without approvals there is nothing to do.
 *
 * @throws {@link CallgateError} `invalid-argument` if `now` is not a time.
 */
function approve({ approvals }: WasmHandle, built: Built, now: number | string | undefined): void {
  if (built.approvals !== approvals) {
    built.approvals = undefined;
    built.engine.setApprovals(approvals);
    built.approvals = approvals;
  }
  if (approvals === undefined && now === undefined) {
    return;
  }
  const milliseconds = typeof now === "string" ? parseMoment(now) : now === undefined ? Date.now() : now;
  if (typeof milliseconds !== "number" || !Number.isFinite(milliseconds)) {
    throw new CallgateError("invalid-argument", "`now` is not a number or a time such as `2026-03-01T12:00:00Z`");
  }
  built.engine.setNow(milliseconds);
}

/** A call that was written for the module. */
interface Written {
  /** The tool's number. */
  readonly tool: number;
  readonly snapshot: Snapshot;
}

function write(
  built: Built,
  call: ToolCall,
  purpose: Purpose,
  container: string | undefined,
  context: CallContext | undefined,
  lists: boolean,
): Written {
  const { writer, unknown } = built;
  if (typeof call !== "object" || call === null) {
    return writeUnreadable(built, "the call is not an object");
  }
  let server: unknown;
  let name: unknown;
  let given: unknown;
  try {
    // Each is read once, because an accessor may answer differently the next time.
    server = member(call, "serverName");
    name = member(call, "toolName");
    given = member(call, "arguments");
  } catch {
    return writeUnreadable(built, "reading the call failed");
  }
  if (typeof server !== "string" || typeof name !== "string") {
    return writeUnreadable(built, "`serverName` and `toolName` are not both strings");
  }
  const tool = toolOf(built, server, name);
  // After the module was asked about the tool, since its memory may have grown by that.
  writer.restart();
  if (tool === undefined && !(writer.taggedText(0, server) && writer.taggedText(0, name))) {
    return writeUnreadable(built, "the name of the server or the tool is not well-formed Unicode");
  }
  const flags = (container === undefined ? 0 : 1) | (context === undefined ? 0 : 2);
  if (container === undefined) {
    writer.byte(flags);
  } else if (typeof container !== "string" || !writer.taggedText(flags, container)) {
    throw new CallgateError("invalid-argument", "`containerWorkspaceDir` is not a well-formed string");
  }
  if (context !== undefined) {
    writer.taggedText(0, contextText(context));
  }
  const snapshot = writeArguments(writer, given, tool ?? interestIn(unknown, purpose), purpose, lists);
  if (writer.isStale()) {
    // Reading ran code of the caller that made the module's memory grow, so some bytes were lost.
    return writeUnreadable(built, "reading `arguments` called the engine");
  }
  return { tool: tool?.number ?? NO_TOOL, snapshot };
}

function writeUnreadable({ writer }: Built, why: string): Written {
  writer.restart();
  writer.taggedText(0, "");
  writer.taggedText(0, "");
  writer.byte(0);
  writer.taggedText(2, why);
  return { tool: NO_TOOL, snapshot: { names: [], values: [] } };
}

/**
 * Without an annotation, preparing gives a string that looks like a path its lexical form, even if judging ignores it.
 */
function interestIn(unknown: Interest, purpose: Purpose): Interest {
  return purpose === "prepare" && !unknown.pathLike ? { ...unknown, pathLike: true } : unknown;
}

/** The tool, if it is annotated. */
function toolOf(built: Built, server: string, name: string): Tool | undefined {
  let tools = built.tools.get(server);
  const known = tools?.get(name);
  if (known !== undefined) {
    return known;
  }
  const shown = built.engine.tool(server, name) as ShownTool | undefined;
  if (shown === undefined) {
    return undefined;
  }
  const [number, named, others] = shown;
  const members = new Map(named.map(([member, matters], index) => [member, { number: index, matters }]));
  const tool = { number, members, others, pathLike: built.unknown.pathLike };
  if (tools === undefined) {
    tools = new Map();
    built.tools.set(server, tools);
  }
  tools.set(name, tool);
  return tool;
}

/** An annotated tool as the module describes it. */
type ShownTool = [number: number, members: [name: string, matters: boolean][], others: boolean];

/** The verdict with this number. */
function verdictOf({ engine, verdicts }: Built, number: number): Verdict {
  if (number === UNSHARED) {
    return frozen(engine.verdict(number) as Verdict);
  }
  const place = number & ~WITH_REASON;
  const shared = verdicts[place] ?? frozen(engine.verdict(place) as Verdict);
  verdicts[place] = shared;
  return place === number ? shared : Object.freeze({ ...shared, reason: engine.reason() });
}

function frozen(verdict: Verdict): Verdict {
  Object.freeze(verdict.escalatedRoles);
  return Object.freeze(verdict);
}

function prepared({ engine }: Built): ReturnType<typeof readPrepared> {
  const output = engine.output();
  return readPrepared(wasm.view(), output);
}

/** Frees memory that only a large call needed. */
function shrink({ engine, writer }: Built): void {
  if (writer.room > ROOM) {
    engine.shrink(ROOM);
    writer.release();
  }
}
