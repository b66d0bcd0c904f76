//! What the documents allow, seen as a whole.

use serde_json::{Value, json};

use crate::project::Project;

/// The rows of a tool.
fn rows(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let output = project.run(arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines
        .flat_map(|tool| tool["rows"].as_array().expect("rows").clone())
        .collect()
}

#[test]
fn a_map_shows_what_each_tool_may_do() {
    let project = Project::new();
    let found = rows(&project, &["map", "--tool", "filesystem/read_text_file"]);
    let is = |row: &Value| row["places"][0]["is"].to_string();
    let open = found
        .iter()
        .find(|row| row["rule"] == "allow-read-documents")
        .expect("a row");
    assert_eq!(open["decision"], "allow");
    assert!(is(open).contains("/Documents"), "{open}");
    let secret = found
        .iter()
        .find(|row| row["rule"] == "structural-protected-path");
    assert!(
        is(secret.expect("a row")).contains("matching `**/.env`"),
        "{found:?}"
    );
    // Each row has a call that shows it.
    for row in found {
        let call = json!({
            "serverName": "filesystem", "toolName": "read_text_file", "arguments": row["arguments"],
        });
        project.write("call.jsonl", call.to_string());
        let output = project.run(&["eval", "--engine", "native", "call.jsonl"]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["decision"], row["decision"], "{row} {answer}");
        assert_eq!(answer["rule"], row["rule"], "{row} {answer}");
    }
}

#[test]
fn a_map_says_who_can_reach_something() {
    let project = Project::new();
    let found = rows(&project, &["map", "--to", "/etc/passwd"]);
    assert!(
        found
            .iter()
            .any(|row| row["decision"] == "deny" && row["rule"] == "deny-write-system")
    );
    assert!(
        found
            .iter()
            .any(|row| row["decision"] == "escalate" && row["rule"] == "ask-other-paths")
    );
    for row in &found {
        assert_eq!(row["places"][0]["is"], json!(["`/etc/passwd`"]), "{row}");
    }
    let allowed = rows(
        &project,
        &[
            "map",
            "--to",
            "/etc/passwd",
            "--only",
            "allow",
            "--tool",
            "filesystem/*",
        ],
    );
    assert!(allowed.is_empty(), "{allowed:?}");
    let disk = rows(&project, &["map", "--to", "/etc/passwd", "--disk"]);
    assert!(
        disk.iter().any(|row| row["rule"] == "deny-write-system"),
        "{disk:?}"
    );
}

#[test]
fn a_map_is_written_for_people_too() {
    let project = Project::new();
    project.check(
        &["map", "--format", "human"],
        0,
        &[
            "filesystem/write_file",
            "deny-write-system",
            "what matches `**/.env`",
        ],
        &[],
    );
    project.check(
        &["map", "--format", "md", "--tool", "write_file"],
        0,
        &[
            "| tool | when | verdict | rule |",
            "| filesystem/write_file | path (write-path): under /etc | deny |",
        ],
        &[],
    );
    project.check(
        &["map", "--tool", "no_such"],
        1,
        &[],
        &["no annotated tool is called `no_such`"],
    );
    project.check(
        &["tools", "--format", "md"],
        1,
        &[],
        &["only map and diff answer in Markdown"],
    );
}
