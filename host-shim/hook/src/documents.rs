//! Additions to the documents of a gate, for a call.

use callgate_engine::config::DocumentKind;
use callgate_engine::document::without_comments;
use serde_json::Value;

use super::call::HookCall;
use super::globs::Protected;
use super::names::Called;
use callgate_host::{Gate, GateBuilder};

/// Arguments that say where a command runs.
const DIRECTORIES: [&str; 4] = ["cwd", "dir_path", "workdir", "working_directory"];

/// The copies that `callgate wrap` keeps beside configurations of any agent; they have the secrets of the configurations.
const KEPT: &str = "**/*.callgate";

impl HookCall {
    /// Adds the tools that the agent has by itself, as those of a server with its name, on which the sandbox decides as on file
    /// servers. A tool that the annotations have stays as it is there. The files that say which hooks and servers the agent runs
    /// are protected, and what `callgate wrap` keeps of them.
    #[must_use]
    pub fn added_to(&self, mut builder: GateBuilder) -> GateBuilder {
        for path in self.agent.protected() {
            builder = match self.agent.readable.contains(&path) {
                true => builder.protect_writes(path),
                false => builder.protect(path),
            };
        }
        builder = builder.protect(KEPT);
        for (variable, files) in self.agent.moved {
            // A hook has the environment of its agent.
            let folder = std::env::var(variable).unwrap_or_default();
            for file in files.iter().filter(|_| folder.starts_with('/')) {
                let path = format!("{}/{file}", folder.trim_end_matches('/'));
                builder = builder.protect(path.trim_end_matches('/'));
            }
        }
        for agent in self.agent.family() {
            let of_others = (agent != self.agent).then(|| agent.table());
            let table = of_others.as_ref().unwrap_or(&self.table);
            let tools = table.annotated().map(|annotation| match &self.called {
                Called::Own(called) if agent == self.agent && annotation["toolName"] == **called => {
                    self.with_own_directories(annotation)
                }
                _ => annotation.clone(),
            });
            let directory = Some(self.directory.as_str()).filter(|path| path.starts_with('/'));
            builder = builder.server(agent.as_str(), "filesystem", tools.collect(), directory);
        }
        builder
    }

    /// The protected paths of the gate's documents, with those that were added here.
    pub(super) fn protected_in(&self, gate: &Gate) -> Vec<Protected> {
        let documents = gate.documents().iter();
        let mut texts = documents.filter(|document| document.part == DocumentKind::ProtectedPaths);
        let texts = texts.next().map(|document| without_comments(&document.text));
        let texts: Vec<Value> = texts
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let of_settings: Vec<&str> = self.agent.protected().collect();
        let texts = texts.iter().filter_map(Value::as_str);
        texts
            .map(|text| Protected {
                text: text.to_owned(),
                is_of_settings: of_settings.contains(&text),
            })
            .collect()
    }

    /// The annotation of a tool that runs in a directory which the call names, where that is the one that the agent is in: it changes nothing,
    /// and no rule has to look at it.
    fn with_own_directories(&self, annotation: &Value) -> Value {
        let mut annotation = annotation.clone();
        let has_schema = annotation.get("inputSchema").is_some();
        if let Some(Value::Object(known)) = annotation.get_mut("args").filter(|_| !has_schema)
            // A tool of which nothing is described is allowed as a whole.
            && !known.is_empty()
        {
            let given = DIRECTORIES.iter().filter(|name| self.is_own_directory(name));
            for name in given {
                known.entry(*name).or_insert_with(|| Value::from("none"));
            }
        }
        annotation
    }

    fn is_own_directory(&self, argument: &str) -> bool {
        let given = self.arguments.get(argument).and_then(Value::as_str);
        let is_own = |path: &str| path.trim_end_matches('/') == self.directory.trim_end_matches('/');
        given.is_some_and(|path| matches!(path, "" | "." | "./") || is_own(path))
    }
}
