//! The agents, and how they differ.

use std::fmt;

/// A coding agent with permission hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    GeminiCli,
    /// GitHub Copilot CLI.
    CopilotCli,
    /// Agents in VS Code.
    Vscode,
    /// goose.
    Goose,
}

/// Modes of Claude Code in which it asks a person if a hook says so.
const ASKING_MODES: [&str; 2] = ["default", "acceptEdits"];

/// Modes of Claude Code in which it runs what it would ask about, or refuses it, without a person.
const UNASKING_MODES: [&str; 3] = ["auto", "bypassPermissions", "dontAsk"];

/// The mode of several agents in which nothing is done before a person has agreed to a plan.
const PLANNING: &str = "plan";

/// The files of [`Agent::protected`] that Copilot CLI and VS Code share.
const COPILOT: &[&str] = &[
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

/// The step that an agent asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Run a tool.
    Tool,
    /// Ask a person whether a tool may run.
    Permission,
    /// Cursor: run a shell command.
    Shell,
    /// Cursor: call a tool of an MCP server.
    Mcp,
    /// Cursor: read a file.
    Read,
    /// Claude Code: run a shell command that stands in the text of a skill or of a command.
    Skill,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::GeminiCli,
        Self::CopilotCli,
        Self::Vscode,
        Self::Goose,
    ];

    /// Its name, which is also that of the server of its own tools.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::GeminiCli => "gemini-cli",
            Self::CopilotCli => "copilot-cli",
            Self::Vscode => "vscode",
            Self::Goose => "goose",
        }
    }

    /// The variable in which it tells its hooks where the project is that it was started for, if it does.
    pub fn project_variable(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
            Self::GeminiCli => Some("GEMINI_PROJECT_DIR"),
            Self::Cursor => Some("CURSOR_PROJECT_DIR"),
            Self::Codex | Self::CopilotCli | Self::Vscode | Self::Goose => None,
        }
    }

    /// The agents that may run the hook of this one: they read each other's settings.
    pub(super) fn family(self) -> &'static [Self] {
        match self {
            Self::ClaudeCode | Self::CopilotCli | Self::Vscode => {
                &[Self::ClaudeCode, Self::CopilotCli, Self::Vscode]
            }
            Self::Codex => &[Self::Codex],
            Self::Cursor => &[Self::Cursor],
            Self::GeminiCli => &[Self::GeminiCli],
            Self::Goose => &[Self::Goose],
        }
    }

    /// The files that say which hooks and which servers of MCP the agent runs, and those that turn hooks off, as patterns of
    /// protected paths.
    ///
    /// Where a file adds hooks and holds much else, such as the text of a skill, the pattern names that file and not its folder.
    pub(super) fn protected(self) -> Vec<&'static str> {
        match self {
            Self::ClaudeCode => vec![
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
            ],
            Self::Codex => vec![
                "**/.codex/config.toml",
                "**/.codex/*.config.toml",
                "**/.codex/managed_config.toml",
                "**/.codex/hooks.json",
                // `BASH_ENV` here is a script that runs before each hook.
                "**/.codex/.env",
                "**/.codex/plugins/**/hooks.json",
                "/etc/codex",
            ],
            Self::Cursor => vec![
                "**/.cursor/hooks.json",
                "**/.cursor/mcp.json",
                // It runs Claude Code's hooks too, if it is set to.
                "**/.claude/settings.json",
                "**/.claude/settings.local.json",
                "/etc/cursor",
                "/Library/Application Support/Cursor/hooks.json",
            ],
            Self::GeminiCli => vec![
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
            ],
            Self::CopilotCli => COPILOT.to_vec(),
            Self::Vscode => [
                COPILOT,
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
            ]
            .concat(),
            Self::Goose => vec!["**/.agents/plugins", "**/goose/config.yaml"],
        }
    }

    /// Those of the protected files that are texts for people and models, which an agent's own tools may read. They are not written: each may
    /// have hooks or commands of its own.
    pub(super) fn readable(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[
                "**/.claude/agents",
                "**/.claude/commands",
                "**/.claude/skills/**/SKILL.md",
            ],
            Self::Vscode => &["**/.agent.md", "**/*.agent.md"],
            Self::Codex | Self::Cursor | Self::GeminiCli | Self::CopilotCli | Self::Goose => &[],
        }
    }

    /// Environment variables with which the agent is told where its settings are, each with the protected paths below.
    pub(super) fn moved(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Self::ClaudeCode => &[(
                "CLAUDE_CONFIG_DIR",
                &["settings.json", "agents", "commands", "plugins"],
            )],
            Self::Codex => &[(
                "CODEX_HOME",
                &["config.toml", "hooks.json", ".env", "managed_config.toml"],
            )],
            Self::Cursor | Self::Vscode | Self::Goose => &[],
            Self::GeminiCli => &[
                ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &[""]),
                ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", &[""]),
            ],
            Self::CopilotCli => &[("COPILOT_HOME", &["hooks", "settings.json", "config.json"])],
        }
    }

    /// Returns `true` if the agent asks a person when the hook says so. If not, it lets the call pass, or may. `mode` is the mode
    /// that it says it is in: modes that are not known to ask do not.
    pub(super) fn asks(self, event: Event, mode: Option<&str>, trusts_ask: bool) -> bool {
        match (self, event) {
            // A question is an error there, and the call goes on.
            (Self::Codex | Self::GeminiCli | Self::Goose, _) if event != Event::Permission => false,
            // Every answer but leave keeps such a command from running.
            (_, Event::Skill) => false,
            // Reads cannot be asked about, and before a tool in general Cursor takes the word and does not ask.
            (Self::Cursor, Event::Tool | Event::Read) => false,
            (_, _) if trusts_ask => true,
            // In the modes `auto`, `bypassPermissions` and `dontAsk` it is known to run at once what it was to ask about, and
            // `plan` may stand on top of `bypassPermissions`.
            (Self::ClaudeCode, _) => mode.is_some_and(|mode| ASKING_MODES.contains(&mode)),
            // A hook's question is asked whatever is approved without one. It does not say its mode.
            (Self::Vscode, _) => mode.is_none_or(|mode| ASKING_MODES.contains(&mode)),
            (Self::CopilotCli, Event::Permission) => true,
            // With `--allow-all-tools` it approves the question by itself, and the Copilot app does not ask. Its hooks are not
            // told.
            (Self::CopilotCli, _) => false,
            // There are reports that it runs such commands at once.
            (Self::Cursor, _) => false,
            // A model may be set to answer in the person's place, and hooks are not told.
            (Self::Codex | Self::GeminiCli | Self::Goose, _) => false,
        }
    }

    /// Returns `true` if the agent takes other arguments than it gave.
    pub(super) fn takes_arguments(self, event: Event) -> bool {
        match (self, event) {
            (Self::ClaudeCode, Event::Permission) | (_, Event::Tool) => self != Self::Goose,
            (_, Event::Permission | Event::Shell | Event::Mcp | Event::Read | Event::Skill) => false,
        }
    }

    /// Returns `true` if a person decides in this mode, or the agent in its own way, so that a hook may not answer for them. Modes that are
    /// not known are taken for such ones where the agent says each of its modes.
    pub(super) fn leaves_to_a_person(self, mode: Option<&str>) -> bool {
        match (self, mode) {
            (_, None) => false,
            (Self::ClaudeCode, Some(mode)) => {
                !ASKING_MODES.contains(&mode) && !UNASKING_MODES.contains(&mode)
            }
            (_, Some(mode)) => mode == PLANNING,
        }
    }

    /// The separator between the parts of an MCP tool's name.
    pub(super) fn separator(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Codex | Self::Cursor | Self::Goose => "__",
            Self::GeminiCli | Self::Vscode => "_",
            Self::CopilotCli => "-",
        }
    }

    /// How the agent writes a server's name in that of a tool.
    pub(super) fn spelled(self, server: &str) -> String {
        let kept = |one: char| match self {
            Self::Vscode => {
                one.is_ascii_lowercase() || one.is_ascii_digit() || matches!(one, '_' | '.' | '-')
            }
            _ => one.is_ascii_alphanumeric() || matches!(one, '_' | '-'),
        };
        let server = match self {
            Self::Vscode => server.to_lowercase(),
            _ => server.to_owned(),
        };
        let spelled = server.chars().map(|one| if kept(one) { one } else { '_' });
        match self {
            // `mcp_`, the server and `_` have 18 characters together at most.
            Self::Vscode => spelled.take(13).collect(),
            _ => spelled.collect(),
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
