// Tools of Mastra, gated.
import { type FrameworkOptions, judgeOf, message, remember } from "./frameworks/judging.js";

export type { FrameworkOptions, NamedTool } from "./frameworks/judging.js";

interface MastraTool {
  readonly execute?: (input: unknown, context?: Context) => unknown;
  readonly requireApproval?: unknown;
  readonly needsApproval?: unknown;
  readonly needsApprovalFn?: unknown;
}

interface Context {
  readonly resumeData?: unknown;
  readonly agent?: { readonly resumeData?: unknown };
}

/**
 * The same tools, of which each call is judged, and runs with the arguments that were judged. A call that escalates needs approval:
 * the run is suspended until `approveToolCall` or `declineToolCall`, and it is judged again before the tool runs. What a tool says
 * itself of approval counts as well.
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
    const judged = judge(name, input);
    const { decision } = judged.verdict;
    // Mastra runs what was asked about once it is approved, but what has suspended itself it resumes without a question.
    const isResumed = (context?.resumeData ?? context?.agent?.resumeData) != null;
    const isApproved = () => (isResumed ? ran.has(judged.key) : asked.delete(judged.key));
    const isAllowed = decision === "allow" || (decision === "escalate" && isApproved());
    if (!isAllowed || tool.execute === undefined) {
      throw new Error(isAllowed ? `The tool \`${name}\` has no \`execute\`` : message(judged));
    }
    remember(ran, judged.key);
    return tool.execute(judged.args, context);
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
