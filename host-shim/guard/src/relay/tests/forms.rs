//! Questions that the client shows its person as forms, in both eras.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{call, client, relay_with, to_client};
use crate::relay::*;
use crate::{Answer, Asking, Queue};

fn asking(folder: &Path) -> (Relay, Queue) {
    asking_for(folder, 600)
}

fn asking_for(folder: &Path, seconds: u64) -> (Relay, Queue) {
    let queue = Queue::open(folder.join("state")).unwrap();
    let relay = relay_with(|options| {
        options.audit = Some(folder.join("log"));
        options.asking = Some(Asking {
            queue: queue.clone(),
            patience: Duration::from_secs(seconds),
            forms: true,
            command: None,
        });
    });
    (relay, queue)
}

/// A client of the handshake era with these capabilities, which has called, and the step that followed.
fn called(relay: &mut Relay, capabilities: &Value, id: u32) -> Delivery {
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}});
    client(relay, &initialize.to_string());
    relay.server_sent(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#.to_owned());
    client(relay, &reading(id))
}

fn reading(id: u32) -> String {
    call(
        &id.to_string(),
        r#"{"name":"read","arguments":{"path":"/docs/./a"}}"#,
    )
}

fn sent(id: u32) -> Delivery {
    Delivery::ToServer(call(
        &id.to_string(),
        r#"{"name":"read","arguments":{"path":"/docs/a"}}"#,
    ))
}

fn answer(form: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": form["id"], "result": result}).to_string()
}

fn chosen(choice: &str) -> Value {
    json!({"action": "accept", "content": {"answer": choice}})
}

fn decisions(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("log")).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] == "decision").collect()
}

#[test]
fn a_client_with_forms_asks_its_person() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let form = to_client(called(&mut relay, &json!({"elicitation": {}}), 1));
    assert_eq!(form["method"], "elicitation/create");
    let message = form["params"]["message"].as_str().unwrap();
    for part in [
        "`read`",
        "`files`",
        "/path as read-path: /docs/a",
        "Rule `ask`: A person decides",
        "would cover: Allow files/read read-path within /docs",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(
        form["params"]["requestedSchema"]["properties"]["answer"]["enum"],
        json!([
            "allow this once",
            "allow for this session",
            "always allow",
            "deny"
        ])
    );
    let yes = answer(&form, &chosen("allow this once"));
    assert_eq!(client(&mut relay, &yes), sent(1));
    assert_eq!(queue.questions().unwrap(), []);
    let last = decisions(folder.path()).pop().unwrap();
    assert_eq!(
        (&last["answeredBy"], &last["decision"]),
        (&json!("client"), &json!("allow"))
    );
    assert_eq!(last["approval"], decisions(folder.path())[0]["id"]);
    // It is nobody's answer the second time, and the server never sees it.
    assert_eq!(client(&mut relay, &yes), Delivery::Nowhere);
    let form = to_client(client(&mut relay, &reading(2)));
    let step = client(&mut relay, &answer(&form, &chosen("allow for this session")));
    assert_eq!(step, sent(2));
    assert_eq!(client(&mut relay, &reading(3)), sent(3));
    assert_eq!(queue.approvals().unwrap().list(), []);
}

#[test]
fn a_form_that_its_client_cancels_is_nothing_that_the_server_hears_of() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let form = to_client(called(&mut relay, &json!({"elicitation": {}}), 1));
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": form["id"]}});
    assert_eq!(client(&mut relay, &cancel.to_string()), Delivery::Nowhere);
    assert_eq!(queue.questions().unwrap().len(), 1);
}

#[test]
fn a_person_denies_and_a_client_by_itself_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let form = to_client(called(&mut relay, &json!({"elicitation": {"form": {}}}), 1));
    let denied = to_client(client(&mut relay, &answer(&form, &chosen("deny"))));
    assert_eq!(denied["id"], 1);
    assert_eq!(denied["result"]["_meta"]["callgate/rule"], "structural-approval");
    for result in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"answer": "ALWAYS ALLOW"}}),
        json!(null),
    ] {
        let form = to_client(client(&mut relay, &reading(2)));
        assert_eq!(client(&mut relay, &answer(&form, &result)), Delivery::Nowhere);
        assert_eq!(relay.settled(), []);
        let question = queue.questions().unwrap().pop().unwrap();
        queue
            .answer(&question.id, Answer::Once, Answerer::Terminal)
            .unwrap();
        assert_eq!(relay.settled(), [sent(2)], "{result}");
        relay.server_sent(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_owned());
    }
    // A client may answer with an error too.
    let form = to_client(client(&mut relay, &reading(3)));
    let error = json!({"jsonrpc": "2.0", "id": form["id"], "error": {"code": -32601, "message": "no"}});
    assert_eq!(client(&mut relay, &error.to_string()), Delivery::Nowhere);
    assert_eq!(queue.questions().unwrap().len(), 1);
}

#[test]
fn the_first_answer_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let form = to_client(called(&mut relay, &json!({"elicitation": {}}), 1));
    let question = queue.questions().unwrap().pop().unwrap();
    assert!(
        queue
            .answer(&question.id, Answer::Deny, Answerer::Terminal)
            .unwrap()
    );
    assert!(
        !queue
            .answer(&question.id, Answer::Once, Answerer::Command)
            .unwrap()
    );
    let late = client(&mut relay, &answer(&form, &chosen("always allow")));
    assert_eq!(to_client(late)["result"]["isError"], true);
    assert_eq!(queue.approvals().unwrap().list(), []);
    // A form that somebody else has answered is taken back.
    let form = to_client(client(&mut relay, &reading(2)));
    let question = queue.questions().unwrap().pop().unwrap();
    queue
        .answer(&question.id, Answer::Once, Answerer::Terminal)
        .unwrap();
    let steps = relay.settled();
    let [Delivery::ToClient(cancel), call] = steps.as_slice() else {
        panic!("{steps:?}");
    };
    let cancel: Value = serde_json::from_str(cancel).unwrap();
    assert_eq!(cancel["method"], "notifications/cancelled");
    assert_eq!(cancel["params"]["requestId"], form["id"]);
    assert_eq!(*call, sent(2));
    // And so is one whose call the client takes back.
    let form = to_client(client(&mut relay, &reading(3)));
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
    assert_eq!(
        to_client(client(&mut relay, cancel))["params"]["requestId"],
        form["id"]
    );
}

#[test]
fn a_client_without_forms_is_not_asked() {
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let folder = tempfile::tempdir().unwrap();
        let (mut relay, queue) = asking(folder.path());
        assert_eq!(called(&mut relay, &capabilities, 1), Delivery::Nowhere);
        assert_eq!(queue.questions().unwrap().len(), 1);
    }
}

#[test]
fn no_server_asks_or_answers_in_the_name_of_the_guard() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, _) = asking(folder.path());
    let form = to_client(called(&mut relay, &json!({"elicitation": {}}), 1));
    let id = &form["id"];
    let request = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {}});
    assert_eq!(relay.server_sent(request.to_string()), Delivery::Nowhere);
    let (mut other, _) = asking(folder.path());
    let theirs = to_client(called(&mut other, &json!({"elicitation": {}}), 1));
    assert_ne!(id, &theirs["id"]);
    // A form that is not this guard's is the server's.
    let theirs = answer(&theirs, &chosen("always allow"));
    assert_eq!(client(&mut relay, &theirs), Delivery::ToServer(theirs.clone()));
}

/// A call of the modern era, by a client that has forms.
fn modern(id: u32, path: &str, more: &Value) -> String {
    let mut params = json!({"name": "read", "arguments": {"path": path}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}});
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// The client's message after it has asked its person.
fn again(id: u32, asked: &Value, result: &Value) -> String {
    modern(
        id,
        "/docs/./a",
        &json!({"requestState": asked["requestState"], "inputResponses": {"callgate": result}}),
    )
}

fn asked(relay: &mut Relay, id: u32, more: &Value) -> Value {
    let asked = to_client(client(relay, &modern(id, "/docs/./a", more)))["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked["inputRequests"]["callgate"]["method"], "elicitation/create");
    asked
}

#[test]
fn a_modern_client_asks_and_sends_the_call_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let first = asked(&mut relay, 1, &json!({}));
    assert_eq!(relay.calls_in_flight(), 0);
    assert_eq!(queue.questions().unwrap().len(), 1);
    let yes = again(2, &first, &chosen("allow this once"));
    let expected = modern(2, "/docs/a", &json!({}));
    assert_eq!(client(&mut relay, &yes), Delivery::ToServer(expected));
    assert_eq!(queue.questions().unwrap(), []);
    // It was an answer once.
    let rule = |step: Delivery| to_client(step)["result"]["_meta"]["callgate/rule"].clone();
    let twice = again(3, &first, &chosen("allow this once"));
    assert_eq!(rule(client(&mut relay, &twice)), "structural-approval");
    let next = asked(&mut relay, 4, &json!({}));
    let no = again(5, &next, &chosen("deny"));
    assert_eq!(rule(client(&mut relay, &no)), "structural-approval");
    let last = decisions(folder.path()).pop().unwrap();
    assert_eq!(
        (&last["answeredBy"], &last["decision"]),
        (&json!("client"), &json!("deny"))
    );
}

#[test]
fn a_state_is_for_its_call_and_its_policy() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let (mut other, _) = asking(folder.path());
    let rule = |step: Delivery| to_client(step)["result"]["_meta"]["callgate/rule"].clone();
    let theirs = asked(&mut other, 1, &json!({}));
    let step = client(&mut relay, &again(1, &theirs, &chosen("allow this once")));
    assert_eq!(rule(step), "structural-approval");
    let first = asked(&mut relay, 2, &json!({}));
    let elsewhere = again(3, &first, &chosen("allow this once")).replace("/docs/./a", "/docs/b");
    assert_eq!(rule(client(&mut relay, &elsewhere)), "structural-approval");
    let forged = json!({"requestState": format!("{}0", first["requestState"].as_str().unwrap())});
    let forged = again(4, &forged, &chosen("allow this once"));
    assert_eq!(rule(client(&mut relay, &forged)), "structural-approval");
    assert!(queue.questions().unwrap().len() >= 2);
    // The right one still holds.
    let yes = again(5, &first, &chosen("allow this once"));
    assert!(matches!(client(&mut relay, &yes), Delivery::ToServer(_)));
}

#[test]
fn a_modern_client_that_declines_by_itself_waits_for_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let first = asked(&mut relay, 1, &json!({}));
    let declined = again(2, &first, &json!({"action": "decline"}));
    assert_eq!(client(&mut relay, &declined), Delivery::Nowhere);
    let question = queue.questions().unwrap().pop().unwrap();
    queue
        .answer(&question.id, Answer::Once, Answerer::Terminal)
        .unwrap();
    let expected = modern(2, "/docs/a", &json!({}));
    assert_eq!(relay.settled(), [Delivery::ToServer(expected)]);
    // Without forms, or with forms of another kind, it is asked in the queue at once.
    let none =
        modern(3, "/docs/a", &json!({})).replace(r#"{"elicitation":{}}"#, r#"{"elicitation":{"url":{}}}"#);
    assert_eq!(client(&mut relay, &none), Delivery::Nowhere);
}

#[test]
fn an_answer_that_comes_too_late_allows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking_for(folder.path(), 0);
    let first = asked(&mut relay, 1, &json!({}));
    let late = to_client(client(&mut relay, &again(2, &first, &chosen("always allow"))));
    assert_eq!(late["result"]["_meta"]["callgate/rule"], "structural-approval");
    assert_eq!(queue.approvals().unwrap().list(), []);
    let form = to_client(called(&mut relay, &json!({"elicitation": {}}), 3));
    let late = to_client(client(&mut relay, &answer(&form, &chosen("always allow"))));
    assert_eq!(late["id"], 3);
    assert_eq!(late["result"]["_meta"]["callgate/rule"], "structural-approval");
}

#[test]
fn what_is_between_client_and_server_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, _) = asking(folder.path());
    let theirs = json!({"requestState": "of the server", "inputResponses": {"q": {"action": "accept"}}});
    let first = asked(&mut relay, 1, &theirs);
    let yes = again(2, &first, &chosen("allow this once"));
    assert_eq!(
        client(&mut relay, &yes),
        Delivery::ToServer(modern(2, "/docs/a", &theirs))
    );
}

/// A server's answer when it wants more for a call.
fn wants_more(id: u32, state: &Value) -> String {
    let mut result =
        json!({"resultType": "input_required", "inputRequests": {"q": {"method": "roots/list"}}});
    if !state.is_null() {
        result["requestState"] = state.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

/// A call that a person has approved, and that the server has.
fn approved(relay: &mut Relay, id: u32) {
    let first = asked(relay, id, &json!({}));
    let yes = again(id + 1, &first, &chosen("allow this once"));
    assert!(matches!(client(relay, &yes), Delivery::ToServer(_)));
}

/// The client's message once it has what the server wants.
fn goes_on(id: u32, path: &str, state: &Value) -> String {
    let mut more = json!({"inputResponses": {"q": {"roots": []}}});
    if !state.is_null() {
        more["requestState"] = state.clone();
    }
    modern(id, path, &more)
}

#[test]
fn an_approved_call_that_the_server_asks_more_for_is_not_asked_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let rule = |step: Delivery| to_client(step)["result"]["_meta"]["callgate/rule"].clone();
    for (id, state) in [(10, json!("one")), (20, Value::Null)] {
        approved(&mut relay, id);
        let mut asks = to_client(relay.server_sent(wants_more(id + 1, &state)));
        let given = asks["result"]["requestState"].clone();
        assert_ne!(given, state);
        // Nothing but the state is another one.
        asks["result"]["requestState"] = state.clone();
        let theirs: Value = serde_json::from_str(&wants_more(id + 1, &state)).unwrap();
        assert_eq!(asks["result"]["inputRequests"], theirs["result"]["inputRequests"]);
        // Another call is not the one that was approved, and the server's own state says nothing.
        assert_eq!(
            rule(client(&mut relay, &goes_on(id + 2, "/docs/b", &given))),
            "structural-approval"
        );
        let unknown = to_client(client(&mut relay, &goes_on(id + 2, "/docs/./a", &state)));
        assert_eq!(unknown["result"]["resultType"], "input_required");
        let questions = queue.questions().unwrap().len();
        let sent = client(&mut relay, &goes_on(id + 4, "/docs/./a", &given));
        let Delivery::ToServer(sent) = sent else {
            panic!("{sent:?}")
        };
        let sent: Value = serde_json::from_str(&sent).unwrap();
        let expected: Value = serde_json::from_str(&goes_on(id + 4, "/docs/a", &state)).unwrap();
        assert_eq!(sent, expected);
        // The server may ask for more than one thing, one after the other.
        let more = to_client(relay.server_sent(wants_more(id + 4, &state)))["result"]["requestState"].clone();
        let sent = client(&mut relay, &goes_on(id + 5, "/docs/./a", &more));
        assert!(matches!(sent, Delivery::ToServer(_)));
        assert_eq!(queue.questions().unwrap().len(), questions);
        let last = decisions(folder.path()).pop().unwrap();
        assert_eq!(
            (&last["decision"], &last["rule"]),
            (&json!("allow"), &json!("structural-approval"))
        );
        // Once for each time that the server asks.
        for used in [given, more] {
            let again = client(&mut relay, &goes_on(id + 6, "/docs/./a", &used));
            assert_eq!(rule(again), "structural-approval");
        }
    }
}

#[test]
fn only_the_client_that_the_server_asks_goes_on_with_an_approved_call() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, _) = asking(folder.path());
    let mut other = Relay::new(Arc::clone(&relay.guard));
    approved(&mut relay, 1);
    let asks = to_client(relay.server_sent(wants_more(2, &Value::Null)));
    // It is the same call, and the same server, which gives no state by which to tell its clients.
    let theirs = to_client(client(&mut other, &goes_on(1, "/docs/a", &Value::Null)));
    assert_eq!(theirs["result"]["resultType"], "input_required");
    let own = goes_on(3, "/docs/a", &asks["result"]["requestState"]);
    assert!(matches!(client(&mut relay, &own), Delivery::ToServer(_)));
}

#[test]
fn a_call_that_the_server_has_taken_is_not_approved_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, _) = asking(folder.path());
    for (id, answer) in [
        // A task goes on by itself.
        (10, wants_more(11, &Value::Null).replace("input_required", "task")),
        (20, wants_more(21, &json!(5))),
        (
            30,
            wants_more(31, &Value::Null)
                .replace("\"resultType\"", "\"resultType\":\"complete\",\"resultType\""),
        ),
    ] {
        approved(&mut relay, id);
        assert_eq!(relay.server_sent(answer.clone()), Delivery::ToClient(answer));
        for state in [Value::Null, json!(5), json!({})] {
            let again = to_client(client(&mut relay, &goes_on(id + 2, "/docs/a", &state)));
            assert_eq!(again["result"]["resultType"], "input_required", "{again}");
        }
    }
}

#[test]
fn an_observer_forwards_a_state_of_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let relay = &mut super::relay_with(|options| {
        options.observe = true;
        options.audit = Some(folder.path().join("log"));
    });
    let call = goes_on(1, "/docs/a", &json!("callgate-1.x.00"));
    assert_eq!(client(relay, &call), Delivery::ToServer(call));
}

#[test]
fn calls_that_a_person_denies_do_not_count_among_those_that_show_what_the_server_is() {
    let folder = tempfile::tempdir().unwrap();
    let (mut relay, queue) = asking(folder.path());
    let waits = |relay: &mut Relay, id: u32| {
        let first = asked(relay, id, &json!({}));
        let declined = again(id + 1, &first, &json!({"action": "decline"}));
        assert_eq!(client(relay, &declined), Delivery::Nowhere);
        assert_eq!(relay.openings.len(), 1);
    };
    waits(&mut relay, 1);
    let question = queue.questions().unwrap().pop().unwrap();
    queue
        .answer(&question.id, Answer::Deny, Answerer::Terminal)
        .unwrap();
    assert!(matches!(relay.settled().as_slice(), [Delivery::ToClient(_)]));
    assert_eq!(relay.openings.len(), 0);
    waits(&mut relay, 3);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}});
    client(&mut relay, &cancelled.to_string());
    assert_eq!(relay.openings.len(), 0);
}
