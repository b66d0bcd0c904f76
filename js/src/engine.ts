import { WasmBuilder, type WasmEngine } from "../wasm/callgate.js";
import { type Interest, type Purpose, type Snapshot, writeArguments } from "./arguments.js";
import { type Answers, Bridge } from "./bridge.js";
import type { Ceiling, DescribedTool, ToolCall, Verdict } from "./documents.js";
import { CallgateError, type Diagnostic } from "./errors.js";
import type { Explanation } from "./explanation.js";
import { type Prepared, type PreparedArgs, type PreparedToolArgs, readPrepared, viewOf } from "./prepared.js";
import { isWellFormed } from "./text.js";
import * as wasm from "./wasm.js";
import type { CallContext, Enforcement, Reply, Resolution, VisibilityRef } from "./world.js";
import { Writer } from "./writer.js";

/** The number of every tool without annotation. */
const NO_NUMBER = 0xffff_ffff;
/** The number of a verdict whose reason depends on the call. */
const UNSHARED = 0xffff_ffff;
/** The room for calls that an engine keeps. */
const ROOM = 1 << 16;

const FAULT: Verdict = frozen({
  decision: "deny",
  rule: "structural-engine-fault",
  reason: "The engine broke and was replaced",
});
const BUSY: Verdict = frozen({
  decision: "deny",
  rule: "structural-host-error",
  reason: "The host failed to answer: a callback called the engine that was asking it",
});

function frozen(verdict: Verdict): Verdict {
  if (verdict.escalatedRoles !== undefined) {
    Object.freeze(verdict.escalatedRoles);
  }
  return Object.freeze(verdict);
}

/** What an engine is built from: JSON texts by the names of the module's parts. */
export type Documents = ReadonlyMap<string, string>;

/** What a gate answers. */
export interface Gated {
  readonly verdict: Verdict;
  /** What was judged, and what the tool's server may get. */
  readonly argsForTransport: PreparedArgs;
}

/** An annotated tool as the module shows it. */
interface ShownTool {
  readonly number: number;
  readonly members: readonly (readonly [string, boolean])[];
  readonly others: boolean;
}

/** An annotated tool. */
interface Tool extends Interest {
  /** What the module knows it by. */
  readonly number: number;
}

const encoder = new TextEncoder();

/** The context as the module reads it; one that is no JSON is empty, and what needs it is denied. */
function contextText(context: CallContext): string {
  try {
    return JSON.stringify(context) ?? "{}";
  } catch {
    return "{}";
  }
}

function wellFormed(text: unknown, what: string): string {
  if (typeof text !== "string" || !isWellFormed(text)) {
    throw new CallgateError("invalid-argument", `${what} is no well-formed text`);
  }
  return text;
}

function noWorld(): CallgateError {
  return new CallgateError("invalid-argument", "the engine has no world");
}

/**
 * One engine of the module, built again when the module had to be replaced.
 *
 * INVARIANT: no call into a built engine begins while another one is on the stack; a callback that tries is answered
 * without the module.
 */
export class Core extends Writer {
  readonly #documents: Documents;
  readonly #answers: Answers;
  readonly #homeDir: string;
  readonly #currentDir: string;
  readonly #ignoresPathCase: boolean;
  #built: WasmEngine | undefined;
  #generation = 0;
  #isBusy = false;
  #isDisposed = false;
  #pathLike = false;
  #tools = new Map<string, Map<string, Tool>>();
  #unknown: Interest = { members: new Map(), others: false, pathLike: false };
  #unknownPrepared: Interest = { members: new Map(), others: false, pathLike: true };
  #verdicts: Verdict[] = [];
  /** The numbers of references; those of a module that was replaced stand for nothing. */
  #references = new WeakMap<VisibilityRef, number>();
  /** The number of the tool whose call was written last. */
  #tool = NO_NUMBER;

  /** @throws {@link CallgateError} `invalid-document` with every fault of every document. */
  constructor(documents: Documents, answers: Answers) {
    super();
    this.#documents = documents;
    this.#answers = answers;
    const { homeDir, currentDir, ignoresPathCase } = answers.host;
    this.#homeDir = homeDir;
    this.#currentDir = currentDir;
    this.#ignoresPathCase = ignoresPathCase === true;
    wasm.within("invalid-document", () => this.#build());
  }

  #build(): WasmEngine {
    const builder = new WasmBuilder();
    for (const [name, text] of this.#documents) {
      builder.part(name, encoder.encode(text));
    }
    this.#isBusy = true;
    try {
      const built = builder.build(new Bridge(this.#answers), this.#homeDir, this.#currentDir, this.#ignoresPathCase);
      this.#built = built;
      this.#generation = wasm.generation;
      this.#pathLike = built.checksPathLike();
      this.#unknown = { members: new Map(), others: false, pathLike: this.#pathLike };
      this.#tools = new Map();
      this.#verdicts = [];
      this.#references = new WeakMap();
      this.start = 0;
      this.end = 0;
      this.at = 0;
      return built;
    } finally {
      this.#isBusy = false;
    }
  }

  /** The engine in the current instance of the module; called between `enter` and `leave`. */
  #current(): WasmEngine {
    const built = this.#built;
    return built !== undefined && this.#generation === wasm.generation ? built : this.#build();
  }

  protected override grow(size: number): void {
    const built = this.#built as WasmEngine;
    this.start = built.reserve(Math.max(size, 1024));
    this.end = this.start + built.room();
    this.bytes = wasm.view();
  }

  #annotated(built: WasmEngine, server: string, name: string): Tool | undefined {
    let tools = this.#tools.get(server);
    const known = tools?.get(name);
    if (known !== undefined) {
      return known;
    }
    const shown = built.tool(server, name) as ShownTool | undefined;
    if (shown === undefined) {
      return undefined;
    }
    const tool = { ...shown, members: new Map(shown.members), pathLike: this.#pathLike };
    if (tools === undefined) {
      tools = new Map();
      this.#tools.set(server, tools);
    }
    tools.set(name, tool);
    return tool;
  }

  /** Writes a call to where the module reads it; the number of its tool is in `#tool`. */
  #write(
    built: WasmEngine,
    call: ToolCall,
    purpose: Purpose,
    container: string | undefined,
    context: CallContext | undefined,
  ): Snapshot {
    this.bytes = wasm.view();
    this.at = this.start;
    if (typeof call !== "object" || call === null) {
      return this.#writeUnreadable("the call is no object");
    }
    let server: unknown;
    let tool: unknown;
    let given: unknown;
    try {
      // Each is read once.
      ({ serverName: server, toolName: tool, arguments: given } = call);
    } catch {
      return this.#writeUnreadable("reading the call failed");
    }
    if (typeof server !== "string" || typeof tool !== "string") {
      return this.#writeUnreadable("`serverName` and `toolName` are strings");
    }
    const annotated = this.#annotated(built, server, tool);
    this.#tool = annotated?.number ?? NO_NUMBER;
    if (annotated === undefined && !(this.taggedText(0, server) && this.taggedText(0, tool))) {
      return this.#writeUnreadable("the name of the server or the tool is not well-formed Unicode");
    }
    const flags = (container === undefined ? 0 : 1) | (context === undefined ? 0 : 2);
    if (container === undefined) {
      this.byte(flags);
    } else if (!this.taggedText(flags, container)) {
      throw new CallgateError("invalid-argument", "`containerWorkspaceDir` is not well-formed Unicode");
    }
    if (context !== undefined) {
      this.taggedText(0, contextText(context));
    }
    const unknown = purpose === "prepare" ? this.#unknownPrepared : this.#unknown;
    const snapshot = writeArguments(this, given, annotated ?? unknown, purpose);
    if (this.bytes !== wasm.view()) {
      // Reading ran code of the caller that made the module's memory grow, so some of this was written nowhere.
      return this.#writeUnreadable("reading `arguments` called the engine");
    }
    return snapshot;
  }

  #writeUnreadable(why: string): Snapshot {
    this.#tool = NO_NUMBER;
    this.bytes = wasm.view();
    this.rewind(0);
    this.taggedText(0, "");
    this.taggedText(0, "");
    this.byte(0);
    this.taggedText(2, why);
    return { names: [], values: [] };
  }

  /** The verdict of that number. */
  #verdict(built: WasmEngine, number: number): Verdict {
    if (number === UNSHARED) {
      return frozen(built.verdict(number) as Verdict);
    }
    const known = this.#verdicts[number];
    if (known !== undefined) {
      return known;
    }
    const verdict = frozen(built.verdict(number) as Verdict);
    this.#verdicts[number] = verdict;
    return verdict;
  }

  /** Lets go of what one large call needed. */
  #settle(built: WasmEngine): void {
    if (this.end - this.start > ROOM) {
      built.shrink(ROOM);
      this.start = built.reserve(ROOM);
      this.end = this.start + built.room();
    }
  }

  #check(): void {
    if (this.#isDisposed) {
      throw new CallgateError("disposed", "the engine was disposed of");
    }
    if (this.#isBusy) {
      throw new CallgateError("busy", "a callback of the host called the engine that was asking it");
    }
  }

  evaluate(call: ToolCall, context?: CallContext): Verdict {
    if (this.#isDisposed) {
      this.#check();
    }
    if (this.#isBusy) {
      return BUSY;
    }
    wasm.enter();
    this.#isBusy = true;
    try {
      const built = this.#current();
      this.#isBusy = true;
      this.#write(built, call, "evaluate", undefined, context);
      const number = built.evaluate(this.#tool, this.length);
      if (wasm.hasTrapped()) {
        return FAULT;
      }
      const verdict = this.#verdict(built, number);
      this.#settle(built);
      return verdict;
    } catch {
      // Whatever was thrown, it came out of the module or ran out of stack within it.
      wasm.noteTrap();
      return FAULT;
    } finally {
      this.#isBusy = false;
      wasm.leave();
    }
  }

  gate(call: ToolCall, container: string | undefined, context?: CallContext): Gated {
    if (this.#isDisposed) {
      this.#check();
    }
    if (this.#isBusy) {
      return { verdict: BUSY, argsForTransport: {} };
    }
    wasm.enter();
    this.#isBusy = true;
    try {
      const built = this.#current();
      this.#isBusy = true;
      const snapshot = this.#write(built, call, "gate", container, context);
      const number = built.gate(this.#tool, this.length);
      if (wasm.hasTrapped()) {
        return { verdict: FAULT, argsForTransport: {} };
      }
      const verdict = this.#verdict(built, number);
      const argsForTransport = viewOf(snapshot, this.#prepared(built), "transport");
      this.#settle(built);
      return { verdict, argsForTransport };
    } catch (thrown) {
      if (thrown instanceof CallgateError) {
        throw thrown;
      }
      wasm.noteTrap();
      return { verdict: FAULT, argsForTransport: {} };
    } finally {
      this.#isBusy = false;
      wasm.leave();
    }
  }

  #prepared(built: WasmEngine): Prepared {
    const output = built.output();
    return readPrepared(wasm.view(), output);
  }

  /** Calls the module with the engine taken, so that callbacks cannot. */
  #ask<T>(code: CallgateError["code"], ask: (built: WasmEngine) => T): T {
    this.#check();
    return wasm.within(code, () => {
      const built = this.#current();
      this.#isBusy = true;
      try {
        return ask(built);
      } finally {
        this.#isBusy = false;
      }
    });
  }

  evaluateText(text: string, context?: CallContext): Verdict {
    const beside = context === undefined ? undefined : contextText(context);
    return this.#ask("invalid-call", (built) => this.#verdict(built, built.evaluateText(text, beside)));
  }

  explain(
    call: ToolCall,
    purpose: "evaluate" | "gate",
    options: {
      readonly containerWorkspaceDir?: string | undefined;
      readonly context?: CallContext | undefined;
      readonly audience?: "operator" | "agent" | undefined;
    } = {},
  ): Explanation {
    const { containerWorkspaceDir, context, audience } = options;
    return this.#ask("invalid-call", (built) => {
      this.#write(built, call, purpose, purpose === "gate" ? containerWorkspaceDir : undefined, context);
      return built.explain(this.#tool, this.length, purpose === "gate", audience === "agent") as Explanation;
    });
  }

  resolve(address: string, requireExists: boolean, context: CallContext): Resolution {
    const text = contextText(context);
    return this.#ask("invalid-argument", (built) => {
      const found = built.resolve(wellFormed(address, "the address"), requireExists, text) as
        | { readonly reply: Reply; readonly reference: number | null }
        | undefined;
      if (found === undefined) {
        throw noWorld();
      }
      if (found.reference === null) {
        return { reply: found.reply, ref: undefined };
      }
      const ref = Object.freeze({}) as VisibilityRef;
      this.#references.set(ref, found.reference);
      return { reply: found.reply, ref };
    });
  }

  hostPath(ref: VisibilityRef): string | undefined {
    return this.#ask("invalid-argument", (built) => {
      const number = this.#references.get(ref);
      return number === undefined ? undefined : built.hostPath(number);
    });
  }

  revoke(ref?: VisibilityRef): boolean {
    return this.#ask("invalid-argument", (built) => {
      const number = ref === undefined ? undefined : this.#references.get(ref);
      return ref !== undefined && number === undefined ? false : built.revoke(number);
    });
  }

  enforce(operation: Enforcement): Reply {
    const { mode, tool, command, root, subdirectory, address, context } = operation;
    const texts = [mode ?? "", tool, command, root, subdirectory ?? "", address ?? ""];
    const text = contextText(context ?? {});
    return this.#ask("invalid-argument", (built) => {
      for (const one of texts) {
        wellFormed(one, "the operation");
      }
      const reply = built.enforce(mode, tool, command, root, subdirectory ?? undefined, address, text);
      if (reply === undefined) {
        throw noWorld();
      }
      return reply as Reply;
    });
  }

  prepare(call: ToolCall, allowedDirectory: string | undefined, container: string | undefined): PreparedToolArgs {
    return this.#ask("unprepared", (built) => {
      const snapshot = this.#write(built, call, "prepare", container, undefined);
      built.prepare(this.#tool, this.length, allowedDirectory);
      const prepared = this.#prepared(built);
      return {
        argsForTransport: viewOf(snapshot, prepared, "transport"),
        argsForPolicy: viewOf(snapshot, prepared, "policy"),
      };
    });
  }

  /** The roles of each argument in the call; `undefined` for a tool without annotation. */
  annotation(call: ToolCall): readonly (readonly [string, readonly string[]])[] | undefined {
    return this.#ask("invalid-call", (built) => {
      this.#write(built, call, "prepare", undefined, undefined);
      const pairs = built.annotation(this.#tool, this.length) as
        | readonly (readonly [string, readonly string[]])[]
        | null;
      return pairs ?? undefined;
    });
  }

  semantics(server: string, tool: string): DescribedTool | undefined {
    return this.#ask(
      "invalid-argument",
      (built) => (built.semantics(server, tool) as DescribedTool | null) ?? undefined,
    );
  }

  ceiling(): Ceiling | undefined {
    return this.#ask("invalid-argument", (built) => (built.ceiling() as Ceiling | null) ?? undefined);
  }

  allowedDirectory(): string | undefined {
    return this.#ask("invalid-argument", (built) => built.allowedDirectory());
  }

  isTrustedServer(server: string): boolean {
    return this.#ask("invalid-argument", (built) => built.isTrustedServer(server));
  }

  warnings(): readonly Diagnostic[] {
    return this.#ask("invalid-argument", (built) => built.warnings() as readonly Diagnostic[]);
  }

  refresh(): void {
    this.#ask("host-failed", (built) => built.refresh());
  }

  dispose(): void {
    if (this.#isBusy) {
      this.#check();
    }
    this.#isDisposed = true;
    const built = this.#built;
    this.#built = undefined;
    if (built !== undefined && this.#generation === wasm.generation && !wasm.hasTrapped()) {
      built.free();
    }
  }
}
