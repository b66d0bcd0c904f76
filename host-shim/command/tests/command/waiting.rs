//! Who waits at a terminal is told what is being looked at. Nobody else is.

use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::project::{Project, reading};

/// So many rules about directories, and as many tools, all of one server.
fn write(project: &Project, count: usize) {
    let rule = |at: usize| {
        let conditions = json!({"paths": {"roles": "read-path", "within": format!("/srv/{at}")}});
        json!({"name": format!("rule-{at}"), "if": conditions, "then": "allow", "reason": "r"})
    };
    let tool =
        |at: usize| json!({"toolName": format!("tool-{at}"), "args": {format!("path-{at}"): "read-path"}});
    let policy = json!({"rules": (0..count).map(rule).collect::<Vec<Value>>()});
    let tools: Vec<Value> = (0..count).map(tool).collect();
    project.write("policy.json", policy.to_string());
    project.write(
        "annotations.json",
        json!({"servers": {"many\u{202e}": {"tools": tools}}}).to_string(),
    );
    project.write(
        "callgate.json",
        json!({
            "policy": "policy.json", "annotations": "annotations.json",
            "invariants": [{"name": "reads", "never": {"decision": "allow", "within": "/etc"}}],
        })
        .to_string(),
    );
    project.edit("policy.json", |policy| {
        policy["rules"][0]["then"] = "escalate".into()
    });
    project.write("other.json", policy.to_string());
    let scenario = json!({"call": serde_json::from_str::<Value>(&reading("/etc/hosts")).expect("JSON"), "expect": "deny"});
    project.write("scenarios.jsonl", scenario.to_string());
}

/// The command's output on standard error, which is a terminal of some kind.
fn on_a_terminal(project: &Project, kind: &str, arguments: &[&str]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).expect("a terminal");
    unlockpt(&master).expect("a terminal");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let slave = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().expect("UTF-8"))
        .expect("a terminal");
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        // It ends with an error once nobody writes any more.
        let _ = File::from(master).read_to_end(&mut text);
        String::from_utf8(text).expect("UTF-8")
    });
    let mut command = project.command("project", arguments);
    command
        .env("TERM", kind)
        .stdout(Stdio::null())
        .stderr(Stdio::from(slave));
    command.status().expect("the command runs");
    // With it goes this process' own hand on the terminal.
    drop(command);
    reader.join().expect("a text")
}

/// The line of a text that a terminal shows in the end: its last.
fn left_over(text: &str) -> &str {
    let line = text.rsplit(['\r', '\n']).next().unwrap_or_default();
    line.strip_prefix("\x1b[K").unwrap_or(line)
}

/// Runs a command on documents that are long enough for it to say this. How long that is depends on the machine, and on the
/// command.
fn on_long_documents(project: &Project, arguments: &[&str], said: &str) -> (usize, String) {
    let mut count = 100;
    loop {
        write(project, count);
        let text = on_a_terminal(project, "xterm", arguments);
        if text.contains(said) {
            return (count, text);
        }
        count += count / 2;
        assert!(count < 100_000, "{arguments:?} does not say {said:?}: {text}");
    }
}

#[test]
fn what_takes_long_says_what_it_looks_at() {
    let project = Project::new();
    for (arguments, what) in [
        (&["lint"][..], "tool"),
        (&["diff", "policy.json", "other.json"], "tool"),
        (&["check"], "statement 1 of 1: reads, tool"),
        (&["test", "scenarios.jsonl"], "tool"),
        (&["map"], "tool"),
    ] {
        let said = format!("\r\x1b[K\x1b[?7l… {what} ");
        let (count, text) = on_long_documents(&project, arguments, &said);
        assert!(
            text.contains(&format!(" of {count}: many\\u{{202e}}/tool-")),
            "{text}"
        );
        assert_eq!(left_over(&text), "", "{text}");
    }
    // The documents are those of the map still.
    let piped = project.run(&["map"]);
    assert_eq!(String::from_utf8_lossy(&piped.stderr), "");
    let dumb = on_a_terminal(&project, "dumb", &["map"]);
    assert_eq!(dumb, "");
}

#[test]
fn what_is_done_at_once_says_nothing() {
    let project = Project::new();
    for arguments in [&["map"][..], &["check"], &["diff", "policy.json", "policy.json"]] {
        let begin = Instant::now();
        let text = on_a_terminal(&project, "xterm", arguments);
        // A machine that is busy may take longer, and then it is said.
        let is_at_once = begin.elapsed() < Duration::from_secs(1);
        assert!(!is_at_once || !text.contains('…'), "{arguments:?}: {text}");
    }
}
