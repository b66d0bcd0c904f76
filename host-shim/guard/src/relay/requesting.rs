//! Calls about which a person may be asked apart from them: access requests, as AuthZEN's profile for them has it.
//!
//! A call that escalates comes with a token. Whoever gives that back asks a person, and has the approval considered when the call is
//! judged again. It holds for just what the question named, for who asked, once, and for as long as the same rule asks.

use std::io;
use std::time::Duration;

use callgate_engine::judge::{Decision, StructuralRule};
use jiff::Timestamp;

use super::deciding::{Decided, with_call};
use super::{Judgement, Relay, approved, denied};
use crate::asking::{Approved, CallBinding, CallSummary, Key, Questioner, touched};
use crate::caller::Caller;
use crate::digest::digest;
use crate::message::ToolCall;
use crate::queue::{Answerer, Bound, Queue, Task, TaskStatus, Unasked};
use crate::rewritten::{is_as_given, rewritten};
use crate::told::what_to_send;

/// How long a token may be given back.
const TOKEN: Duration = Duration::from_secs(600);

/// A call that is made elsewhere, and the question about it.
#[derive(Clone, Copy, Debug)]
pub struct AskedCall<'c> {
    /// The tool.
    pub tool: &'c str,
    /// JSON text.
    pub arguments: &'c str,
    /// All that the question names, in one form: an approval holds for just this.
    pub question: &'c str,
    /// Who asks, as whoever sends the call says it. What the guard knows itself counts before it.
    pub caller: &'c Caller,
}

/// What was decided about a call, and what a person has to do with it.
pub struct Answered {
    /// The decision.
    pub decided: Decided,
    /// What is given back to ask a person, and until when; `None` where nobody can be asked.
    pub denial: Option<(String, Timestamp)>,
    /// Whether the approval that was shown holds, and until when; `None` if none was shown, or none was needed.
    pub approval: Option<Result<Timestamp, Unapproved>>,
}

/// Why an approval that was shown does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unapproved {
    /// Nobody has answered yet.
    Pending,
    /// It was used, or its time is over.
    Expired,
    /// It was given for something else.
    OutOfScope,
    /// The policy denies the call, whoever approves it.
    Denied,
    /// There is none of this name for who asks.
    Unknown,
}

/// A request for an approval.
#[derive(Clone, Copy, Debug)]
pub struct AccessRequest<'r> {
    /// What came with the denial.
    pub token: &'r str,
    /// For whom, as whoever asks says it.
    pub whom: &'r str,
    /// Until when an approval is to hold at most.
    pub until: Option<Timestamp>,
    /// A name by which the same request is known again.
    pub key: Option<&'r str>,
}

/// Why there is no request.
#[derive(Debug)]
pub enum Unrequested {
    /// Nobody is asked about such a call; why.
    NotRequestable(String),
    /// The token was not given out for this.
    NotBound,
    /// The token's time is over.
    Expired,
    /// The name of the request is that of another.
    Duplicate,
    /// Too many are open.
    Full,
    /// The question cannot be written.
    Unwritten(io::Error),
}

impl From<io::Error> for Unrequested {
    fn from(error: io::Error) -> Self {
        Self::Unwritten(error)
    }
}

impl From<Unasked> for Unrequested {
    fn from(unasked: Unasked) -> Self {
        match unasked {
            Unasked::Full => Self::Full,
            Unasked::Unwritten(error) => Self::Unwritten(error),
        }
    }
}

impl Relay {
    /// Decides as [`Relay::decide`] does, by an approval that a person may have given for the call.
    ///
    /// # Errors
    /// Why two programs could read it as two calls; it may not be made.
    pub(crate) fn decide_asked(
        &self,
        asked: AskedCall<'_>,
        approval: Option<&str>,
    ) -> Result<Answered, String> {
        with_call(asked.tool, asked.arguments, |request, call| {
            let mut judgement = self.judge(call)?;
            let (mut denial, mut shown) = (None, None);
            if let Some(questioner) = &self.guard.asked {
                deny_if_inexact(call, &mut judgement);
                match judgement.response.verdict.decision {
                    Decision::Escalate(_) => {
                        shown = approval.map(|id| self.consider(questioner, asked, id, &mut judgement));
                        if !matches!(shown, Some(Ok(_) | Err(Unapproved::Pending))) {
                            denial = self.token(questioner.queue().0, asked);
                        }
                    }
                    Decision::Deny => shown = approval.map(|_| Err(Unapproved::Denied)),
                    Decision::Allow => {}
                }
            }
            Ok(Answered {
                decided: self.conclude(request, call, judgement, self.guard.number()),
                denial,
                approval: shown,
            })
        })
    }

    /// Asks a person about a call that was denied, because it escalates. The person answers in their own time.
    ///
    /// # Errors
    /// Why nobody is asked.
    pub(crate) fn request(
        &self,
        asked: AskedCall<'_>,
        request: AccessRequest<'_>,
    ) -> Result<Task, Unrequested> {
        let not = |reason: &str| Unrequested::NotRequestable(reason.to_owned());
        let Some(questioner) = &self.guard.asked else {
            return Err(not("nobody can be asked here"));
        };
        let (queue, patience) = questioner.queue();
        let key = Key::of(queue.key()?);
        self.check(&key, asked, request.token)?;
        let subject = self.guard.caller.subject.as_deref();
        let known = request
            .key
            .map(|name| key.code_of(&["request", subject.unwrap_or_default(), name]));
        let id = Queue::request_id(&questioner.secret(&self.guard.number()));
        let now = Timestamp::now();
        // Whoever asks has as long to come back as the person had to answer.
        let most = now.saturating_add(2 * patience).map_err(io::Error::other)?;
        let bound = Bound {
            subject: self.guard.caller.subject.clone(),
            whom: request.whom.to_owned(),
            call: self.bound(asked),
            ends: request.until.map_or(most, |until| until.min(most)),
            key: known,
        };
        if bound.ends <= now {
            return Err(not("the time until which access is requested is over"));
        }
        let _lock = queue.requesting()?;
        if let Some(before) = queue.known(bound.key.as_deref(), subject)? {
            return match before.request.is_some_and(|before| before.call == bound.call) {
                true => queue
                    .task(&before.id, subject)?
                    .ok_or(Unrequested::Unwritten(io::ErrorKind::NotFound.into())),
                false => Err(Unrequested::Duplicate),
            };
        }
        let question = with_call(asked.tool, asked.arguments, |message, call| {
            let mut judgement = self.judge(call)?;
            deny_if_inexact(call, &mut judgement);
            if !matches!(judgement.response.verdict.decision, Decision::Escalate(_)) {
                return Err("the call does not wait for a person".to_owned());
            }
            let shown = serde_json::from_str(asked.arguments).ok();
            let shown = shown
                .and_then(|arguments| touched(judgement.response.explanation.as_ref(), &arguments))
                .ok_or("the call has more values than a person can be shown")?;
            let offer = judgement
                .offer
                .clone()
                .map(|offer| callgate_engine::approval::Offer {
                    expires_at: request.until.map(|until| until.to_string()),
                    ..offer
                });
            let (rule, reason) = {
                let verdict = &judgement.response.verdict;
                (
                    verdict.rule.clone().into_owned(),
                    verdict.reason.clone().into_owned(),
                )
            };
            let decided = self.conclude(message, call, judgement, id.clone());
            match decided.verdict.decision {
                Decision::Escalate(_) => Ok((shown, offer, rule, reason)),
                Decision::Allow | Decision::Deny => Err(decided.reason_for_agent),
            }
        });
        let (values, offer, rule, reason) = question.map_err(Unrequested::NotRequestable)?;
        let about = CallSummary {
            id: &id,
            server: &self.guard.server,
            tool: asked.tool,
            rule: &rule,
            reason: &reason,
            values,
            offer,
            has_session: false,
            request: Some(bound.clone()),
        };
        questioner.ask(about, self.guard.warn)?;
        self.guard.warn(&format!(
            "`{}` waits for a person: `callgate approvals` shows, allows and denies it",
            asked.tool
        ));
        Ok(Task {
            id,
            status: TaskStatus::Pending,
            ends: bound.ends,
        })
    }

    /// Lets a call pass that escalates, if a person has approved it: once, and nothing else.
    fn consider(
        &self,
        questioner: &Questioner,
        asked: AskedCall<'_>,
        id: &str,
        judgement: &mut Judgement,
    ) -> Result<Timestamp, Unapproved> {
        let (queue, _) = questioner.queue();
        let (by, until) = self.approval(queue, asked, id, judgement)?;
        let arguments = digest(asked.arguments.as_bytes());
        let bound = CallBinding {
            server: &self.guard.server,
            tool: asked.tool,
            arguments: &arguments,
            policy: &judgement.policy,
        };
        judgement.approved = Some(Approved::new(bound, id));
        judgement.response.verdict = approved("A person approved this call", id);
        judgement.answered_by = Some(by);
        Ok(until)
    }

    fn approval(
        &self,
        queue: &Queue,
        asked: AskedCall<'_>,
        id: &str,
        judgement: &Judgement,
    ) -> Result<(Answerer, Timestamp), Unapproved> {
        let unread = |error: io::Error| {
            self.guard.warn(&format!("an approval cannot be read: {error}"));
            Unapproved::Unknown
        };
        let subject = self.guard.caller.subject.as_deref();
        let found = queue.request(id).map_err(unread)?;
        let found = found.filter(|(_, bound)| bound.subject.as_deref() == subject);
        let (question, bound) = found.ok_or(Unapproved::Unknown)?;
        match queue.task(id, subject).map_err(unread)?.map(|task| task.status) {
            Some(TaskStatus::Approved) => {}
            Some(TaskStatus::Pending) => return Err(Unapproved::Pending),
            Some(TaskStatus::Expired) => return Err(Unapproved::Expired),
            Some(TaskStatus::Denied) | None => return Err(Unapproved::Unknown),
        }
        if bound.call != self.bound(asked) || question.rule != judgement.response.verdict.rule {
            return Err(Unapproved::OutOfScope);
        }
        let by = queue
            .take(&question)
            .map_err(unread)?
            .ok_or(Unapproved::Expired)?;
        Ok((by, bound.ends))
    }

    /// The digest of what an approval is bound to.
    fn bound(&self, asked: AskedCall<'_>) -> String {
        let parts = [&*self.guard.server, asked.tool, asked.question];
        digest(serde_json::json!(parts).to_string().as_bytes())
    }

    /// A token for a denial, and until when it may be given back.
    fn token(&self, queue: &Queue, asked: AskedCall<'_>) -> Option<(String, Timestamp)> {
        let key = queue.key().map(Key::of).inspect_err(|error| {
            self.guard.warn(&format!("nobody can be asked: {error}"));
        });
        let until = Timestamp::now().saturating_add(TOKEN).ok()?;
        let seconds = until.as_second().to_string();
        let code = key
            .ok()?
            .code_of(&self.denial(asked, &self.bound(asked), &seconds));
        Some((format!("{seconds}.{code}"), until))
    }

    fn check(&self, key: &Key, asked: AskedCall<'_>, token: &str) -> Result<(), Unrequested> {
        let (seconds, code) = token.split_once('.').ok_or(Unrequested::NotBound)?;
        if !key.is_code_of(code, &self.denial(asked, &self.bound(asked), seconds)) {
            return Err(Unrequested::NotBound);
        }
        let until: i64 = seconds.parse().map_err(|_| Unrequested::NotBound)?;
        match Timestamp::now().as_second() <= until {
            true => Ok(()),
            false => Err(Unrequested::Expired),
        }
    }

    /// What a token is a code of.
    fn denial<'p>(&'p self, asked: AskedCall<'p>, bound: &'p str, seconds: &'p str) -> [&'p str; 5] {
        let subject = self.guard.caller.subject.as_deref().unwrap_or_default();
        ["denial", subject, asked.tool, bound, seconds]
    }
}

/// Denies a call that a person would approve and that would be sent otherwise than it was judged.
fn deny_if_inexact(call: &ToolCall<'_>, judgement: &mut Judgement) {
    let response = &mut judgement.response;
    let sent = response.arguments.as_deref();
    let is_exact = sent.is_some_and(|sent| is_as_given(call.arguments, sent));
    if matches!(response.verdict.decision, Decision::Escalate(_)) && !is_exact {
        let others = rewritten(call.arguments, sent, response.explanation.as_ref());
        response.verdict = denied(StructuralRule::InexactCall, what_to_send(&others));
    }
}
