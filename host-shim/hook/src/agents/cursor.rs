//! Cursor.

use serde_json::{Value, json};

use super::super::protocols::{Fate, with};
use super::{
    Agent, Asks, Event, HERE, Naming, ServerIn, Settings, Step, is_planning, nothing_beside, spelled,
};

pub(super) static AGENT: Agent = Agent {
    name: "cursor",
    project_variable: Some("CURSOR_PROJECT_DIR"),
    advice: "Cursor may run at once what it is to ask about: that is denied, unless --ask or --trust-ask is there.",
    before_tool: Event {
        names: &["preToolUse"],
        is_unnamed: false,
        step: Step::Tool,
        protocol: answer,
        takes_arguments: true,
        // Before a tool in general it takes the word and does not ask.
        asks: Asks::Never(HERE),
    },
    further: &[
        Event {
            names: &["beforeShellExecution"],
            is_unnamed: false,
            step: Step::Own {
                tool: "Shell",
                argument: "command",
            },
            protocol: answer,
            takes_arguments: false,
            // There are reports that it runs such commands at once.
            asks: Asks::Trusted,
        },
        Event {
            names: &["beforeMCPExecution"],
            is_unnamed: false,
            step: Step::Mcp,
            protocol: answer,
            takes_arguments: false,
            asks: Asks::Trusted,
        },
        Event {
            names: &["beforeReadFile", "beforeTabFileRead"],
            is_unnamed: false,
            step: Step::Own {
                tool: "Read",
                argument: "file_path",
            },
            protocol: answer,
            takes_arguments: false,
            // Reads cannot be asked about.
            asks: Asks::Never(HERE),
        },
    ],
    leaves_to_a_person: is_planning,
    denial_code: 0,
    naming: Naming {
        prefix: "MCP:",
        separator: "__",
        spelled,
        server: ServerIn::Member,
    },
    directories: Some("workspace_roots"),
    moving_tool: None,
    protected: &[&[
        "**/.cursor/hooks.json",
        "**/.cursor/mcp.json",
        // It runs Claude Code's hooks too, if it is set to.
        "**/.claude/settings.json",
        "**/.claude/settings.local.json",
        "/etc/cursor",
        "/Library/Application Support/Cursor/hooks.json",
    ]],
    readable: &["**/.cursor/hooks.json"],
    moved: &[],
    settings: Settings {
        file: ".cursor/hooks.json",
        in_project: ".cursor/hooks.json",
        base: || json!({"version": 1}),
        entries: |run| {
            let entry =
                |command: &str| json!({"command": command, "timeout": run.patience, "failClosed": true});
            vec![
                ("preToolUse", entry(&format!("{} --leave-execution", run.command))),
                ("beforeShellExecution", entry(run.command)),
                ("beforeMCPExecution", entry(run.command)),
                ("beforeReadFile", entry(run.command)),
            ]
        },
        beside: nothing_beside,
    },
    program: "cursor",
    question: |file, folder| {
        json!({"conversation_id": "", "generation_id": "", "model": "", "hook_event_name": "preToolUse", "cursor_version": "",
            "workspace_roots": [folder], "tool_name": "Write", "tool_input": {"file_path": file, "contents": ""}})
    },
    tools: include_str!("../tools/cursor.json"),
};

/// Its protocol at every event.
fn answer(fate: Fate, reason: &str, arguments: Option<&Value>) -> Option<Value> {
    Some(match fate {
        Fate::Allow => with(json!({"permission": "allow"}), "updated_input", arguments),
        // Without a document it may take the hook for one that failed.
        Fate::Left => with(json!({}), "updated_input", arguments),
        Fate::Ask => json!({"permission": "ask", "user_message": reason}),
        Fate::Deny => json!({"permission": "deny", "user_message": reason, "agent_message": reason}),
    })
}
