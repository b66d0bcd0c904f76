//! Claude Code.

use serde_json::json;

use super::super::protocols;
use super::{Agent, Asks, Event, Naming, ServerIn, Settings, Step, nothing_beside, spelled};

/// Modes in which it asks a person if a hook says so.
pub(super) const ASKING_MODES: &[&str] = &["default", "acceptEdits"];

/// Modes in which it runs what it would ask about, or refuses it, without a person.
const UNASKING_MODES: &[&str] = &["auto", "bypassPermissions", "dontAsk"];

/// In the modes `auto`, `bypassPermissions` and `dontAsk` it is known to run at once what it was to ask about, and `plan` may stand on
/// top of `bypassPermissions`.
const ASKS: Asks = Asks::InModes {
    modes: ASKING_MODES,
    asks_without: false,
};

pub(super) static AGENT: Agent = Agent {
    name: "claude-code",
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    advice: "Claude Code does not ask in the modes auto, bypassPermissions, dontAsk and plan: what would be asked about is denied there, \
             unless --ask or --trust-ask is there. Before 2.1.295 it lets calls pass if the hook takes longer than its time.",
    before_tool: Event {
        names: &["PreToolUse"],
        is_unnamed: false,
        step: Step::Tool,
        protocol: protocols::before_tool,
        takes_arguments: true,
        asks: ASKS,
    },
    further: &[
        Event {
            names: &["PermissionRequest"],
            is_unnamed: false,
            step: Step::Permission,
            protocol: protocols::permission,
            takes_arguments: true,
            asks: ASKS,
        },
        // A shell command that stands in the text of a skill or of a command: every answer but leave keeps it from running.
        Event {
            names: &["PreSkillShellCommand"],
            is_unnamed: false,
            step: Step::Tool,
            protocol: protocols::before_skill_command,
            takes_arguments: false,
            asks: Asks::Never("about a skill's command"),
        },
    ],
    // It says each of its modes: those that are not known are taken for ones in which a person decides.
    leaves_to_a_person: |mode| !ASKING_MODES.contains(&mode) && !UNASKING_MODES.contains(&mode),
    denial_code: 0,
    naming: Naming {
        prefix: "mcp__",
        separator: "__",
        spelled,
        server: ServerIn::Name,
    },
    directories: None,
    moving_tool: None,
    protected: &[&[
        "**/.claude/settings.json",
        "**/.claude/settings.local.json",
        "**/.claude/agents",
        "**/.claude/commands",
        "**/.claude/skills/**/SKILL.md",
        "**/.claude/plugins/**/hooks.json",
        "**/.claude/plugins/*.json",
        "**/.claude-plugin",
        "**/.mcp.json",
        "~/.claude.json",
        "/etc/claude-code",
        "/Library/Application Support/ClaudeCode",
    ]],
    readable: &[
        "**/.claude/agents",
        "**/.claude/commands",
        "**/.claude/skills/**/SKILL.md",
    ],
    moved: &[(
        "CLAUDE_CONFIG_DIR",
        &["settings.json", "agents", "commands", "plugins"],
    )],
    settings: Settings {
        file: ".claude/settings.json",
        in_project: ".claude/settings.json",
        base: || json!({}),
        // Only new versions know the switch.
        entries: |run| {
            let hook = json!({"type": "command", "command": run.closed, "timeout": run.patience, "onFailure": "block"});
            let entry = json!({"matcher": "*", "hooks": [hook]});
            vec![("PreToolUse", entry.clone()), ("PreSkillShellCommand", entry)]
        },
        beside: nothing_beside,
    },
    program: "claude",
    question: |file, folder| {
        json!({"session_id": "", "transcript_path": "", "cwd": folder, "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": "Write", "tool_input": {"file_path": file, "content": ""}, "tool_use_id": ""})
    },
    tools: include_str!("../tools/claude-code.json"),
};
