//! The way of each message between a client and a server.

mod answers;
mod calls;
mod changes;
mod ending;
mod eras;
mod listing;
mod questions;
mod sending;
mod transport;
mod unfinished;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use callgate_engine::approval::Offer;
use callgate_engine::judge::{Decision, Verdict};
use callgate_host::Response;
use callgate_jsontext::Members;

use super::Guard;
use super::asking::Approved;
use super::lines::unbroken;
use super::listed::Listed;
use super::message::{Id, Message, Refused, Request};
use super::method::{self, Kind};
use super::queue::Answerer;
use super::record::{Outcome, Record, Rewritten};
use super::reply;
use super::tools::write_with;
use answers::{error_message, outcome_of, to_no_request};
use changes::ListChanges;
use eras::Opening;
use listing::Listing;
use questions::Questions;
use sending::ArgumentsPlace;

/// How many requests of a client may wait for their answers.
const IN_FLIGHT: usize = 65_536;

/// How many requests that were taken back are remembered, so that their ids are not used again before an answer that comes late.
const TAKEN_BACK: usize = 4_096;

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
    /// The digest of the policy.
    policy: String,
    begun: Instant,
}

/// The next step for a call.
enum Next {
    /// It is sent, with these arguments in their place; an observer sends what came.
    Send(Option<(String, ArgumentsPlace)>),
    /// Its message waits for a person.
    Wait(Step),
    /// Its message waits for the server's list of tools.
    Hold(Step),
    /// It goes nowhere, or as this.
    Step(Step),
}

/// Where a message goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
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

    fn with(guard: Arc<Guard>, listed: Arc<Listed>, has_session: bool) -> Self {
        Self {
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
        }
    }

    /// How many calls of tools the server has and has not answered.
    pub(super) fn calls_in_flight(&self) -> usize {
        let calls = self.waiting.values();
        calls.filter(|waiting| waiting.call.is_some()).count()
    }

    /// A message of the client.
    pub(super) fn client_sent(&mut self, line: String) -> Step {
        let line = unbroken(line);
        if line.trim().is_empty() {
            return Step::Nowhere;
        }
        let message = match Message::read(&line) {
            Ok(message) => message,
            Err(refused) => return Step::ToClient(self.not_read(&line, &refused)),
        };
        if let Err(reason) = message.check_params() {
            return match message {
                Message::Request(request) => {
                    self.refuse(Some(&request.id.json), reply::INVALID_PARAMS, &reason)
                }
                Message::Notification { .. } | Message::Response { .. } => {
                    Step::Refused(self.not_passed(None, reply::INVALID_PARAMS, &reason))
                }
            };
        }
        match message {
            Message::Request(request) => match self.begin(&request) {
                Ok(kind) => match (self.keeps_from(&request).or_else(|| self.opens(&request)), kind) {
                    (Some(refused), _) => {
                        self.waiting.remove(&request.id.text);
                        refused
                    }
                    (None, Kind::Call) => {
                        let next = self.call(&line, &request);
                        let id = request.id.text.clone();
                        let step = self.follow(next, line);
                        if matches!(step, Step::ToClient(_)) {
                            self.openings.remove(&id);
                        }
                        step
                    }
                    (None, Kind::List | Kind::Other) => {
                        if request.method == "initialize" {
                            self.questions.initialized(&request);
                        }
                        self.subscribes(&request);
                        Step::ToServer(line)
                    }
                },
                Err((code, reason)) => self.refuse(Some(&request.id.json), code, &reason),
            },
            Message::Notification { method, members } if method == "notifications/cancelled" => {
                // A server that has not seen the call does not hear of it.
                let id = cancelled_id(&members);
                let step = id.and_then(|id| self.cancelled(&id.text).or_else(|| self.take_back(&id)));
                step.unwrap_or(Step::ToServer(line))
            }
            Message::Notification { method, .. } => match method::kind_of(&method) {
                Ok(Kind::Other) if self.keeps_notification(&method) => {
                    Step::Refused(self.not_passed(None, reply::METHOD_NOT_FOUND, &not_of_tools(&method)))
                }
                Ok(Kind::Other) => {
                    if method == "notifications/initialized" {
                        self.changes.begin();
                    }
                    Step::ToServer(line)
                }
                Ok(Kind::Call | Kind::List) => Step::Refused(self.not_passed(
                    None,
                    reply::INVALID_REQUEST,
                    &format!("`{method}` as a notification, expected a request"),
                )),
                Err(reason) => Step::Refused(self.not_passed(None, reply::INVALID_REQUEST, &reason)),
            },
            Message::Response {
                id: Some(id),
                members,
            } if self.questions.owns(&id) => self.form_answered(&id, &members),
            Message::Response { id: Some(_), .. } => Step::ToServer(line),
            Message::Response { id: None, .. } => {
                Step::Refused(self.not_passed(None, reply::INVALID_REQUEST, &to_no_request(None)))
            }
        }
    }

    /// The answer to a request that would reach something of the server other than its tools, where clients may not.
    fn keeps_from(&self, request: &Request<'_>) -> Option<Step> {
        if !self.guard.only_tools || self.guard.observes || method::is_of_tools(&request.method) {
            return None;
        }
        let reason = not_of_tools(&request.method);
        Some(self.refuse(Some(&request.id.json), reply::METHOD_NOT_FOUND, &reason))
    }

    /// Returns `true` for a request without an id, which a server may do all the same, where clients may not.
    fn keeps_notification(&self, method: &str) -> bool {
        self.guard.only_tools && !self.guard.observes && !method.starts_with("notifications/")
    }

    /// Refuses a text that a client sent in place of a message.
    pub(super) fn unreadable(&self, what: &str) -> Step {
        self.refuse(None, reply::PARSE_ERROR, what)
    }

    /// A message of the server.
    pub(super) fn server_sent(&mut self, line: String) -> Step {
        let line = unbroken(line);
        if line.trim().is_empty() {
            return Step::Nowhere;
        }
        let message = match Message::read(&line) {
            Ok(message) => message,
            Err(refused) => {
                self.guard
                    .warn(&format!("the server sent {refused}; it is not passed on"));
                return Step::Nowhere;
            }
        };
        match message {
            // A client that compares what is written finds its request again.
            Message::Response {
                id: Some(id),
                members,
            } if !id.is_spelled(&members) => self.server_sent(write_with(&members, "id", &id.json)),
            Message::Response {
                id: Some(id),
                members,
            } if self.listing.owns(&id.text) => self.tools_listed(&members),
            Message::Request(request) if self.questions.owns(&request.id) => {
                self.guard
                    .warn("the server sent a request with an id of the guard's own; it is not passed on");
                Step::Nowhere
            }
            Message::Notification { method, members } => {
                match &*method {
                    "notifications/subscriptions/acknowledged" => self.acknowledged(&members),
                    "notifications/tools/list_changed" => self.listed.outdate(),
                    _ => {}
                }
                Step::ToClient(line)
            }
            Message::Request(_) => Step::ToClient(line),
            Message::Response { id: None, members } => {
                let reason = to_no_request(error_message(&members).as_deref());
                self.guard
                    .warn(&format!("the server sent {reason}; it is not passed on"));
                Step::Nowhere
            }
            Message::Response {
                id: Some(id),
                members,
            } => {
                let is_sent = |waiting: &Waiting| waiting.kind != Kind::Call || waiting.call.is_some();
                let answers = self.waiting.get(&id.text).is_some_and(is_sent);
                let Some(mut waiting) = answers.then(|| self.waiting.remove(&id.text)).flatten() else {
                    if let Some(at) = self.taken_back.iter().position(|known| *known == id.text) {
                        self.taken_back.remove(at);
                        return Step::Nowhere;
                    }
                    self.guard.warn(&format!(
                        "the server answered {}, which does not wait for an answer; it is not passed on",
                        id.json
                    ));
                    return Step::Nowhere;
                };
                let mut goes_on = None;
                if waiting.kind == Kind::Call {
                    let outcome = outcome_of(&members);
                    self.outcome(&waiting, outcome);
                    if outcome.0 == Outcome::Unfinished {
                        let approved = waiting.call.take().and_then(|sent| sent.approved);
                        goes_on = approved.and_then(|approved| self.is_unfinished(approved, &members));
                    }
                }
                if let Some(step) = self.reveals(&waiting.id, &members, &line) {
                    return step;
                }
                match waiting.kind {
                    Kind::Other | Kind::Call => Step::ToClient(goes_on.unwrap_or(line)),
                    Kind::List => Step::ToClient(self.list(&waiting, &members).unwrap_or(line)),
                }
            }
        }
    }

    /// The steps to take without a message.
    pub(super) fn by_itself(&mut self) -> Vec<Step> {
        let mut steps = self.released();
        steps.extend(self.late_errors());
        steps.extend(self.answered());
        steps.extend(self.list_changes());
        steps
    }

    /// Goes on with the calls that a person has been asked about, where there is something new.
    fn answered(&mut self) -> Vec<Step> {
        self.settled()
    }

    /// Notes that a request waits.
    fn begin(&mut self, request: &Request<'_>) -> Result<Kind, (i32, String)> {
        let kind = method::kind_of(&request.method).map_err(|reason| (reply::INVALID_REQUEST, reason))?;
        if let Some(known) = self.waiting.get(&request.id.text) {
            return Err((
                reply::INVALID_REQUEST,
                format!(
                    "the id {} is that of a request without an answer yet",
                    known.id.json
                ),
            ));
        }
        if self.taken_back.contains(&request.id.text) {
            return Err((
                reply::INVALID_REQUEST,
                format!(
                    "the id {} is that of a request that was cancelled",
                    request.id.json
                ),
            ));
        }
        if self.questions.owns(&request.id) || self.listing.owns(&request.id.text) {
            return Err((
                reply::INVALID_REQUEST,
                format!(
                    "the id {} is that of a request of the guard's own",
                    request.id.json
                ),
            ));
        }
        if self.waiting.len() >= IN_FLIGHT {
            return Err((
                reply::INTERNAL_ERROR,
                format!("{IN_FLIGHT} requests wait for their answers, expected fewer"),
            ));
        }
        if kind != Kind::Call {
            self.wait(&request.id, kind, None);
        }
        Ok(kind)
    }

    /// Forgets a request of the client's that the server has. It still hears that nobody wants an answer.
    fn take_back(&mut self, id: &Id) -> Option<Step> {
        // The guard's own requests are not the client's, and no server hears of their ids.
        let is_probe = matches!(self.openings.get(&id.text), Some(Opening::Probe(_)));
        if is_probe || self.questions.owns(id) || self.listing.owns(&id.text) {
            return Some(Step::Nowhere);
        }
        if self.listing.forget(&id.text) {
            self.waiting.remove(&id.text);
            self.openings.remove(&id.text);
            return Some(Step::Nowhere);
        }
        // A server may tell `1` from `"1"`, and would answer.
        if self.waiting.get(&id.text)?.id.json == id.json {
            let waiting = self.waiting.remove(&id.text)?;
            self.outcome(&waiting, (Outcome::Cancelled, None));
            self.openings.remove(&id.text);
            if self.taken_back.len() >= TAKEN_BACK {
                self.taken_back.pop_front();
            }
            self.taken_back.push_back(waiting.id.text);
        }
        None
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

    /// The answer to a text that is not a message.
    fn not_read(&self, text: &str, refused: &Refused) -> String {
        let code = match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => reply::INVALID_REQUEST,
            Err(_) => reply::PARSE_ERROR,
        };
        self.not_passed(refused.id.as_deref(), code, &refused.reason)
    }

    fn refuse(&self, id: Option<&str>, code: i32, reason: &str) -> Step {
        Step::ToClient(self.not_passed(id, code, reason))
    }

    /// The answer to a message that is not passed on.
    fn not_passed(&self, id: Option<&str>, code: i32, reason: &str) -> String {
        self.note_refused(reason);
        reply::error(
            id,
            code,
            &format!("Callgate does not pass this message on: {reason}"),
        )
    }

    fn note_refused(&self, reason: &str) {
        self.guard
            .warn(&format!("a message of the client is not passed on: {reason}"));
        self.guard.note_or_warn(&Record::Refused { reason });
    }
}

fn not_of_tools(method: &str) -> String {
    format!("`{method}`: with --only-tools clients may call tools and nothing else")
}

/// The id that a cancellation names.
fn cancelled_id(notification: &Members<'_>) -> Option<Id> {
    let params: Members<'_> = serde_json::from_str(notification.get("params")?.get()).ok()?;
    Id::read(params.get("requestId")?).ok()
}

fn approved(reason: &'static str, question: &str) -> Verdict<'static> {
    Verdict {
        decision: Decision::Allow,
        rule: "structural-approval".into(),
        reason: reason.into(),
        approval: Some(question.to_owned().into()),
    }
}

/// A denial of the guard's own.
fn denied(rule: &'static str, reason: String) -> Verdict<'static> {
    Verdict {
        decision: Decision::Deny,
        rule: rule.into(),
        reason: reason.into(),
        approval: None,
    }
}

#[cfg(test)]
mod tests;
