//! The question of an agent.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::agent::{Agent, Event};
use super::arguments::{self, CODEX_SHELL, ELSEWHERE};
use super::names::Called;
use super::options::HookOptions;
use super::tools;
use crate::guard::check_unambiguous;

/// A call of a tool that an agent asks about.
#[derive(Debug)]
pub struct HookCall {
    /// The agent whose tools are called.
    pub(super) agent: Agent,
    /// The agent whose protocol is spoken.
    pub(super) voice: Agent,
    pub(super) event: Event,
    /// The mode that the agent says it is in, which may be one without questions.
    pub(super) mode: Option<String>,
    /// The directory that relative paths start from.
    pub(super) directory: String,
    pub(super) called: Called,
    /// The arguments as the agent gave them.
    pub(super) given: Value,
    /// The arguments that are judged.
    pub(super) arguments: Map<String, Value>,
}

/// Names of members: agents write them in two ways.
const EVENT: [&str; 3] = ["hook_event_name", "hookEventName", "event"];
const TOOL: [&str; 2] = ["tool_name", "toolName"];
const INPUT: [&str; 3] = ["tool_input", "toolInput", "toolArgs"];
const MODE: [&str; 2] = ["permission_mode", "permissionMode"];
const DIRECTORY: [&str; 2] = ["cwd", "working_dir"];

impl HookCall {
    /// Reads what an agent writes to its hook.
    ///
    /// # Errors
    /// Why it is not a question that can be judged: [`fault`](super::fault) is the answer then.
    pub fn read(agent: Agent, input: &str, options: &HookOptions) -> Result<Self, String> {
        check_unambiguous(input).map_err(|error| format!("the agent's question: {error}"))?;
        let input: Value = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let Value::Object(input) = input else {
            return Err("the agent's question is not an object".to_owned());
        };
        let name = text(&input, &EVENT)?;
        let event = event_of(agent, name, &input)?;
        let (tool, given) = match (agent, event) {
            (Agent::Cursor, Event::Shell) => ("Shell", only(&input, &["command"])?),
            (Agent::Cursor, Event::Read) => ("Read", only(&input, &["file_path"])?),
            _ => {
                let tool = text(&input, &TOOL)?.ok_or("`tool_name` is absent, expected the tool's name")?;
                (tool, given(&input)?)
            }
        };
        let (voice, agent) = (voice_of(agent, name), caller(agent, tool, &input));
        let called = Called::read(agent, event, tool, &input, options)?;
        let mut arguments = match (&called, &given) {
            (Called::Own(tool), _) => arguments::of_own_tool(agent, tool, given.clone())?,
            (_, Value::Object(arguments)) => arguments.clone(),
            (_, Value::Null) => Map::new(),
            (_, _) => return Err("the tool's arguments are not an object".to_owned()),
        };
        for name in tools::own_arguments(agent) {
            arguments.shift_remove(&name);
        }
        let mut directory = directory(agent, &input)?;
        if let (Agent::Codex, Called::Own(tool), Some(started_in)) = (agent, &called, &options.started_in)
            && tool == CODEX_SHELL
            && !fs::canonicalize(&directory).is_ok_and(|real| real == Path::new(started_in))
        {
            arguments.insert(ELSEWHERE.to_owned(), Value::String(directory));
            directory = started_in.clone();
        }
        Ok(Self {
            agent,
            voice,
            event,
            mode: text(&input, &MODE)?.map(str::to_owned),
            directory,
            called,
            given,
            arguments,
        })
    }

    /// Returns `true` if the agent asks a person when it is told to.
    pub(super) fn asks(&self, options: &HookOptions) -> bool {
        self.agent
            .asks(self.event, self.mode.as_deref(), options.trusts_ask)
    }

    /// Returns `true` if a call that nothing stands against is left to a person, or to the agent: it is in a mode for that, or the tool puts
    /// something to a person.
    pub(super) fn is_left_to_a_person(&self) -> bool {
        let asks_itself = match &self.called {
            Called::Own(tool) => tools::asks_a_person(self.agent, tool),
            Called::Mcp(_) | Called::Later => false,
        };
        asks_itself || self.agent.leaves_to_a_person(self.mode.as_deref())
    }

    /// The directory that the agent is in: the gate's host must have it as its current directory.
    pub fn directory(&self) -> &str {
        &self.directory
    }
}

/// Copilot speaks as Claude Code does where the event is spelled as there.
fn voice_of(agent: Agent, event: Option<&str>) -> Agent {
    match (agent, event) {
        (Agent::CopilotCli, Some("PreToolUse")) => Agent::Vscode,
        (Agent::Vscode, None | Some("preToolUse")) => Agent::CopilotCli,
        (agent, _) => agent,
    }
}

/// Which agent of a family runs the hook of another.
fn caller(agent: Agent, tool: &str, input: &Map<String, Value>) -> Agent {
    let has = |agent| tools::has(agent, tool);
    // VS Code and Claude Code give each call a name, and Copilot does not. Claude Code does not say the time.
    let is_copilot = !input.contains_key("tool_use_id") && !input.contains_key("toolUseId");
    match agent {
        Agent::ClaudeCode if !has(agent) && has(Agent::Vscode) => Agent::Vscode,
        Agent::ClaudeCode if is_copilot && input.contains_key("timestamp") => Agent::CopilotCli,
        Agent::CopilotCli | Agent::Vscode => match (has(Agent::CopilotCli), has(Agent::Vscode)) {
            (true, false) => Agent::CopilotCli,
            (false, true) => Agent::Vscode,
            (true, true) if is_copilot => Agent::CopilotCli,
            (true, true) => Agent::Vscode,
            (false, false) if tool.starts_with("mcp_") => Agent::Vscode,
            (false, false) if tool.contains('-') => Agent::CopilotCli,
            (false, false) => agent,
        },
        agent => agent,
    }
}

/// The protocol that a question which cannot be read is written in, and its event, as far as that can be seen.
pub(super) fn spoken(agent: Agent, input: &str) -> (Agent, Event) {
    let Ok(input) = serde_json::from_str::<Map<String, Value>>(input) else {
        return (agent, Event::Tool);
    };
    let name = text(&input, &EVENT).unwrap_or_default();
    let event = event_of(agent, name, &input).unwrap_or(Event::Tool);
    (voice_of(agent, name), event)
}

fn event_of(agent: Agent, name: Option<&str>, input: &Map<String, Value>) -> Result<Event, String> {
    let event = match (agent, name) {
        (Agent::Cursor, Some("beforeShellExecution")) => Some(Event::Shell),
        (Agent::Cursor, Some("beforeMCPExecution")) => Some(Event::Mcp),
        (Agent::Cursor, Some("beforeReadFile" | "beforeTabFileRead")) => Some(Event::Read),
        (Agent::Cursor, Some("preToolUse")) => Some(Event::Tool),
        (Agent::GeminiCli, Some("BeforeTool")) => Some(Event::Tool),
        (Agent::ClaudeCode | Agent::Codex | Agent::Goose, Some("PreToolUse")) => Some(Event::Tool),
        (Agent::ClaudeCode | Agent::Codex, Some("PermissionRequest")) => Some(Event::Permission),
        (Agent::ClaudeCode, Some("PreSkillShellCommand")) => Some(Event::Skill),
        (Agent::CopilotCli | Agent::Vscode, Some("preToolUse" | "PreToolUse")) => Some(Event::Tool),
        (Agent::CopilotCli, Some("permissionRequest" | "PermissionRequest")) => Some(Event::Permission),
        // Copilot does not say it; only what comes before a tool has no result.
        (Agent::CopilotCli | Agent::Vscode, None) if !input.contains_key("toolResult") => Some(Event::Tool),
        (_, _) => None,
    };
    event.ok_or_else(|| match name {
        Some(name) => format!("the event `{name}` cannot be judged, expected one before a tool runs"),
        None => "the agent's question does not say which event it is about".to_owned(),
    })
}

/// The text under one of these names, which may not say different things.
fn text<'i>(input: &'i Map<String, Value>, names: &[&str]) -> Result<Option<&'i str>, String> {
    let mut found = None;
    for name in names {
        match input.get(*name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if found.is_none_or(|found| found == text) => {
                found = Some(text.as_str())
            }
            Some(Value::String(_)) => return Err(format!("`{name}` says something else than its namesake")),
            Some(_) => return Err(format!("`{name}` is not a string")),
        }
    }
    Ok(found)
}

/// The tool's arguments, which some agents give as a text.
fn given(input: &Map<String, Value>) -> Result<Value, String> {
    let mut found = INPUT.iter().filter_map(|name| input.get(*name));
    let given = match (found.next(), found.next()) {
        (Some(given), None) => given,
        (None, _) => return Ok(Value::Null),
        (Some(_), Some(_)) => return Err("the tool's arguments are given twice".to_owned()),
    };
    match given {
        Value::String(text) if text.trim_start().starts_with('{') => {
            check_unambiguous(text).map_err(|error| format!("the tool's arguments: {error}"))?;
            serde_json::from_str(text).map_err(|error| format!("the tool's arguments: {error}"))
        }
        given => Ok(given.clone()),
    }
}

fn only(input: &Map<String, Value>, names: &[&str]) -> Result<Value, String> {
    let mut arguments = Map::new();
    for name in names {
        let value = input
            .get(*name)
            .ok_or_else(|| format!("`{name}` is absent, expected what is asked about"))?;
        arguments.insert((*name).to_owned(), value.clone());
    }
    Ok(Value::Object(arguments))
}

fn directory(agent: Agent, input: &Map<String, Value>) -> Result<String, String> {
    let mut found = text(input, &DIRECTORY)?.filter(|directory| !directory.is_empty());
    if found.is_none() && agent == Agent::Cursor {
        let roots = input.get("workspace_roots").and_then(Value::as_array);
        found = roots.and_then(|roots| roots.first()).and_then(Value::as_str);
    }
    match found {
        Some(directory) if directory.starts_with('/') => Ok(directory.to_owned()),
        Some(directory) => Err(format!("the agent's directory `{directory}` is not absolute")),
        None => Err("the agent does not say which directory it is in".to_owned()),
    }
}
