//! The question of an agent.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::agents::{Agent, Event, Step};
use super::arguments;
use super::names::Called;
use super::options::HookOptions;
use super::tools::Table;
use callgate_guard::{Caller, check_unambiguous};

/// A call of a tool that an agent asks about.
#[derive(Debug)]
pub struct HookCall {
    /// The agent whose tools are called, which may run the hook of another.
    pub(super) agent: &'static Agent,
    /// The tools that the agent has by itself.
    pub(super) table: Table,
    /// The event of the hook.
    pub(super) event: &'static Event,
    /// The mode that the agent says it is in, which may be one without questions.
    pub(super) mode: Option<String>,
    /// Who asks: whom the hook is run for, the agent, and the session that the agent names.
    pub(super) caller: Caller,
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
const SESSION: [&str; 3] = ["session_id", "sessionId", "conversation_id"];
const DIRECTORY: [&str; 2] = ["cwd", "working_dir"];

impl HookCall {
    /// Reads what an agent writes to its hook.
    ///
    /// # Errors
    /// Why it is not a question that can be judged: [`fault`](super::fault) is the answer then.
    pub fn read(hook: &'static Agent, input: &str, options: &HookOptions) -> Result<Self, String> {
        check_unambiguous(input).map_err(|error| format!("the agent's question: {error}"))?;
        let input: Value = serde_json::from_str(input).map_err(|error| error.to_string())?;
        let Value::Object(input) = input else {
            return Err("the agent's question is not an object".to_owned());
        };
        let event = event_of(hook, &input)?;
        let (tool, given) = match event.step {
            Step::Own { tool, argument } => (tool, only(&input, argument)?),
            Step::Tool | Step::Permission | Step::Mcp => {
                let tool = text(&input, &TOOL)?.ok_or("`tool_name` is absent, expected the tool's name")?;
                (tool, given(&input)?)
            }
        };
        let agent = hook.caller(tool, &input);
        let table = agent.table();
        let called = Called::read(agent, event, tool, &input, options)?;
        let mut arguments = match (&called, &given) {
            (Called::Own(tool), _) => arguments::of_own_tool(&table, tool, given.clone())?,
            (_, Value::Object(arguments)) => arguments.clone(),
            (_, Value::Null) => Map::new(),
            (_, _) => return Err("the tool's arguments are not an object".to_owned()),
        };
        for name in &table.own {
            arguments.shift_remove(name);
        }
        let mut directory = directory(agent, &input)?;
        if let (Some(moving), Called::Own(tool), Some(started_in)) =
            (&agent.moving_tool, &called, &options.started_in)
            && tool == moving.tool
            && !fs::canonicalize(&directory).is_ok_and(|real| real == Path::new(started_in))
        {
            arguments.insert(moving.argument.to_owned(), Value::String(directory));
            directory = started_in.clone();
        }
        let caller = Caller {
            subject: options.subject.clone(),
            agent: Some(agent.as_str().to_owned()),
            // What is no name of a session names none.
            session: text(&input, &SESSION).ok().flatten().map(str::to_owned),
        };
        Ok(Self {
            agent,
            caller,
            table,
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
        let asks = self.agent.asks(self.event);
        asks.holds(self.mode.as_deref(), options.trusts_ask)
    }

    /// Returns `true` if a call that nothing stands against is left to a person, or to the agent: it is in a mode for that, or the tool puts
    /// something to a person.
    pub(super) fn is_left_to_a_person(&self) -> bool {
        let asks_itself = match &self.called {
            Called::Own(tool) => self.table.person.contains(tool),
            Called::Mcp(_) | Called::Later => false,
        };
        let mode = self.mode.as_deref();
        asks_itself || mode.is_some_and(self.agent.leaves_to_a_person)
    }

    /// The directory that the agent is in: the gate's host must have it as its current directory.
    pub fn directory(&self) -> &str {
        &self.directory
    }
}

/// The event that a question which cannot be judged is about, as far as that can be seen.
pub(super) fn event_of_fault(hook: &'static Agent, input: &str) -> &'static Event {
    let Ok(input) = serde_json::from_str::<Map<String, Value>>(input) else {
        return &hook.before_tool;
    };
    let name = text(&input, &EVENT).unwrap_or_default();
    hook.event(name, false).unwrap_or(&hook.before_tool)
}

fn event_of(hook: &'static Agent, input: &Map<String, Value>) -> Result<&'static Event, String> {
    let name = text(input, &EVENT)?;
    let event = hook.event(name, input.contains_key("toolResult"));
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

fn only(input: &Map<String, Value>, name: &str) -> Result<Value, String> {
    let value = input.get(name);
    let value = value.ok_or_else(|| format!("`{name}` is absent, expected what is asked about"))?;
    Ok(Value::Object(Map::from_iter([(name.to_owned(), value.clone())])))
}

fn directory(agent: &Agent, input: &Map<String, Value>) -> Result<String, String> {
    let found = text(input, &DIRECTORY)?.filter(|directory| !directory.is_empty());
    let listed = agent
        .directories
        .and_then(|name| input.get(name)?.as_array()?.first()?.as_str());
    let found = found.or(listed);
    match found {
        Some(directory) if directory.starts_with('/') => Ok(directory.to_owned()),
        Some(directory) => Err(format!("the agent's directory `{directory}` is not absolute")),
        None => Err("the agent does not say which directory it is in".to_owned()),
    }
}
