//! A guard's log, judged by other documents.

use serde_json::{Value, json};

use crate::guarding::{ECHO, Guarded, log};
use crate::project::Project;

/// A project whose log has an allowed, a denied and an escalated call, and one about whose argument the log says nothing.
fn logged() -> Project {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl"], ECHO);
    guarded.ask(1, "a.txt");
    guarded.ask(2, "~/.ssh/id");
    guarded.ask(3, "/etc/hosts");
    guarded.send(&json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call",
        "params": {"name": "write_file", "arguments": {"path": "b.txt", "content": "many words"}}}));
    guarded.receive();
    guarded.end();
    project
}

#[test]
fn a_log_is_judged_by_other_documents() {
    let project = logged();
    let lines = log(&project);
    let write = lines
        .iter()
        .find(|line| line["tool"] == "write_file")
        .expect("a line");
    assert_eq!(write["others"], json!(["content"]));
    let replay = ["replay", "--format", "human", "log.jsonl"];
    project.check(
        &replay,
        0,
        &["4 judged, 0 decisions change, 0 by another rule alone, 0 not judged\n"],
        &[],
    );
    project.edit("policy.json", |policy| {
        let ask = &mut policy["rules"][3];
        assert_eq!(ask["name"], "ask-other-paths");
        ask["then"] = json!("deny");
    });
    project.check(
        &replay,
        1,
        &[
            "escalate → deny filesystem/read_text_file log.jsonl:",
            "  /path as read-path: /etc/hosts\n  ask-other-paths → ask-other-paths: ",
            // A rule that denies is heard in the sandbox too.
            "allow → deny filesystem/write_file log.jsonl:",
            "4 judged, 3 decisions change",
        ],
        &[],
    );
    let output = project.run(&["replay", "log.jsonl"]);
    let judged: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(judged["judged"], 4);
    assert_eq!(judged["changes"][0]["after"]["decision"], "deny");
    // Another sandbox, by a flag.
    project.check(
        &["replay", "log.jsonl", "--sandbox", "elsewhere"],
        1,
        &[r#""place":"log.jsonl:2""#, r#""before":{"decision":"allow""#],
        &[],
    );
}

#[test]
fn who_asks_is_in_the_log_and_is_judged_again() {
    let project = Project::new();
    project.edit("policy.json", |policy| {
        let rules = policy["rules"].as_array_mut().expect("rules");
        let people = json!({"subject": "ann", "agent": "claude-*"});
        rules.insert(
            0,
            json!({"name": "ann", "if": {"roles": "read-path", "context": people}, "then": "deny", "reason": "No"}),
        );
    });
    // Neither an odd name nor one that the server says is taken for somebody.
    let faults = Guarded::start(&project, &["--subject", ""], ECHO).end();
    assert_eq!(faults.0, Some(1), "{}", faults.1);
    let rules = [
        &["--subject", "ann", "--agent", "claude-code"][..],
        &["--subject", "bob"],
    ];
    for flags in rules {
        let flags = [&["--audit", "log.jsonl"], flags].concat();
        let mut guarded = Guarded::start(&project, &flags, ECHO);
        guarded.ask(1, "a.txt");
        guarded.end();
    }
    let lines = log(&project);
    let decided = lines.iter().filter(|line| line["kind"] == "decision");
    let decided: Vec<_> = decided.map(|line| (&line["rule"], &line["context"])).collect();
    let ann = json!({"subject": "ann", "agent": "claude-code"});
    assert_eq!(decided[0], (&json!("ann"), &ann));
    // Nobody says which agent it is, but Bob is not Ann.
    assert_eq!(
        decided[1],
        (&json!("structural-sandbox-allow"), &json!({"subject": "bob"}))
    );
    project.check(
        &["replay", "--format", "human", "log.jsonl"],
        0,
        &["2 judged, 0 decisions change, 0 by another rule alone, 0 not judged\n"],
        &[],
    );
}

#[test]
fn what_the_log_does_not_hold_is_not_judged() {
    let project = logged();
    project.edit("policy.json", |policy| {
        let rules = policy["rules"].as_array_mut().expect("rules");
        rules.insert(
            0,
            json!({"name": "words", "if": {"args": [{"arg": "content", "equals": "x"}]}, "then": "deny", "reason": "No"}),
        );
    });
    project.check(
        &["replay", "--format", "human", "log.jsonl"],
        0,
        &[
            "is not judged: a condition asks for `content`, which the log does not hold",
            "3 judged, 0 decisions change, 0 by another rule alone, 1 not judged",
        ],
        &[],
    );
    project.edit("policy.json", |policy| {
        policy["rules"].as_array_mut().expect("rules").remove(0);
    });
    project.edit("annotations.json", |annotations| {
        let tools = annotations["servers"]["filesystem"]["tools"]
            .as_array_mut()
            .expect("tools");
        let write = tools
            .iter_mut()
            .find(|tool| tool["toolName"] == "write_file")
            .expect("a tool");
        write["args"]["content"] = json!("read-path");
    });
    project.check(
        &["replay", "--format", "human", "log.jsonl"],
        0,
        &["is not judged: the policy judges `/content`, which the log does not hold"],
        &[],
    );
}

#[test]
fn logs_are_whole_and_no_recordings() {
    let project = logged();
    project.run(&["explain", "--record", "kept.jsonl", "calls.jsonl"]);
    project.check(
        &["replay", "log.jsonl", "kept.jsonl"],
        1,
        &[],
        &["`kept.jsonl` is not a log"],
    );
    project.check(
        &["replay", "kept.jsonl", "--policy", "policy.json"],
        1,
        &[],
        &["recordings hold their documents"],
    );
    let path = project.folder.path().join("project/log.jsonl");
    let text = std::fs::read_to_string(path).expect("a log");
    project.write("log.jsonl", text.replace("read_text_file", "write_text_file"));
    project.check(
        &["replay", "log.jsonl"],
        4,
        &[],
        &["log.jsonl:3: follows a line with the digest"],
    );
}

#[test]
fn a_log_suggests_rules() {
    let project = logged();
    let output = project.run(&["suggest", "log.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let rules: Vec<&Value> = lines.iter().map(|line| &line["rule"]).collect();
    let expected = [
        json!("structural-protected-path"),
        json!("ask-other-paths"),
        Value::Null,
    ];
    assert!(expected.iter().all(|rule| rules.contains(&rule)), "{text}");
    assert_eq!(rules.len(), expected.len(), "{text}");
    let asked = lines
        .iter()
        .find(|line| line["rule"] == "ask-other-paths")
        .expect("a line");
    assert_eq!(
        asked["suggestion"]["rules"][0]["if"]["paths"]["within"],
        "/etc/hosts"
    );
    assert!(
        asked["place"]
            .as_str()
            .expect("a place")
            .starts_with("log.jsonl:")
    );
}

#[test]
fn the_log_shows_why_and_what_was_denied_first() {
    let project = logged();
    let said = |what: &str, flags: &[&str]| {
        let output = project.run(&[&["audit", what, "log.jsonl", "--format", "human"], flags].concat());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let shown = said("show", &["--decision", "deny"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 3, "{shown}");
    assert!(
        lines[0].ends_with("deny filesystem/read_text_file structural-protected-path"),
        "{shown}"
    );
    assert!(
        lines[1].starts_with("  Access to protected path is forbidden: "),
        "{shown}"
    );
    // What came, and what it was judged as.
    assert!(
        lines[2].starts_with("  /path as read-path: ~/.ssh/id → /") && lines[2].ends_with("/home/.ssh/id"),
        "{shown}"
    );
    let stats = said("stats", &[]);
    let decisions: Vec<&str> = stats
        .lines()
        .map(|line| line.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(
        decisions,
        ["deny", "escalate", "allow", "allow", "ended"],
        "{stats}"
    );
}
