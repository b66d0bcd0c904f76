//! The guard asks for the tools before a call of one that is pinned.

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
fn asked(step: Delivery) -> Value {
    let Delivery::ToServer(text) = step else {
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

fn rule(step: Delivery) -> Value {
    to_client(step)["result"]["_meta"]["callgate/rule"].clone()
}

#[test]
fn calls_wait_until_the_guard_has_seen_all_pages() {
    let mut relay = pinned();
    let first = asked(client(&mut relay, &reading(1)));
    assert_eq!(client(&mut relay, &reading(2)), Delivery::Nowhere);
    assert_eq!(relay.released(), []);
    let second = asked(relay.server_sent(page(&first, &[json!({"name": "wait"})], Some("c"))));
    assert_eq!(second["params"]["cursor"], "c");
    assert_eq!(relay.released(), []);
    assert_eq!(
        relay.server_sent(page(&second, &[tool()], None)),
        Delivery::Nowhere
    );
    let sent = [Delivery::ToServer(reading(1)), Delivery::ToServer(reading(2))];
    assert_eq!(relay.released(), sent);
    assert_eq!(client(&mut relay, &reading(3)), Delivery::ToServer(reading(3)));
}

#[test]
fn another_process_of_the_server_lists_its_tools_itself() {
    let mut relay = pinned();
    let listed = asked(client(&mut relay, &reading(1)));
    relay.server_sent(page(&listed, &[tool()], None));
    assert_eq!(relay.released(), [Delivery::ToServer(reading(1))]);
    // It may be of another version.
    let mut other = Relay::new(Arc::clone(&relay.guard));
    let listed = asked(client(&mut other, &reading(1)));
    other.server_sent(page(
        &listed,
        &[json!({"name": "read", "description": "Writes."})],
        None,
    ));
    let [step] = <[Delivery; 1]>::try_from(other.released()).unwrap();
    assert_eq!(rule(step), "structural-unpinned-tool");
    assert_eq!(client(&mut relay, &reading(2)), Delivery::ToServer(reading(2)));
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
    let [step] = <[Delivery; 1]>::try_from(relay.released()).unwrap();
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
    let [step] = <[Delivery; 1]>::try_from(relay.released()).unwrap();
    assert_eq!(rule(step), "structural-unpinned-tool");
}

#[test]
fn a_change_is_looked_at_before_the_next_call() {
    let mut relay = pinned();
    let first = asked(client(&mut relay, &reading(1)));
    relay.server_sent(page(&first, &[tool()], None));
    assert_eq!(relay.released(), [Delivery::ToServer(reading(1))]);
    assert!(matches!(
        relay.server_sent(LIST_CHANGED.to_owned()),
        Delivery::ToClient(_)
    ));
    let second = asked(client(&mut relay, &reading(2)));
    // It changes while it is listed.
    relay.server_sent(LIST_CHANGED.to_owned());
    let third = asked(relay.server_sent(page(&second, &[tool()], None)));
    let changed = json!({"name": "read", "description": "Writes."});
    relay.server_sent(page(&third, &[changed], None));
    let [step] = <[Delivery; 1]>::try_from(relay.released()).unwrap();
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
    assert_eq!(relay.released(), [Delivery::ToServer(reading(1))]);
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
            assert_eq!(relay.server_sent(list), Delivery::Nowhere);
            let [step] = <[Delivery; 1]>::try_from(relay.released()).unwrap();
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
    let [step] = <[Delivery; 1]>::try_from(relay.released()).unwrap();
    assert_eq!(rule(step), "structural-unpinned-tool");
    // It is asked again for the next one, and says nothing.
    let second = asked(client(&mut relay, &reading(2)));
    assert_ne!(second["id"], first["id"]);
    relay.listing.asked.as_mut().unwrap().deadline = Instant::now();
    let [step] = <[Delivery; 1]>::try_from(relay.by_itself()).unwrap();
    assert_eq!(rule(step), "structural-unpinned-tool");
    // Then it is too late.
    assert_eq!(
        relay.server_sent(page(&second, &[tool()], None)),
        Delivery::Nowhere
    );
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
    assert_eq!(client(&mut relay, &cancel(&first["id"])), Delivery::Nowhere);
    assert_eq!(client(&mut relay, &cancel(&json!(1))), Delivery::Nowhere);
    relay.server_sent(page(&first, &[tool()], None));
    assert_eq!(relay.released(), []);
    assert_eq!(client(&mut relay, &reading(1)), Delivery::ToServer(reading(1)));
}
