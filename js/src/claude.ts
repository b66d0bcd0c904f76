// Calls of Claude's Agent SDK, gated.
import { claudeJudge } from "./frameworks/claude-names.js";
import { asGiven, type FrameworkOptions, message, question } from "./frameworks/judging.js";
import { isObject } from "./mcp/message.js";

export type { FrameworkOptions, NamedTool } from "./frameworks/judging.js";

/** An answer of `canUseTool`. */
export type ClaudePermission =
  | { readonly behavior: "allow"; readonly updatedInput: Record<string, unknown> }
  | { readonly behavior: "deny"; readonly message: string };

/** A `canUseTool` of the SDK, which asks a person. */
export type ClaudeAsk<Options> = (name: string, input: Record<string, unknown>, options: Options) => Promise<unknown>;

/** A hook that judges calls of an event, and what its failure does. */
export interface ClaudeMatcher<Event extends string> {
  readonly hooks: ((input: object) => Promise<{
    readonly hookSpecificOutput?: {
      readonly hookEventName: Event;
      readonly permissionDecision: "allow" | "ask" | "deny";
      readonly permissionDecisionReason: string;
      readonly updatedInput?: Record<string, unknown>;
    };
  }>)[];
  readonly onFailure: "block";
}

/**
 * Modes in which a person is asked. Claude Code 2.1.332 asks `canUseTool` in the others too, if a hook says so; but whoever chose
 * one of these does not count on being asked, and another version may not ask.
 */
const ASKING_MODES: readonly unknown[] = ["default", "acceptEdits"];

/** How often a person may change a call and be asked about it again. */
const CHANGES = 8;

/**
 * The hooks that judge each call before it runs, those of sub-agents too: `hooks` of the SDK's `query`. It runs with the arguments
 * that were judged. A call that escalates is asked about as the SDK asks, which is by `canUseTool`; a command in a skill's text cannot
 * be asked about, nor changed.
 *
 * `serverName` is the server of Claude Code's own tools, such as `Read`; a tool `mcp__SERVER__TOOL` is that of its own server.
 *
 * @throws `CallgateError` `invalid-argument` for options that cannot be meant.
 */
export function gateHooks(options: FrameworkOptions): {
  readonly PreToolUse: ClaudeMatcher<"PreToolUse">[];
  readonly PreSkillShellCommand: ClaudeMatcher<"PreSkillShellCommand">[];
} {
  const judge = claudeJudge(options);
  const tool: ClaudeMatcher<"PreToolUse">["hooks"][0] = async (input) => {
    const { tool_name, tool_input, mcp_server, permission_mode } = input as Record<string, unknown>;
    const judged = judge(tool_name, tool_input, mcp_server);
    const { decision } = judged.verdict;
    const isUnasked = decision === "escalate" && !ASKING_MODES.includes(permission_mode);
    const advice = isUnasked ? ` (the gate asks nobody in the mode \`${permission_mode}\`)` : undefined;
    const hookEventName = "PreToolUse";
    if (decision === "deny" || isUnasked) {
      const permissionDecisionReason = message(judged, advice);
      return { hookSpecificOutput: { hookEventName, permissionDecision: "deny", permissionDecisionReason } };
    }
    const permissionDecision = decision === "allow" ? "allow" : "ask";
    const updatedInput = { ...judged.args };
    const permissionDecisionReason = question(judged);
    return { hookSpecificOutput: { hookEventName, permissionDecision, permissionDecisionReason, updatedInput } };
  };
  const command: ClaudeMatcher<"PreSkillShellCommand">["hooks"][0] = async (input) => {
    const { tool_name, tool_input } = input as Record<string, unknown>;
    const judged = asGiven(judge(tool_name, tool_input, undefined), tool_input);
    const [permissionDecision, permissionDecisionReason] = ["deny", message(judged)] as const;
    const denial = { hookEventName: "PreSkillShellCommand", permissionDecision, permissionDecisionReason } as const;
    return judged.verdict.decision === "allow" ? {} : { hookSpecificOutput: denial };
  };
  return {
    PreToolUse: [{ hooks: [tool], onFailure: "block" }],
    PreSkillShellCommand: [{ hooks: [command], onFailure: "block" }],
  };
}

/**
 * A `canUseTool` that judges each call that it is asked about, and has `ask` decide about one that escalates. What a person changes
 * is judged again, and asked about again. An approval counts for one call: the permissions that it would add are left out.
 *
 * Calls that a mode or a rule of Claude Code allows are not asked about: use {@link gateHooks} as well.
 *
 * @throws `CallgateError` `invalid-argument` for options that cannot be meant.
 */
export function gateCanUseTool<Options extends object>(options: FrameworkOptions, ask?: ClaudeAsk<Options>) {
  const judge = claudeJudge(options);
  return async (name: string, input: Record<string, unknown>, given: Options): Promise<ClaudePermission> => {
    const { mcpServer } = given as { readonly mcpServer?: unknown };
    let judged = judge(name, input, mcpServer);
    for (let changes = 0; judged.verdict.decision === "escalate"; changes += 1) {
      const { args, key } = judged;
      const answer = changes < CHANGES ? await answerOf(() => ask?.(name, { ...args }, given)) : undefined;
      if (!isObject(answer) || answer.behavior !== "allow") {
        const said = isObject(answer) && typeof answer.message === "string" ? `: ${answer.message}` : "";
        return { behavior: "deny", message: message(judged, ` (nobody has allowed it${said})`) };
      }
      judged = judge(name, answer.updatedInput ?? input, mcpServer);
      if (judged.key === key) {
        break;
      }
    }
    return judged.verdict.decision === "deny"
      ? { behavior: "deny", message: message(judged) }
      : { behavior: "allow", updatedInput: { ...judged.args } };
  };
}

async function answerOf(ask: () => Promise<unknown> | undefined): Promise<unknown> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}
