//! Every line that a guard writes keeps to the schema of the log, which describes every member that there is.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a failing test stops where it fails"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use callgate_guard::line_schema;
use schemas::Validator;
use serde_json::{Value, json};

/// A server that answers by the id: with a result, a tool's error, an error, something unfinished, or not at all.
const SERVER: &str = r#"while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$id" in
        1) echo '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';;
        2) echo '{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}';;
        3) echo '{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}';;
        4) echo '{"jsonrpc":"2.0","id":4,"result":{"resultType":"input_required","requestState":"s"}}';;
    esac
    [ "$id" = 6 ] && exit
done"#;

/// The lines that a guard has written in all that may happen to it.
fn lines(how: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let mut guard = Command::new(env!("CARGO_BIN_EXE_guard"))
        .args([log.as_os_str(), folder.path().join("state").as_os_str()])
        .args([how, SERVER])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the guard starts");
    let mut to = guard.stdin.take().expect("an input");
    let call = |id: u32, tool: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
    let read = |id: u32, path: &str| call(id, "read", json!({"path": path, "lines": 5}));
    let cancel =
        |id: u32| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let messages = [
        read(1, "a"),
        read(2, "b"),
        read(3, "c"),
        read(4, "d"),
        read(5, "/root/x"),
        read(7, &format!("/etc/{}", "x/".repeat(1000))),
        read(8, "/etc/hosts"),
        cancel(8),
        read(9, ""),
        call(10, "no-such", json!({})),
        call(11, "commit", json!({"repo": "/opt", "message": "words"})),
        call(
            12,
            "read",
            json!({"path": (0..100).map(|at| format!("/opt/{at}")).collect::<Vec<_>>()}),
        ),
        call(13, "read", json!({"path": {}})),
        json!([1]),
        json!({"jsonrpc": "2.0", "method": "tools/call"}),
    ];
    for message in messages {
        writeln!(to, "{message}").expect("the guard reads");
    }
    // The call that a person is asked about has no answer in time.
    thread::sleep(Duration::from_secs(2));
    if how == "cut" {
        let text = fs::read_to_string(&log).expect("a log");
        let kept: String = text.split_inclusive('\n').take(3).collect();
        fs::write(&log, kept).expect("a log");
    }
    writeln!(to, "{}", read(6, "e")).expect("the guard reads");
    if how == "cut" {
        // The call that ends the server is denied, so that the client has to leave.
        drop(to);
    }
    guard.wait().expect("the guard ends");
    let text = fs::read_to_string(log).expect("a log");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// The schema that knows no member but those that it describes.
fn strict(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let strict_members = members.iter().map(|(name, value)| (name.clone(), strict(value)));
            let mut schema: Value = strict_members.collect();
            if members.get("type") == Some(&json!("object"))
                && members.get("properties").is_some_and(Value::is_object)
            {
                schema["additionalProperties"] = json!(false);
            }
            schema
        }
        Value::Array(items) => items.iter().map(strict).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

/// The kinds of the lines with the names of their members, and of the members of their values.
fn members(lines: &[Value], found: &mut BTreeSet<String>) {
    for line in lines {
        let kind = line["kind"].as_str().expect("a kind");
        let named = line.as_object().expect("an object").keys();
        found.extend(named.map(|name| format!("{kind}.{name}")));
        for value in line["values"].as_array().into_iter().flatten() {
            found.extend(
                value
                    .as_object()
                    .expect("an object")
                    .keys()
                    .map(|name| format!("value.{name}")),
            );
        }
        if kind == "outcome" {
            found.insert(format!("is {}", line["outcome"].as_str().expect("an outcome")));
        }
    }
}

#[test]
fn the_schema_describes_every_line() {
    let schema = strict(&line_schema());
    let validator = Validator::new(schema);
    let mut found = BTreeSet::new();
    let (mut accepted, mut refused) = (0, 0);
    for how in ["ask", "observe", "cut"] {
        let lines = lines(how);
        members(&lines, &mut found);
        for line in &lines {
            if let Some(fault) = validator.fault(line) {
                panic!("{line}\n{fault}");
            }
            accepted += 1;
            // A member that is gone, has another type or is not known is seen, save those that need not be there.
            for name in line.as_object().expect("an object").keys() {
                let mut changed = line.clone();
                changed[name] = json!({"x": []});
                assert!(validator.fault(&changed).is_some(), "{changed}");
                refused += 1;
            }
            let mut more = line.clone();
            more["more"] = json!(1);
            assert!(validator.fault(&more).is_some(), "{more}");
        }
    }
    // There was something of everything.
    for expected in [
        "start.session",
        "decision.escalatedRoles",
        "decision.observed",
        "outcome.observed",
        "refused.observed",
        "reload.observed",
        "stop.observed",
        "cut.previous",
        "decision.others",
        "value.canonical",
        "value.digest",
        "outcome.code",
        "is done",
        "is tool-error",
        "is error",
        "is unfinished",
        "is no-answer",
        "is cancelled",
        "refused.reason",
        "reload.policy",
        "reload.refused",
        "stop.why",
    ] {
        assert!(found.contains(expected), "no `{expected}` in {found:?}");
    }
    assert!(
        accepted > 50 && refused > 500,
        "{accepted} accepted, {refused} refused"
    );
}
