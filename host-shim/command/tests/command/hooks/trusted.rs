//! Agents whose question to a person is a way past the hook unless somebody vouches for it.

use serde_json::{Value, json};

use super::Hooked;

#[test]
fn cursor_asks_only_if_it_is_trusted_to() {
    let hooked = Hooked::new();
    let question = |event: &str, tool: &str| {
        json!({"hook_event_name": event, "workspace_roots": ["ROOT/project"], "command": "deploy", "tool_name": tool,
            "tool_input": {"command": "deploy"}})
        .to_string()
    };
    let permission = |event: &str, tool: &str, flags: &[&str]| {
        let output = hooked.ask("cursor", &question(event, tool), flags);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        answer["permission"].as_str().map(str::to_owned)
    };
    let shell = |event: &str, flags: &[&str]| permission(event, "Shell", flags);
    assert_eq!(shell("preToolUse", &[]).as_deref(), Some("deny"));
    assert_eq!(
        shell("preToolUse", &["--leave-execution"]).as_deref(),
        Some("deny")
    );
    assert_eq!(
        shell("preToolUse", &["--leave-execution", "--trust-ask"]).as_deref(),
        Some("allow")
    );
    assert_eq!(shell("beforeShellExecution", &[]).as_deref(), Some("deny"));
    assert_eq!(
        shell("beforeShellExecution", &["--trust-ask"]).as_deref(),
        Some("ask")
    );
    assert_eq!(permission("preToolUse", "MCP:read", &[]).as_deref(), Some("deny"));
    assert_eq!(
        permission("preToolUse", "MCP:read", &["--leave-execution"]).as_deref(),
        Some("allow")
    );
}

#[test]
fn an_agent_that_runs_what_it_is_to_ask_about_asks_only_if_it_is_trusted_to() {
    let hooked = Hooked::new();
    let decision = |agent: &str, mode: Value, flags: &[&str]| {
        let question = json!({"hook_event_name": "PreToolUse", "cwd": "ROOT/project", "permission_mode": mode,
            "timestamp": "2026-11-23T07:00:00.000Z", "tool_name": "Bash", "tool_input": {"command": "deploy"}});
        let mut question = question;
        if agent == "claude-code" {
            question["tool_use_id"] = json!("t");
        }
        let output = hooked.ask(agent, &question.to_string(), flags);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
        let answer = &answer["hookSpecificOutput"]["permissionDecision"];
        answer.as_str().map(str::to_owned)
    };
    for mode in ["auto", "bypassPermissions", "dontAsk", "plan"] {
        assert_eq!(
            decision("claude-code", json!(mode), &[]).as_deref(),
            Some("deny"),
            "{mode}"
        );
        let trusted = decision("claude-code", json!(mode), &["--trust-ask"]);
        assert_eq!(trusted.as_deref(), Some("ask"), "{mode}");
    }
    assert_eq!(
        decision("claude-code", json!("default"), &[]).as_deref(),
        Some("ask")
    );
    assert_eq!(decision("copilot-cli", Value::Null, &[]).as_deref(), Some("deny"));
    assert_eq!(
        decision("copilot-cli", Value::Null, &["--trust-ask"]).as_deref(),
        Some("ask")
    );
    // Codex takes a question for an error, and goes on.
    assert_eq!(
        decision("codex", json!("default"), &["--trust-ask"]).as_deref(),
        Some("deny")
    );
    // Where a person can be asked by other means, those are used.
    let state = hooked.project.folder.path().join("state");
    let asked = ["--ask", "1", "--state", state.to_str().expect("UTF-8")];
    assert_eq!(
        decision("claude-code", json!("auto"), &asked).as_deref(),
        Some("deny")
    );
    assert!(state.exists());
}
