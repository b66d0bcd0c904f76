// Tools of OpenAI's Agents SDK, gated.
import { CallgateError } from "./errors.js";
import {
  asGiven,
  denied,
  type FrameworkOptions,
  type Judged,
  judgeOf,
  message,
  remember,
} from "./frameworks/judging.js";

export type { FrameworkOptions, NamedTool } from "./frameworks/judging.js";

/** What is used of a tool of the SDK. */
export interface OpenAiTool {
  readonly type: string;
  readonly name: string;
}

/** What is used of an agent of the SDK. */
export interface OpenAiAgent {
  getAllTools(...given: never[]): Promise<OpenAiTool[]>;
  clone(...given: never[]): unknown;
}

interface Call {
  readonly context: { isToolApproved(approval: { toolName: string; callId: string }): boolean | undefined };
  readonly toolCall: { readonly callId: string; readonly arguments: string };
}

/** A guardrail as `defineToolInputGuardrail` of the SDK makes it. */
interface Guardrail {
  readonly type: "tool_input";
  readonly name: string;
  readonly run: (call: Call) => Promise<{ behavior: { type: "allow" } | { type: "rejectContent"; message: string } }>;
}

interface FunctionTool extends OpenAiTool {
  readonly needsApproval: (context: unknown, input: unknown, callId?: string) => Promise<boolean>;
  readonly inputGuardrails?: readonly Guardrail[];
}

/**
 * The same agent, of which each call of a tool is judged: its own tools, those of its MCP servers, agents that are tools, and tools
 * that are added later. The SDK cannot change arguments, so a call is allowed only with arguments in canonical form. One that
 * escalates needs approval, and is judged again after it. Agents that it hands over to are gated each for itself.
 *
 * A run fails if the agent has a tool that is not a function: a shell, a computer, and what the provider runs have no guardrail.
 *
 * @throws `CallgateError` `invalid-argument` for options that cannot be meant.
 */
export function gateAgent<Agent extends OpenAiAgent>(agent: Agent, options: FrameworkOptions): Agent {
  judgeOf(options);
  const [tools, clone] = [agent.getAllTools.bind(agent), agent.clone.bind(agent)];
  // A tool that is asked for twice is one tool.
  const gated = new WeakMap<OpenAiTool, OpenAiTool>();
  const gate = (tool: OpenAiTool): OpenAiTool => {
    const known = gated.get(tool) ?? gateTool(tool, options);
    gated.set(tool, known);
    return known;
  };
  return Object.assign(agent, {
    getAllTools: async (...given: never[]) => (await tools(...given)).map(gate),
    clone: (...given: never[]) => gateAgent(clone(...given) as Agent, options),
  });
}

/**
 * A function tool, of which each call is judged as {@link gateAgent} says.
 *
 * @throws `CallgateError` `invalid-argument` for options that cannot be meant, and for a tool that is not a function.
 */
export function gateTool<Tool extends OpenAiTool>(tool: Tool, options: FrameworkOptions): Tool {
  if (tool?.type !== "function") {
    throw new CallgateError("invalid-argument", `a tool of type \`${tool?.type}\` (\`${tool?.name}\`) cannot be gated`);
  }
  const judge = judgeOf(options);
  const { name, needsApproval, inputGuardrails = [] } = tool as unknown as FunctionTool;
  const asked = new Set<string>();
  const run: Guardrail["run"] = async ({ context, toolCall }) => {
    const judged = judgedText(judge, name, toolCall.arguments);
    const { decision } = judged.verdict;
    const { callId } = toolCall;
    // A runner may ask guardrails before it asks a person, too.
    const isApproved = () => asked.has(callId) || context.isToolApproved({ toolName: name, callId }) === true;
    return decision === "allow" || (decision === "escalate" && isApproved())
      ? { behavior: { type: "allow" } }
      : { behavior: { type: "rejectContent", message: message(judged) } };
  };
  const gated: Partial<FunctionTool> = {
    needsApproval: async (context, input, callId = "") => {
      asked.delete(callId);
      if (asGiven(judge(name, input), input).verdict.decision !== "escalate") {
        return (await needsApproval(context, input, callId)) !== false;
      }
      remember(asked, callId);
      return true;
    },
    inputGuardrails: [...inputGuardrails, { type: "tool_input", name: "callgate", run }],
  };
  return Object.assign(Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool)), gated);
}

function judgedText(judge: ReturnType<typeof judgeOf>, name: string, text: string): Judged {
  try {
    const given: unknown = text === "" ? {} : JSON.parse(text);
    return asGiven(judge(name, given), given);
  } catch {
    return denied("structural-unreadable-argument", "Unreadable arguments: found no JSON, expected an object");
  }
}
