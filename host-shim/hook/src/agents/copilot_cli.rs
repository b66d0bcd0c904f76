//! GitHub Copilot CLI.

use serde_json::{Value, json};

use super::super::protocols::{self, Fate, with};
use super::{Agent, Asks, Event, Naming, ServerIn, Settings, Step, is_planning, nothing_beside, spelled};

/// The files that say which hooks and servers run, for Copilot CLI and VS Code.
pub(super) const PROTECTED: &[&str] = &[
    "**/.github/hooks",
    "**/.github/copilot/settings.json",
    "**/.github/copilot/settings.local.json",
    "**/.copilot/hooks",
    "**/.copilot/settings.json",
    "**/.copilot/config.json",
    "**/.copilot/mcp-config.json",
    "**/.copilot/installed-plugins/**/hooks.json",
    "**/.claude/settings.json",
    "**/.claude/settings.local.json",
    "/etc/github-copilot",
];

/// With `--allow-all-tools` it approves the question by itself, and the Copilot app does not ask. Its hooks are not told.
const ASKS: Asks = Asks::Trusted;

pub(super) static AGENT: Agent = Agent {
    name: "copilot-cli",
    project_variable: None,
    advice: "Copilot CLI approves a hook's questions by itself with --allow-all-tools: what would be asked about is denied, unless --ask or \
             --trust-ask is there. It lets calls pass if the hook takes longer than its time.",
    before_tool: Event {
        names: &["preToolUse"],
        // It does not name its events; only what comes before a tool has no result.
        is_unnamed: true,
        step: Step::Tool,
        protocol: before_tool,
        takes_arguments: true,
        asks: ASKS,
    },
    further: &[
        // It speaks as Claude Code does where the event is spelled as there.
        Event {
            names: &["PreToolUse"],
            is_unnamed: false,
            step: Step::Tool,
            protocol: protocols::before_tool,
            takes_arguments: true,
            asks: ASKS,
        },
        Event {
            names: &["permissionRequest", "PermissionRequest"],
            is_unnamed: false,
            step: Step::Permission,
            protocol: permission,
            takes_arguments: false,
            asks: Asks::Always,
        },
    ],
    leaves_to_a_person: is_planning,
    denial_code: 0,
    naming: Naming {
        prefix: "",
        separator: "-",
        spelled,
        server: ServerIn::Name,
    },
    directories: None,
    moving_tool: None,
    protected: &[PROTECTED],
    readable: &["**/.github/hooks", "**/.github/copilot/settings.json"],
    moved: &[("COPILOT_HOME", &["hooks", "settings.json", "config.json"])],
    settings: Settings {
        file: ".copilot/hooks/callgate.json",
        in_project: ".github/hooks/callgate.json",
        base: || json!({"version": 1}),
        // It denies by itself at every end but 0.
        entries: |run| {
            let entry = json!({"type": "command", "bash": run.command, "timeoutSec": run.patience});
            vec![("preToolUse", entry)]
        },
        beside: nothing_beside,
    },
    program: "copilot",
    question: |file, folder| json!({"sessionId": "", "timestamp": 0, "cwd": folder, "toolName": "create", "toolArgs": {"path": file, "file_text": ""}}),
    tools: include_str!("../tools/copilot-cli.json"),
};

pub(super) fn before_tool(fate: Fate, reason: &str, arguments: Option<&Value>) -> Option<Value> {
    let decision = match fate {
        Fate::Allow => "allow",
        Fate::Ask => "ask",
        Fate::Deny => "deny",
        Fate::Left => return arguments.map(|_| with(json!({}), "modifiedArgs", arguments)),
    };
    let answer = json!({"permissionDecision": decision, "permissionDecisionReason": reason});
    Some(with(answer, "modifiedArgs", arguments))
}

pub(super) fn permission(fate: Fate, reason: &str, _: Option<&Value>) -> Option<Value> {
    match fate {
        Fate::Allow => Some(json!({"behavior": "allow"})),
        // The person is asked already.
        Fate::Left | Fate::Ask => None,
        Fate::Deny => Some(json!({"behavior": "deny", "message": reason})),
    }
}
