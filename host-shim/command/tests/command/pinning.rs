//! `callgate pin` of servers that are asked: what is pinned is what the guard sees.

use serde_json::{Value, json};

use crate::guarding::{Guarded, until};
use crate::http::{Listening, echo, modern};
use crate::project::Project;
use crate::wire::{Upstream, reply};

/// Two pages of tools, with members that not every library of MCP knows.
fn pages(message: &Value) -> Value {
    let read = json!({"name": "read_text_file", "description": "Reads", "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true, "later": 1}, "execution": {"taskSupport": "optional"},
        "icons": [{"src": "data:", "later": 1}], "_meta": {"x": 1}});
    match (message["method"].as_str(), message["params"]["cursor"].as_str()) {
        (Some("tools/list"), None) => {
            json!({"tools": [{"name": "first", "inputSchema": {}}], "nextCursor": "2"})
        }
        (Some("tools/list"), Some(_)) => json!({"tools": [read]}),
        _ => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"}}),
    }
}

fn accept(project: &Project, server: &[&str]) {
    let arguments = [&["pin", "--server", "filesystem", "--accept"], server].concat();
    let output = project.run(&arguments);
    assert!(output.status.success(), "{output:?}");
}

fn is_shown(guarded: &mut Guarded) -> bool {
    guarded.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"cursor": "2"}}));
    let listed = guarded.receive();
    listed["result"]["tools"]
        .as_array()
        .is_some_and(|tools| tools.len() == 1)
}

#[test]
fn a_tool_of_a_program_is_pinned_as_it_is_written() {
    let project = Project::new();
    let answer =
        |message: Value| json!({"jsonrpc": "2.0", "id": "ID", "result": pages(&message)}).to_string();
    let list = |cursor: Value| json!({"method": "tools/list", "params": {"cursor": cursor}});
    project.write("begun", answer(json!({"method": "initialize"})));
    project.write("one", answer(list(Value::Null)));
    project.write("two", answer(list(json!("2"))));
    let script = r#"printf '%s\n' '{"jsonrpc":"2.0","id":"q","method":"ping"}'
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
    case "$line" in
        *initialize\"*) file=begun;;
        *cursor*) file=two;;
        *tools/list*) file=one;;
        *) continue;;
    esac
    sed "s|\"ID\"|$id|" $file; echo
done"#;
    let server = ["--", "sh", "-c", script];
    accept(&project, &server);
    let flags = [&["--lock", "callgate.lock"], &server[..]].concat();
    let mut guarded = Guarded::with(&project, &flags, &[]);
    // The ping of the server.
    guarded.receive();
    assert!(is_shown(&mut guarded));
    // It is to run otherwise now.
    let two = std::fs::read_to_string(project.folder.path().join("project/two")).expect("a page");
    project.write("two", two.replace("optional", "required"));
    assert!(!is_shown(&mut guarded));
    guarded.end();
}

#[test]
fn so_is_one_of_a_server_over_http() {
    let project = Project::new();
    let server = Upstream::start(|request, to| {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        match (&*request.head, message["id"].clone()) {
            (head, _) if head.starts_with("GET") => reply(to, "405 Method Not Allowed", &[], ""),
            (head, _) if head.starts_with("DELETE") => reply(to, "200 OK", &[], ""),
            (_, Value::Null) => reply(to, "202 Accepted", &[], ""),
            (_, id) => {
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": pages(&message)});
                let headers = [("content-type", "application/json")];
                reply(to, "200 OK", &headers, &answer.to_string());
            }
        }
    });
    accept(&project, &["--url", &server.url]);
    let mut guarded = Guarded::with(&project, &["--lock", "callgate.lock", "--url", &server.url], &[]);
    assert!(is_shown(&mut guarded));
    guarded.end();
    // One that lists none says so.
    let other = echo();
    let output = project.run(&["pin", "--server", "filesystem", "--url", &other.url]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("has no readable list of tools"), "{said}");
}

#[test]
fn a_program_is_heard_that_says_between_two_requests_that_its_tools_have_changed() {
    let project = Project::new();
    let list = |description: &str| {
        let tool = json!({"name": "read_text_file", "description": description, "inputSchema": {}});
        json!({"jsonrpc": "2.0", "id": "ID", "result": {"tools": [tool], "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}})
        .to_string()
    };
    project.write("list", list("Reads"));
    let script = r#"while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
    case "$line" in
        *tools/call*)
            printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id"
            (sleep 0.3; echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; touch told) &
            continue;;
        *\"id\"*) sed "s|\"ID\"|$id|" list; echo;;
    esac
done"#;
    accept(&project, &["--", "sh", "-c", script]);
    let guard = Listening::script(&project, &["--lock", "callgate.lock"], script);
    let (call, headers) = modern(1, "a.txt");
    let rule = || {
        let answer = guard.post(&headers, &call).answer();
        answer["result"]["_meta"]["callgate/rule"].clone()
    };
    assert_eq!(rule(), Value::Null);
    project.write("list", list("Writes"));
    until(|| project.folder.path().join("project/told").exists());
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(rule(), "structural-unpinned-tool");
}
