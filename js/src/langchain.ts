// Middleware for agents of LangChain, which judges their calls.

import type { AgentMiddleware, ToolCallRequest } from "langchain";
import { createMiddleware, ToolMessage } from "langchain";
import { type FrameworkOptions, type Judged, judgeOf, message, question, REMEMBERED } from "./frameworks/judging.js";

export type { FrameworkOptions, NamedTool } from "./frameworks/judging.js";

/**
 * Middleware that judges each call of a tool, whoever added the tool, and runs it with the arguments that were judged. A call that
 * escalates interrupts the graph with a request that `humanInTheLoopMiddleware` would make, and it is judged again when the graph
 * is resumed. Put it last in `middleware`: what comes after it may change the call.
 *
 * @throws `CallgateError` `invalid-argument` for options that cannot be meant.
 */
export function gateMiddleware(options: FrameworkOptions): AgentMiddleware {
  const judge = judgeOf(options);
  const asked = new Map<string, Asked>();
  return createMiddleware({
    name: "Callgate",
    wrapToolCall: (request, handler) => {
      const { id, name, args } = request.toolCall;
      const judged = judge(name, args);
      const isAllowed =
        judged.verdict.decision === "allow" ||
        (judged.verdict.decision === "escalate" && isApproved(request, judged, asked));
      return isAllowed
        ? handler({ ...request, toolCall: { ...request.toolCall, args: judged.args } })
        : new ToolMessage({ content: message(judged), tool_call_id: id ?? "", name, status: "error" });
    },
  });
}

/** What was asked about, and by which of a call's questions. */
interface Asked {
  readonly key: string;
  readonly at: number;
}

/**
 * Asks by an interrupt, which ends this run; in the run that resumes, it is the answer. An answer counts for the call that was
 * asked about, so another call, or one that nobody remembers, is asked about again.
 */
function isApproved({ toolCall, runtime }: ToolCallRequest, judged: Judged, asked: Map<string, Asked>): boolean {
  const { id, name } = toolCall;
  if (id === undefined || runtime.interrupt === undefined) {
    return false;
  }
  const request = {
    actionRequests: [{ name, args: judged.args, description: question(judged) }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ["approve", "reject"] }],
  };
  for (let at = 0; ; at += 1) {
    const known = asked.get(id);
    const isKnown = known?.key === judged.key && known.at >= at;
    if (!isKnown) {
      remember(asked, id, { key: judged.key, at });
    }
    const answer = runtime.interrupt(request);
    if (isKnown && known.at === at) {
      asked.delete(id);
      return approves(answer);
    }
  }
}

function remember(asked: Map<string, Asked>, id: string, question: Asked): void {
  asked.set(id, question);
  const [oldest] = asked.keys();
  if (asked.size > REMEMBERED && oldest !== undefined) {
    asked.delete(oldest);
  }
}

function approves(answer: unknown): boolean {
  const decisions: unknown = (answer as { readonly decisions?: unknown } | null | undefined)?.decisions;
  return Array.isArray(decisions) && decisions.length === 1 && decisions[0]?.type === "approve";
}
