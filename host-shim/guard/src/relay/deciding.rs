//! Calls that stand in no message: a service is asked whether they may be made.

use callgate_engine::judge::{Decision, StructuralRule, Verdict};

use super::{Judgement, Relay, denied};
use crate::message::{Message, Request, ToolCall};
use crate::told::reason_for_agent;

/// What was decided about a call.
pub struct Decided {
    /// Its name in the log.
    pub id: String,
    /// The verdict. Its reason may name paths of this machine.
    pub verdict: Verdict<'static>,
    /// The reason as an agent may read it.
    pub reason_for_agent: String,
}

impl Relay {
    /// Judges a call of a tool with these arguments, as JSON text, and writes the decision to the log.
    ///
    /// # Errors
    /// Why two programs could read it as two calls; it may not be made.
    pub(crate) fn decide(&self, tool: &str, arguments: &str) -> Result<Decided, String> {
        with_call(tool, arguments, |request, call| {
            let judgement = self.judge(call)?;
            Ok(self.conclude(request, call, judgement, self.guard.number()))
        })
    }

    /// Counts a call that may be made, and writes the decision to the log.
    pub(super) fn conclude(
        &self,
        request: &Request<'_>,
        call: &ToolCall<'_>,
        judgement: Judgement,
        id: String,
    ) -> Decided {
        let mut judgement = self.counted(judgement);
        let sent = judgement
            .response
            .arguments
            .clone()
            .filter(|_| judgement.response.verdict.decision == Decision::Allow);
        if let Err(error) = self.note_judged(request, call, &judgement, (&id, sent.as_deref())) {
            self.guard.warn(&format!("the log cannot be written: {error}"));
            let reason = "The log of decisions cannot be written, so nothing is allowed";
            judgement.response.verdict = denied(StructuralRule::Audit, reason.to_owned());
        }
        let verdict = judgement.response.verdict;
        let given = call.arguments.map_or("", |given| given.get());
        Decided {
            id,
            reason_for_agent: reason_for_agent(&verdict, given),
            verdict,
        }
    }
}

/// Reads a call of a tool with these arguments, as JSON text.
///
/// # Errors
/// Why two programs could read it as two calls, and what `then` says.
pub(super) fn with_call<T>(
    tool: &str,
    arguments: &str,
    then: impl FnOnce(&Request<'_>, &ToolCall<'_>) -> Result<T, String>,
) -> Result<T, String> {
    let name = serde_json::Value::from(tool);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{{"name":{name},"arguments":{arguments}}}}}"#
    );
    match Message::read(&message) {
        Ok(Message::Request(request)) => then(&request, &ToolCall::read(&request)?),
        Ok(Message::Notification { .. } | Message::Response { .. }) => {
            Err("the call is not one request".to_owned())
        }
        Err(refused) => Err(refused.reason),
    }
}
