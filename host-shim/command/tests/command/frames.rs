//! Answers that name their calls, and frames of MCP as they are recorded.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use callgate_host::{EngineKind, Gate, RealHost};
use serde_json::{Value, json};

use crate::project::{Project, call, reading};

/// The answers of a run, a line each.
fn answers(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let output = project.run(arguments);
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn frame(id: Value, name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

#[test]
fn verdicts_do_not_depend_on_the_folder_that_the_command_is_run_in() {
    let project = Project::new();
    let folder = project
        .folder
        .path()
        .join("project")
        .canonicalize()
        .expect("a folder");
    let home = project.folder.path().join("home");
    // The output of `cargo show`: prepared arguments, judged where the bundle is.
    let host = RealHost::new(&home.display().to_string(), &folder.display().to_string());
    let gate = Gate::builder()
        .engine(EngineKind::Native)
        .bundle(folder.join("callgate.json"))
        .host(Arc::new(host.expect("a host")))
        .build()
        .expect("a gate");
    let calls = fs::read_to_string(folder.join("calls.jsonl")).expect("calls");
    let expected: Vec<Value> = calls
        .lines()
        .map(|call| serde_json::to_value(gate.evaluate(call).expect("a verdict")).expect("JSON"))
        .collect();
    assert!(expected.len() > 10);
    for (from, bundle, calls) in [
        ("project", "callgate.json", "calls.jsonl"),
        ("", "project", "project/calls.jsonl"),
        ("home", "../project/callgate.json", "../project/calls.jsonl"),
    ] {
        let output = project.run_in(from, &["eval", "--bundle", bundle, calls]);
        let lines = String::from_utf8(output.stdout).expect("UTF-8");
        let mut found = Vec::new();
        for line in lines.lines() {
            let answer: Value = serde_json::from_str(line).expect("JSON");
            let mut verdict = json!({});
            for key in ["decision", "rule", "reason", "escalatedRoles", "approval"] {
                if let Some(value) = answer.get(key) {
                    verdict[key] = value.clone();
                }
            }
            found.push(verdict);
        }
        assert_eq!(found, expected, "from {from:?}");
    }
}

#[test]
fn an_answer_says_which_call_it_is_about() {
    let project = Project::new();
    let with_id = |call: &str, id: &str| call.replacen('{', &format!("{{\"id\": {id}, "), 1);
    let lines = [
        with_id(&reading("a"), "7"),
        String::new(),
        with_id(&reading("/tmp/a"), "\"x\""),
        with_id(&reading("~/.ssh/a"), "null"),
        with_id(&reading("a"), "[]"),
        with_id(&reading("a"), "123456789012345678901234567890"),
    ];
    project.write("ids.jsonl", lines.join("\n"));
    let found = answers(&project, &["eval", "ids.jsonl"]);
    let place = |answer: &Value| (answer["line"].clone(), answer.get("id").map(Value::to_string));
    let places: Vec<_> = found.iter().map(place).collect();
    let id = |text: &str| Some(text.to_owned());
    assert_eq!(
        places,
        [
            (json!(1), id("7")),
            (json!(3), id("\"x\"")),
            (json!(4), None),
            (json!(5), None),
            (
                json!(6),
                id(&json!(123456789012345678901234567890.0_f64).to_string())
            ),
        ]
    );
    assert_eq!(found[0]["server"], "filesystem");
    assert_eq!(found[0]["tool"], "read_text_file");
    // A call that passes comes with the arguments to send; one that is denied does not.
    assert!(Path::new(found[0]["arguments"]["path"].as_str().expect("a path")).is_absolute());
    assert_eq!(found[1]["arguments"], json!({"path": "/tmp/a"}));
    assert_eq!(found[2].get("arguments"), None);
    assert_eq!(
        found[3]["error"]["message"],
        "`id` is `[]`, expected a string or a number"
    );
    let explained = answers(&project, &["explain", "ids.jsonl"]);
    for (explained, judged) in explained.iter().zip(&found) {
        let mut explained = explained.clone();
        let explanation = explained
            .as_object_mut()
            .expect("an object")
            .shift_remove("explanation");
        assert_eq!(&explained, judged);
        if let Some(explanation) = explanation {
            assert_eq!(explanation["verdict"]["rule"], judged["rule"]);
        }
    }
    // The arguments keep their spelling, numbers included.
    let exact = r#"{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {"head": 1e999, "path": "a"}}"#;
    project.check(&["eval", exact], 0, &[r#""arguments":{"head":1e999,"#], &[]);
}

#[test]
fn frames_of_a_session_are_read_as_they_are() {
    let project = Project::new();
    let inside = json!({"path": "a"});
    let read = "read_text_file";
    let mut named = frame(json!(3), read, inside.clone());
    named["serverName"] = json!("filesystem");
    let frames = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}),
        json!({"jsonrpc": "2.0", "id": 0, "result": {"capabilities": {}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        frame(json!(1), read, inside.clone()),
        frame(json!("two"), read, json!({"path": "~/.ssh/a"})),
        named,
        json!({"method": "tools/call", "params": {"name": read, "arguments": inside, "_meta": {"progressToken": 1}}}),
        json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -32601, "message": "?"}}),
    ];
    let text: Vec<String> = frames.iter().map(Value::to_string).collect();
    project.write("session.jsonl", text.join("\n"));
    let arguments = ["eval", "--server", "filesystem", "session.jsonl"];
    project.check(
        &arguments,
        2,
        &["\"line\":4,\"id\":1,", "\"id\":\"two\",", "\"line\":6,\"id\":3,", "{\"line\":7,\"server\""],
        &["note: passed over 4 frames that call no tool: `initialize`, a response, `notifications/initialized`\n"],
    );
    let found = answers(&project, &arguments);
    let of_calls = ["allow", "deny", "allow", "allow"];
    let decisions: Vec<_> = found
        .iter()
        .map(|answer| answer["decision"].as_str().expect("a decision"))
        .collect();
    assert_eq!(decisions, of_calls);
    // A frame and the call that it stands for are one question.
    let as_call = answers(&project, &["eval", &reading("a")]);
    assert_eq!(as_call[0]["arguments"], found[0]["arguments"]);
    assert_eq!(as_call[0]["rule"], found[0]["rule"]);
    // Calls without a server take the same one.
    project.check(
        &[
            "eval",
            "--server",
            "filesystem",
            r#"{"toolName": "read_text_file", "arguments": {"path": "a"}}"#,
        ],
        0,
        &[r#""server":"filesystem""#],
        &[],
    );
}

#[test]
fn a_frame_that_is_no_call_of_a_tool_says_what_is_wrong() {
    let project = Project::new();
    let read = frame(json!(1), "read_text_file", json!({"path": "a"})).to_string();
    let changed = |from: &str, to: &str| {
        assert!(read.contains(from), "{read}");
        read.replacen(from, to, 1)
    };
    for (line, expected) in [
        (changed(r#""id":1"#, r#""id":1,"id":2"#), "`id` occurs twice"),
        (
            changed(r#""name":"#, r#""name":"x","name":"#),
            "`name` occurs twice",
        ),
        (
            changed(r#""method":"#, r#""method":"tools/list","method":"#),
            "`method` occurs twice",
        ),
        (
            changed(r#""id":1"#, r#""id":null"#),
            "`id` is `null`, expected a string or a number",
        ),
        (
            changed(r#""2.0""#, r#""1.0""#),
            "`jsonrpc` is `\\\"1.0\\\"`, expected",
        ),
        (
            changed("tools/call", "tools/list"),
            "found `tools/list`, expected a call of a tool",
        ),
        (
            changed(r#""method":"tools/call""#, r#""method":5"#),
            "`method` is `5`, expected a string",
        ),
        (changed(r#""method":"tools/call","#, ""), "`method` is missing"),
        (
            changed(r#""name":"read_text_file""#, r#""name":["x"]"#),
            "`name` is `[\\\"x\\\"]`, expected a string, the tool's name",
        ),
        (
            changed(r#""name":"read_text_file""#, r#""nam":"x""#),
            "did you mean `name`?",
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}"#.to_owned(),
            "`params` are missing",
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}"#.to_owned(),
            "found an array, expected `params`, an object",
        ),
        (
            changed(r#""jsonrpc""#, r#""serverName":"git","jsonrpc""#),
            "`serverName` is `\\\"git\\\"`, but `--server` is `filesystem`",
        ),
        (
            changed(
                r#""jsonrpc""#,
                r#""toolName":"list_allowed_directories","jsonrpc""#,
            ),
            "found `toolName` in a frame",
        ),
    ] {
        project.check(
            &["eval", "--server", "filesystem", &line],
            1,
            &["\"error\":", expected],
            &[],
        );
    }
    project.check(
        &["eval", &read],
        1,
        &["the frame names no server, expected `--server NAME`"],
        &[],
    );
    // A name twice in the arguments is denied, in a frame as in a call.
    let twice = changed(r#""path":"a""#, r#""path":"a","path":"b""#);
    project.check(
        &["eval", "--server", "filesystem", &twice],
        2,
        &["structural-unreadable-argument"],
        &[],
    );
}

#[test]
fn recordings_hold_what_was_asked() {
    let project = Project::new();
    let call = call("filesystem", "read_text_file", json!({"path": "/box/a"}));
    for (flags, op) in [
        (
            &["--container-workspace-dir", "/box"][..],
            "\"op\":\"explainGate\",\"containerWorkspaceDir\":\"/box\"",
        ),
        (&["--prepared"], "\"op\":\"explain\",\"call\""),
    ] {
        let mut arguments = vec!["explain", "--record", "kept.jsonl"];
        arguments.extend(flags);
        arguments.push(&call);
        project.run(&arguments);
        let kept = fs::read_to_string(project.folder.path().join("project/kept.jsonl")).expect("a recording");
        assert!(kept.contains(op), "{kept}");
        project.check(&["replay", "kept.jsonl"], 0, &["1 passed, 0 failed\n"], &[]);
    }
}
