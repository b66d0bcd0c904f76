use super::*;
use crate::tests::{asker, call, service};

fn ask(kind: Webhook, message: &str) -> Value {
    serde_json::from_str(&answer(kind, message)).unwrap()
}

fn answer(kind: Webhook, message: &str) -> String {
    let body = format!(
        r#"{{"version":"v0.1.0","uid":"u1","timestamp":"2026-01-01T00:00:00Z","principal":{{"sub":"a"}},"mcp_request":{message},
            "context":{{"server_name":"web","source_ip":"127.0.0.1","transport":"stdio"}}}}"#
    );
    webhook(&asker(&service(None)), kind, &body).unwrap()
}

const EXACT: &str = r#"{"url":"https://docs.example/a"}"#;
const SPELLED: &str = r#"{"url":"HTTPS://docs.example:443/x/../a"}"#;

#[test]
fn a_mutating_webhook_answers_with_what_was_judged() {
    let answer = ask(Webhook::Mutating, &call("fetch", EXACT));
    assert_eq!((&answer["allowed"], &answer["patch"]), (&json!(true), &json!([])));
    assert_eq!(
        (&answer["uid"], &answer["version"]),
        (&json!("u1"), &json!("v0.1.0"))
    );
    let answer = ask(Webhook::Mutating, &call("fetch", SPELLED));
    let arguments: Value = serde_json::from_str(EXACT).unwrap();
    assert_eq!(
        answer["patch"],
        json!([{"op": "replace", "path": "/mcp_request/params/arguments", "value": arguments}])
    );
    assert_eq!(answer["patch_type"], "json_patch");
    // Numbers too, which few programs read alike.
    for number in [
        "100000000000000000000001",
        "9007199254740993.0",
        "0.10000000000000000001",
        "1E2",
    ] {
        let arguments = format!(r#"{{"url":"HTTPS://docs.example/","note":{number}}}"#);
        let answer = super::tests::answer(Webhook::Mutating, &call("fetch", &arguments));
        let expected = format!(r#""value":{{"url":"https://docs.example","note":{number}}}"#);
        assert!(answer.contains(&expected), "{answer}");
    }
}

#[test]
fn a_validating_webhook_lets_a_call_pass_only_as_it_was_judged() {
    assert_eq!(ask(Webhook::Validating, &call("fetch", EXACT))["allowed"], true);
    let answer = ask(Webhook::Validating, &call("fetch", SPELLED));
    assert_eq!(
        (&answer["allowed"], &answer["code"]),
        (&json!(false), &json!(403))
    );
    assert_eq!(answer["reason"], "structural-inexact-call");
    assert_eq!(answer["patch"], Value::Null);
    for kind in [Webhook::Validating, Webhook::Mutating] {
        for message in [
            &call("fetch", r#"{"url":"https://evil.example/"}"#),
            &call("report", "{}"),
            &format!("[{}]", call("fetch", EXACT)),
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","name":"x"}}"#,
            "7",
        ] {
            assert_eq!(ask(kind, message)["allowed"], false, "{message}");
        }
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(ask(kind, ping)["allowed"], true);
    }
    for body in ["", "{}", r#"{"uid":"u"}"#] {
        assert!(webhook(&asker(&service(None)), Webhook::Validating, body).is_err());
    }
}

#[test]
fn a_decision_is_about_a_call_with_its_arguments() {
    let service = service(None);
    let ask = |operation: &str, resource: &str, context: &str| {
        let body = format!(
            r#"{{"principal":{{"sub":"a"}},"operation":"{operation}","resource":"{resource}","context":{context}}}"#
        );
        decision(&asker(&service), &body).map(|answer| answer == r#"{"allow":true}"#)
    };
    let with = |arguments: &str| format!(r#"{{"mcp":{{"feature":"tool","args":{arguments}}}}}"#);
    let fetch = "mrn:mcp:web:tool:fetch";
    assert_eq!(ask(CALL, fetch, &with(EXACT)), Ok(true));
    assert_eq!(ask(CALL, fetch, &with(SPELLED)), Ok(false));
    assert_eq!(ask(CALL, "mrn:mcp:web:tool:report", &with("{}")), Ok(false));
    assert_eq!(ask(CALL, "mrn:mcp:other:tool:fetch", &with(EXACT)), Ok(false));
    assert_eq!(ask("mcp:tool:list", "mrn:mcp:web", "{}"), Ok(true));
    for (operation, resource, context) in [
        (CALL, fetch, "{}"),
        (CALL, "fetch", &*with(EXACT)),
        ("MCP:tool:call", fetch, &with(EXACT)),
        (CALL, fetch, &with(r#"{"url":"a","url":"b"}"#)),
    ] {
        assert!(
            ask(operation, resource, context).is_err(),
            "{operation} {resource} {context}"
        );
    }
}
