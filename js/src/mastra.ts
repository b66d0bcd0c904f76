// Tools of Mastra, gated.
import { type FrameworkOptions, judgeOf, message, remember } from "./frameworks/judging.js";
import { asWritten } from "./frameworks/schemas.js";

export type { FrameworkOptions, NamedTool } from "./frameworks/judging.js";

interface MastraTool {
  readonly inputSchema?: unknown;
  readonly parameters?: unknown;
  readonly execute?: (input: unknown, context?: Context) => unknown;
  readonly requireApproval?: unknown;
  readonly needsApproval?: unknown;
  readonly needsApprovalFn?: unknown;
}

interface Suspending {
  readonly resumeData?: unknown;
  readonly suspend?: ((...given: unknown[]) => unknown) | undefined;
}

interface Context extends Suspending {
  readonly runId?: unknown;
  readonly agent?: Suspending & { readonly toolCallId?: unknown };
}

/**
 * The same tools, of which each call is judged, and runs with the arguments that were judged. A call that escalates needs approval:
 * the run is suspended until `approveToolCall` or `declineToolCall`, and it is judged again before the tool runs. Outside of an agent's
 * run nobody is asked, so it is denied there. What a tool says itself of approval counts as well.
 *
 * A tool without `execute` runs elsewhere, and its calls are denied.
 *
 * @throws `CallgateError` `invalid-argument` for options that cannot be meant.
 */
export function gateTools<Tools extends object>(tools: Tools, options: FrameworkOptions): Tools {
  const judge = judgeOf(options);
  const gated = Object.entries(tools).map(([name, tool]) => [name, gatedTool(name, tool, judge)]);
  return Object.fromEntries(gated);
}

function gatedTool(name: string, tool: MastraTool, judge: ReturnType<typeof judgeOf>): MastraTool {
  const [asked, ran] = [new Set<string>(), new Set<string>()];
  const needsApproval = async (input: unknown, context?: unknown): Promise<boolean> => {
    const { verdict, key } = judge(name, input);
    if (verdict.decision !== "escalate") {
      return verdict.decision === "allow" && (await asksItself(tool, input, context));
    }
    remember(asked, key);
    return true;
  };
  const execute = async (input: unknown, context?: Context): Promise<unknown> => {
    const isResumed = (context?.resumeData ?? context?.agent?.resumeData) != null;
    // What is resumed comes as the model wrote it, and goes by no schema any more.
    const judged = isResumed
      ? judge(name, input)
      : await asWritten(judge(name, input), tool.inputSchema ?? tool.parameters);
    const { decision } = judged.verdict;
    const call = callOf(context);
    // An agent of Mastra runs what was asked about once it is approved, but what has suspended itself it resumes without a question.
    const isApproved = () =>
      call !== undefined && (isResumed ? ran.has(`${call} ${judged.key}`) : asked.delete(judged.key));
    const isAllowed = decision === "allow" || (decision === "escalate" && isApproved());
    if (!isAllowed || tool.execute === undefined) {
      throw new Error(isAllowed ? `The tool \`${name}\` has no \`execute\`` : message(judged));
    }
    const key = `${call} ${judged.key}`;
    let isSuspended = false;
    const suspends = () => {
      isSuspended = true;
    };
    remember(ran, key);
    try {
      return await tool.execute(judged.args, suspending(context, suspends));
    } finally {
      if (!isSuspended) {
        ran.delete(key);
      }
    }
  };
  return Object.assign(Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool)), {
    execute,
    requireApproval: needsApproval,
    needsApprovalFn: needsApproval,
    // Only the tools of the AI SDK have it, and a tool is one of these by what it has.
    ...("needsApproval" in tool ? { needsApproval } : {}),
  });
}

/** Asks the tool whether it needs approval. Where that fails, Mastra asks. */
async function asksItself(tool: MastraTool, input: unknown, context: unknown): Promise<boolean> {
  for (const said of [tool.needsApproval, tool.needsApprovalFn, tool.requireApproval]) {
    if (typeof said === "function" ? (await said(input, context)) !== false : said === true) {
      return true;
    }
  }
  return false;
}

/** The call of an agent's run; outside of one there is none, and nobody to ask. */
function callOf(context: Context | undefined): string | undefined {
  const [run, call] = [context?.runId, context?.agent?.toolCallId];
  return typeof run === "string" && typeof call === "string" && call !== "" ? JSON.stringify([run, call]) : undefined;
}

/** The context, of which `suspended` hears when the tool suspends itself. */
function suspending(context: Context | undefined, suspended: () => void): Context | undefined {
  const heard = <Part extends Suspending>(part: Part): Part => {
    const { suspend } = part;
    const told = (...given: unknown[]): unknown => {
      suspended();
      return suspend?.(...given);
    };
    return suspend === undefined ? part : { ...part, suspend: told };
  };
  return context?.agent === undefined ? context && heard(context) : { ...heard(context), agent: heard(context.agent) };
}
