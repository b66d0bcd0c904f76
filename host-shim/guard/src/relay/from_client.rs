//! What comes from the client: read, and passed on, answered or refused.

use callgate_jsontext::Members;

use super::answers::to_no_request;
use super::eras::Opening;
use super::{Delivery, Outcome, Relay};
use crate::lines::unbroken;
use crate::message::{Id, Message, Refused, Request};
use crate::method::{self, Kind};
use crate::record::Record;
use crate::reply;

/// How many requests of a client may wait for their answers.
const IN_FLIGHT: usize = 65_536;

/// How many requests that were taken back are remembered, so that their ids are not used again before an answer that comes late.
const TAKEN_BACK: usize = 4_096;

impl Relay {
    /// A message of the client.
    pub(crate) fn client_sent(&mut self, line: String) -> Delivery {
        let line = unbroken(line);
        if line.trim().is_empty() {
            return Delivery::Nowhere;
        }
        let message = match Message::read(&line) {
            Ok(message) => message,
            Err(refused) => return Delivery::ToClient(self.not_read(&line, &refused)),
        };
        if let Err(reason) = message.check_params() {
            return match message {
                Message::Request(request) => {
                    self.refuse(Some(&request.id.json), reply::INVALID_PARAMS, &reason)
                }
                Message::Notification { .. } | Message::Response { .. } => {
                    Delivery::Refused(self.not_passed(None, reply::INVALID_PARAMS, &reason))
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
                        if matches!(step, Delivery::ToClient(_)) {
                            self.openings.remove(&id);
                        }
                        step
                    }
                    (None, Kind::List | Kind::Other) => {
                        if request.method == "initialize" {
                            self.questions.initialized(&request);
                        }
                        self.subscribes(&request);
                        Delivery::ToServer(line)
                    }
                },
                Err((code, reason)) => self.refuse(Some(&request.id.json), code, &reason),
            },
            Message::Notification { method, members } if method == "notifications/cancelled" => {
                // A server that has not seen the call does not hear of it.
                let id = cancelled_id(&members);
                let step = id.and_then(|id| self.cancelled(&id.text).or_else(|| self.take_back(&id)));
                step.unwrap_or(Delivery::ToServer(line))
            }
            Message::Notification { method, .. } => match method::kind_of(&method) {
                Ok(Kind::Other) if self.keeps_notification(&method) => {
                    Delivery::Refused(self.not_passed(None, reply::METHOD_NOT_FOUND, &not_of_tools(&method)))
                }
                Ok(Kind::Other) => {
                    if method == "notifications/initialized" {
                        self.changes.begin();
                    }
                    Delivery::ToServer(line)
                }
                Ok(Kind::Call | Kind::List) => Delivery::Refused(self.not_passed(
                    None,
                    reply::INVALID_REQUEST,
                    &format!("`{method}` as a notification, expected a request"),
                )),
                Err(reason) => Delivery::Refused(self.not_passed(None, reply::INVALID_REQUEST, &reason)),
            },
            Message::Response {
                id: Some(id),
                members,
            } if self.questions.owns(&id) => self.form_answered(&id, &members),
            Message::Response { id: Some(_), .. } => Delivery::ToServer(line),
            Message::Response { id: None, .. } => {
                Delivery::Refused(self.not_passed(None, reply::INVALID_REQUEST, &to_no_request(None)))
            }
        }
    }

    /// The answer to a request that would reach something of the server other than its tools, where clients may not.
    fn keeps_from(&self, request: &Request<'_>) -> Option<Delivery> {
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
    pub(crate) fn unreadable(&self, what: &str) -> Delivery {
        self.refuse(None, reply::PARSE_ERROR, what)
    }

    /// Notes that a request waits.
    pub(super) fn begin(&mut self, request: &Request<'_>) -> Result<Kind, (i32, String)> {
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
    pub(super) fn take_back(&mut self, id: &Id) -> Option<Delivery> {
        // The guard's own requests are not the client's, and no server hears of their ids.
        let is_probe = matches!(self.openings.get(&id.text), Some(Opening::Probe(_)));
        if is_probe || self.questions.owns(id) || self.listing.owns(&id.text) {
            return Some(Delivery::Nowhere);
        }
        if self.listing.forget(&id.text) {
            self.waiting.remove(&id.text);
            self.openings.remove(&id.text);
            return Some(Delivery::Nowhere);
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

    /// The answer to a text that is not a message.
    pub(super) fn not_read(&self, text: &str, refused: &Refused) -> String {
        let code = match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => reply::INVALID_REQUEST,
            Err(_) => reply::PARSE_ERROR,
        };
        self.not_passed(refused.id.as_deref(), code, &refused.reason)
    }

    pub(super) fn refuse(&self, id: Option<&str>, code: i32, reason: &str) -> Delivery {
        Delivery::ToClient(self.not_passed(id, code, reason))
    }

    /// The answer to a message that is not passed on.
    pub(super) fn not_passed(&self, id: Option<&str>, code: i32, reason: &str) -> String {
        self.note_refused(reason);
        reply::error(
            id,
            code,
            &format!("Callgate does not pass this message on: {reason}"),
        )
    }

    pub(super) fn note_refused(&self, reason: &str) {
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
