//! The list of tools: as the client is shown it, and as the guard asks for it before a call of a tool that is pinned.
//!
//! A tool may have changed since it was accepted, and a client need not list tools before it calls one. So the guard lists them
//! by itself, unless the client has, and again once the server says that they have changed. Calls wait for that.

use std::sync::Arc;
use std::time::Duration;

use callgate_host::Instant;
use callgate_jsontext::Members;
use serde_json::{Value, json};

use super::{Delivery, Disposition, Relay, Waiting};
use crate::listed::Standing;
use crate::message::{Id, Message, Request, ToolCall, text_of};
use crate::method::Kind;
use crate::reply::{self, revision_of};
use crate::tools::filtered;

/// How long a server may take to list its tools, and on how many pages.
const PATIENCE: Duration = Duration::from_secs(10);
const PAGES: usize = 1_000;

/// How many tools a warning names.
const NAMED: usize = 10;

/// How many calls may wait for that.
const WAITING: usize = 1_024;

pub(super) const NOT_LISTED: &str =
    "The server has not listed its tools, so the pinned tool cannot be verified";
const LATE: &str =
    "The server has not listed its tools within 10 seconds, so the pinned tool cannot be verified";
const UNREADABLE: &str = "The server's list of tools cannot be read, so the pinned tool cannot be verified";

/// The guard's own listing of tools, and the calls that wait for it.
#[derive(Default)]
pub(super) struct Listing {
    asked: Option<PageRequest>,
    held: Vec<WaitingCall>,
    /// Why the last listing told nothing.
    failure: Option<&'static str>,
}

/// A page of tools that the server was asked for.
struct PageRequest {
    id: Id,
    edition: u64,
    deadline: Instant,
    pages: usize,
    /// The revision that the request says, in the modern era.
    revision: Option<String>,
}

/// A call that waits.
struct WaitingCall {
    id: Id,
    message: String,
}

impl Listing {
    /// Returns `true` if the id is that of the guard's own request.
    pub(super) fn owns(&self, id: &str) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.id.text == id)
    }

    /// The message of the call that waits since now.
    pub(super) fn keep(&mut self, message: String) {
        if let Some(held) = self.held.last_mut() {
            held.message = message;
        }
    }

    /// Forgets a call. Returns `true` if it waited.
    pub(super) fn forget(&mut self, id: &str) -> bool {
        let before = self.held.len();
        self.held.retain(|held| held.id.text != id);
        self.held.len() < before
    }

    /// Why it is not known what a tool is.
    pub(super) fn failure(&self) -> &'static str {
        self.failure.unwrap_or(NOT_LISTED)
    }

    /// The listing tells nothing; the calls that wait go on, and are denied.
    pub(super) fn fail(&mut self, reason: &'static str) {
        self.asked = None;
        self.failure = Some(reason);
    }
}

impl Relay {
    /// Has a call wait for the list of tools, if it is of one that is pinned and that the server has not listed.
    pub(super) fn hold(&mut self, request: &Request<'_>, call: &ToolCall<'_>) -> Option<Disposition> {
        if !self.is_unlisted(&call.name) || self.listing.held.len() >= WAITING {
            return None;
        }
        self.wait(&request.id, Kind::Call, None);
        let id = request.id.clone();
        let message = String::new();
        self.listing.held.push(WaitingCall { id, message });
        let step = match &self.listing.asked {
            Some(_) => Delivery::Nowhere,
            None => self.list_tools(revision_of(request.members.get("params"))),
        };
        Some(Disposition::Hold(step))
    }

    /// Returns `true` if the server has to list its tools before it is known what the tool is.
    fn is_unlisted(&self, tool: &str) -> bool {
        let waits = !self.guard.observes && self.stopped.is_none();
        waits && self.standing(&self.guard.policy(), tool) == Standing::Unknown
    }

    /// The step for a call that goes on once the server has listed its tools; `None` if it need not wait for that, or not any
    /// more.
    pub(super) fn lists_first(&mut self, tool: &str, revision: Option<String>) -> Option<Delivery> {
        if !self.is_unlisted(tool) || self.listing.failure.is_some() {
            return None;
        }
        Some(match &self.listing.asked {
            Some(_) => Delivery::Nowhere,
            None => self.list_tools(revision),
        })
    }

    fn list_tools(&mut self, revision: Option<String>) -> Delivery {
        let asked = PageRequest {
            id: self.own_id(),
            edition: self.listed.edition(),
            deadline: Instant::now() + PATIENCE,
            pages: 0,
            revision,
        };
        self.ask_for_page(asked, None)
    }

    fn ask_for_page(&mut self, asked: PageRequest, cursor: Option<&str>) -> Delivery {
        let mut params = serde_json::Map::new();
        if let Some(cursor) = cursor {
            params.insert("cursor".to_owned(), json!(cursor));
        }
        if let Some(revision) = &asked.revision {
            params.insert("_meta".to_owned(), reply::own_meta(revision));
        }
        let text = reply::request(&asked.id, "tools/list", &Value::Object(params));
        self.listing.asked = Some(asked);
        Delivery::ToServer(text)
    }

    /// The server's answer to the guard's own request: a page of tools, or an error.
    pub(super) fn tools_listed(&mut self, answer: &Members<'_>) -> Delivery {
        let Some(mut asked) = self.listing.asked.take() else {
            return Delivery::Nowhere;
        };
        let guard = &self.guard;
        let policy = guard.policy();
        let read = filtered(answer, |tool, text| {
            guard.lists(&policy, (&self.listed, asked.edition), tool, text);
            false
        });
        if read.is_err() || answer.get("result").is_none() {
            guard.warn("the server's list of tools cannot be read, so no tool that is pinned can be called");
            self.listing.fail(UNREADABLE);
            return Delivery::Nowhere;
        }
        let result: Option<Members<'_>> = answer
            .get("result")
            .and_then(|result| serde_json::from_str(result.get()).ok());
        let cursor = text_of(result.and_then(|result| result.get("nextCursor")));
        let edition = self.listed.edition();
        asked.pages += 1;
        let (is_whole, is_new) = (cursor.is_none(), edition == asked.edition);
        if is_whole && is_new {
            self.listed.complete(edition);
            self.listing.failure = None;
            return Delivery::Nowhere;
        }
        if asked.pages >= PAGES {
            self.listing.fail(UNREADABLE);
            return Delivery::Nowhere;
        }
        // A list that changes while it is read is read again.
        asked.edition = edition;
        asked.id = self.own_id();
        self.ask_for_page(asked, cursor.as_deref().filter(|_| is_new))
    }

    /// The calls that waited for a list of tools, once it is there or cannot be had.
    pub(crate) fn released(&mut self) -> Vec<Delivery> {
        if let Some(asked) = &self.listing.asked {
            if Instant::now() < asked.deadline {
                return Vec::new();
            }
            self.guard
                .warn("the server does not list its tools, so no tool that is pinned can be called");
            self.listing.fail(LATE);
        }
        self.release_held()
    }

    /// The same for calls that will not be sent, whatever the server lists.
    pub(super) fn end_listing(&mut self) -> Vec<Delivery> {
        self.listing.fail(NOT_LISTED);
        self.release_held()
    }

    fn release_held(&mut self) -> Vec<Delivery> {
        let held = std::mem::take(&mut self.listing.held);
        held.into_iter().map(|held| self.release(held)).collect()
    }

    fn release(&mut self, WaitingCall { id, message }: WaitingCall) -> Delivery {
        // Nobody waits for it any more.
        if self.waiting.remove(&id.text).is_none() {
            return Delivery::Nowhere;
        }
        let Ok(Message::Request(request)) = Message::read(&message) else {
            return self.refuse(
                Some(&id.json),
                reply::INTERNAL_ERROR,
                "the call cannot be read again",
            );
        };
        let next = self.call_now(&message, &request);
        let step = self.follow(next, message);
        if matches!(step, Delivery::ToClient(_)) && !self.waiting.contains_key(&id.text) {
            self.openings.remove(&id.text);
        }
        step
    }

    /// The tools that the client may know of. `None` if there is nothing to leave out.
    pub(super) fn list(&self, request: &Waiting, answer: &Members<'_>) -> Option<String> {
        if self.guard.observes {
            return None;
        }
        let mut policy = self.guard.policy();
        let mut held_back = Vec::new();
        let shown = loop {
            held_back.clear();
            let shown = filtered(answer, |tool, text| {
                let listed = (&*self.listed, request.edition);
                // A request at a proxy stands by itself: who sends the answer there could have any names remembered.
                let is_held_back = !self.is_proxied && self.guard.lists(&policy, listed, tool, text);
                if is_held_back {
                    held_back.push(format!("`{tool}`"));
                }
                is_held_back || self.guard.hides(&policy, tool)
            });
            // A reload that came meanwhile may not have known of these tools, and has told nobody.
            let now = self.guard.policy();
            if Arc::ptr_eq(&policy, &now) {
                break shown;
            }
            policy = now;
        };
        if !held_back.is_empty() {
            let count = held_back.len();
            held_back.truncate(NAMED);
            let (names, more) = (held_back.join(", "), if count > NAMED { ", …" } else { "" });
            self.guard.warn(&format!(
                "{count} tools are held back until `callgate pin` accepts them as they are: {names}{more}"
            ));
        }
        match shown {
            Ok(shown) => shown,
            Err(reason) => {
                self.guard.warn(reason);
                Some(reply::error(
                    Some(&request.id.json),
                    reply::INTERNAL_ERROR,
                    reason,
                ))
            }
        }
    }

    /// An id for a request of the guard's own.
    pub(super) fn own_id(&self) -> Id {
        let text = format!("callgate/{}", self.guard.number());
        let json = Value::String(text.clone()).to_string();
        Id { json, text }
    }
}

#[cfg(test)]
mod tests;
