use std::sync::Arc;

use callgate_host::{Gate, Machine, VirtualHost};

use super::*;
use crate::service::ServiceOptions;
use crate::tests::asker;

/// The policy of the certification's fixture:
/// <https://github.com/openid/authzen/blob/main/certification/authorization-api-1_0-scenario.md>.
const FIXTURE: &str = r#"{"counters": [{"name": "counted", "if": {"tool": "counted"}, "seconds": 3600, "per": "subject"}], "rules": [
    {"name": "few", "if": {"tool": "counted", "counts": {"counted": {"atMost": 1}}}, "then": "allow", "reason": "Few of each"},
    {"name": "soft", "if": {"tool": "delete", "args": [{"arg": "/action/soft", "equals": true}]}, "then": "allow", "reason": "It can be undone"},
    {"name": "admin", "if": {"tool": "write", "args": [{"arg": "/subject/role", "equals": "admin"}]}, "then": "allow", "reason": "Administrators write"},
    {"name": "archive", "if": {"tool": "write", "args": [{"arg": "/resource/status", "equals": "archived"}]}, "then": "deny", "reason": "It is archived"},
    {"name": "write", "if": {"tool": "write", "args": [{"arg": "/subject/id", "equals": "alice"}]}, "then": "allow", "reason": "Alice writes"},
    {"name": "read", "if": {"tool": "read", "args": [{"arg": "/subject/id", "in": ["alice", "bob"]}]}, "then": "allow", "reason": "Both read"},
    {"name": "pages", "if": {"domains": {"roles": ["fetch-url"], "allowed": ["docs.example"]}}, "then": "allow", "reason": "They are public"},
    {"name": "too much", "if": {"tool": "pay", "args": [{"arg": "/context/n", "equals": 100000000000000000000001}]}, "then": "deny", "reason": "That is too much"},
    {"name": "pay", "if": {"tool": "pay"}, "then": "allow", "reason": "It is little"},
    {"name": "ask", "if": {"tool": "report"}, "then": "escalate", "reason": "A person decides"},
    {"name": "prompts", "if": {"tool": "prompts/get", "args": [{"arg": "/resource/id", "equals": "greet"}]}, "then": "allow", "reason": "It is public"},
    {"name": "ann", "if": {"tool": "note", "context": {"subject": "ann", "agent": "bot", "session": "s-*"}}, "then": "allow", "reason": "Her own"}
]}"#;

const TOOLS: &str = r#"{"servers": {
    "record": {"tools": [
        {"toolName": "read", "args": {"subject": "none", "action": "none", "resource": "none", "context": "none"}},
        {"toolName": "write", "args": {"subject": "none", "action": "none", "resource": "none", "context": "none"}},
        {"toolName": "delete", "args": {"subject": "none", "action": "none", "resource": "none", "context": "none"}},
        {"toolName": "pay", "args": {"subject": "none", "action": "none", "resource": "none", "context": "none"}}
    ]},
    "prompt": {"tools": [{"toolName": "prompts/get", "args": {"subject": "none", "action": "none", "resource": "none", "context": "none"}}]},
    "web": {"tools": [
        {"toolName": "fetch", "args": {"url": "fetch-url"}}, {"toolName": "report", "args": {}}, {"toolName": "note", "args": {}},
        {"toolName": "counted", "args": {}}
    ]}
}}"#;

fn service() -> Service {
    service_with(|_| ())
}

fn service_with(change: impl FnOnce(&mut ServiceOptions)) -> Service {
    let host = VirtualHost::new(Machine::new("/home/u", "/work")).unwrap();
    let gate = Gate::builder()
        .policy(FIXTURE)
        .part(callgate_engine::config::DocumentKind::Annotations, TOOLS)
        .host(Arc::new(host))
        .build()
        .unwrap();
    let mut options = ServiceOptions {
        server: None,
        asking: None,
        audit: None,
        only_tools: false,
        callers_from_evaluations: false,
        context: None,
        counts: None,
        address: None,
        warn: |_| (),
    };
    change(&mut options);
    Service::new(gate, options).unwrap()
}

fn decision(answer: &Value) -> bool {
    answer["decision"].as_bool().unwrap()
}

/// Requests of the certification, by what must come out.
#[test]
fn the_certification_s_fixture_is_decided_as_it_says() {
    let service = service();
    let alice = json!({"type": "user", "id": "alice"});
    let bob = json!({"type": "user", "id": "bob"});
    let admin = json!({"type": "user", "id": "bob", "properties": {"role": "admin"}});
    let record = json!({"type": "record", "id": "record-1"});
    let archived = json!({"type": "record", "id": "record-2", "properties": {"status": "archived"}});
    let delete = |soft: bool| json!({"name": "delete", "properties": {"soft": soft}});
    let (read, write) = (json!({"name": "read"}), json!({"name": "write"}));
    for (subject, action, resource, expected) in [
        (&alice, &read, &record, true),
        (&alice, &write, &record, true),
        (&bob, &read, &record, true),
        (&bob, &write, &record, false),
        (&alice, &write, &archived, false),
        (&admin, &write, &archived, true),
        (&alice, &delete(true), &record, true),
        (&alice, &delete(false), &record, false),
    ] {
        let mut request = json!({"subject": subject, "action": action, "resource": resource});
        for context in [
            None,
            Some(json!({"time": "2025-06-27T18:03-07:00", "ip": "192.168.1.1"})),
        ] {
            if let Some(context) = context {
                request["context"] = context;
                request["futureField"] = json!({"nested": true});
            }
            let answer = evaluation(&asker(&service), &request.to_string()).unwrap();
            assert_eq!(decision(&answer), expected, "{request}: {answer}");
            assert!(answer["context"].is_object());
        }
    }
}

#[test]
fn a_request_without_what_it_needs_is_refused() {
    let service = service();
    let whole = json!({
        "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"},
        "resource": {"type": "record", "id": "record-1"},
    });
    for (pointer, value) in [
        ("/subject", json!("alice")),
        ("/subject", Value::Null),
        ("/subject/type", Value::Null),
        ("/subject/id", Value::Null),
        ("/action", Value::Null),
        ("/action/name", Value::Null),
        ("/action/name", json!(123)),
        ("/resource", Value::Null),
        ("/resource/type", Value::Null),
        ("/resource/id", Value::Null),
    ] {
        let mut request = whole.clone();
        *request.pointer_mut(pointer).unwrap() = value;
        assert!(
            evaluation(&asker(&service), &request.to_string()).is_err(),
            "{request}"
        );
    }
    for body in ["", "{", "[]", r#"{"subject":{"type":"user","id":"a","id":"b"}}"#] {
        assert!(evaluation(&asker(&service), body).is_err(), "{body}");
        assert!(evaluations(&asker(&service), body).is_err(), "{body}");
    }
    let named = whole
        .to_string()
        .replace(r#""id":"alice""#, r#""id":"alice","properties":{"id":"bob"}"#);
    assert!(evaluation(&asker(&service), &named).is_err());
}

#[test]
fn several_evaluations_have_what_the_request_says_for_all() {
    let service = service();
    let decisions = |request: &Value| -> Vec<bool> {
        let answer = evaluations(&asker(&service), &request.to_string()).unwrap();
        answer["evaluations"]
            .as_array()
            .unwrap()
            .iter()
            .map(decision)
            .collect()
    };
    let mut request = json!({
        "subject": {"type": "user", "id": "alice"},
        "action": {"name": "write"},
        "resource": {"type": "record"},
        "evaluations": [
            {"resource": {"id": "record-1", "properties": {"status": "active"}}},
            {"resource": {"type": "record", "id": "record-2", "properties": {"status": "archived"}}},
            {"subject": {"type": "user", "id": "bob", "properties": {"role": "admin"}}, "resource": {"id": "record-2"}},
            {"resource": {}},
            {"resource": 7},
        ],
    });
    assert_eq!(decisions(&request), [true, false, true, false, false]);
    for (semantic, expected) in [
        ("execute_all", &[true, false, true, false, false][..]),
        ("deny_on_first_deny", &[true, false]),
        ("permit_on_first_permit", &[true]),
    ] {
        request["options"] = json!({"evaluations_semantic": semantic});
        assert_eq!(decisions(&request), expected, "{semantic}");
    }
    request["options"] = json!({"evaluations_semantic": "any"});
    assert!(evaluations(&asker(&service), &request.to_string()).is_err());
    // Without any it is one.
    let mut one = json!({
        "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"},
        "resource": {"type": "record", "id": "record-1"},
    });
    assert!(decision(
        &evaluations(&asker(&service), &one.to_string()).unwrap()
    ));
    one["evaluations"] = json!([]);
    assert!(decision(
        &evaluations(&asker(&service), &one.to_string()).unwrap()
    ));
}

#[test]
fn a_call_of_a_tool_is_judged_as_one() {
    let service = service();
    let ask = |tool: &str, arguments: &str| {
        let request = format!(
            r#"{{"subject":{{"type":"agent","id":"a"}},"action":{{"name":"tools/call"}},
                "resource":{{"type":"tool","id":"{tool}","properties":{{"server":"web"}}}},"context":{{"arguments":{arguments}}}}}"#
        );
        evaluation(&asker(&service), &request)
    };
    assert!(decision(
        &ask("fetch", r#"{"url":"https://docs.example/a"}"#).unwrap()
    ));
    for (tool, arguments, rule, effect) in [
        (
            "fetch",
            r#"{"url":"https://evil.example/"}"#,
            "default-deny",
            "deny",
        ),
        (
            "fetch",
            r#"{"url":"https://docs.example/b/../a"}"#,
            "structural-inexact-call",
            "deny",
        ),
        ("report", "{}", "ask", "escalate"),
        ("other", "{}", "structural-unknown-tool", "deny"),
    ] {
        let answer = ask(tool, arguments).unwrap();
        assert!(!decision(&answer), "{answer}");
        assert_eq!(
            (&answer["context"]["id"], &answer["context"]["effect"]),
            (&json!(rule), &json!(effect))
        );
        assert!(answer["context"]["reason_user"]["en"].is_string());
    }
    for (tool, arguments) in [("fetch", r#"{"url":"a","url":"b"}"#), ("fetch", "7")] {
        let answer = ask(tool, arguments);
        assert!(answer.is_err() || !decision(&answer.unwrap()), "{arguments}");
    }
}

/// An evaluation as COAZ's default mapping makes one.
fn by_default(action: &str, kind: &str, id: &str) -> String {
    let resource = json!({"type": kind, "id": id});
    let subject = json!({"type": "identity", "id": "ann"});
    json!({"subject": subject, "action": {"name": action}, "resource": resource, "context": {"agent": "bot"}})
        .to_string()
}

#[test]
fn messages_that_are_no_calls_pass_as_they_do_before_the_guard() {
    let all = service();
    let only_tools = service_with(|options| options.only_tools = true);
    for (action, kind, passes, passes_with_only_tools) in [
        ("initialize", "mcp_server", true, true),
        ("tools/list", "mcp_server", true, true),
        ("logging/setLevel", "mcp_server", true, true),
        ("tasks/get", "task", true, true),
        ("tasks/list", "mcp_server", true, true),
        ("prompts/list", "mcp_server", true, false),
        ("resources/list", "mcp_server", true, false),
        ("resources/read", "resource", true, false),
        ("resources/subscribe", "resource", true, false),
        ("completion/complete", "prompt", true, false),
        ("completion/complete", "resource", true, false),
        // What is no message of COAZ's is a call of a tool that nobody annotated.
        ("resources/read", "mcp_server", false, false),
        ("resources/delete", "resource", false, false),
        ("Resources/Read", "resource", false, false),
        ("sampling/createMessage", "mcp_server", false, false),
        ("x/later", "mcp_server", false, false),
        ("", "mcp_server", false, false),
    ] {
        for (service, expected) in [(&all, passes), (&only_tools, passes_with_only_tools)] {
            let answer =
                evaluation(&asker(service), &by_default(action, kind, "file:///etc/passwd")).unwrap();
            assert_eq!(decision(&answer), expected, "{action} {kind}: {answer}");
            assert_eq!(
                answer["context"]["reason_user"]["en"].is_string(),
                !expected,
                "{answer}"
            );
        }
    }
    // The documents have a rule about prompts.
    for (service, id, expected) in [
        (&all, "greet", true),
        (&all, "other", false),
        (&only_tools, "greet", false),
    ] {
        let answer = evaluation(&asker(service), &by_default("prompts/get", "prompt", id)).unwrap();
        assert_eq!(decision(&answer), expected, "{id}: {answer}");
    }
}

#[test]
fn a_call_without_its_arguments_is_denied() {
    let service = service_with(|options| options.server = Some("web".to_owned()));
    for context in [
        json!({"agent": "bot"}),
        json!({"arguments": null}),
        json!({}),
        Value::Null,
    ] {
        let mut request: Value = serde_json::from_str(&by_default("tools/call", "tool", "note")).unwrap();
        request["subject"]["id"] = "ann".into();
        request["context"] = context;
        let answer = evaluation(&asker(&service), &request.to_string()).unwrap();
        assert!(!decision(&answer), "{answer}");
        let reason = answer["context"]["reason_user"]["en"].as_str().unwrap();
        assert!(
            reason.contains(r#"{"arguments": "$has(params.arguments)"#),
            "{reason}"
        );
    }
    assert!(evaluation(&asker(&service), &by_default("tools/call", "resource", "note")).is_err());
}

#[test]
fn rules_see_who_asks() {
    let ask = |service: &Service, token: Option<&str>, subject: &str, said: Value| {
        let mut context = said;
        context["arguments"] = json!({});
        let request = json!({
            "subject": {"type": "identity", "id": subject}, "action": {"name": "tools/call"},
            "resource": {"type": "tool", "id": "note", "properties": {"server": "web"}}, "context": context,
        });
        let asker = Asker {
            service,
            subject: token.map(Into::into),
        };
        decision(&evaluation(&asker, &request.to_string()).unwrap())
    };
    let service = service_with(|options| options.callers_from_evaluations = true);
    let bot = || json!({"agent": "bot", "session": "s-1"});
    for (token, subject, said, expected) in [
        (None, "ann", bot(), true),
        (None, "bob", bot(), false),
        (None, "ann", json!({"agent": "other", "session": "s-1"}), false),
        (None, "ann", json!({"agent": "bot"}), false),
        (None, "ann", json!({"agent": "bot", "session": 1}), false),
        (None, "ann\n", bot(), false),
        // The token's name is certain.
        (Some("bob"), "ann", bot(), false),
        (Some("ann"), "bob", bot(), true),
    ] {
        assert_eq!(
            ask(&service, token, subject, said.clone()),
            expected,
            "{token:?} {subject} {said}"
        );
    }
    let bob = service_with(|options| {
        options.callers_from_evaluations = true;
        options.context = Some(r#"{"subject": "bob"}"#.to_owned());
    });
    assert!(!ask(&bob, None, "ann", bot()));
    // Nobody is believed by default.
    assert!(!ask(&self::service(), None, "ann", bot()));
}

#[test]
fn numbers_are_judged_as_they_were_written() {
    let service = service();
    for (number, is_allowed) in [("100000000000000000000001", false), ("7.5", true)] {
        let body = format!(
            r#"{{"subject":{{"type":"user","id":"a","properties":{{"n":{number}}}}},"action":{{"name":"pay"}},
                "resource":{{"type":"record","id":"r"}},"context":{{"n":{number}}}}}"#
        );
        let answer = evaluation(&asker(&service), &body).unwrap();
        assert_eq!(decision(&answer), is_allowed, "{answer}");
    }
}

#[test]
fn many_evaluations_are_no_more_than_one_long_message() {
    let service = service();
    let long = "x".repeat(TOGETHER / 100);
    let ask = |count: usize| {
        let items = vec![json!({}); count];
        let body = json!({
            "subject": {"type": "user", "id": "a"}, "action": {"name": "read"}, "resource": {"type": "record", "id": long},
            "evaluations": items
        });
        evaluations(&asker(&service), &body.to_string())
    };
    assert_eq!(ask(90).unwrap()["evaluations"].as_array().unwrap().len(), 90);
    let refused = ask(110).unwrap_err();
    assert!(refused.contains("expected fewer or shorter ones"), "{refused}");
}

#[test]
fn calls_are_counted_for_who_asks() {
    let folder = tempfile::tempdir().unwrap();
    let service = service_with(|options| {
        options.callers_from_evaluations = true;
        options.counts = Some(callgate_guard::Counts::new(folder.path().join("state")));
    });
    for (subject, expected) in [
        ("ann", true),
        ("ann", true),
        ("ann", false),
        ("bob", true),
        ("ann", false),
    ] {
        let request = json!({
            "subject": {"type": "identity", "id": subject}, "action": {"name": "tools/call"},
            "resource": {"type": "tool", "id": "counted", "properties": {"server": "web"}}, "context": {"arguments": {}},
        });
        let answer = evaluation(&asker(&service), &request.to_string()).unwrap();
        assert_eq!(decision(&answer), expected, "{subject}: {answer}");
    }
}
