//! Calls that a person decides about whom the agent does not ask.

use callgate_engine::judge::StructuralRule;
use std::time::Duration;

use callgate_engine::judge::Decision;
use serde_json::Value;

use super::call::HookCall;
use super::judge::{Judged, call_text, verdict_of, within};
use super::options::HookOptions;
use callgate_guard::{Answer, JournalQuestion, Queue, ask, said, touched};
use callgate_host::{Gate, Request};

impl HookCall {
    /// Asks a person, and judges the call again: what it names may have changed meanwhile.
    pub(super) fn decided_by_a_person(
        &self,
        gate: &Gate,
        judged: Judged,
        queue: &Queue,
        patience: Duration,
        options: &HookOptions,
    ) -> Result<Judged, String> {
        let verdict = &judged.response.verdict;
        let call = call_text(&judged.server, &judged.tool, &judged.asked);
        let context = said(self.caller.added_to(None), judged.counted.as_ref());
        let call = within(&call, context.as_deref());
        let offer = gate
            .offer(&Request::gate(call))
            .map_err(|error| error.to_string())?;
        let question = JournalQuestion {
            server: &judged.server,
            tool: &judged.tool,
            rule: &verdict.rule,
            reason: &verdict.reason,
            values: values(&judged).ok_or("the call has more values than a person can be shown")?,
            offer,
        };
        let answer = ask(queue, question, patience);
        let (answer, by) = answer.map_err(|error| format!("the question cannot be put: {}", error.kind()))?;
        let approvals = queue.approvals().ok();
        let mut again = self.judge(
            gate,
            judged.server.clone(),
            judged.tool.clone(),
            (approvals.as_ref(), self.counted(gate, options)),
        )?;
        again.answered_by = by;
        if matches!(again.response.verdict.decision, Decision::Escalate(_)) {
            let is_same = again.response.verdict.rule == judged.response.verdict.rule
                && again.sent == judged.sent
                && values(&again) == values(&judged);
            let (decision, reason) = match answer {
                Answer::Deny => (
                    Decision::Deny,
                    "A person denied the call, or nobody answered in time",
                ),
                Answer::Once | Answer::Session | Answer::Always if is_same => {
                    (Decision::Allow, "A person approved this call")
                }
                Answer::Once | Answer::Session | Answer::Always => (
                    Decision::Deny,
                    "What the call would touch has changed since a person was asked",
                ),
            };
            again.response.verdict = verdict_of(decision, StructuralRule::Approval, reason.to_owned());
        }
        Ok(again)
    }
}

/// Shown to the person; `None` if not everything can be.
fn values(judged: &Judged) -> Option<Value> {
    touched(judged.response.explanation.as_ref(), &judged.asked)
}
