//! How a hook is run.

use std::path::PathBuf;
use std::time::Duration;

use callgate_guard::{Counts, Queue};

/// How a hook judges.
#[derive(Clone, Debug, Default)]
pub struct HookOptions {
    /// The MCP servers that the agent has, by the names that the policy knows. Without any, a tool's name is read in every
    /// way in which it can be taken apart.
    pub servers: Vec<String>,
    /// The person or the service that the agent acts for, for rules that look at it.
    pub subject: Option<String>,
    /// Where calls are counted that the policy counts.
    pub counts: Option<Counts>,
    /// Where decisions are written, as a guard writes them; `None` for no log.
    pub audit: Option<PathBuf>,
    /// Where a person is asked whom the agent does not ask, and how long an answer may take. What was approved there for good
    /// holds. `None` if such calls are denied.
    pub queue: Option<(Queue, Duration)>,
    /// Cursor asks once more before an MCP tool is called, and only then says of which server it is: leave such calls to that.
    pub leaves_execution: bool,
    /// The agent is taken to ask a person if it is told to. Without this, such calls are denied where agents are known to run them
    /// unasked: in Cursor, in Copilot CLI, and in Claude Code's modes `auto`, `bypassPermissions`, `dontAsk` and `plan`.
    pub trusts_ask: bool,
    /// The directory that the hook was started in, without links. Codex starts hooks where it is itself, and tells them, as its own
    /// directory, the one that a command is to run in. `None` if that is not known.
    pub started_in: Option<String>,
}
