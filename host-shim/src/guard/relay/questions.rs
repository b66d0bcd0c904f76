//! Calls that a person is asked about, from the question to what becomes of them.

use std::sync::Arc;
use std::time::Instant;

use callgate_core::{Decision, Verdict};

use super::{Relay, Step, denied};
use crate::guard::asking::{self, About, Pending};
use crate::guard::message::{Id, Message, ToolCall};
use crate::guard::queue::Answer;
use crate::guard::reply;
use crate::members::Members;

impl Relay {
    /// Asks a person. Without one, what to tell the model.
    pub(super) fn ask(&self, about: About<'_>) -> Result<Instant, String> {
        let Some(asked) = &self.guard.asked else {
            return Err(". A person has to approve it, and nobody can be asked here.".to_owned());
        };
        if self.pending.len() >= asking::WAITING {
            return Err(format!(
                ". A person has to approve it, and {} calls wait for one already.",
                asking::WAITING
            ));
        }
        self.guard.warn(&format!(
            "`{}` waits for a person: `callgate approvals` shows, allows and denies it",
            about.tool
        ));
        asked.ask(about).map_err(|error| {
            self.guard.warn(&format!("nobody can be asked: {error}"));
            ". A person has to approve it, and nobody can be asked: the question cannot be written."
                .to_owned()
        })
    }

    /// What becomes of the calls for which there is an answer, or no time left.
    pub(in crate::guard) fn answered(&mut self) -> Vec<Step> {
        let guard = Arc::clone(&self.guard);
        let Some(asked) = &guard.asked else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            let Some(answer) = asked.answer_to(&pending) else {
                self.pending.push(pending);
                continue;
            };
            asked.withdraw(&pending.question);
            self.waiting.remove(&pending.id.text);
            if let (Answer::Session, Some(offer)) = (answer, &pending.offer) {
                asked.approve(offer);
            }
            steps.push(self.resume(&pending, answer));
        }
        steps
    }

    /// Judges a call again that waited: meanwhile the disk or the policy may have changed.
    fn resume(&mut self, pending: &Pending, answer: Answer) -> Step {
        let refused = |reason: &str| {
            let verdict = denied("structural-approval", reason.to_owned());
            Step::ToClient(reply::denial(&pending.id, pending.era, &verdict, ""))
        };
        // It was read before.
        let Ok(Message::Request(request)) = Message::read(&pending.message) else {
            return refused("The call cannot be read again");
        };
        let Ok(call) = ToolCall::read(&request) else {
            return refused("The call cannot be read again");
        };
        let mut judgement = match self.judge(&call) {
            Ok(judgement) => judgement,
            Err(reason) => return refused(&reason),
        };
        if matches!(judgement.response.verdict.decision, Decision::Escalate(_)) {
            let is_same = judgement.response.verdict.rule == pending.rule
                && judgement.response.arguments.as_deref() == Some(&pending.arguments);
            judgement.response.verdict = match answer {
                Answer::Deny => denied(
                    "structural-approval",
                    "A person denied the call, or nobody answered in time".to_owned(),
                ),
                Answer::Once | Answer::Session | Answer::Always if is_same => Verdict {
                    decision: Decision::Allow,
                    rule: "structural-approval".into(),
                    reason: "A person approved this call".into(),
                    approval: Some(pending.question.as_str().into()),
                },
                Answer::Once | Answer::Session | Answer::Always => denied(
                    "structural-approval",
                    "What the call would touch has changed since a person was asked".to_owned(),
                ),
            };
        }
        self.decided(&request, &call, judgement)
    }

    /// Whether the client cancels a call that waits for a person.
    pub(super) fn cancelled(&mut self, line: &str) -> bool {
        let Ok(Message::Notification { members, .. }) = Message::read(line) else {
            return false;
        };
        let Some(id) = cancelled_id(&members) else {
            return false;
        };
        let Some(at) = self.pending.iter().position(|pending| pending.id.text == id) else {
            return false;
        };
        let pending = self.pending.remove(at);
        self.waiting.remove(&pending.id.text);
        if let Some(asked) = &self.guard.asked {
            asked.withdraw(&pending.question);
        }
        true
    }
}

/// The text of the id that a cancellation names.
fn cancelled_id(notification: &Members<'_>) -> Option<String> {
    let params: Members<'_> = serde_json::from_str(notification.get("params")?.get()).ok()?;
    Id::read(params.get("requestId")?).ok().map(|id| id.text)
}
