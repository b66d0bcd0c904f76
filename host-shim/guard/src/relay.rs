//! The way of each message between a client and a server.
//!
//! - What comes from the client: `from_client`, and for its calls `calls`, `sending`, `questions` and `continuing`.
//! - What comes from the server: `from_server`, and `answers`.
//! - Calls that stand in no message: `deciding` and `requesting`.
//! - What both have a part in: `listing` and `changes` (tools), `eras` (revisions of the protocol), `ending`.

mod answers;
mod calls;
mod changes;
mod continuing;
mod counting;
mod deciding;
mod ending;
mod eras;
mod from_client;
mod from_server;
mod listing;
mod questions;
mod requesting;
mod sending;
mod transport;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use callgate_engine::approval::Offer;
use callgate_engine::judge::{Decision, StructuralRule, Verdict};
use callgate_host::{Instant, Response};

use super::Guard;
use super::asking::Approved;
use super::caller::Caller;
use super::counts::{Counted, Counting};
use super::listed::Listed;
use super::message::Id;
use super::method::Kind;
use super::queue::Answerer;
use super::record::{Outcome, Record, Rewritten};
use super::reply;
pub use deciding::Decided;
pub use requesting::{AccessRequest, Answered, AskedCall, Unapproved, Unrequested};

use changes::ListChanges;
use eras::Opening;
use listing::Listing;
use questions::Questions;
use sending::ArgumentsPlace;

/// One client and its server.
pub(super) struct Relay {
    guard: Arc<Guard>,
    /// By the id's text.
    waiting: BTreeMap<String, Waiting>,
    questions: Questions,
    /// Requests whose answers show which revisions the server speaks, by the id's text.
    openings: BTreeMap<String, Opening>,
    /// The client and the server have begun with `initialize`.
    has_begun: bool,
    changes: ListChanges,
    listing: Listing,
    /// The tools of the process, or of the connection, that is the server of this client.
    listed: Arc<Listed>,
    /// The ids of requests that the client took back. The server need not answer them, and may all the same.
    taken_back: VecDeque<String>,
    /// Why no call is sent any more, once the guard or its server ends.
    stopped: Option<&'static str>,
    /// A proxy has the server, of which nothing can be asked or learned.
    is_proxied: bool,
    /// Calls can only be sent as they came.
    is_exact: bool,
    /// Who asks for every call, and the context that says it.
    caller: Caller,
    context: Option<String>,
}

/// A request that the server has not answered.
struct Waiting {
    id: Id,
    kind: Kind,
    /// That of the server's tools when it was sent.
    edition: u64,
    /// `None` for a call that waits for a person.
    call: Option<Sent>,
}

/// A call that the server has.
struct Sent {
    at: Instant,
    /// Its number in the log.
    number: String,
    /// What it has otherwise than the client gave it.
    rewritten: Vec<Rewritten>,
    /// A person approved just this call.
    approved: Option<Approved>,
}

/// A call that was judged, and when that began.
struct Judgement {
    response: Response,
    /// Covered by an approval, if the call escalates and somebody can be asked.
    offer: Option<Offer>,
    /// How a person's answer came, if there was one.
    answered_by: Option<Answerer>,
    /// A person approved just this call.
    approved: Option<Approved>,
    /// The counts that the engine was told, and the file of them, while it is not known whether the call is made.
    counted: Option<Counted>,
    counting: Option<Counting>,
    /// The digest of the policy.
    policy: String,
    begun: Instant,
}

/// The next step for a call.
enum Disposition {
    /// It is sent, with these arguments in their place; an observer sends what came.
    Send(Option<(String, ArgumentsPlace)>),
    /// Its message waits for a person.
    Wait(Delivery),
    /// Its message waits for the server's list of tools.
    Hold(Delivery),
    /// It goes nowhere, or as this.
    Deliver(Delivery),
}

/// Where a message goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    ToServer(String),
    ToClient(String),
    /// A notification that is not passed on. Only where each message is answered by itself is this the answer.
    Refused(String),
    Nowhere,
}

impl Relay {
    /// A client with a session: all that it sends until it leaves.
    pub(super) fn new(guard: Arc<Guard>) -> Self {
        let listed = guard.unlisted();
        Self::with(guard, listed, true)
    }

    /// A request that stands by itself, of a server that has listed these tools: nothing is approved beyond it but for good.
    pub(super) fn of_request(guard: Arc<Guard>, listed: Arc<Listed>) -> Self {
        Self::with(guard, listed, false)
    }

    /// A request that stands by itself, to a server that a proxy speaks to.
    pub(super) fn at_proxy(guard: Arc<Guard>) -> Self {
        let listed = guard.unlisted();
        Self {
            is_proxied: true,
            ..Self::with(guard, listed, false)
        }
    }

    /// The same where calls can only be sent as they came.
    pub(super) fn exact(self) -> Self {
        Self {
            is_exact: true,
            ..self
        }
    }

    /// The same for calls of somebody, as far as the guard does not know by itself who asks.
    pub(super) fn of_caller(self, caller: &Caller) -> Self {
        let context = self
            .guard
            .caller
            .or(caller)
            .added_to(self.guard.context.as_deref());
        Self {
            caller: Caller::of(context.as_deref()),
            context,
            ..self
        }
    }

    fn with(guard: Arc<Guard>, listed: Arc<Listed>, has_session: bool) -> Self {
        Self {
            caller: guard.caller.clone(),
            context: guard.context.clone(),
            questions: Questions::new(guard.asked.as_ref(), &guard.session, has_session),
            changes: ListChanges::since(guard.list_changes()),
            listing: Listing::default(),
            listed,
            guard,
            waiting: BTreeMap::new(),
            openings: BTreeMap::new(),
            has_begun: false,
            taken_back: VecDeque::new(),
            stopped: None,
            is_proxied: false,
            is_exact: false,
        }
    }

    /// How many calls of tools the server has and has not answered.
    pub(super) fn calls_in_flight(&self) -> usize {
        let calls = self.waiting.values();
        calls.filter(|waiting| waiting.call.is_some()).count()
    }

    /// The steps to take without a message.
    pub(super) fn by_itself(&mut self) -> Vec<Delivery> {
        let mut steps = self.released();
        steps.extend(self.late_errors());
        steps.extend(self.settled());
        steps.extend(self.list_changes());
        steps
    }

    fn wait(&mut self, id: &Id, kind: Kind, call: Option<Sent>) {
        let waiting = Waiting {
            id: id.clone(),
            kind,
            edition: self.listed.edition(),
            call,
        };
        self.waiting.insert(id.text.clone(), waiting);
    }

    fn outcome(&self, waiting: &Waiting, (outcome, code): (Outcome, Option<i64>)) {
        if let Some(sent) = &waiting.call {
            self.guard.note_or_warn(&Record::Outcome {
                id: &sent.number,
                outcome,
                code,
                rewritten: outcome.why(&sent.rewritten),
                micros: sent.at.elapsed().as_micros(),
            });
        }
    }
}

fn approved(reason: &'static str, question: &str) -> Verdict<'static> {
    Verdict {
        decision: Decision::Allow,
        rule: StructuralRule::Approval.as_str().into(),
        reason: reason.into(),
        approval: Some(question.to_owned().into()),
    }
}

/// A denial of the guard's own.
fn denied(rule: StructuralRule, reason: String) -> Verdict<'static> {
    Verdict {
        decision: Decision::Deny,
        rule: rule.as_str().into(),
        reason: reason.into(),
        approval: None,
    }
}

#[cfg(test)]
mod tests;
