//! The coding agents. Each is described in a file of its own, as data: what its hook is asked and answers, how it names tools, and where
//! its settings are. Its own tools are in `tools`.

mod claude_code;
mod codex;
mod copilot_cli;
mod cursor;
mod family;
mod gemini_cli;
mod goose;
mod vscode;

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::protocols::Protocol;
use super::tools::Table;

/// A coding agent with permission hooks.
pub struct Agent {
    name: &'static str,
    project_variable: Option<&'static str>,
    advice: &'static str,
    /// What it asks before it runs a tool.
    pub(super) before_tool: Event,
    /// What else it asks.
    further: &'static [Event],
    /// Returns `true` if a person decides in this mode, or the agent in its own way, so that a hook may not answer for them.
    pub(super) leaves_to_a_person: fn(mode: &str) -> bool,
    /// The exit code of a denial, where no more has gone wrong.
    pub(super) denial_code: u8,
    pub(super) naming: Naming,
    /// The member of its questions that lists the directories it works in, where it may say no other.
    pub(super) directories: Option<&'static str>,
    /// The tool whose directory it gives its hooks as its own.
    pub(super) moving_tool: Option<MovingTool>,
    /// The files that say which hooks and which servers of MCP the agent runs, and those that turn hooks off, as patterns of
    /// protected paths.
    ///
    /// Where a file adds hooks and holds much else, such as the text of a skill, the pattern names that file and not its folder.
    protected: &'static [&'static [&'static str]],
    /// Those of the protected files that may be read: texts for people and models, and settings in which neither servers of MCP nor variables
    /// of an environment stand, and so no secrets. They are not written: each may have hooks or commands of its own.
    pub(super) readable: &'static [&'static str],
    /// Environment variables with which the agent is told where its settings are, each with the protected paths below.
    pub(super) moved: &'static [(&'static str, &'static [&'static str])],
    pub(super) settings: Settings,
    /// Its program.
    program: &'static str,
    /// A question about a call that writes a file, from a folder, as the agent asks it.
    question: fn(file: &str, folder: &str) -> Value,
    /// The text of its file in `tools`.
    tools: &'static str,
}

/// A step that an agent asks its hook about.
pub(super) struct Event {
    /// Its names in the agent's questions.
    names: &'static [&'static str],
    /// A question that names no event, and has no result of a tool, is about this one.
    is_unnamed: bool,
    pub(super) step: Step,
    pub(super) protocol: Protocol,
    /// The agent takes other arguments than it gave.
    pub(super) takes_arguments: bool,
    asks: Asks,
}

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Run a tool.
    Tool,
    /// Ask a person whether a tool may run.
    Permission,
    /// Call a tool of an MCP server.
    Mcp,
    /// Run this tool of the agent, with an argument that stands in the question itself.
    Own {
        tool: &'static str,
        argument: &'static str,
    },
}

/// When an agent asks a person because the hook says so. If it does not, it lets the call pass, or may.
#[derive(Clone, Copy)]
pub(super) enum Asks {
    /// A person cannot be asked, and this says about what.
    Never(&'static str),
    /// Where it is trusted to, since it is known not to, or does not say.
    Trusted,
    /// In modes that are known to ask.
    InModes {
        modes: &'static [&'static str],
        /// It asks where it does not say its mode.
        asks_without: bool,
    },
    Always,
}

/// How an agent names the tools of MCP servers.
pub(super) struct Naming {
    /// It stands before the server. Where it is empty, a name with the separator is one of a server's tool.
    pub(super) prefix: &'static str,
    /// It stands between the server and the tool.
    pub(super) separator: &'static str,
    /// How a server's name is written in that of a tool.
    pub(super) spelled: fn(server: &str) -> String,
    pub(super) server: ServerIn,
}

/// Where a question says which MCP server a tool is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerIn {
    /// In the tool's name, and in `mcp_server.name` if that is there.
    Name,
    /// In `mcp_context`, with the tool's own name, or else in the tool's name.
    Context,
    /// In `mcp_server_name`, and never in the tool's name.
    Member,
}

/// A tool that runs in a directory which the agent gives its hooks as its own.
pub(super) struct MovingTool {
    pub(super) tool: &'static str,
    /// The argument that is added where that is not the directory of the hook.
    pub(super) argument: &'static str,
}

/// The settings in which an agent is told to run a hook.
pub(super) struct Settings {
    /// The file below the user's home directory.
    pub(super) file: &'static str,
    /// The file below the folder of a project.
    pub(super) in_project: &'static str,
    /// The text of a new file, as a value.
    pub(super) base: fn() -> Value,
    /// The entry for each event.
    pub(super) entries: fn(&Run<'_>) -> Vec<(&'static str, Value)>,
    /// Another file that has to be there for the one of the settings, and what it holds.
    pub(super) beside: fn(&Path) -> Option<(PathBuf, Value)>,
}

/// What an agent is to run.
pub(super) struct Run<'c> {
    pub(super) command: &'c str,
    /// The command, with every end but one that denies made a denial by the shell: for agents that let a call pass then.
    pub(super) closed: String,
    /// How many seconds the agent waits.
    pub(super) patience: u64,
}

/// A person cannot be asked at all.
const HERE: &str = "here";

/// The mode of several agents in which nothing is done before a person has agreed to a plan.
const PLANNING: &str = "plan";

impl Agent {
    /// All of them.
    pub const ALL: &'static [&'static Self] = &[
        &claude_code::AGENT,
        &codex::AGENT,
        &cursor::AGENT,
        &gemini_cli::AGENT,
        &copilot_cli::AGENT,
        &vscode::AGENT,
        &goose::AGENT,
    ];

    /// The agent of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().copied().find(|agent| agent.name == name)
    }

    /// Its name, which is also that of the server of its own tools.
    pub fn as_str(&self) -> &'static str {
        self.name
    }

    /// The variable in which it tells its hooks where the project is that it was started for, if it does.
    pub fn project_variable(&self) -> Option<&'static str> {
        self.project_variable
    }

    /// The name of its program.
    pub fn program(&self) -> &'static str {
        self.program
    }

    /// What it would write to its hook before it writes a file, from a folder.
    pub fn question(&self, file: &str, folder: &str) -> String {
        (self.question)(file, folder).to_string()
    }

    /// Things to know or to do after its hook is installed.
    pub fn advice(&self) -> &'static str {
        self.advice
    }

    /// The agents that may run the hook of this one: they read each other's settings.
    pub(super) fn family(&'static self) -> Vec<&'static Self> {
        family::of(self)
    }

    /// The agent that asks the hook of this one.
    pub(super) fn caller(&'static self, tool: &str, question: &Map<String, Value>) -> &'static Self {
        family::caller(self, tool, question)
    }

    pub(super) fn protected(&self) -> impl Iterator<Item = &'static str> {
        self.protected.iter().copied().flatten().copied()
    }

    /// Its own tools.
    pub(super) fn table(&self) -> Table {
        Table::read(self.tools)
    }

    fn events(&'static self) -> impl Iterator<Item = &'static Event> {
        std::iter::once(&self.before_tool).chain(self.further)
    }

    /// The event that a question names, or is about without a word.
    pub(super) fn event(&'static self, name: Option<&str>, has_result: bool) -> Option<&'static Event> {
        self.events().find(|event| match name {
            Some(name) => event.names.contains(&name),
            None => event.is_unnamed && !has_result,
        })
    }

    /// Returns `true` if the agent asks about the step once more, at an event where it can ask a person.
    pub(super) fn asks_again(&'static self, is_meant: impl Fn(Step) -> bool) -> bool {
        let mut events = self.further.iter();
        events.any(|event| is_meant(event.step) && !matches!(event.asks, Asks::Never(_)))
    }

    /// Returns `true` if the agent may ask about one call more than once.
    pub(super) fn has_further(&self) -> bool {
        !self.further.is_empty()
    }

    /// When the agent asks a person at an event of its hook, which may be that of another agent.
    pub(super) fn asks(&'static self, event: &'static Event) -> Asks {
        let own = self.events().find(|own| own.step == event.step);
        match event.asks {
            Asks::Never(_) => event.asks,
            _ => own.unwrap_or(&self.before_tool).asks,
        }
    }
}

impl Asks {
    /// Returns `true` if the agent asks in the mode that it says it is in. Modes that are not known to ask do not.
    pub(super) fn holds(self, mode: Option<&str>, is_trusted: bool) -> bool {
        match self {
            Self::Never(_) => false,
            Self::Trusted => is_trusted,
            Self::InModes { modes, asks_without } => {
                is_trusted || mode.map_or(asks_without, |mode| modes.contains(&mode))
            }
            Self::Always => true,
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.names).finish()
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Agent {}

/// A server's name with every character that a tool's name may not have as `_`.
fn spelled(server: &str) -> String {
    let is_kept = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    let spelled = server.chars().map(|one| if is_kept(one) { one } else { '_' });
    spelled.collect()
}

fn is_planning(mode: &str) -> bool {
    mode == PLANNING
}

fn nothing_beside(_: &Path) -> Option<(PathBuf, Value)> {
    None
}
