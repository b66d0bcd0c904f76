//! What comes from the server: passed on, or taken as the answer to a request of the guard's own.

use super::answers::{error_message, outcome_of, to_no_request};
use super::{Delivery, Outcome, Relay, Waiting};
use crate::lines::unbroken;
use crate::message::Message;
use crate::method::Kind;
use crate::tools::write_with;

impl Relay {
    /// A message of the server.
    pub(crate) fn server_sent(&mut self, line: String) -> Delivery {
        let line = unbroken(line);
        if line.trim().is_empty() {
            return Delivery::Nowhere;
        }
        let message = match Message::read(&line) {
            Ok(message) => message,
            Err(refused) => {
                self.guard
                    .warn(&format!("the server sent {refused}; it is not passed on"));
                return Delivery::Nowhere;
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
                Delivery::Nowhere
            }
            Message::Notification { method, members } => {
                match &*method {
                    "notifications/subscriptions/acknowledged" => self.acknowledged(&members),
                    "notifications/tools/list_changed" => self.listed.outdate(),
                    _ => {}
                }
                Delivery::ToClient(line)
            }
            Message::Request(_) => Delivery::ToClient(line),
            Message::Response { id: None, members } => {
                let reason = to_no_request(error_message(&members).as_deref());
                self.guard
                    .warn(&format!("the server sent {reason}; it is not passed on"));
                Delivery::Nowhere
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
                        return Delivery::Nowhere;
                    }
                    self.guard.warn(&format!(
                        "the server answered {}, which does not wait for an answer; it is not passed on",
                        id.json
                    ));
                    return Delivery::Nowhere;
                };
                let mut continuation = None;
                if waiting.kind == Kind::Call {
                    let outcome = outcome_of(&members);
                    self.outcome(&waiting, outcome);
                    if outcome.0 == Outcome::Unfinished {
                        let approved = waiting.call.take().and_then(|sent| sent.approved);
                        continuation =
                            approved.and_then(|approved| self.remember_unfinished(approved, &members));
                    }
                }
                if let Some(step) = self.reveals(&waiting.id, &members, &line) {
                    return step;
                }
                match waiting.kind {
                    Kind::Other | Kind::Call => Delivery::ToClient(continuation.unwrap_or(line)),
                    Kind::List => Delivery::ToClient(self.list(&waiting, &members).unwrap_or(line)),
                }
            }
        }
    }
}
