// The gate's own messages to a client.
import type { Verdict } from "../types.js";
import type { Members } from "./message.js";

/** Said of a tool of which the policy cannot tell what it touches. */
const UNANNOTATED = ". No annotation names this tool, so every call of it is denied: `callgate annotate` writes one.";

export function denied(rule: string, reason: string): Verdict {
  return { decision: "deny", rule, reason };
}

/**
 * The answer to a call that is not allowed: a result, so that the model reads it and can do otherwise. `judged` says what its texts
 * were judged as.
 */
export function denial(
  id: string | number,
  isModern: boolean,
  { decision, rule, reason }: Verdict,
  judged: string,
  given?: string,
): Members {
  const advice = given ?? (rule === "structural-unknown-tool" ? UNANNOTATED : "");
  const text = `Callgate did not let this call through (${decision} by rule \`${rule}\`): ${reason}${judged}${advice}`;
  const result = {
    ...(isModern ? { resultType: "complete" } : {}),
    content: [{ type: "text", text }],
    isError: true,
    _meta: { "callgate/decision": decision, "callgate/rule": rule },
  };
  return { jsonrpc: "2.0", id, result };
}
