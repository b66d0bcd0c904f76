import type { Engine } from "../api/create-engine.js";
import { CallgateError } from "../errors.js";
import type { ApprovalOffer, CallContext, PreparedArgs, ToolCall, Verdict } from "../types.js";

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
 * Refuses options that cannot be meant: tools would not be pinned, or decisions not noted.
 *
 * @throws {@link CallgateError} `invalid-argument`.
 */
export function checkOptions(options: McpGateOptions): void {
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
  const { engine, serverName } = options;
  if (typeof serverName !== "string") {
    refuse("`serverName` is not a string");
  }
  if (typeof engine !== "function" && typeof (engine as Partial<Engine> | undefined)?.gate !== "function") {
    refuse("`engine` is neither an engine nor a function that returns one");
  }
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
