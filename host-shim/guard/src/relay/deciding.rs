//! Calls that stand in no message: a service is asked whether they may be made.

use callgate_engine::judge::{Decision, StructuralRule, Verdict};

use super::{Relay, denied};
use crate::message::{Message, Request, ToolCall};
use crate::told::reason_for_agent;

/// What was decided about a call.
pub struct Decided {
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
        let name = serde_json::Value::from(tool);
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{{"name":{name},"arguments":{arguments}}}}}"#
        );
        match Message::read(&message) {
            Ok(Message::Request(request)) => self.decide_request(&request),
            Ok(Message::Notification { .. } | Message::Response { .. }) => {
                Err("the call is not one request".to_owned())
            }
            Err(refused) => Err(refused.reason),
        }
    }

    fn decide_request(&self, request: &Request<'_>) -> Result<Decided, String> {
        let call = ToolCall::read(request)?;
        let judgement = self.judge(&call)?;
        let mut judgement = self.counted(judgement);
        let sent = judgement
            .response
            .arguments
            .clone()
            .filter(|_| judgement.response.verdict.decision == Decision::Allow);
        let number = self.guard.number();
        if let Err(error) = self.note_judged(request, &call, &judgement, (&number, sent.as_deref())) {
            self.guard.warn(&format!("the log cannot be written: {error}"));
            let reason = "The log of decisions cannot be written, so nothing is allowed";
            judgement.response.verdict = denied(StructuralRule::Audit, reason.to_owned());
        }
        let verdict = judgement.response.verdict;
        let given = call.arguments.map_or("", |given| given.get());
        Ok(Decided {
            reason_for_agent: reason_for_agent(&verdict, given),
            verdict,
        })
    }
}
