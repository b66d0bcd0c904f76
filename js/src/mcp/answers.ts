// The gate's own messages to a client.
import type { Verdict } from "../types.js";
import type { Members } from "./message.js";

/** Said of a tool of which the policy cannot tell what it touches. */
const UNANNOTATED = ". No annotation names this tool, so every call of it is denied: `callgate annotate` writes one.";

export function denied(rule: string, reason: string): Verdict {
  return { decision: "deny", rule, reason };
}

/** Why a call is not made, for the model. */
export function refusal({ decision, rule, reason }: Verdict, judged: string, given?: string): string {
  const advice = given ?? (rule === "structural-unknown-tool" ? UNANNOTATED : "");
  return `Callgate did not let this call through (${decision} by rule \`${rule}\`): ${reason}${judged}${advice}`;
}

/**
 * The answer to a call that is not allowed: a result, so that the model reads it and can do otherwise. `judged` says what its texts
 * were judged as.
 */
export function denial(
  id: string | number,
  isModern: boolean,
  verdict: Verdict,
  judged: string,
  given?: string,
): Members {
  const result = {
    ...(isModern ? { resultType: "complete" } : {}),
    content: [{ type: "text", text: refusal(verdict, judged, given) }],
    isError: true,
    _meta: { "callgate/decision": verdict.decision, "callgate/rule": verdict.rule },
  };
  return { jsonrpc: "2.0", id, result };
}
