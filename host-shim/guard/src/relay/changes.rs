//! Tells the client that the list of tools changed, once a reload hides other tools than before.
//!
//! To revision 2025-11-25 a server says in `initialize` whether it tells of such changes, and then tells every client. Behind
//! the guard the list may change whatever the server is like, so the guard says so in its place. From revision 2026-07-28 on
//! clients are told what they have subscribed to, and the server says what of that it will tell; the guard adds nothing to
//! that, and tells those whose subscription the server acknowledged for tools:
//! <https://modelcontextprotocol.io/specification/draft/basic/patterns/subscriptions>.

use callgate_jsontext::Members;
use serde_json::value::RawValue;

use super::{Delivery, Relay};
use crate::message::{Id, Request, check_names};
use crate::reply;
use crate::tools::write_with;

/// How many subscriptions of a client are remembered.
const SUBSCRIPTIONS: usize = 64;

/// The state of the list of tools as a client knows it.
pub(super) struct ListChanges {
    /// The number of the last change that it needs no word of.
    told: u64,
    /// `true` if the answer to `initialize` promises to announce changes, and the client has begun since: until then it
    /// is told nothing.
    is_announced: bool,
    has_begun: bool,
    /// The subscriptions of a client of the modern era.
    subscriptions: Vec<Subscription>,
}

/// A request of the modern era to be told of changes in the list of tools.
struct Subscription {
    id: Id,
    is_acknowledged: bool,
}

impl ListChanges {
    pub(super) fn since(told: u64) -> Self {
        Self {
            told,
            is_announced: false,
            has_begun: false,
            subscriptions: Vec::new(),
        }
    }

    /// The client has begun.
    pub(super) fn begin(&mut self) {
        self.has_begun = true;
    }
}

impl Relay {
    /// Notes that a client wants to hear of changes in the list of tools.
    pub(super) fn subscribes(&mut self, request: &Request<'_>) {
        if request.method != "subscriptions/listen" || !wants_tools(&request.members) {
            return;
        }
        self.forget_subscriptions();
        let subscriptions = &mut self.changes.subscriptions;
        if subscriptions.len() < SUBSCRIPTIONS {
            subscriptions.push(Subscription {
                id: request.id.clone(),
                is_acknowledged: false,
            });
        }
    }

    /// Notes that the server will tell a client of changes.
    pub(super) fn acknowledged(&mut self, notification: &Members<'_>) {
        let Some(id) = params_of(notification).and_then(|params| {
            let meta = object(params.get("_meta")?)?;
            Id::read(meta.get("io.modelcontextprotocol/subscriptionId")?).ok()
        }) else {
            return;
        };
        if wants_tools(notification) {
            let mut subscriptions = self.changes.subscriptions.iter_mut();
            if let Some(subscription) = subscriptions.find(|subscription| subscription.id == id) {
                subscription.is_acknowledged = true;
            }
        }
    }

    /// The answer to `initialize`, where it has to say that changes in the list of tools are told.
    pub(super) fn announced(&mut self, answer: &Members<'_>) -> Option<Delivery> {
        if self.guard.observes {
            return None;
        }
        let result = answer.get("result").and_then(object)?;
        let capabilities = result.get("capabilities").and_then(object)?;
        let tools = capabilities.get("tools").and_then(object)?;
        let names = [&result, &capabilities, &tools];
        if names.iter().any(|members| check_names(members, &[]).is_err()) {
            return None;
        }
        self.changes.is_announced = true;
        if tools.get("listChanged").is_some_and(|told| told.get() == "true") {
            return None;
        }
        let tools = write_with(&tools, "listChanged", "true");
        let capabilities = write_with(&capabilities, "tools", &tools);
        let result = write_with(&result, "capabilities", &capabilities);
        Some(Delivery::ToClient(write_with(answer, "result", &result)))
    }

    /// Tells the client that other tools are hidden than it knows of.
    pub(super) fn list_changes(&mut self) -> Vec<Delivery> {
        let now = self.guard.list_changes();
        if self.changes.told == now {
            return Vec::new();
        }
        let mut steps = Vec::new();
        if self.changes.is_announced && self.changes.has_begun {
            steps.push(Delivery::ToClient(reply::list_changed(None)));
        }
        self.forget_subscriptions();
        let subscriptions = self.changes.subscriptions.iter();
        let told = subscriptions.filter(|subscription| subscription.is_acknowledged);
        steps
            .extend(told.map(|subscription| Delivery::ToClient(reply::list_changed(Some(&subscription.id)))));
        if !steps.is_empty() {
            self.changes.told = now;
        }
        steps
    }

    /// A subscription lasts for as long as its request waits.
    fn forget_subscriptions(&mut self) {
        let waiting = &self.waiting;
        let subscriptions = &mut self.changes.subscriptions;
        subscriptions.retain(|subscription| waiting.contains_key(&subscription.id.text));
    }
}

/// Returns `true` if a subscription, or the server's word on it, is about the list of tools.
fn wants_tools(message: &Members<'_>) -> bool {
    params_of(message)
        .and_then(|params| object(params.get("notifications")?))
        .and_then(|wanted| wanted.get("toolsListChanged").map(RawValue::get))
        .is_some_and(|wanted| wanted == "true")
}

fn params_of<'m>(message: &Members<'m>) -> Option<Members<'m>> {
    object(message.get("params")?)
}

fn object(value: &RawValue) -> Option<Members<'_>> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{client, gate, relay, relay_with, to_client};
    use super::*;

    /// Lets calls of `wait` through, which no rule decides about otherwise.
    const WAITS: &str =
        r#"{"rules": [{"name": "wait", "if": {"tool": "wait"}, "then": "allow", "reason": "Harmless"}]}"#;
    const OTHERS: &str =
        r#"{"rules": [{"name": "other", "if": {"tool": "other"}, "then": "allow", "reason": "Harmless"}]}"#;

    const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

    fn welcome(capabilities: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-06-18","capabilities":{capabilities},"later":1}}}}"#
        )
    }

    fn begin(relay: &mut Relay, capabilities: &str) -> Delivery {
        client(
            relay,
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
        );
        relay.server_sent(welcome(capabilities))
    }

    fn initialized(relay: &mut Relay) {
        client(relay, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// The names of the tools that a client is shown of `read` and `wait`.
    fn listed(relay: &mut Relay) -> String {
        client(relay, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"},{"name":"wait"}]}}"#;
        to_client(relay.server_sent(answer.to_owned()))["result"]["tools"].to_string()
    }

    fn reload(relay: &Relay, policy: &str) {
        relay.guard.reload(gate(policy), None).unwrap();
    }

    #[test]
    fn a_client_hears_once_that_other_tools_are_hidden() {
        let mut relay = relay();
        begin(&mut relay, r#"{"tools":{}}"#);
        initialized(&mut relay);
        // Nobody has asked for tools.
        reload(&relay, WAITS);
        assert_eq!(relay.by_itself(), []);
        assert_eq!(listed(&mut relay), r#"[{"name":"read"},{"name":"wait"}]"#);
        // The same tools are hidden: none.
        reload(&relay, WAITS);
        assert_eq!(relay.by_itself(), []);
        reload(&relay, OTHERS);
        assert_eq!(relay.by_itself(), [Delivery::ToClient(LIST_CHANGED.to_owned())]);
        assert_eq!(relay.by_itself(), []);
        assert_eq!(listed(&mut relay), r#"[{"name":"read"}]"#);
        // Another client of the same guard that came since has heard nothing else.
        let mut other = Relay::new(std::sync::Arc::clone(&relay.guard));
        begin(&mut other, r#"{"tools":{}}"#);
        initialized(&mut other);
        assert_eq!(other.by_itself(), []);
        reload(&relay, WAITS);
        assert_eq!(relay.by_itself(), [Delivery::ToClient(LIST_CHANGED.to_owned())]);
        assert_eq!(other.by_itself(), [Delivery::ToClient(LIST_CHANGED.to_owned())]);
    }

    #[test]
    fn a_client_that_has_not_begun_hears_nothing() {
        for (capabilities, has_begun, count) in [
            (r#"{"tools":{}}"#, false, 0),
            (r#"{"resources":{}}"#, true, 0),
            (r#"{"tools":5}"#, true, 0),
            (r#"{"tools":{"listChanged":true}}"#, true, 1),
        ] {
            let mut relay = relay();
            begin(&mut relay, capabilities);
            if has_begun {
                initialized(&mut relay);
            }
            listed(&mut relay);
            reload(&relay, WAITS);
            assert_eq!(relay.by_itself().len(), count, "{capabilities}");
        }
        // It is told once it has.
        let mut relay = relay();
        begin(&mut relay, r#"{"tools":{}}"#);
        listed(&mut relay);
        reload(&relay, WAITS);
        assert_eq!(relay.by_itself(), []);
        initialized(&mut relay);
        assert_eq!(relay.by_itself().len(), 1);
    }

    #[test]
    fn the_answer_to_initialize_says_that_changes_are_told() {
        let mut relay = relay();
        let begun =
            |tools: &str| Delivery::ToClient(welcome(&format!(r#"{{"x":1e0,"tools":{tools},"y":[ 2 ]}}"#)));
        for (tools, expected) in [
            ("{}", r#"{"listChanged":true}"#),
            (r#"{"listChanged":false,"a": 1}"#, r#"{"listChanged":true,"a":1}"#),
            (r#"{ "listChanged": true }"#, r#"{ "listChanged": true }"#),
            (
                r#"{"listChanged":false,"listChanged":true}"#,
                r#"{"listChanged":false,"listChanged":true}"#,
            ),
            ("null", "null"),
        ] {
            let capabilities = format!(r#"{{"x":1e0,"tools":{tools},"y":[ 2 ]}}"#);
            assert_eq!(begin(&mut relay, &capabilities), begun(expected));
        }
        let mut observes = relay_with(|options| options.observe = true);
        assert_eq!(
            begin(&mut observes, r#"{"tools":{}}"#),
            Delivery::ToClient(welcome(r#"{"tools":{}}"#))
        );
    }

    #[test]
    fn a_subscription_is_told_of_what_the_server_acknowledged() {
        let listens = |id: u32, wanted: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{"notifications":{wanted},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
            )
        };
        let acknowledged = |id: u32, given: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{given}}}}}"#
            )
        };
        let tools = r#"{"toolsListChanged":true}"#;
        let mut relay = relay();
        listed(&mut relay);
        for (id, wanted) in [(2, tools), (3, tools), (4, "{}"), (5, tools), (6, tools)] {
            client(&mut relay, &listens(id, wanted));
        }
        for (id, given) in [
            (2, tools),
            (3, r#"{"toolsListChanged":false}"#),
            (4, tools),
            (5, tools),
            (7, tools),
        ] {
            let said = acknowledged(id, given);
            assert_eq!(relay.server_sent(said.clone()), Delivery::ToClient(said));
        }
        // This one is over.
        client(
            &mut relay,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#,
        );
        reload(&relay, WAITS);
        let expected = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}"#;
        assert_eq!(relay.by_itself(), [Delivery::ToClient(expected.to_owned())]);
        assert_eq!(relay.by_itself(), []);
    }
}
