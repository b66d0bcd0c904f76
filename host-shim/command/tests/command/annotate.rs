//! `callgate annotate`, with saved lists and with servers that are started for it.

use std::fs;

use serde_json::{Value, json};

use crate::project::Project;

/// A list of two tools.
fn tools() -> Value {
    let text = || json!({"type": "string"});
    json!({"tools": [
        {"name": "read_it", "inputSchema": {"type": "object", "properties": {"path": text(), "what": text()}}},
        {"name": "write_it", "inputSchema": {"type": "object", "properties": {"path": text()}, "required": ["path"]}},
    ]})
}

fn stdout(project: &Project, arguments: &[&str], code: i32) -> String {
    let output = project.run(arguments);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn read(project: &Project, name: &str) -> String {
    fs::read_to_string(project.folder.path().join("project").join(name)).expect("a file")
}

#[test]
fn a_draft_is_a_file_of_annotations() {
    let project = Project::new();
    project.write("tools.json", tools().to_string());
    let draft = stdout(&project, &["annotate", "--server", "new", "tools.json"], 0);
    project.write("draft.json", &draft);
    let arguments = [
        "validate",
        "--policy",
        "policy.json",
        "--annotations",
        "draft.json",
    ];
    project.check(&arguments, 0, &["\"valid\":true"], &[]);
    let human = ["annotate", "--server", "new", "--format", "human", "tools.json"];
    project.check(
        &human,
        0,
        &[
            "read_it\n  path  read-path",
            "path of read_it",
            "2 arguments drafted, 0 to be decided, 1 without a role",
        ],
        &[],
    );
    let json = ["annotate", "--server", "new", "--format", "json", "tools.json"];
    let answer: Value = serde_json::from_str(&stdout(&project, &json, 0)).expect("JSON");
    assert_eq!(answer["text"], draft);
    assert_eq!(answer["unnamed"][0]["argument"], "what");
    assert_eq!(answer["rewritten"][0]["argument"], "path");
    assert_eq!(answer["drift"], json!([]));
}

#[test]
fn annotations_are_added_to_a_file_that_a_bundle_names() {
    let project = Project::new();
    project.write("tools.json", tools().to_string());
    let before = read(&project, "annotations.json");
    let check = [
        "annotate",
        "--server",
        "new",
        "--into",
        "callgate.json",
        "--check",
        "tools.json",
    ];
    let found = stdout(&project, &check, 1);
    assert!(found.contains("\"change\":\"new-tool\""), "{found}");
    assert_eq!(read(&project, "annotations.json"), before);
    let write = [
        "annotate",
        "--server",
        "new",
        "--into",
        "callgate.json",
        "tools.json",
    ];
    stdout(&project, &write, 0);
    let after = read(&project, "annotations.json");
    let kept = before
        .trim_end()
        .trim_end_matches(|one: char| one == '}' || one.is_whitespace());
    assert!(after.starts_with(kept), "{after}");
    assert!(after.contains("write_it"));
    assert_eq!(stdout(&project, &check, 0).matches("change").count(), 0);
    stdout(&project, &write, 0);
    assert_eq!(read(&project, "annotations.json"), after);
    let left = fs::read_dir(project.folder.path().join("project")).expect("a folder");
    assert!(
        left.flatten()
            .all(|entry| !entry.file_name().to_string_lossy().contains(".new"))
    );
}

#[test]
fn what_the_policy_leaves_of_the_tools_is_said() {
    let project = Project::new();
    project.write("tools.json", tools().to_string());
    let human = [
        "annotate",
        "--server",
        "new",
        "--into",
        "callgate.json",
        "--format",
        "human",
        "--check",
        "tools.json",
    ];
    project.check(
        &human,
        1,
        &[
            "under the bundle's policy:\n  always-denied every call of `new/write_it` is denied, by `default-deny`",
            "1 without a role",
        ],
        &[],
    );
    project.edit("policy.json", |policy| {
        let rule = json!({"name": "new", "if": {"server": "new"}, "then": "escalate", "reason": "r"});
        policy["rules"].as_array_mut().expect("rules").push(rule);
    });
    let json = [
        "annotate",
        "--server",
        "new",
        "--into",
        "callgate.json",
        "--check",
        "tools.json",
    ];
    let answer: Value = serde_json::from_str(&stdout(&project, &json, 1)).expect("JSON");
    assert_eq!(answer["doubts"], json!([]));
}

#[test]
fn annotations_are_added_to_a_bundle_that_holds_them() {
    let project = Project::new();
    project.write("tools.json", tools().to_string());
    let bundle =
        "{\n  \"policy\": \"policy.json\",\n  \"annotations\": {\"servers\": {}},\n  \"sandbox\": \".\"\n}\n";
    project.write("inline.json", bundle);
    let write = [
        "annotate",
        "--server",
        "new",
        "--into",
        "inline.json",
        "tools.json",
    ];
    stdout(&project, &write, 0);
    let after = read(&project, "inline.json");
    assert!(
        after.starts_with("{\n  \"policy\": \"policy.json\",\n  \"annotations\": {\"servers\": {"),
        "{after}"
    );
    assert!(after.ends_with("},\n  \"sandbox\": \".\"\n}\n"), "{after}");
    project.check(
        &["validate", "--bundle", "inline.json"],
        0,
        &["\"valid\":true"],
        &[],
    );
    project.write("without.json", "{\"policy\": \"policy.json\"}");
    let without = [
        "annotate",
        "--server",
        "new",
        "--into",
        "without.json",
        "tools.json",
    ];
    project.check(
        &without,
        4,
        &[],
        &["the bundle `without.json` has no `annotations`"],
    );
}

#[test]
fn what_cannot_be_drafted_is_said() {
    let project = Project::new();
    project.write("tools.json", tools().to_string());
    project.write("odd.json", "[{}]");
    project.write("harn.json", r#"{"a": {"kind": "read"}}"#);
    for (arguments, code, stderr) in [
        (
            &["annotate", "--server", "s"][..],
            1,
            "<TOOLS|--url <URL>|COMMAND>",
        ),
        (&["annotate", "tools.json"], 1, "--server <NAME>"),
        (
            &["annotate", "--server", "s", "nothing.json"],
            1,
            "cannot read `nothing.json`: No such file",
        ),
        (
            &["annotate", "--server", "s", "--check", "tools.json"],
            1,
            "--into <FILE>",
        ),
        (
            &["annotate", "--server", "s", "odd.json"],
            4,
            "error[missing-field] at toolsList[0]: ",
        ),
        (
            &["annotate", "--server", "s", "--into", "harn.json", "tools.json"],
            4,
            "annotations without servers",
        ),
        (
            &[
                "annotate",
                "--server",
                "s",
                "--into",
                "no/where.json",
                "tools.json",
            ],
            1,
            "cannot write `no/where.json`: ",
        ),
    ] {
        project.check(arguments, code, &[], &[stderr]);
    }
}

mod servers {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const INITIALIZED: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"0"}}"#;

    /// A shell script that answers to `initialize`, and then as `then` says; `$id` is the request's.
    fn script(then: &str) -> String {
        format!(
            "while read -r line; do id=$(printf %s \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/'); case $line in\n\
             *'\"initialize\"'*) echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{INITIALIZED}}}';;\n{then}\nesac; done"
        )
    }

    #[test]
    fn every_page_of_a_list_is_asked_for() {
        let project = Project::new();
        let page = |name: &str, next: &str| {
            format!(
                "echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{{\"tools\":[{{\"name\":\"{name}\",\"inputSchema\":{{\"type\":\"object\"}}}}]{next}}}}}'"
            )
        };
        let then = format!(
            "*'\"cursor\":\"two\"'*) {};;\n*'\"tools/list\"'*) {};;",
            page("second", ""),
            page("first", ",\"nextCursor\":\"two\"")
        );
        let draft = stdout(
            &project,
            &["annotate", "--server", "s", "--", "sh", "-c", &script(&then)],
            0,
        );
        let draft: Value = serde_json::from_str(&draft).expect("JSON");
        let tools = draft["servers"]["s"]["tools"].as_array().expect("tools");
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["toolName"]).collect();
        assert_eq!(names, ["first", "second"]);
    }

    #[test]
    fn a_server_that_does_not_answer_as_it_should_is_named() {
        let project = Project::new();
        let dies = script("*'\"tools/list\"'*) exit 3;;");
        let refuses = script(
            "*'\"tools/list\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"error\":{\"code\":-1,\"message\":\"no\"}}';;",
        );
        let wrong = script(
            "*'\"tools/list\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"tools\":5}}';;",
        );
        let silent = script("*) ;;");
        for (command, stderr) in [
            (
                &["nothing-of-this-name"][..],
                "the server `nothing-of-this-name` cannot be started: No such file",
            ),
            // It ends before or after the first message is written to it, which is another error.
            (&["false"], "the server `false` is not a server of MCP"),
            (&["sh", "-c", &dies], "ended before it said which tools it has"),
            (
                &["sh", "-c", &refuses],
                "does not say which tools it has: Mcp error: -1: no",
            ),
            (&["sh", "-c", &wrong], "does not say which tools it has"),
            (&["sh", "-c", &silent], "did not answer within 2 s"),
            (&["sh", "-c", "echo hello; sleep 5"], "did not answer within 2 s"),
        ] {
            let arguments = [&["annotate", "--server", "s", "--timeout", "2", "--"], command].concat();
            project.check(&arguments, 1, &[], &[stderr]);
        }
    }

    /// Answers to each request that is posted.
    fn answer(mut stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut length = 0;
        let mut authorized = false;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let line = line.trim().to_lowercase();
            if line.is_empty() {
                break;
            }
            authorized |= line == "authorization: bearer secret";
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = match request["method"].as_str() {
            Some("initialize") => serde_json::from_str(INITIALIZED).ok()?,
            Some("tools/list") => tools(),
            _ => Value::Null,
        };
        let (status, text) = if !authorized {
            ("401 Unauthorized", String::new())
        } else if result.is_null() {
            ("202 Accepted", String::new())
        } else {
            (
                "200 OK",
                json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string(),
            )
        };
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
        )
        .ok()
    }

    #[test]
    fn a_server_is_asked_over_http() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        std::thread::spawn(move || listener.incoming().flatten().filter_map(answer).for_each(drop));
        let project = Project::new();
        let arguments = ["annotate", "--server", "s", "--url", &url, "--token-env", "TOKEN"];
        let output = project
            .command("project", &arguments)
            .env("TOKEN", "secret")
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let draft: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(draft["servers"]["s"]["tools"][1]["toolName"], "write_it");
        project.check(&arguments, 1, &[], &["the environment has no variable `TOKEN`"]);
        let refused = ["annotate", "--server", "s", "--url", &url];
        project.check(&refused, 1, &[], &["cannot be reached as a server of MCP: "]);
        let nobody = ["annotate", "--server", "s", "--url", "http://127.0.0.1:9/mcp"];
        project.check(&nobody, 1, &[], &["cannot be reached as a server of MCP: "]);
    }
}

#[test]
fn a_bundle_with_comments_keeps_them() {
    let project = Project::new();
    let bundle = |tools: &str| {
        format!(
            "{{ // a bundle\n  \"policy\": {{\"rules\": []}},\n  \"annotations\": {{\"servers\": {{\"new\": {{\"tools\": [ // by hand\n{tools}]}}}},}},\n}}\n"
        )
    };
    project.write("callgate.json", bundle(""));
    project.write("tools.json", tools().to_string());
    stdout(
        &project,
        &[
            "annotate",
            "--server",
            "new",
            "--into",
            "callgate.json",
            "tools.json",
        ],
        0,
    );
    let written = read(&project, "callgate.json");
    let (before, after) = written.split_once("// by hand\n").expect("the comment");
    assert_eq!(
        before,
        "{ // a bundle\n  \"policy\": {\"rules\": []},\n  \"annotations\": {\"servers\": {\"new\": {\"tools\": [ "
    );
    assert!(after.contains(r#""toolName": "read_it""#), "{written}");
    project.check(&["validate"], 0, &["\"valid\":true"], &[]);
}
