//! Additions to the documents of a gate, for a call.

use callgate_engine::config::DocumentKind;
use callgate_engine::document::without_comments;
use serde_json::{Map, Value};

use super::call::HookCall;
use super::globs::Protected;
use super::names::Called;
use callgate_host::{Gate, GateBuilder};

/// The copies that `callgate wrap` keeps beside configurations of any agent; they have the secrets of the configurations.
const KEPT: &str = "**/*.callgate";

impl HookCall {
    /// Adds the tools that the agent has by itself, as those of a server with its name, on which the sandbox decides as on file
    /// servers. A tool that the annotations have stays as it is there. The files that say which hooks and servers the agent runs
    /// are protected, and what `callgate wrap` keeps of them.
    #[must_use]
    pub fn added_to(&self, mut builder: GateBuilder) -> GateBuilder {
        let is_read = matches!(&self.called, Called::Own(tool) if self.table.only_reads(tool));
        for path in self.agent.protected() {
            if !is_read || !self.agent.readable.contains(&path) {
                builder = builder.protect(path);
            }
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
            let table = agent.table();
            let tools = table.annotated().map(|(name, annotation)| match &self.called {
                Called::Own(called) if agent == self.agent && name == *called => {
                    (name, self.with_opaque_arguments(annotation))
                }
                _ => (name, annotation.to_owned()),
            });
            builder = builder.server(agent.as_str(), "filesystem", tools.collect());
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

    /// The annotation of a tool whose arguments name nothing, whatever they are called. What may not be allowed unread is seen to
    /// where the verdict is known.
    pub(super) fn with_opaque_arguments(&self, tool: &str) -> String {
        let mut annotation: Map<String, Value> = serde_json::from_str(tool).unwrap_or_default();
        // What changes nothing but the agent's own state opens nothing: a plan, a list of things to do.
        let role = match annotation.get("kind").and_then(Value::as_str) {
            Some("think") => "text",
            Some(_) | None => "none",
        };
        if !annotation.contains_key("inputSchema")
            && let Some(Value::Object(known)) = annotation.get_mut("args")
        {
            // A name that begins with a slash would be a pointer.
            for name in self.arguments.keys().filter(|name| !name.starts_with('/')) {
                known.entry(name.clone()).or_insert_with(|| Value::from(role));
            }
        }
        Value::Object(annotation).to_string()
    }
}
