//! The tools that agents have by themselves.
//!
//! Each agent has a file of annotations, with the names of tools and arguments that it really uses. `defaults` are arguments
//! that it fills in if they are not given (of `a|b` the first, unless one is there), `patterns` are arguments that name many files and stay as they
//! are, `globs` are those that say which files of a directory are read, `own` are arguments of every tool that the agent takes for itself, `person` are tools that put something to a person, which
//! leave would answer in the person's place, and `changing` are arguments that change what a tool does, such as where or without which
//! sandbox: no annotation describes them, so that a rule has to look at them. `js/test/agents/tables.test.mjs` compares the files with the
//! agents' newest packages.

use std::collections::BTreeMap;

use callgate_jsontext::Members;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::agent::Agent;

impl Agent {
    fn file(self) -> &'static str {
        match self {
            Self::ClaudeCode => include_str!("tools/claude-code.json"),
            Self::Codex => include_str!("tools/codex.json"),
            Self::Cursor => include_str!("tools/cursor.json"),
            Self::GeminiCli => include_str!("tools/gemini-cli.json"),
            Self::CopilotCli => include_str!("tools/copilot-cli.json"),
            Self::Vscode => include_str!("tools/vscode.json"),
            Self::Goose => include_str!("tools/goose.json"),
        }
    }
}

#[derive(Deserialize)]
struct File<'f> {
    defaults: Map<String, Value>,
    #[serde(default)]
    patterns: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    globs: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    own: Vec<String>,
    #[serde(default)]
    person: Vec<String>,
    #[serde(borrow)]
    annotations: Annotations<'f>,
}

#[derive(Deserialize)]
struct Annotations<'f> {
    #[serde(borrow)]
    servers: Members<'f>,
}

#[derive(Deserialize)]
struct Tools<'f> {
    #[serde(borrow)]
    tools: Vec<&'f RawValue>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(rename = "toolName")]
    name: String,
    kind: String,
}

/// The tools of an agent: the name of each, and its annotation as JSON text.
pub(super) fn annotated(agent: Agent) -> Vec<(String, String)> {
    let Some(file) = read(agent) else {
        return Vec::new();
    };
    let servers = file.annotations.servers.0.into_iter();
    let tools = servers.filter_map(|(_, server)| serde_json::from_str::<Tools<'static>>(server.get()).ok());
    let tools = tools.flat_map(|server| server.tools);
    tools
        .filter_map(|tool| {
            let named: Named = serde_json::from_str(tool.get()).ok()?;
            Some((named.name, tool.get().to_owned()))
        })
        .collect()
}

/// Returns `true` if the agent has a tool of this name.
pub(super) fn has(agent: Agent, tool: &str) -> bool {
    annotated(agent).iter().any(|(name, _)| name == tool)
}

/// Returns `true` if the tool of the agent reads and does nothing else.
pub(super) fn only_reads(agent: Agent, tool: &str) -> bool {
    let tools = annotated(agent);
    let found = tools.iter().find(|(name, _)| name == tool);
    let named = found.and_then(|(_, annotation)| serde_json::from_str::<Named>(annotation).ok());
    named.is_some_and(|named| matches!(&*named.kind, "read" | "search"))
}

/// The arguments of a tool that the agent fills in.
pub(super) fn defaults(agent: Agent, tool: &str) -> Map<String, Value> {
    let defaults = read(agent).and_then(|file| file.defaults.get(tool).cloned());
    match defaults {
        Some(Value::Object(defaults)) => defaults,
        Some(_) | None => Map::new(),
    }
}

/// The arguments of a tool that are patterns of names.
pub(super) fn patterns(agent: Agent, tool: &str) -> Vec<String> {
    let patterns = read(agent).and_then(|mut file| file.patterns.remove(tool));
    patterns.unwrap_or_default()
}

/// The arguments of a tool that are patterns of the names of files that it reads.
pub(super) fn globs(agent: Agent, tool: &str) -> Vec<String> {
    let globs = read(agent).and_then(|mut file| file.globs.remove(tool));
    globs.unwrap_or_default()
}

/// The arguments of every tool, those of MCP servers too, that are for the agent and not for the tool.
pub(super) fn own_arguments(agent: Agent) -> Vec<String> {
    read(agent).map(|file| file.own).unwrap_or_default()
}

/// Returns `true` if the tool puts something to a person.
pub(super) fn asks_a_person(agent: Agent, tool: &str) -> bool {
    read(agent).is_some_and(|file| file.person.iter().any(|name| name == tool))
}

/// The files are part of the program, and tests read each.
fn read(agent: Agent) -> Option<File<'static>> {
    serde_json::from_str(agent.file()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gate;

    #[test]
    fn each_file_is_annotations_of_its_agent() {
        for agent in Agent::ALL {
            assert!(annotated(agent).len() > 4, "{agent}");
            let file: Value = serde_json::from_str(agent.file()).unwrap();
            let servers = file["annotations"]["servers"].as_object().unwrap();
            assert_eq!(servers.keys().collect::<Vec<_>>(), [agent.as_str()]);
            // With nothing to warn of.
            let gate = Gate::builder()
                .engine(crate::EngineKind::Native)
                .policy(r#"{"rules": []}"#)
                .annotations(file["annotations"].to_string())
                .options(r#"{"strict": true}"#)
                .build()
                .unwrap_or_else(|error| panic!("{agent}: {error}"));
            for (tool, _) in file["defaults"].as_object().unwrap() {
                assert!(
                    gate.semantics(agent.as_str(), tool).unwrap().is_some(),
                    "{agent}: {tool}"
                );
            }
            for tool in file["person"].as_array().into_iter().flatten() {
                assert!(has(agent, tool.as_str().unwrap()), "{agent}: {tool}");
            }
            for tool in gate.tools().unwrap() {
                assert!(has(agent, &tool.name));
            }
        }
    }
}
