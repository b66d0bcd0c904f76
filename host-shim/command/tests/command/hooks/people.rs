//! Questions of `callgate hook` that a person answers, where the agent does not ask.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Hooked;

/// Asks in a thread of its own, answers the question as a person does, and gives what the agent is told and what the person saw.
fn asked(hooked: &Hooked, question: &Value, state: &Path, answer: &str) -> (Value, Value) {
    asked_while(hooked, question, state, answer, || ())
}

/// The same, where something happens before the person answers.
fn asked_while(
    hooked: &Hooked,
    question: &Value,
    state: &Path,
    answer: &str,
    happens: impl FnOnce(),
) -> (Value, Value) {
    let folder = state.to_str().expect("UTF-8");
    std::thread::scope(|scope| {
        let hook = scope.spawn(|| {
            let output = hooked.ask(
                "codex",
                &question.to_string(),
                &["--ask", "30", "--state", folder],
            );
            match output.stdout.as_slice() {
                [] => Value::Null,
                text => serde_json::from_slice(text).expect("an answer"),
            }
        });
        let deadline = Instant::now() + Duration::from_secs(30);
        let shown = loop {
            let files = fs::read_dir(state).into_iter().flatten().flatten();
            let mut questions =
                files.filter(|file| file.path().to_string_lossy().ends_with(".question.json"));
            if let Some(file) = questions.next() {
                break serde_json::from_slice::<Value>(&fs::read(file.path()).expect("a question"))
                    .expect("JSON");
            }
            assert!(Instant::now() < deadline, "nobody is asked");
            std::thread::sleep(Duration::from_millis(20));
        };
        happens();
        let id = shown["id"].as_str().expect("an id");
        match answer {
            "deny" => {
                let denied = hooked.project.run(&["approvals", "deny", id, "--state", folder]);
                assert!(denied.status.success());
            }
            answer => {
                let text = json!({"id": id, "answer": answer, "by": "terminal"}).to_string();
                let new = state.join("new");
                fs::write(&new, text).expect("an answer");
                fs::rename(new, state.join(format!("{id}.answer.json"))).expect("an answer");
            }
        }
        (hook.join().expect("the hook ends"), shown)
    })
}

#[test]
fn a_person_decides_whom_the_agent_does_not_ask() {
    let hooked = Hooked::new();
    let state = hooked.project.folder.path().join("state");
    let question = |tool: &str, input: Value| json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project/src", "tool_name": tool, "tool_input": input});
    let shell = question("Bash", json!({"command": "deploy x"}));
    // Codex lets a call pass if it is told nothing.
    let (told, shown) = asked(&hooked, &shell, &state, "once");
    assert_eq!(told, Value::Null);
    // Whoever decides sees the command.
    assert_eq!(
        shown["values"],
        json!([{"argument": "/command", "role": "shell-command", "raw": "deploy x", "canonical": "deploy x"}])
    );
    let (told, _) = asked(&hooked, &shell, &state, "deny");
    assert_eq!(told["hookSpecificOutput"]["permissionDecision"], "deny");
    let image = question("view_image", json!({"path": "/etc/hosts"}));
    let (told, shown) = asked(&hooked, &image, &state, "once");
    assert_eq!(told, Value::Null);
    assert_eq!(shown["values"][0]["canonical"], "/etc/hosts");
    assert_eq!(
        shown["offer"]["description"],
        "Allow codex/view_image read-path within /etc"
    );
    assert!(
        fs::read_dir(&state)
            .expect("a folder")
            .flatten()
            .all(|file| !file.path().to_string_lossy().contains(".question."))
    );
}

#[test]
fn what_changes_while_a_person_is_asked_is_not_what_was_approved() {
    let hooked = Hooked::new();
    let state = hooked.project.folder.path().join("state");
    let link = Path::new(&hooked.root).join("project/src/x");
    // The agent gives the relative path to its tool as it is, so that only the canonical path shows the change.
    for path in ["ROOT/project/src/x", "x"] {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink("/etc/hosts", &link).expect("a link");
        let question = json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project/src", "tool_name": "view_image",
            "tool_input": {"path": path}});
        let (told, shown) = asked_while(&hooked, &question, &state, "once", || {
            fs::remove_file(&link).expect("the link");
            std::os::unix::fs::symlink("/etc/passwd", &link).expect("a link");
        });
        assert_eq!(shown["values"][0]["canonical"], "/etc/hosts", "{path}");
        let told = &told["hookSpecificOutput"];
        assert_eq!(told["permissionDecision"], "deny", "{path}");
        let reason = told["permissionDecisionReason"].as_str().expect("a reason");
        assert!(
            reason.contains("has changed since a person was asked"),
            "{reason}"
        );
    }
}

#[test]
fn what_was_approved_for_good_is_not_asked_again() {
    let hooked = Hooked::new();
    let state = hooked.project.folder.path().join("state");
    let folder = state.to_str().expect("UTF-8");
    let question = r#"{"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "tool_name": "view_image", "tool_input": {"path": "/etc/hosts"}}"#;
    hooked.project.run(&["approvals", "--state", folder]);
    let entry = json!({"id": "a", "serverName": "codex", "toolName": "view_image", "description": "d",
        "constraints": [{"kind": "directory", "role": "read-path", "directory": "/etc"}]});
    let approvals = json!({"format": "approvals/1", "entries": [entry]});
    fs::write(state.join("approvals.json"), approvals.to_string()).expect("approvals");
    let output = hooked.ask("codex", question, &["--ask", "1", "--state", folder]);
    assert_eq!(
        (output.status.code(), hooked.text(&output.stdout)),
        (Some(0), String::new())
    );
    // Nobody answers in time.
    fs::remove_file(state.join("approvals.json")).expect("approvals");
    let output = hooked.ask("codex", question, &["--ask", "1", "--state", folder]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(hooked.text(&output.stdout).contains("nobody answered in time"));
}
