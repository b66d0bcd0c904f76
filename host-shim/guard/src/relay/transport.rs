//! The relay, as a transport sees it that answers each request by itself.

use callgate_jsontext::Members;

use super::listing::NOT_LISTED;
use super::{Delivery, Opening, Relay, Waiting, reply};
use crate::lines::unbroken;
use crate::message::{Id, Message, Refused, check_names};
use crate::method::Kind;
use crate::reply::HEADER_MISMATCH;

impl Relay {
    /// The server will not answer a request: gives what the client is told in place of the answer, if it waits for one.
    pub(crate) fn lost(&mut self, id: &str, reason: &str) -> Option<String> {
        if self.listing.owns(id) {
            self.listing.fail(NOT_LISTED);
            return None;
        }
        let opening = self.openings.remove(id);
        self.lose_question(id);
        let waiting = self.waiting.remove(id)?;
        match opening {
            Some(Opening::Probe(held)) => Some(held.line),
            Some(Opening::Initialize(_) | Opening::Discover(_) | Opening::Modern(_)) | None => {
                Some(self.unanswered(&waiting, reason))
            }
        }
    }

    /// A message of the server on a stream that belongs to no request known here, such as one that goes on with an earlier
    /// stream: an answer passes, and a list of tools in it is filtered.
    pub(crate) fn server_spoke(&mut self, line: String) -> Delivery {
        let line = unbroken(line);
        let answer = match Message::read(&line) {
            Ok(Message::Response {
                id: Some(id),
                members,
            }) => Some((id, members)),
            Ok(_) | Err(_) => None,
        };
        let Some((id, members)) = answer else {
            return self.server_sent(line);
        };
        let listed = may_list_tools(&members).then(|| {
            let waiting = Waiting {
                id,
                kind: Kind::List,
                edition: self.listed.edition(),
                call: None,
            };
            self.list(&waiting, &members)
        });
        Delivery::ToClient(listed.flatten().unwrap_or(line))
    }

    /// Returns `true` if a request waits for the server.
    pub(crate) fn waits(&self, id: &str) -> bool {
        self.waiting.contains_key(id)
    }

    /// Returns `true` if an answer to a request waits for the server to say what it is.
    pub(crate) fn holds(&self, id: &str) -> bool {
        let is_held = |opening: &Opening| matches!(opening, Opening::Probe(held) if held.id.text == id);
        self.openings.values().any(is_held)
    }

    /// Returns `true` if the client and the server have begun with `initialize`.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Refuses a text that is not a message; gives the answer.
    pub(crate) fn unread(&self, text: &str, refused: &Refused) -> String {
        self.not_read(text, refused)
    }

    /// Refuses a request because another with its id is still to be answered; gives the answer.
    pub(crate) fn repeated(&self, id: &Id) -> String {
        let reason = format!("the id {} is that of a request without an answer yet", id.json);
        self.not_passed(Some(&id.json), reply::INVALID_REQUEST, &reason)
    }

    /// Refuses a message whose headers say something else; gives the answer.
    pub(crate) fn mismatched(&self, id: Option<&str>, reason: &str) -> String {
        self.note_refused(reason);
        reply::error(id, HEADER_MISMATCH, reason)
    }
}

/// Returns `true` if some reader may find a list of tools in an answer.
fn may_list_tools(answer: &Members<'_>) -> bool {
    let Some(result) = answer.get("result") else {
        return false;
    };
    match serde_json::from_str::<Members<'_>>(result.get()) {
        Ok(result) => result.get("tools").is_some() || check_names(&result, &["tools"]).is_err(),
        Err(_) => false,
    }
}
