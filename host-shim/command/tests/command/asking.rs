//! The ways in which `callgate guard --ask` asks, and those that it does not mix up.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::guarding::{ECHO, Guarded, log, until};
use crate::project::Project;

const STATE: [&str; 2] = ["--state", "../state"];

fn reading(id: u32, path: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "read_text_file", "arguments": {"path": path}}})
}

fn questions(project: &Project) -> Vec<Value> {
    let output = project.run(&["approvals", STATE[0], STATE[1]]);
    let listed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    listed["questions"].as_array().expect("questions").clone()
}

/// A program that asks, and its flags.
fn asking(project: &Project, script: &str) -> [String; 6] {
    project.write("ask.sh", format!("#!/bin/sh\n{script}\n"));
    let path = project.folder.path().join("project/ask.sh");
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a program");
    [
        "--ask",
        "600",
        STATE[0],
        STATE[1],
        "--ask-command",
        path.to_str().expect("UTF-8"),
    ]
    .map(str::to_owned)
}

#[test]
fn a_command_is_asked_and_answers() {
    let project = Project::new();
    for (script, is_allowed) in [
        ("cat > question.json; echo once", true),
        ("echo deny", false),
        ("exit 2", false),
    ] {
        let flags = asking(&project, script);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let mut guarded = Guarded::start(&project, &[&flags[..], &["--audit", "log.jsonl"]].concat(), ECHO);
        let answer = guarded.ask(1, "/etc/hosts");
        assert_eq!(
            answer["result"]["isError"] != json!(true),
            is_allowed,
            "{script}: {answer}"
        );
        guarded.end();
        let lines = log(&project);
        assert!(
            lines.iter().any(|line| line["answeredBy"] == "command"),
            "{lines:?}"
        );
        project.write("log.jsonl", "");
    }
    let question = project.read("question.json");
    assert_eq!(question["server"], "filesystem");
    assert_eq!(question["values"][0]["canonical"], "/etc/hosts");
    assert!(question["offer"]["description"].is_string(), "{question}");
}

#[test]
fn a_command_takes_flags_of_its_own_and_none_of_the_guard() {
    let project = Project::new();
    let command = ["--ask-command", "sh", "-c", "echo $1", "-x", "once"];
    let flags = [&["--ask", "600"], &STATE[..], &command, &["--audit", "log.jsonl"]].concat();
    let mut guarded = Guarded::start(&project, &flags, ECHO);
    assert_eq!(guarded.ask(1, "/etc/hosts")["result"]["content"], json!([]));
    guarded.end();
    assert!(log(&project).iter().any(|line| line["answeredBy"] == "command"));
}

#[test]
fn what_decides_is_protected() {
    let project = Project::new();
    project.write("ask.sh", "echo once\n");
    let flags = [&["--ask", "600"], &STATE[..], &["--ask-command", "sh", "ask.sh"]].concat();
    let mut guarded = Guarded::start(&project, &flags, ECHO);
    for (id, path) in [(1, "ask.sh"), (2, env!("CARGO_BIN_EXE_callgate"))] {
        let answer = guarded.ask(id, path);
        assert_eq!(
            answer["result"]["_meta"]["callgate/rule"], "structural-protected-path",
            "{answer}"
        );
    }
    assert_eq!(guarded.ask(3, "/etc/hosts")["result"]["content"], json!([]));
    guarded.end();
}

#[test]
fn a_command_without_an_answer_leaves_the_question_open() {
    let project = Project::new();
    for script in [
        "true",
        "echo yes",
        "exit 1",
        "kill -9 $$",
        "echo $$ > asking; sleep 600",
    ] {
        let flags = asking(&project, script);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let mut guarded = Guarded::start(&project, &flags, ECHO);
        guarded.send(&reading(1, "/etc/hosts"));
        until(|| questions(&project).len() == 1);
        let id = questions(&project)[0]["id"].clone();
        project.run(&[
            "approvals",
            "deny",
            id.as_str().expect("an id"),
            STATE[0],
            STATE[1],
        ]);
        assert_eq!(
            guarded.receive()["result"]["_meta"]["callgate/rule"],
            "structural-approval",
            "{script}"
        );
        assert_eq!(guarded.end().0, Some(0));
    }
    // Who is not waited for is ended.
    let asking = fs::read_to_string(project.folder.path().join("project/asking")).expect("an id");
    until(|| fs::read(format!("/proc/{}/stat", asking.trim())).is_err());
}

#[test]
fn nobody_answers_in_time() {
    let project = Project::new();
    let mut guarded = Guarded::start(
        &project,
        &["--ask", "1", STATE[0], STATE[1], "--audit", "log.jsonl"],
        ECHO,
    );
    let answer = guarded.ask(1, "/etc/hosts");
    assert_eq!(answer["result"]["_meta"]["callgate/rule"], "structural-approval");
    assert!(answer.to_string().contains("Nobody answered in time"), "{answer}");
    assert!(questions(&project).is_empty());
    // A late answer of the server reaches nobody.
    assert_eq!(guarded.ask(2, "a.txt")["result"], json!({"content": []}));
    guarded.end();
}

#[test]
fn two_guards_share_a_queue_and_do_not_mix_up() {
    let project = Project::new();
    let flags = ["--ask", "600", STATE[0], STATE[1]];
    let mut one = Guarded::start(&project, &flags, ECHO);
    let mut other = Guarded::start(&project, &flags, ECHO);
    one.send(&reading(1, "/etc/hosts"));
    other.send(&reading(1, "/etc/passwd"));
    until(|| questions(&project).len() == 2);
    let asked = questions(&project);
    assert_ne!(asked[0]["id"], asked[1]["id"]);
    let of_one = asked
        .iter()
        .find(|question| question["values"][0]["canonical"] == "/etc/hosts");
    let id = of_one.expect("a question")["id"].as_str().expect("an id");
    project.run(&["approvals", "deny", id, STATE[0], STATE[1]]);
    assert_eq!(one.receive()["result"]["isError"], true);
    assert_eq!(questions(&project).len(), 1);
    // Who leaves takes its question along.
    other.end();
    assert!(questions(&project).is_empty());
    one.end();
}

#[test]
fn a_guard_that_was_killed_leaves_no_question_for_ever() {
    let project = Project::new();
    let state = project.folder.path().join("state");
    let mut killed = Guarded::start(&project, &["--ask", "1", STATE[0], STATE[1]], ECHO);
    killed.send(&reading(1, "/etc/hosts"));
    until(|| questions(&project).len() == 1);
    killed.child.kill().expect("it is killed");
    killed.child.wait().expect("it ends");
    until(|| questions(&project).is_empty());
    let files = || fs::read_dir(&state).expect("a folder").count();
    for entry in fs::read_dir(&state).expect("a folder") {
        let file = File::options()
            .write(true)
            .open(entry.expect("an entry").path())
            .expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(3 * 86_400))
            .expect("a time");
    }
    assert_eq!(files(), 1);
    let mut next = Guarded::start(&project, &["--ask", "1", STATE[0], STATE[1]], ECHO);
    next.ask(1, "/etc/hosts");
    next.end();
    assert_eq!(files(), 0);
}

#[test]
fn a_client_shows_a_form_and_a_flag_says_that_it_does_not() {
    let project = Project::new();
    for (flag, method) in [
        (None, Some("elicitation/create")),
        (Some("--ask-without-forms"), None),
    ] {
        let mut flags = vec!["--ask", "600", STATE[0], STATE[1]];
        flags.extend(flag);
        let mut guarded = Guarded::start(&project, &flags, ECHO);
        guarded.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}}));
        guarded.receive();
        guarded.send(&reading(1, "/etc/hosts"));
        match method {
            Some(method) => {
                let form = guarded.receive();
                assert_eq!(form["method"], method);
                guarded.send(&json!({"jsonrpc": "2.0", "id": form["id"],
                    "result": {"action": "accept", "content": {"answer": "allow this once"}}}));
                assert_eq!(
                    guarded.receive(),
                    json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
                );
            }
            None => until(|| questions(&project).len() == 1),
        }
        guarded.end();
    }
}
