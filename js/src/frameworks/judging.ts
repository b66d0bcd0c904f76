// What every adapter of an agent framework does with a call: it names it, judges it, and says what came of it. Nothing here waits,
// so nothing can come too late, and nothing throws: what goes wrong on the way is a denial that the model can read.
import { CallgateError } from "../errors.js";
import { refusal } from "../mcp/answers.js";
import { canonical } from "../mcp/canonical.js";
import { isObject } from "../mcp/message.js";
import { engineOf, isEngine, type McpGateOptions, view } from "../mcp/options.js";
import { ambiguity } from "../mcp/strict.js";
import { reading } from "../members.js";
import type { PreparedArgs, Verdict } from "../types.js";
import { reasonForAgent } from "./told.js";

/** A tool by the names that the policy and the annotations have for it. */
export interface NamedTool {
  readonly serverName: string;
  readonly toolName: string;
}

/** How the calls of a framework are gated. */
export interface FrameworkOptions extends Pick<McpGateOptions, "engine" | "context" | "containerWorkspaceDir"> {
  /**
   * The server of every tool in the policy and the annotations; or a function from a tool's name in the framework to its server
   * and its name there. A call for which it returns nothing is denied.
   */
  readonly serverName: string | ((toolName: string) => NamedTool | undefined);
}

/** A call that was judged. */
export interface Judged {
  /** The verdict, whose reason may name paths of this machine. */
  readonly verdict: Verdict;
  /** The reason as a model may read it. */
  readonly told: string;
  /** The arguments that were judged, which are the only ones to send. */
  readonly args: PreparedArgs;
  /** What a person is asked about: the tool, the arguments that were judged, and the rule that asks. */
  readonly key: string;
}

const KEYS = ["engine", "serverName", "context", "containerWorkspaceDir"] as const;

/** How many calls are remembered. One that is forgotten is denied, or asked about again. */
export const REMEMBERED = 1_024;

/** Remembers a call, and forgets the one that was remembered first where there are too many. */
export function remember(keys: Set<string>, key: string): void {
  keys.add(key);
  const [oldest] = keys;
  if (keys.size > REMEMBERED && oldest !== undefined) {
    keys.delete(oldest);
  }
}

/** A denial that is not the engine's. */
export function denied(rule: string, reason: string): Judged {
  return { verdict: { decision: "deny", rule, reason }, told: reason, args: {}, key: "" };
}

/** Why a call is not made, for the model. */
export function message({ verdict, told }: Judged, advice?: string): string {
  return refusal({ ...verdict, reason: told }, "", advice);
}

/** What a person is asked, without the arguments. */
export function question({ verdict }: Judged): string {
  return `${verdict.reason} (rule \`${verdict.rule}\`)`;
}

/** The judgement where a framework sends arguments as they were given: a denial, unless they are what was judged. */
export function asGiven(judged: Judged, given: unknown): Judged {
  const { verdict, args } = judged;
  if (verdict.decision === "deny" || !isObject(given) || canonical(given) === canonical(args)) {
    return judged;
  }
  const isSame = (name: string) => Object.hasOwn(args, name) && canonical(given[name]) === canonical(args[name]);
  const names = [...new Set([...Object.keys(given), ...Object.keys(args)])].filter((name) => !isSame(name));
  const listed = names.length === 0 ? "the arguments" : names.map((name) => `\`${name}\``).join(", ");
  return denied(
    "structural-unresolvable-value",
    `${listed} must be given in canonical form: absolute, without \`~\`, \`.\`, \`..\`, links or other spellings`,
  );
}

/**
 * The judge of a framework's calls: a function of a tool's name there and its arguments, and of the tool where that is known
 * better than by its name.
 *
 * @throws {@link CallgateError} `invalid-argument` for options that cannot be meant.
 */
export function judgeOf(options: FrameworkOptions, more: readonly string[] = []) {
  const read = reading("options", () => {
    if (!isObject(options)) {
      throw new CallgateError("invalid-argument", "the options are not an object");
    }
    const unknown = Object.keys(options).find((key) => ![...KEYS, ...more].includes(key));
    if (unknown !== undefined) {
      throw new CallgateError(
        "invalid-argument",
        `found the option \`${unknown}\`, expected one of ${[...KEYS, ...more].join(", ")}`,
      );
    }
    return view<FrameworkOptions, (typeof KEYS)[number]>(options, KEYS);
  });
  if (!isEngine(read.engine)) {
    throw new CallgateError("invalid-argument", "`engine` is neither an engine nor a function that returns one");
  }
  if (typeof read.serverName !== "string" && typeof read.serverName !== "function") {
    throw new CallgateError("invalid-argument", "`serverName` is neither a string nor a function");
  }
  return (name: unknown, given: unknown, named?: NamedTool): Judged => {
    try {
      return judged(read, name, given, named);
    } catch (thrown) {
      const kind = thrown instanceof CallgateError ? thrown.code : "an error";
      return denied("structural-hook-fault", `The gate failed (${kind}), so nothing is allowed`);
    }
  };
}

function judged(options: FrameworkOptions, name: unknown, given: unknown, tool: NamedTool | undefined): Judged {
  if (typeof name !== "string" || name === "") {
    return denied("structural-hook-fault", "The call names no tool");
  }
  const unclear = isObject(given) ? ambiguity(given, "exact") : "no object";
  if (unclear !== undefined || !isObject(given)) {
    return denied(
      "structural-unreadable-argument",
      `Unreadable arguments: found ${unclear}, expected an object of JSON`,
    );
  }
  const { serverName, context, containerWorkspaceDir } = options;
  const named = tool ?? (typeof serverName === "string" ? { serverName, toolName: name } : serverName(name));
  if (named === undefined) {
    return denied("structural-unknown-tool", `Unknown tool: ${name}`);
  }
  const call = { ...named, arguments: given };
  const gated = engineOf({ engine: options.engine, serverName: named.serverName }).gate(call, {
    context: typeof context === "function" ? context(call) : context,
    containerWorkspaceDir,
  });
  const { verdict, argsForTransport: args } = gated;
  if (!["allow", "escalate", "deny"].includes(verdict.decision) || !isObject(args)) {
    return denied("structural-hook-fault", "The gate's answer cannot be read, so nothing is allowed");
  }
  const told = reasonForAgent(verdict, given);
  return { verdict, told, args, key: canonical([named.serverName, named.toolName, verdict.rule, args]) };
}
