//! The tools that agents have by themselves.
//!
//! Each agent has a file of annotations, with the names of tools and arguments that it really uses. `js/test/agents/tables.test.mjs`
//! compares the files with the agents' newest packages; `changing`, which that test reads, are arguments that change what a tool does,
//! such as where or without which sandbox: no annotation describes them, so that a rule has to look at them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The tools of an agent.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Table {
    /// For each tool, the arguments that the agent fills in if they are not given: of `a|b` the first, unless one is there.
    #[serde(default)]
    pub(super) defaults: BTreeMap<String, Map<String, Value>>,
    /// For each tool, the arguments that are patterns of names, and stay as they are.
    #[serde(default)]
    pub(super) patterns: BTreeMap<String, Vec<String>>,
    /// For each tool, the arguments that say which files of a directory are read.
    #[serde(default)]
    pub(super) globs: BTreeMap<String, Vec<String>>,
    /// The arguments of every tool, those of MCP servers too, that are for the agent and not for the tool.
    #[serde(default)]
    pub(super) own: Vec<String>,
    /// The tools that put something to a person, which leave would answer in the person's place.
    #[serde(default)]
    pub(super) person: Vec<String>,
    annotations: Annotations,
}

#[derive(Debug, Default, Deserialize)]
struct Annotations {
    servers: BTreeMap<String, Tools>,
}

#[derive(Debug, Deserialize)]
struct Tools {
    tools: Vec<Value>,
}

impl Table {
    /// Reads an agent's file. The files are part of the program, and tests read each: a table without tools allows nothing.
    pub(super) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The annotations of the tools.
    pub(super) fn annotated(&self) -> impl Iterator<Item = &Value> {
        self.annotations.servers.values().flat_map(|server| &server.tools)
    }

    /// Returns `true` if the agent has a tool of this name.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.annotation(tool).is_some()
    }

    fn annotation(&self, tool: &str) -> Option<&Value> {
        self.annotated()
            .find(|annotation| annotation["toolName"] == *tool)
    }
}

#[cfg(test)]
mod tests {
    use crate::Agent;
    use callgate_host::Gate;

    #[test]
    fn each_file_is_annotations_of_its_agent() {
        for agent in Agent::ALL {
            let table = agent.table();
            assert!(table.annotated().count() > 4, "{agent}");
            assert_eq!(
                table.annotations.servers.keys().collect::<Vec<_>>(),
                [agent.as_str()]
            );
            // With nothing to warn of.
            let mut builder = Gate::builder()
                .engine(callgate_host::EngineKind::Native)
                .policy(r#"{"rules": []}"#)
                .options(r#"{"strict": true}"#);
            let tools = table.annotated().cloned();
            builder = builder.server(agent.as_str(), "filesystem", tools.collect(), None);
            let gate = builder.build().unwrap_or_else(|error| panic!("{agent}: {error}"));
            for tool in table.defaults.keys().chain(&table.person) {
                assert!(table.has(tool), "{agent}: {tool}");
            }
            assert_eq!(gate.tools().unwrap().len(), table.annotated().count());
        }
    }
}
