//! Agents in VS Code.

use serde_json::json;

use super::super::protocols;
use super::claude_code::ASKING_MODES;
use super::copilot_cli;
use super::{Agent, Asks, Event, Naming, ServerIn, Settings, Step, is_planning, nothing_beside};

/// `mcp_`, the server and `_` have 18 characters together at most.
const LONGEST_SERVER: usize = 13;

/// A hook's question is asked whatever is approved without one. It does not say its mode.
const ASKS: Asks = Asks::InModes {
    modes: ASKING_MODES,
    asks_without: true,
};

pub(super) static AGENT: Agent = Agent {
    name: "vscode",
    project_variable: None,
    advice: "VS Code lets calls pass if the hook takes longer than its time.",
    before_tool: Event {
        names: &["PreToolUse"],
        is_unnamed: false,
        step: Step::Tool,
        protocol: protocols::before_tool,
        takes_arguments: true,
        asks: ASKS,
    },
    further: &[
        // Copilot CLI, which reads these settings too.
        Event {
            names: &["preToolUse"],
            is_unnamed: true,
            step: Step::Tool,
            protocol: copilot_cli::before_tool,
            takes_arguments: true,
            asks: ASKS,
        },
    ],
    leaves_to_a_person: is_planning,
    denial_code: 0,
    naming: Naming {
        prefix: "mcp_",
        separator: "_",
        spelled: |server| {
            let is_kept = |one: char| {
                one.is_ascii_lowercase() || one.is_ascii_digit() || matches!(one, '_' | '.' | '-')
            };
            let server = server.to_lowercase();
            let spelled = server.chars().map(|one| if is_kept(one) { one } else { '_' });
            spelled.take(LONGEST_SERVER).collect()
        },
        server: ServerIn::Name,
    },
    directories: None,
    moving_tool: None,
    protected: &[
        copilot_cli::PROTECTED,
        &[
            // `chat.useHooks` and `chat.hookFilesLocations`.
            "**/.vscode/settings.json",
            "**/.vscode/mcp.json",
            "**/*.code-workspace",
            "**/.agent.md",
            "**/*.agent.md",
            "**/User/settings.json",
            "**/User/profiles/*/settings.json",
            "**/.vscode-server/data/Machine/settings.json",
        ],
    ],
    readable: &[
        "**/.github/hooks",
        "**/.github/copilot/settings.json",
        "**/.vscode/settings.json",
        "**/.agent.md",
        "**/*.agent.md",
    ],
    moved: &[],
    settings: Settings {
        file: ".copilot/hooks/callgate-vscode.json",
        in_project: ".github/hooks/callgate-vscode.json",
        base: || json!({}),
        entries: |run| {
            let entry = json!({"type": "command", "command": run.closed, "timeout": run.patience});
            vec![("PreToolUse", entry)]
        },
        beside: nothing_beside,
    },
    program: "code",
    question: |file, folder| {
        json!({"timestamp": "2026-01-01T00:00:00.000Z", "cwd": folder, "sessionId": "", "hookEventName": "PreToolUse",
            "tool_name": "create_file", "tool_input": {"filePath": file, "content": ""}, "tool_use_id": ""})
    },
    tools: include_str!("../tools/vscode.json"),
};
