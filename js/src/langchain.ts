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
    wrapToolCall: async (request, handler) => {
      const { id, name, args } = request.toolCall;
      const judged = judge(name, args);
      if (!isAllowed(request, judged, asked)) {
        asked.delete(callOf(request));
        return new ToolMessage({ content: message(judged), tool_call_id: id ?? "", name, status: "error" });
      }
      try {
        const result = await handler({ ...request, toolCall: { ...request.toolCall, args: judged.args } });
        asked.delete(callOf(request));
        return result;
      } catch (thrown) {
        // A tool that asks itself ends this run, and in the one that resumes the first answers are those to the questions here.
        if ((thrown as { readonly is_bubble_up?: unknown } | undefined)?.is_bubble_up !== true) {
          asked.delete(callOf(request));
        }
        throw thrown;
      }
    },
  });
}

/** What was asked about, and by which of a call's questions. */
interface Asked {
  readonly key: string;
  readonly at: number;
}

/** A call of a thread. */
function callOf({ toolCall, runtime }: ToolCallRequest): string {
  return JSON.stringify([runtime.configurable?.thread_id, toolCall.id]);
}

function isAllowed(request: ToolCallRequest, judged: Judged, asked: Map<string, Asked>): boolean {
  const { decision } = judged.verdict;
  const known = asked.get(callOf(request));
  if (decision !== "allow" || known === undefined) {
    return decision === "allow" || (decision === "escalate" && isApproved(request, judged, asked));
  }
  // It was asked about, and is allowed by now. The answers are to these questions, and not to those of the tool.
  let answer: unknown;
  for (let at = 0; at <= known.at; at += 1) {
    answer = request.runtime.interrupt?.(questionOf(request, judged));
  }
  return approves(answer);
}

function questionOf({ toolCall: { name } }: ToolCallRequest, judged: Judged): object {
  return {
    actionRequests: [{ name, args: judged.args, description: question(judged) }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ["approve", "reject"] }],
  };
}

/**
 * Asks by an interrupt, which ends this run; in the run that resumes, it is the answer. An answer counts for the call that was
 * asked about, so another call, or one that nobody remembers, is asked about again.
 */
function isApproved(request: ToolCallRequest, judged: Judged, asked: Map<string, Asked>): boolean {
  const { toolCall, runtime } = request;
  if (toolCall.id === undefined || runtime.interrupt === undefined) {
    return false;
  }
  const call = callOf(request);
  for (let at = 0; ; at += 1) {
    const known = asked.get(call);
    const isKnown = known?.key === judged.key && known.at >= at;
    if (!isKnown) {
      remember(asked, call, { key: judged.key, at });
    }
    const answer = runtime.interrupt(questionOf(request, judged));
    if (isKnown && known.at === at) {
      return approves(answer);
    }
  }
}

function remember(asked: Map<string, Asked>, call: string, question: Asked): void {
  asked.set(call, question);
  const [oldest] = asked.keys();
  if (asked.size > REMEMBERED && oldest !== undefined) {
    asked.delete(oldest);
  }
}

function approves(answer: unknown): boolean {
  const decisions: unknown = (answer as { readonly decisions?: unknown } | null | undefined)?.decisions;
  return Array.isArray(decisions) && decisions.length === 1 && decisions[0]?.type === "approve";
}
