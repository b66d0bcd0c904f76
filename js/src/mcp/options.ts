import type { Engine } from "../api/create-engine.js";
import { CallgateError } from "../errors.js";
import { member, reading } from "../members.js";
import type { ApprovalOffer, CallContext, PreparedArgs, ToolCall, Verdict } from "../types.js";
import { isWellFormed } from "../wasm/text.js";

/** A tool as a server lists it. */
export interface GatedTool {
  readonly name: string;
}

/** Which tools are shown. */
export interface ToolsFilter {
  /**
   * The engine that judges; a function where it may be replaced while calls are made. Nobody is told of it: whoever replaces the
   * engine of a gated server tells its clients that other tools may be hidden now (`sendToolListChanged()` of the SDK).
   */
  readonly engine: Engine | (() => Engine);
  /** The server's name in the policy and the annotations. What the server says of itself does not count. */
  readonly serverName: string;
  /**
   * The lock file of `callgate pin`, as text or as what it holds: tools that it does not have, or not like this, are held
   * back. Default: tools are not pinned.
   */
  readonly lock?: unknown;
}

/** A call that escalates, for the person who decides about it. */
export interface McpQuestion {
  readonly call: ToolCall;
  readonly verdict: Verdict;
  /** The arguments as they were judged, which are what would be sent. */
  readonly argsForTransport: PreparedArgs;
  /** The constraints of an approval for always; `undefined` if there can be none. */
  readonly offer: ApprovalOffer | undefined;
}

/** A call that was judged. */
export interface McpDecision {
  readonly call: ToolCall;
  readonly verdict: Verdict;
  /** The arguments that are sent; `undefined` if nothing is. */
  readonly sent: PreparedArgs | undefined;
  /** The person's answer, if one was asked. */
  readonly answer?: "once" | "always" | "deny" | undefined;
}

/** How calls are gated. */
export interface McpGateOptions extends ToolsFilter {
  /** The context that the host gives with its calls; a function is asked for each call. */
  readonly context?: CallContext | ((call: ToolCall) => CallContext | undefined) | undefined;
  /** The path of the sandbox inside the server's container. */
  readonly containerWorkspaceDir?: string | undefined;
  /**
   * Asks a person about a call that escalates. `once` lets this call pass, `always` adds the offer to the engine's approvals.
   * The call is judged again before it is sent. Without this, or without an answer in time, such calls are denied.
   */
  readonly ask?: ((question: McpQuestion) => Promise<"once" | "always" | "deny">) | undefined;
  /** How many milliseconds an answer may take. Default: 60,000. */
  readonly patience?: number | undefined;
  /** Hears of each decision before the call is sent. If it throws, or its promise is rejected, the call is denied. */
  readonly onDecision?: ((decision: McpDecision) => void | Promise<void>) | undefined;
}

const KEYS: Readonly<Record<keyof McpGateOptions, true>> = {
  engine: true,
  serverName: true,
  lock: true,
  context: true,
  containerWorkspaceDir: true,
  ask: true,
  patience: true,
  onDecision: true,
};

/**
 * The options, with nothing that `Object.prototype` has. Those that cannot be meant are refused: tools would not be pinned, or decisions
 * not noted.
 *
 * @throws {@link CallgateError} `invalid-argument`.
 */
export function checkedOptions(options: McpGateOptions): McpGateOptions {
  return reading("options", () => {
    const refuse = (reason: string): never => {
      throw new CallgateError("invalid-argument", reason);
    };
    if (typeof options !== "object" || options === null) {
      refuse("the options are not an object");
    }
    const unknown = Object.keys(options).find((key) => !Object.hasOwn(KEYS, key));
    if (unknown !== undefined) {
      refuse(`found the option \`${unknown}\`, expected one of ${Object.keys(KEYS).join(", ")}`);
    }
    const read = view(options, Object.keys(KEYS) as (keyof McpGateOptions)[]);
    const { engine, serverName, context, containerWorkspaceDir, ask, patience, onDecision } = read;
    if (typeof serverName !== "string" || !isWellFormed(serverName)) {
      refuse("`serverName` is not a string");
    }
    if (!isEngine(engine)) {
      refuse("`engine` is neither an engine nor a function that returns one");
    }
    if (context !== undefined && typeof context !== "function" && (typeof context !== "object" || context === null)) {
      refuse("`context` is neither an object nor a function that returns one");
    }
    if (containerWorkspaceDir !== undefined && typeof containerWorkspaceDir !== "string") {
      refuse("`containerWorkspaceDir` is not a string");
    }
    for (const [name, found] of Object.entries({ ask, onDecision })) {
      if (found !== undefined && typeof found !== "function") {
        refuse(`\`${name}\` is not a function`);
      }
    }
    if (patience !== undefined && !(typeof patience === "number" && patience >= 0)) {
      refuse("`patience` is not a number of milliseconds");
    }
    return read;
  });
}

/**
 * The filter that shows tools, with nothing that `Object.prototype` has.
 *
 * @throws {@link CallgateError} `invalid-argument`.
 */
export function checkedFilter(options: ToolsFilter): ToolsFilter {
  return reading("options", () => {
    if (typeof options !== "object" || options === null) {
      throw new CallgateError("invalid-argument", "the options are not an object");
    }
    const read = view(options, ["engine", "serverName", "lock"]);
    if (typeof read.serverName !== "string" || !isWellFormed(read.serverName)) {
      throw new CallgateError("invalid-argument", "`serverName` is not a string");
    }
    if (!isEngine(read.engine)) {
      throw new CallgateError("invalid-argument", "`engine` is neither an engine nor a function that returns one");
    }
    return read;
  });
}

/** The members of an object as they are whenever they are asked for: an engine may be replaced. */
export function view<T extends object, Name extends keyof T>(object: T, names: readonly Name[]): Pick<T, Name> {
  const shown = Object.create(null) as Pick<T, Name>;
  for (const name of names) {
    Object.defineProperty(shown, name, { get: () => member(object, name), enumerable: true });
  }
  return Object.freeze(shown);
}

/** Returns `true` for an engine, or a function that returns one. */
export function isEngine(engine: unknown): boolean {
  return (
    typeof engine === "function" ||
    (typeof engine === "object" && engine !== null && typeof member(engine as Partial<Engine>, "gate") === "function")
  );
}

/** The side that connects to a transport: a client or a server of MCP's SDK, whichever version it is. */
export interface McpEndpoint {
  connect(transport: never, ...rest: never[]): Promise<unknown>;
}

/** The member of `_meta` with which a request of the modern era says its revision. */
export const MODERN = "io.modelcontextprotocol/protocolVersion";

/** The engine that judges now. */
export function engineOf({ engine }: ToolsFilter): Engine {
  return typeof engine === "function" ? engine() : engine;
}
