//! Short ways to write the documents of engines.

use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{BuildError, Engine};
use callgate_engine::host::Host;
use serde_json::{Value, json};

/// The documents of an engine, by the keys of their parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents(pub(crate) Vec<(DocumentKind, Value)>);

impl Documents {
    /// A policy of `rules` and the annotations of `tools`.
    pub(crate) fn new(rules: Value, tools: &[Value]) -> Self {
        Self::default()
            .with(DocumentKind::Policy, policy(rules))
            .with(DocumentKind::Annotations, annotations(tools))
    }

    /// The same with another part, replacing one that was there.
    pub(crate) fn with(mut self, part: DocumentKind, value: Value) -> Self {
        self.0.retain(|(known, _)| *known != part);
        self.0.push((part, value));
        self
    }

    /// Builds the engine with the two directories of `host`.
    pub(crate) fn build(&self, host: &dyn Host) -> Result<Engine, BuildError> {
        let mut builder = Engine::builder();
        for (part, value) in &self.0 {
            builder = builder.part(*part, DocumentSource::Value(value));
        }
        builder.build(host)
    }
}

/// A policy document of `rules`.
pub(crate) fn policy(rules: Value) -> Value {
    json!({"generatedAt": "t", "constitutionHash": "c", "inputHash": "h", "rules": rules})
}

/// A rule with this name and effect.
pub(crate) fn rule(name: &str, condition: Value, effect: &str) -> Value {
    json!({
        "name": name, "description": "d", "principle": "p", "if": condition, "then": effect,
        "reason": format!("because of {name}"),
    })
}

/// A tool `server/tool`, with the roles of its arguments.
pub(crate) fn tool(name: &str, args: Value) -> Value {
    let (server, tool) = name.split_once('/').expect("a tool is written `server/tool`");
    json!({"serverName": server, "toolName": tool, "comment": "", "args": args})
}

/// The annotations of `tools`, by server.
pub(crate) fn annotations(tools: &[Value]) -> Value {
    let mut servers = serde_json::Map::new();
    for tool in tools {
        let server = tool["serverName"].as_str().expect("a tool has a server");
        let entry = servers
            .entry(server.to_owned())
            .or_insert_with(|| json!({"inputHash": "h", "tools": []}));
        entry["tools"]
            .as_array_mut()
            .expect("tools are an array")
            .push(tool.clone());
    }
    json!({"generatedAt": "t", "servers": servers})
}
