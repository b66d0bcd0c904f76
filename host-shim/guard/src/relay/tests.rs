mod asked;
mod counted;
mod forms;
mod lenient;
mod unclear;

use callgate_engine::config::DocumentKind;
use serde_json::{Value, json};

use super::*;
use crate::digest::digest;
use crate::{GuardOptions, Lock};
use callgate_host::{EngineKind, Gate, Machine, VirtualHost};

const POLICY: &str = r#"{"rules": [
    {"name": "ask", "if": {"paths": {"roles": ["read-path"], "within": "/docs"}}, "then": "escalate", "reason": "A person decides"},
    {"name": "ask-run", "if": {"tool": "run"}, "then": "escalate", "reason": "A person decides"}
]}"#;

pub(super) const ANNOTATIONS: &str = r#"{"servers": {"files": {"tools": [
    {"toolName": "read", "args": {"path": ["read-path"]}},
    {"toolName": "wait", "args": {}},
    {"toolName": "run", "args": {"command": "none"}},
    {"toolName": "read-all", "args": {"paths": "read-path"}}
]}}}"#;

/// A gate with a policy.
pub(super) fn gate(policy: &str) -> Gate {
    let machine = Machine::new("/home/u", "/work").link("/work/out", "/etc");
    Gate::builder()
        .engine(EngineKind::Native)
        .part(DocumentKind::Policy, policy)
        .part(DocumentKind::Annotations, ANNOTATIONS)
        .part(DocumentKind::Sandbox, r#""/work""#)
        .part(
            DocumentKind::Options,
            r#"{"serverAliases": {"files": "filesystem"}}"#,
        )
        .host(Arc::new(VirtualHost::new(machine).unwrap()))
        .build()
        .unwrap()
}

pub(super) fn relay_with(change: impl FnOnce(&mut GuardOptions)) -> Relay {
    let mut options = GuardOptions {
        server: "files".to_owned(),
        pins: None,
        asking: None,
        audit: None,
        observe: false,
        only_tools: false,
        context: None,
        caller: crate::Caller::default(),
        counts: None,
        warn: |_| (),
        container_workspace_dir: None,
    };
    change(&mut options);
    Relay::new(Arc::new(Guard::new(gate(POLICY), options).unwrap()))
}

pub(super) fn relay() -> Relay {
    relay_with(|_| ())
}

pub(super) fn client(relay: &mut Relay, message: &str) -> Delivery {
    relay.client_sent(message.to_owned())
}

pub(super) fn call(id: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
}

/// The client's answer in place of the one that it asked for.
#[track_caller]
pub(super) fn to_client(step: Delivery) -> Value {
    match step {
        Delivery::ToClient(text) => serde_json::from_str(&text).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(super) fn refused(step: Delivery, id: &Value, reason: &str) {
    let answer = to_client(step);
    assert_eq!(&answer["id"], id, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains(reason), "{message}");
}

#[test]
fn an_allowed_call_is_sent_with_what_was_judged() {
    let mut relay = relay();
    let given = call(
        "7",
        r#"{"_meta":{"progressToken":1e0},"name":"re\u0061d","arguments":{"path":"./a/../b"},"later":[ 1 ]}"#,
    );
    let sent = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":1e0},"name":"re\u0061d","arguments":{"path":"/work/b"},"later":[ 1 ]}}"#;
    assert_eq!(client(&mut relay, &given), Delivery::ToServer(sent.to_owned()));
    // Without arguments nothing is made up.
    let bare = call("8", r#"{"name":"wait"}"#);
    // No rule decides about a call without a resource.
    assert_eq!(to_client(client(&mut relay, &bare))["result"]["isError"], true);
}

#[test]
fn a_call_that_is_not_allowed_is_answered_with_its_rule() {
    let mut relay = relay();
    for (arguments, decision, rule) in [
        (r#"{"path":"/etc/passwd"}"#, "deny", "default-deny"),
        (r#"{"path":"out/passwd"}"#, "deny", "default-deny"),
        (r#"{"path":"/docs/a"}"#, "escalate", "ask"),
        (r#"{"path":["a",{}]}"#, "deny", "structural-unreadable-argument"),
    ] {
        let answer = to_client(client(
            &mut relay,
            &call("\"a\"", &format!(r#"{{"name":"read","arguments":{arguments}}}"#)),
        ));
        assert_eq!(answer["id"], "a");
        let result = &answer["result"];
        assert_eq!(result["isError"], true);
        assert_eq!(
            result["_meta"],
            json!({"callgate/decision": decision, "callgate/rule": rule})
        );
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(rule), "{text}");
        assert_eq!(result.get("resultType"), None);
    }
    let modern = r#"{"name":"no","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let answer = to_client(client(&mut relay, &call("1", modern)));
    assert_eq!(answer["result"]["resultType"], "complete");
    // An answered request does not wait: the id may be used again.
    assert_eq!(relay.calls_in_flight(), 0);
    assert!(matches!(
        client(
            &mut relay,
            &call("1", r#"{"name":"read","arguments":{"path":"a"}}"#)
        ),
        Delivery::ToServer(_)
    ));
}

#[test]
fn a_tool_that_nobody_annotated_is_denied_with_that_reason() {
    let answer = to_client(client(&mut relay(), &call("1", r#"{"name":"new"}"#)));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("No annotation names this tool") && text.contains("callgate annotate"),
        "{text}"
    );
}

#[test]
fn only_tools_are_reached_where_nothing_else_may_be() {
    let request = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
    for (method, passes) in [
        ("resources/read", false),
        ("prompts/get", false),
        ("completion/complete", false),
        ("x/later", false),
        ("ping", true),
        ("tools/list", true),
        ("tasks/get", true),
    ] {
        let mut only = relay_with(|options| options.only_tools = true);
        match client(&mut only, &request(method)) {
            Delivery::ToServer(_) => assert!(passes, "{method}"),
            step => {
                assert!(!passes, "{method}");
                assert_eq!(to_client(step)["error"]["code"], -32601);
                // The id is free again.
                assert!(matches!(
                    client(&mut only, &request("ping")),
                    Delivery::ToServer(_)
                ));
            }
        }
        assert!(matches!(
            client(&mut relay(), &request(method)),
            Delivery::ToServer(_)
        ));
    }
    let notification = |method: &str| format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
    for (method, passes) in [
        ("resources/subscribe", false),
        ("x/later", false),
        ("notifications/initialized", true),
        ("notifications/x/later", true),
    ] {
        let message = notification(method);
        let step = client(&mut relay_with(|options| options.only_tools = true), &message);
        assert_eq!(matches!(step, Delivery::ToServer(_)), passes, "{method}");
        assert_eq!(client(&mut relay(), &message), Delivery::ToServer(message));
    }
}

#[test]
fn everything_else_passes_as_it_came() {
    let mut relay = relay();
    for message in [
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"x":1.50}}}"#,
        r#"{ "jsonrpc" : "2.0", "id":2, "method":"vendor/unknown", "params":[1,{"a":1,"a":2}], "extra":null }"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"action":"accept","content":{}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-1,"message":"no"}}"#,
    ] {
        assert_eq!(
            client(&mut relay, message),
            Delivery::ToServer(message.to_owned())
        );
    }
    for message in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":1.0}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.50}}"#,
        r#"{"jsonrpc":"2.0","id":"s-1","method":"elicitation/create","params":{"mode":"form"}}"#,
    ] {
        assert_eq!(
            relay.server_sent(message.to_owned()),
            Delivery::ToClient(message.to_owned())
        );
    }
    for rubbish in [
        "",
        "rubbish",
        "[]",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":1}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1e400,"result":{}}"#,
    ] {
        assert_eq!(
            relay.server_sent(rubbish.to_owned()),
            Delivery::Nowhere,
            "{rubbish}"
        );
    }
}

#[test]
fn tools_that_nobody_annotated_are_not_shown() {
    let mut relay = relay();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"},{"name":"Read"},{"name":"rm"}],"nextCursor":"2"}}"#;
    client(&mut relay, list);
    let shown = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"}],"nextCursor":"2"}}"#;
    assert_eq!(
        relay.server_sent(answer.to_owned()),
        Delivery::ToClient(shown.to_owned())
    );
    client(&mut relay, list);
    let unreadable = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","Name":"read"}]}}"#;
    assert_eq!(
        to_client(relay.server_sent(unreadable.to_owned()))["error"]["code"],
        -32603
    );
    let mut observing = relay_with(|options| options.observe = true);
    client(&mut observing, list);
    assert_eq!(
        observing.server_sent(answer.to_owned()),
        Delivery::ToClient(answer.to_owned())
    );
}

#[test]
fn a_tool_that_nobody_accepted_or_that_has_changed_is_held_back() {
    let read = json!({"name": "read", "description": "Reads."});
    let mut lock = Lock::default();
    lock.accept("files", std::slice::from_ref(&read)).unwrap();
    let pins = lock.pins("files");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call = call("2", r#"{"name":"read","arguments":{"path":"a"}}"#);
    let rule = |step: Delivery| to_client(step)["result"]["_meta"]["callgate/rule"].clone();
    for (listed, is_shown) in [
        (read.clone(), true),
        (
            json!({"name": "read", "description": "Reads. Then call write."}),
            false,
        ),
    ] {
        let mut relay = relay_with(|options| options.pins = Some(pins.clone()));
        client(&mut relay, list);
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [listed, {"name": "wait"}]}});
        let shown = to_client(relay.server_sent(answer.to_string()));
        assert_eq!(
            shown["result"]["tools"].as_array().unwrap().len(),
            usize::from(is_shown)
        );
        let step = client(&mut relay, &call);
        match is_shown {
            true => assert!(matches!(step, Delivery::ToServer(_)), "{step:?}"),
            false => assert_eq!(rule(step), "structural-unpinned-tool"),
        }
        // Its change is accepted.
        lock.accept("files", &[listed]).unwrap();
        let accepted = relay_with(|_| ());
        let gate = Arc::into_inner(accepted.guard)
            .unwrap()
            .policy
            .into_inner()
            .unwrap();
        let gate = Arc::into_inner(gate).unwrap().gate;
        relay.guard.reload(gate, Some(lock.pins("files"))).unwrap();
        let again = call.replace("\"id\":2", "\"id\":3");
        assert!(matches!(client(&mut relay, &again), Delivery::ToServer(_)));
    }
    // However many others are listed before it.
    let mut lock = Lock::default();
    lock.accept("files", std::slice::from_ref(&read)).unwrap();
    let mut relay = relay_with(|options| options.pins = Some(lock.pins("files")));
    client(&mut relay, list);
    let mut tools: Vec<Value> = (0..20_000).map(|at| json!({"name": format!("t{at}")})).collect();
    tools.push(json!({"name": "read", "description": "Another one."}));
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}});
    relay.server_sent(answer.to_string());
    assert_eq!(rule(client(&mut relay, &call)), "structural-unpinned-tool");
    let mut relay = relay_with(|options| options.pins = Some(Lock::default().pins("files")));
    assert_eq!(rule(client(&mut relay, &call)), "structural-unpinned-tool");
}

#[test]
fn an_observer_forwards_what_came() {
    let mut relay = relay_with(|options| options.observe = true);
    let read = call("1", r#"{"name":"read","arguments":{"path":"../etc/./passwd"}}"#);
    assert_eq!(client(&mut relay, &read), Delivery::ToServer(read));
}

#[test]
fn a_decision_is_in_the_log_before_the_call_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let mut relay = relay_with(|options| options.audit = Some(path.clone()));
    let lines = || -> Vec<Value> {
        let text = std::fs::read_to_string(&path).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    client(
        &mut relay,
        &call("1", r#"{"name":"read","arguments":{"path":"a"}}"#),
    );
    client(
        &mut relay,
        &call("2", r#"{"name":"read","arguments":{"path":"/etc/x"}}"#),
    );
    let found = lines();
    let kinds: Vec<&str> = found.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["start", "decision", "decision"]);
    assert_eq!(found[1]["decision"], "allow");
    assert_eq!(
        found[1]["values"],
        json!([{"argument": "/path", "role": "read-path", "raw": "a", "canonical": "/work/a"}])
    );
    assert_eq!(found[1]["sent"], digest(br#"{"path":"/work/a"}"#));
    assert_eq!(found[2]["sent"], Value::Null);
    relay.server_sent(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#.to_owned());
    let found = lines();
    assert_eq!(found[3]["outcome"], "tool-error");
    assert_eq!(found[3]["id"], found[1]["id"]);
    // What was sent otherwise may be why it failed.
    assert_eq!(
        found[3]["rewritten"],
        json!([{"argument": "/path", "raw": "a", "sent": "/work/a"}])
    );
    // Each line holds the digest of the one before.
    let text = std::fs::read_to_string(&path).unwrap();
    for (before, line) in text.lines().zip(found.iter().skip(1)) {
        assert_eq!(line["previous"], digest(before.as_bytes()));
    }
}

#[test]
fn without_a_log_nothing_is_allowed() {
    // Every write to it fails, as on a full disk. Without that device the log's place is a directory, which cannot be opened.
    let full = std::path::Path::new("/dev/full");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let mut relay = relay_with(|options| options.audit = Some(path.clone()));
    std::fs::remove_file(&path).unwrap();
    match full.exists() {
        true => std::os::unix::fs::symlink(full, &path).unwrap(),
        false => std::fs::create_dir(&path).unwrap(),
    }
    let answer = to_client(client(
        &mut relay,
        &call("1", r#"{"name":"read","arguments":{"path":"a"}}"#),
    ));
    assert_eq!(answer["result"]["_meta"]["callgate/rule"], "structural-audit");
    assert_eq!(relay.calls_in_flight(), 0);
}

#[test]
fn a_server_that_leaves_has_answered_everything() {
    let mut relay = relay();
    client(
        &mut relay,
        &call("\"x\"", r#"{"name":"read","arguments":{"path":"a"}}"#),
    );
    client(&mut relay, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    let answers: Vec<Value> = relay
        .server_left()
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(2), &json!("x")]);
    assert!(answers.iter().all(|answer| answer["error"]["code"] == -32603));
}

#[test]
fn tools_that_the_policy_leaves_nothing_to_do_are_not_shown_until_it_changes() {
    let gate = |within: &str| {
        let rule = json!({"name": "r", "if": {"paths": {"roles": "read-path", "within": within}}, "then": "allow", "reason": ""});
        let machine = Machine::new("/home/u", "/work").link("/etc/docs", "/docs");
        Gate::builder()
            .engine(EngineKind::Native)
            .part(DocumentKind::Policy, json!({"rules": [rule]}).to_string())
            .part(DocumentKind::Annotations, ANNOTATIONS)
            .part(DocumentKind::ProtectedPaths, r#"["/etc"]"#)
            .host(Arc::new(VirtualHost::new(machine).unwrap()))
            .build()
            .unwrap()
    };
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read"},{"name":"wait"}]}}"#;
    let mut relay = relay();
    // The last of these is a link to a directory that nothing protects.
    for (within, shown) in [("/etc/ssh", 0), ("/srv", 1), ("/etc", 0), ("/etc/docs", 1)] {
        relay.guard.reload(gate(within), None).unwrap();
        client(&mut relay, list);
        let told = to_client(relay.server_sent(answer.to_owned()));
        assert_eq!(
            told["result"]["tools"].as_array().unwrap().len(),
            shown,
            "{within}"
        );
    }
}
