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

/// What an agent is about to do when it asks.
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

    /// The files that say which hooks the agent runs, as patterns of protected paths: whoever writes them turns the hook off.
    pub(super) fn protected(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["**/.claude/settings.json", "**/.claude/settings.local.json"],
            Self::Codex => &["**/.codex/config.toml", "**/.codex/hooks.json"],
            Self::Cursor => &["**/.cursor/hooks.json"],
            Self::GeminiCli => &["**/.gemini/settings.json"],
            Self::CopilotCli | Self::Vscode => &[
                "**/.github/hooks",
                "**/.copilot/hooks",
                "**/.copilot/settings.json",
                "**/.claude/settings.json",
                "**/.claude/settings.local.json",
            ],
            Self::Goose => &["**/.agents/plugins"],
        }
    }

    /// Whether the agent asks a person if the hook says so. Others let the call pass.
    pub(super) fn asks(self, event: Event, trusts_ask: bool) -> bool {
        match (self, event) {
            (_, Event::Permission) => true,
            // Reads cannot be asked about, and before a tool in general Cursor takes the word and does not ask. Where it is
            // said to ask, there are reports of commands that ran at once.
            (Self::Cursor, Event::Tool | Event::Read) => false,
            (Self::Cursor, _) => trusts_ask,
            (Self::ClaudeCode | Self::CopilotCli | Self::Vscode, _) => true,
            (Self::Codex | Self::GeminiCli | Self::Goose, _) => false,
        }
    }

    /// Whether the agent takes other arguments than it gave.
    pub(super) fn takes_arguments(self, event: Event) -> bool {
        match (self, event) {
            (Self::ClaudeCode, Event::Permission) | (_, Event::Tool) => self != Self::Goose,
            (_, Event::Permission | Event::Shell | Event::Mcp | Event::Read) => false,
        }
    }

    /// What stands between the parts of an MCP tool's name.
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
