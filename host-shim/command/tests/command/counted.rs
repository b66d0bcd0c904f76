//! Calls that a policy counts: by guards and hooks, each a process, in one folder.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use crate::guarding::{ECHO, Guarded, log};
use crate::project::Project;

/// A project in which two files may be read, of which one session may read one.
fn counting() -> Project {
    let project = Project::new();
    project.edit("policy.json", |policy| {
        policy["counters"] = json!([
            {"name": "reads", "if": {"roles": "read-path"}, "seconds": 3600},
            {"name": "own", "if": {"roles": "read-path"}, "seconds": 3600, "per": "session"},
        ]);
        let rule = |name: &str, counter: &str, least: u64| {
            json!({"name": name, "if": {"roles": "read-path", "counts": {counter: {"atLeast": least}}}, "then": "deny", "reason": "No"})
        };
        policy["rules"]
            .as_array_mut()
            .expect("rules")
            .splice(0..0, [rule("two", "reads", 2), rule("one", "own", 1)]);
    });
    project
}

/// The answer of a hook to a question about a file of the project.
fn hook(project: &Project, session: &str) -> String {
    let root = project.folder.path().canonicalize().expect("a directory");
    let root = root.to_str().expect("UTF-8");
    let bundle = format!("{root}/project/callgate.json");
    let question = json!({"hook_event_name": "PreToolUse", "cwd": format!("{root}/project"), "tool_name": "Read",
        "session_id": session, "permission_mode": "default", "tool_input": {"file_path": format!("{root}/project/a.txt")}});
    let mut command = project.command("project", &["hook", "claude-code", "--bundle", &bundle]);
    command.env_remove("XDG_STATE_HOME");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the hook starts");
    let mut to = child.stdin.take().expect("an input");
    to.write_all(question.to_string().as_bytes())
        .expect("the hook reads");
    drop(to);
    let output = child.wait_with_output().expect("the hook ends");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn guarded(project: &Project) -> Value {
    let flags = ["--audit", "log.jsonl", "--state", "../home/.local/state/callgate"];
    let mut guarded = Guarded::start(project, &flags, ECHO);
    let answer = guarded.ask(1, "a.txt");
    guarded.end();
    answer
}

#[test]
fn guards_and_hooks_count_together_and_a_log_is_judged_alike() {
    let project = counting();
    let first = hook(&project, "s-1");
    assert!(first.contains(r#""allow""#), "{first}");
    let again = hook(&project, "s-1");
    assert!(again.contains("(rule `one`)"), "{again}");
    // The guard names no session, and may be of that one.
    let denied = guarded(&project);
    assert_eq!(denied["result"]["_meta"]["callgate/rule"], "one", "{denied}");
    let other = hook(&project, "s-2");
    assert!(other.contains(r#""allow""#), "{other}");
    let third = hook(&project, "s-3");
    assert!(third.contains("(rule `two`)"), "{third}");
    let lines = log(&project);
    let decision = lines
        .iter()
        .find(|line| line["kind"] == "decision")
        .expect("a line");
    assert_eq!(decision["context"], json!({"counts": {"reads": 1, "own": 1}}));
    project.check(
        &["replay", "--format", "human", "log.jsonl"],
        0,
        &["1 judged, 0 decisions change, 0 by another rule alone, 0 not judged\n"],
        &[],
    );
}

#[test]
fn of_hooks_at_once_no_more_pass_than_may() {
    let project = counting();
    let answers: Vec<String> = thread::scope(|scope| {
        let each = |number: usize| {
            let project = &project;
            scope.spawn(move || hook(project, &format!("s-{number}")))
        };
        let hooks: Vec<_> = (0..6).map(each).collect();
        hooks
            .into_iter()
            .map(|hook| hook.join().expect("an answer"))
            .collect()
    });
    let passed = answers.iter().filter(|answer| answer.contains(r#""allow""#));
    assert_eq!(passed.count(), 2, "{answers:?}");
}
