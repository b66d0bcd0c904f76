//! OpenAI's Codex.

use serde_json::json;

use super::super::protocols;
use super::{
    Agent, Asks, Event, HERE, MovingTool, Naming, ServerIn, Settings, Step, is_planning, nothing_beside,
    spelled,
};

pub(super) static AGENT: Agent = Agent {
    name: "codex",
    project_variable: None,
    advice: "Codex runs the hook once you have trusted it: /hooks in Codex. It lets calls pass if the hook takes longer than its time.",
    before_tool: Event {
        names: &["PreToolUse"],
        is_unnamed: false,
        step: Step::Tool,
        protocol: protocols::before_tool_without_question,
        takes_arguments: true,
        // A question is an error there, and the call goes on.
        asks: Asks::Never(HERE),
    },
    further: &[Event {
        names: &["PermissionRequest"],
        is_unnamed: false,
        step: Step::Permission,
        protocol: protocols::permission,
        takes_arguments: false,
        // A model may be set to answer in the person's place, and hooks are not told.
        asks: Asks::Trusted,
    }],
    leaves_to_a_person: is_planning,
    denial_code: 0,
    naming: Naming {
        prefix: "mcp__",
        separator: "__",
        spelled,
        server: ServerIn::Name,
    },
    directories: None,
    moving_tool: Some(MovingTool {
        tool: "Bash",
        argument: "workdir",
    }),
    protected: &[&[
        "**/.codex/config.toml",
        "**/.codex/*.config.toml",
        "**/.codex/managed_config.toml",
        "**/.codex/hooks.json",
        // `BASH_ENV` here is a script that runs before each hook.
        "**/.codex/.env",
        "**/.codex/plugins/**/hooks.json",
        "/etc/codex",
    ]],
    readable: &["**/.codex/hooks.json"],
    moved: &[(
        "CODEX_HOME",
        &["config.toml", "hooks.json", ".env", "managed_config.toml"],
    )],
    settings: Settings {
        file: ".codex/hooks.json",
        in_project: ".codex/hooks.json",
        base: || json!({}),
        entries: |run| {
            let hook = json!({"type": "command", "command": run.closed, "timeout": run.patience});
            vec![("PreToolUse", json!({"hooks": [hook]}))]
        },
        beside: nothing_beside,
    },
    program: "codex",
    question: |file, folder| {
        let patch = format!("*** Begin Patch\n*** Add File: {file}\n+\n*** End Patch");
        json!({"session_id": "", "turn_id": "", "transcript_path": null, "cwd": folder, "hook_event_name": "PreToolUse", "model": "",
            "permission_mode": "default", "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": ""})
    },
    tools: include_str!("../tools/codex.json"),
};
