//! Asking a person about calls that escalate, in every way at once: the first answer counts.
//!
//! Each question is in the queue, for `callgate approvals`. A client that has forms shows it too, and a command may be run for
//! it. All of them answer in the queue. Clients have no forms, or decline them by themselves, so a form is never the only way.

#[cfg_attr(not(unix), path = "asking/command/absent.rs")]
mod command;
mod continuations;
mod form;
mod state;
mod touched;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use callgate_engine::approval::{Moment, Offer};
use callgate_host::Instant;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::queue::{Answer, Answerer, Bound, Question, Queue};
use continuations::UnfinishedCalls;
pub(super) use continuations::{Approved, Continuation};
pub(super) use state::Key;
pub use touched::touched;

/// How many calls of one client may wait for a person at a time.
pub(super) const WAITING: usize = 64;

/// How many calls of all clients may wait for their clients to ask.
const PARKED: usize = 16 * WAITING;

/// The name of the guard's own question among those of an answer.
pub(super) const QUESTION: &str = "callgate";

/// Whom a guard asks, and for how long.
#[derive(Clone)]
pub struct Asking {
    /// Where questions are put.
    pub queue: Queue,
    /// How long an answer may take. No answer in time is a denial.
    pub patience: Duration,
    /// Clients that have forms show questions too.
    pub forms: bool,
    /// A program, and its arguments, that is run for each question: it gets the question as JSON, and answers with `once`,
    /// `session`, `always` or `deny` on its standard output, or denies with exit code 2.
    pub command: Option<Vec<OsString>>,
}

/// The asking of one guard.
pub(super) struct Questioner {
    asking: Asking,
    key: state::Key,
    /// Calls whose client asks, and comes back with an answer in another request.
    returning: Mutex<BTreeMap<String, ReturningCall>>,
    unfinished: UnfinishedCalls,
    /// How many clients have begun a session.
    clients: AtomicU64,
}

/// A question that was put, and until when an answer counts.
#[derive(Clone, Debug)]
pub(super) struct OpenQuestion {
    pub(super) question: Question,
    pub(super) at: Instant,
    pub(super) deadline: Instant,
}

/// A call that a client asks about before it sends it again.
pub(super) struct ReturningCall {
    pub(super) rule: String,
    pub(super) open: OpenQuestion,
    /// Tells the client from others, as far as it can be told.
    pub(super) client: String,
    /// The server's own parts of the client's answer, as JSON text: its state, and the answers to it.
    pub(super) of_server: [Option<String>; 2],
}

/// The call to which an answer that comes in another request is bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallBinding<'a> {
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    /// The digest of the arguments that were judged.
    pub(super) arguments: &'a str,
    /// The digest of the policy.
    pub(super) policy: &'a str,
}

/// The call that is asked about.
pub(super) struct CallSummary<'a> {
    pub(super) id: &'a str,
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    pub(super) rule: &'a str,
    pub(super) reason: &'a str,
    pub(super) values: Value,
    pub(super) offer: Option<Offer>,
    /// The call belongs to a session, so it can be approved for that session.
    pub(super) has_session: bool,
    /// What an access request is about.
    pub(super) request: Option<Bound>,
}

impl Questioner {
    /// # Errors
    /// The operating system has no randomness.
    pub(super) fn new(asking: Asking) -> io::Result<Self> {
        Ok(Self {
            asking,
            key: state::Key::new()?,
            returning: Mutex::default(),
            unfinished: UnfinishedCalls::default(),
            clients: AtomicU64::new(0),
        })
    }

    /// Puts a question where everybody who may answer it finds it, but in a form of the client.
    pub(super) fn ask(&self, about: CallSummary<'_>, warn: fn(&str)) -> io::Result<OpenQuestion> {
        let (asked, at) = (Timestamp::now(), Instant::now());
        let until = asked
            .saturating_add(self.asking.patience)
            .map_err(io::Error::other)?;
        // An answer counts for no longer than what it would allow.
        let until = about
            .request
            .as_ref()
            .map_or(until, |bound| until.min(bound.ends));
        let question = Question {
            id: about.id.to_owned(),
            server: about.server.to_owned(),
            tool: about.tool.to_owned(),
            rule: about.rule.to_owned(),
            reason: about.reason.to_owned(),
            values: about.values,
            offer: about.offer,
            has_session: about.has_session,
            asked,
            until,
            request: about.request,
        };
        let Asking {
            queue,
            patience,
            command,
            ..
        } = &self.asking;
        queue.ask(&question)?;
        if let Some(command) = command
            && let Err(error) = command::ask(command, &question, queue, *patience, warn)
        {
            warn(&format!(
                "{}: the command that asks cannot be run: {error}",
                question.server
            ));
        }
        Ok(OpenQuestion {
            question,
            at,
            deadline: at + self.asking.patience,
        })
    }

    /// The params of a form that asks the question; `None` if it is asked in the other ways alone.
    pub(super) fn form(&self, question: &Question) -> Option<Value> {
        self.asking.forms.then(|| form::params(question)).flatten()
    }

    /// Takes what a client says to a form. What is not an answer changes nothing.
    pub(super) fn form_answered(&self, open: &OpenQuestion, result: &Value) -> io::Result<()> {
        if let Some(answer) = form::answer(result, open.at.elapsed()) {
            // Somebody else may have answered already.
            self.asking
                .queue
                .answer(&open.question.id, answer, Answerer::Client)?;
        }
        Ok(())
    }

    /// The answer to a question: `None` while it waits. No answer in time denies, and so does one that cannot be read.
    pub(super) fn answer_to(&self, open: &OpenQuestion) -> Option<(Answer, Option<Answerer>)> {
        let is_over = Instant::now() >= open.deadline;
        match self.asking.queue.answer_to(&open.question.id) {
            Ok(None) if !is_over => None,
            Ok(Some((answer, by))) if !is_over => Some((answer, Some(by))),
            Ok(_) | Err(_) => Some((Answer::Deny, None)),
        }
    }

    pub(super) fn withdraw(&self, open: &OpenQuestion) {
        self.asking.queue.withdraw(&open.question.id);
    }

    /// The result that has a client of the modern era ask, and then send the call again.
    pub(super) fn input_required(
        &self,
        returning: ReturningCall,
        form: &Value,
        bound: CallBinding<'_>,
    ) -> Option<Value> {
        let id = returning.open.question.id.clone();
        let state = self.key.state(&id, bound)?;
        self.returning().insert(id, returning);
        Some(json!({
            "resultType": "input_required",
            "inputRequests": {QUESTION: {"method": "elicitation/create", "params": form}},
            "requestState": state,
        }))
    }

    /// The call that a state was given out for: once, and for nothing else than what it is bound to.
    pub(super) fn returned_call(&self, state: &str, bound: CallBinding<'_>) -> Option<ReturningCall> {
        let question = self.key.question(state, bound)?;
        self.returning().remove(question)
    }

    /// A name for a client that has begun a session.
    pub(super) fn next_client(&self) -> String {
        self.clients.fetch_add(1, Ordering::Relaxed).to_string()
    }

    /// Returns `true` if one more call of a client may wait for it to ask, beside `others` of its calls that wait for a person.
    pub(super) fn has_room(&self, client: &str, others: usize) -> bool {
        self.forget_late();
        let returning = self.returning();
        let own = returning
            .values()
            .filter(|returning| returning.client == client)
            .count();
        own + others < WAITING && returning.len() < PARKED
    }

    /// Forgets the calls that wait for their clients to ask and whose time is over.
    pub(super) fn forget_late(&self) {
        let now = Instant::now();
        let mut returning = self.returning();
        returning.retain(|_, returning| {
            let waits = now < returning.open.deadline;
            if !waits {
                self.withdraw(&returning.open);
            }
            waits
        });
    }

    /// Forgets all of them, since nobody is left to ask.
    pub(super) fn forget(&self) {
        for returning in std::mem::take(&mut *self.returning()).into_values() {
            self.withdraw(&returning.open);
        }
        self.unfinished.forget();
    }

    /// The server asks its client for more before it goes on with an approved call. Gives the state with which the client sends
    /// the call again.
    pub(super) fn remember_unfinished(&self, server: &str, continuation: Continuation) -> Option<String> {
        let approved = continuation.approved.clone();
        let id = self.unfinished.remember(continuation, self.asking.patience);
        self.key.state(&id, approved.bound(server))
    }

    /// The approved call that a state was given out for, with which a client answers its server: once.
    pub(super) fn continued(&self, state: &str, bound: CallBinding<'_>) -> Option<Continuation> {
        self.unfinished.take(self.key.question(state, bound)?)
    }

    /// A text that nobody else can know, for the ids of requests.
    pub(super) fn secret(&self, of: &str) -> String {
        self.key.secret(of)
    }

    /// The approvals for good.
    ///
    /// # Errors
    /// The approvals cannot be read.
    pub(super) fn approvals(&self) -> io::Result<callgate_engine::approval::Approvals> {
        self.asking.queue.approvals()
    }

    /// The questions, and how long one waits.
    pub(super) fn queue(&self) -> (&Queue, Duration) {
        (&self.asking.queue, self.asking.patience)
    }

    fn returning(&self) -> MutexGuard<'_, BTreeMap<String, ReturningCall>> {
        self.returning.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `true` if a client with these capabilities has forms.
pub(super) fn has_forms(capabilities: Option<&Value>) -> bool {
    capabilities.is_some_and(form::is_offered)
}

/// Returns `true` if a client gives back the state of a question of a guard.
pub(super) fn is_own(state: &str) -> bool {
    state::is_own(state)
}

/// The time, for approvals that end.
pub fn now() -> Moment {
    Moment::from_millis(Timestamp::now().as_millisecond())
}
