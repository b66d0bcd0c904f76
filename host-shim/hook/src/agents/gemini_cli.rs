//! Gemini CLI.

use serde_json::{Value, json};

use super::super::protocols::{Fate, with};
use super::{
    Agent, Asks, Event, HERE, Naming, ServerIn, Settings, Step, is_planning, nothing_beside, spelled,
};

pub(super) static AGENT: Agent = Agent {
    name: "gemini-cli",
    project_variable: Some("GEMINI_PROJECT_DIR"),
    advice: "Gemini CLI cannot ask a person for a hook: what would be asked about is denied, unless --ask is there.",
    before_tool: Event {
        names: &["BeforeTool"],
        is_unnamed: false,
        step: Step::Tool,
        protocol: answer,
        takes_arguments: true,
        // A question is an error there, and the call goes on.
        asks: Asks::Never(HERE),
    },
    further: &[],
    leaves_to_a_person: is_planning,
    denial_code: 0,
    naming: Naming {
        prefix: "mcp_",
        separator: "_",
        spelled,
        server: ServerIn::Context,
    },
    directories: None,
    moving_tool: None,
    protected: &[&[
        "**/.gemini/settings.json",
        // Hooks of a project run only where its folder is trusted.
        "**/.gemini/trustedFolders.json",
        // Variables here move the settings elsewhere, and `BASH_ENV` is a script that runs before each hook.
        "**/.env",
        "**/.gemini/extensions/**/hooks.json",
        "**/.gemini/extensions/**/gemini-extension.json",
        "**/.gemini/extensions/extension-enablement.json",
        "/etc/gemini-cli",
        "/Library/Application Support/GeminiCli",
    ]],
    readable: &[],
    moved: &[
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &[""]),
        ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", &[""]),
    ],
    settings: Settings {
        file: ".gemini/settings.json",
        in_project: ".gemini/settings.json",
        base: || json!({}),
        entries: |run| {
            let milliseconds = run.patience.saturating_mul(1000);
            let hook = json!({"type": "command", "name": "callgate", "command": run.closed, "timeout": milliseconds});
            vec![("BeforeTool", json!({"matcher": ".*", "hooks": [hook]}))]
        },
        beside: nothing_beside,
    },
    program: "gemini",
    question: |file, folder| {
        json!({"session_id": "", "transcript_path": "", "cwd": folder, "hook_event_name": "BeforeTool",
            "timestamp": "2026-01-01T00:00:00.000Z", "tool_name": "write_file", "tool_input": {"file_path": file, "content": ""}})
    },
    tools: include_str!("../tools/gemini-cli.json"),
};

/// Its protocol, which knows no question.
fn answer(fate: Fate, reason: &str, arguments: Option<&Value>) -> Option<Value> {
    let decision = match fate {
        Fate::Allow => json!({"decision": "allow"}),
        Fate::Left if arguments.is_none() => return None,
        Fate::Left => json!({}),
        Fate::Ask | Fate::Deny => return Some(json!({"decision": "deny", "reason": reason})),
    };
    let specific = arguments.map(|arguments| json!({"hookEventName": "BeforeTool", "tool_input": arguments}));
    Some(with(decision, "hookSpecificOutput", specific.as_ref()))
}
