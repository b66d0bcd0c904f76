//! The list of tools: as the client is shown it, and as the guard asks for it before a call of a tool that is pinned.
//!
//! A tool may have changed since it was accepted, and a client need not list tools before it calls one. So the guard lists them
//! by itself, unless the client has, and again once the server says that they have changed. Calls wait for that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_jsontext::Members;
use serde_json::{Value, json};

use super::{Next, Relay, Step, Waiting};
use crate::Policy;
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
    asked: Option<Asked>,
    held: Vec<WaitingCall>,
    /// Why the last listing told nothing.
    failure: Option<&'static str>,
}

/// A page of tools that the server was asked for.
struct Asked {
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
    pub(super) fn hold(&mut self, request: &Request<'_>, call: &ToolCall<'_>) -> Option<Next> {
        let guard = &self.guard;
        let standing = self.standing(&guard.policy(), &call.name);
        let waits = !guard.observes && self.stopped.is_none();
        if !waits || standing != Standing::Unknown || self.listing.held.len() >= WAITING {
            return None;
        }
        self.wait(&request.id, Kind::Call, None);
        let id = request.id.clone();
        let message = String::new();
        self.listing.held.push(WaitingCall { id, message });
        let step = match &self.listing.asked {
            Some(_) => Step::Nowhere,
            None => self.list_tools(revision_of(request.members.get("params"))),
        };
        Some(Next::Hold(step))
    }

    /// The standing of a tool: it may be called, or not until a person has accepted it.
    pub(super) fn standing(&self, policy: &Policy, tool: &str) -> Standing {
        self.listed.standing(policy.pins.as_ref(), tool)
    }

    fn list_tools(&mut self, revision: Option<String>) -> Step {
        let asked = Asked {
            id: self.own_id(),
            edition: self.listed.edition(),
            deadline: Instant::now() + PATIENCE,
            pages: 0,
            revision,
        };
        self.ask_for_page(asked, None)
    }

    fn ask_for_page(&mut self, asked: Asked, cursor: Option<&str>) -> Step {
        let mut params = serde_json::Map::new();
        if let Some(cursor) = cursor {
            params.insert("cursor".to_owned(), json!(cursor));
        }
        if let Some(revision) = &asked.revision {
            params.insert("_meta".to_owned(), reply::own_meta(revision));
        }
        let text = reply::request(&asked.id, "tools/list", &Value::Object(params));
        self.listing.asked = Some(asked);
        Step::ToServer(text)
    }

    /// The server's answer to the guard's own request: a page of tools, or an error.
    pub(super) fn tools_listed(&mut self, answer: &Members<'_>) -> Step {
        let Some(mut asked) = self.listing.asked.take() else {
            return Step::Nowhere;
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
            return Step::Nowhere;
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
            return Step::Nowhere;
        }
        if asked.pages >= PAGES {
            self.listing.fail(UNREADABLE);
            return Step::Nowhere;
        }
        // A list that changes while it is read is read again.
        asked.edition = edition;
        asked.id = self.own_id();
        self.ask_for_page(asked, cursor.as_deref().filter(|_| is_new))
    }

    /// The calls that waited for a list of tools, once it is there or cannot be had.
    pub(crate) fn released(&mut self) -> Vec<Step> {
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
    pub(super) fn end_listing(&mut self) -> Vec<Step> {
        self.listing.fail(NOT_LISTED);
        self.release_held()
    }

    fn release_held(&mut self) -> Vec<Step> {
        let held = std::mem::take(&mut self.listing.held);
        held.into_iter().map(|held| self.release(held)).collect()
    }

    fn release(&mut self, WaitingCall { id, message }: WaitingCall) -> Step {
        // Nobody waits for it any more.
        if self.waiting.remove(&id.text).is_none() {
            return Step::Nowhere;
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
        if matches!(step, Step::ToClient(_)) && !self.waiting.contains_key(&id.text) {
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
                let is_held_back = self.guard.lists(&policy, listed, tool, text);
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
mod tests {
    use super::super::tests::{call, client, gate, relay_with, to_client};
    use super::*;
    use crate::Lock;

    const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

    fn tool() -> Value {
        json!({"name": "read", "description": "Reads."})
    }

    fn pinned() -> Relay {
        let mut lock = Lock::default();
        lock.accept("files", &[tool()]).unwrap();
        relay_with(|options| options.pins = Some(lock.pins("files")))
    }

    fn reading(id: u32) -> String {
        call(
            &id.to_string(),
            r#"{"name":"read","arguments":{"path":"/work/a"}}"#,
        )
    }

    /// The guard's own request.
    #[track_caller]
    fn asked(step: Step) -> Value {
        let Step::ToServer(text) = step else {
            panic!("{step:?}")
        };
        let asked: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(asked["method"], "tools/list");
        asked
    }

    fn page(to: &Value, tools: &[Value], more: Option<&str>) -> String {
        let mut result = json!({"tools": tools});
        if let Some(more) = more {
            result["nextCursor"] = json!(more);
        }
        json!({"jsonrpc": "2.0", "id": to["id"], "result": result}).to_string()
    }

    fn rule(step: Step) -> Value {
        to_client(step)["result"]["_meta"]["callgate/rule"].clone()
    }

    #[test]
    fn calls_wait_until_the_guard_has_seen_all_pages() {
        let mut relay = pinned();
        let first = asked(client(&mut relay, &reading(1)));
        assert_eq!(client(&mut relay, &reading(2)), Step::Nowhere);
        assert_eq!(relay.released(), []);
        let second = asked(relay.server_sent(page(&first, &[json!({"name": "wait"})], Some("c"))));
        assert_eq!(second["params"]["cursor"], "c");
        assert_eq!(relay.released(), []);
        assert_eq!(relay.server_sent(page(&second, &[tool()], None)), Step::Nowhere);
        let sent = [Step::ToServer(reading(1)), Step::ToServer(reading(2))];
        assert_eq!(relay.released(), sent);
        assert_eq!(client(&mut relay, &reading(3)), Step::ToServer(reading(3)));
    }

    #[test]
    fn another_process_of_the_server_lists_its_tools_itself() {
        let mut relay = pinned();
        let listed = asked(client(&mut relay, &reading(1)));
        relay.server_sent(page(&listed, &[tool()], None));
        assert_eq!(relay.released(), [Step::ToServer(reading(1))]);
        // It may be of another version.
        let mut other = Relay::new(Arc::clone(&relay.guard));
        let listed = asked(client(&mut other, &reading(1)));
        other.server_sent(page(
            &listed,
            &[json!({"name": "read", "description": "Writes."})],
            None,
        ));
        let [step] = <[Step; 1]>::try_from(other.released()).unwrap();
        assert_eq!(rule(step), "structural-unpinned-tool");
        assert_eq!(client(&mut relay, &reading(2)), Step::ToServer(reading(2)));
        // What one says of its tools may be so for all.
        other.server_sent(LIST_CHANGED.to_owned());
        asked(client(&mut relay, &reading(3)));
    }

    #[test]
    fn an_answer_from_before_a_change_says_nothing_of_the_tools() {
        let list = |relay: &mut Relay, id: u32| {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
            client(relay, &request.to_string());
        };
        let mut relay = pinned();
        list(&mut relay, 7);
        list(&mut relay, 8);
        relay.server_sent(LIST_CHANGED.to_owned());
        relay.server_sent(page(&json!({"id": 7}), &[tool()], None));
        let own = asked(client(&mut relay, &reading(1)));
        // What is listed anew is not forgotten for what was asked before.
        let changed = json!({"name": "read", "description": "Writes."});
        relay.server_sent(page(&own, std::slice::from_ref(&changed), None));
        let [step] = <[Step; 1]>::try_from(relay.released()).unwrap();
        assert_eq!(rule(step), "structural-unpinned-tool");
        relay.server_sent(page(&json!({"id": 8}), &[tool()], None));
        assert_eq!(rule(client(&mut relay, &reading(2))), "structural-unpinned-tool");
        // A late answer shows nothing that was not accepted, either.
        let mut relay = pinned();
        list(&mut relay, 7);
        relay.server_sent(LIST_CHANGED.to_owned());
        let shown = to_client(relay.server_sent(page(&json!({"id": 7}), &[changed], None)));
        assert_eq!(shown["result"]["tools"], json!([]));
        // A tool that is gone since is not called.
        let mut relay = pinned();
        let first = asked(client(&mut relay, &reading(1)));
        relay.server_sent(LIST_CHANGED.to_owned());
        let second = asked(relay.server_sent(page(&first, &[tool()], None)));
        relay.server_sent(page(&second, &[json!({"name": "wait"})], None));
        let [step] = <[Step; 1]>::try_from(relay.released()).unwrap();
        assert_eq!(rule(step), "structural-unpinned-tool");
    }

    #[test]
    fn a_change_is_looked_at_before_the_next_call() {
        let mut relay = pinned();
        let first = asked(client(&mut relay, &reading(1)));
        relay.server_sent(page(&first, &[tool()], None));
        assert_eq!(relay.released(), [Step::ToServer(reading(1))]);
        assert!(matches!(
            relay.server_sent(LIST_CHANGED.to_owned()),
            Step::ToClient(_)
        ));
        let second = asked(client(&mut relay, &reading(2)));
        // It changes while it is listed.
        relay.server_sent(LIST_CHANGED.to_owned());
        let third = asked(relay.server_sent(page(&second, &[tool()], None)));
        let changed = json!({"name": "read", "description": "Writes."});
        relay.server_sent(page(&third, &[changed], None));
        let [step] = <[Step; 1]>::try_from(relay.released()).unwrap();
        assert_eq!(rule(step), "structural-unpinned-tool");
    }

    #[test]
    fn tools_that_are_pinned_later_are_listed_again() {
        let mut relay = relay_with(|_| ());
        client(&mut relay, r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#);
        relay.server_sent(page(&json!({"id": 7}), &[tool()], None));
        let mut lock = Lock::default();
        lock.accept("files", &[tool()]).unwrap();
        let policy = r#"{"rules": []}"#;
        relay
            .guard
            .reload(gate(policy), Some(lock.pins("files")))
            .unwrap();
        let listed = asked(client(&mut relay, &reading(1)));
        relay.server_sent(page(&listed, &[tool()], None));
        assert_eq!(relay.released(), [Step::ToServer(reading(1))]);
    }

    #[test]
    fn a_tool_that_cannot_be_compared_is_neither_shown_nor_called() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for part in [r#""\ud800""#, "1e400", &deep, r#"{"a":1,"a":2}"#] {
            for name in ["inputSchema", "later"] {
                let mut relay = pinned();
                client(&mut relay, r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#);
                let list = format!(
                    r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{{"name":"read","description":"Reads.","{name}":{part}}}]}}}}"#
                );
                let shown = to_client(relay.server_sent(list.clone()));
                assert_eq!(shown["result"]["tools"], json!([]), "{list}");
                assert_eq!(rule(client(&mut relay, &reading(1))), "structural-unpinned-tool");
                // The guard's own listing says the same.
                let mut relay = pinned();
                let own = asked(client(&mut relay, &reading(1)));
                let list = list.replace("\"id\":7", &format!("\"id\":{}", own["id"]));
                assert_eq!(relay.server_sent(list), Step::Nowhere);
                let [step] = <[Step; 1]>::try_from(relay.released()).unwrap();
                assert_eq!(rule(step), "structural-unpinned-tool");
            }
        }
    }

    #[test]
    fn a_server_that_does_not_list_its_tools_gets_no_call() {
        let error = |to: &Value| {
            json!({"jsonrpc": "2.0", "id": to["id"], "error": {"code": -32601, "message": "no"}}).to_string()
        };
        let mut relay = pinned();
        let first = asked(client(&mut relay, &reading(1)));
        relay.server_sent(error(&first));
        let [step] = <[Step; 1]>::try_from(relay.released()).unwrap();
        assert_eq!(rule(step), "structural-unpinned-tool");
        // It is asked again for the next one, and says nothing.
        let second = asked(client(&mut relay, &reading(2)));
        assert_ne!(second["id"], first["id"]);
        relay.listing.asked.as_mut().unwrap().deadline = Instant::now();
        let [step] = <[Step; 1]>::try_from(relay.by_itself()).unwrap();
        assert_eq!(rule(step), "structural-unpinned-tool");
        // Then it is too late.
        assert_eq!(relay.server_sent(page(&second, &[tool()], None)), Step::Nowhere);
        assert_eq!(relay.released(), []);
    }

    #[test]
    fn a_call_that_waits_can_be_taken_back_and_the_guards_own_request_cannot() {
        let cancel = |id: &Value| {
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
                .to_string()
        };
        let mut relay = pinned();
        let first = asked(client(&mut relay, &reading(1)));
        assert_eq!(client(&mut relay, &cancel(&first["id"])), Step::Nowhere);
        assert_eq!(client(&mut relay, &cancel(&json!(1))), Step::Nowhere);
        relay.server_sent(page(&first, &[tool()], None));
        assert_eq!(relay.released(), []);
        assert_eq!(client(&mut relay, &reading(1)), Step::ToServer(reading(1)));
    }
}
