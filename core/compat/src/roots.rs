//! The directories that a policy lets a server see: MCP roots (SPEC §10).

use serde_json::Value as Json;

use super::functions::FunctionHost;
use callgate_engine::host::{Host, HostError};
use callgate_engine::model::Effect;
use callgate_engine::path::parent;
use callgate_engine::seed::RESERVED_SERVERS;

/// A directory and its display name.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PolicyRoot {
    /// The canonical path.
    pub path: String,
    /// `sandbox`, or the name of the first rule with this directory.
    pub name: String,
}

impl PolicyRoot {
    /// Reads an array of directories from JSON text.
    ///
    /// # Errors
    /// When the text is not such an array.
    pub fn list_from_json(text: &str) -> serde_json::Result<Vec<Self>> {
        serde_json::from_str(text)
    }
}

/// A root as MCP's `roots/list` gives it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct McpRoot {
    /// A `file://` URI.
    pub uri: String,
    /// The root's name.
    pub name: String,
}

/// The sandbox's directories, each named `sandbox`, then the directory of each allow or escalate rule of a compiled
/// policy. Each directory appears once.
///
/// # Errors
/// When the host fails. A directory that has no canonical form is left out.
pub fn extract_policy_roots<'p>(
    policy: &'p Json,
    allowed_directories: impl IntoIterator<Item = &'p str>,
    host: &dyn Host,
) -> Result<Vec<PolicyRoot>, HostError> {
    let text = |rule: &'p Json, pointer: &str| rule.pointer(pointer).and_then(Json::as_str);
    let granting = rules(policy).filter(|rule| text(rule, "/then") != Some(Effect::Deny.as_str()));
    let named = granting.filter_map(|rule| {
        let within = text(rule, "/if/paths/within").filter(|within| !within.is_empty())?;
        Some((within, text(rule, "/name").unwrap_or_default()))
    });
    let mut plain = FunctionHost::new(host);
    let mut roots: Vec<PolicyRoot> = Vec::new();
    let sandbox = allowed_directories
        .into_iter()
        .map(|directory| (directory, "sandbox"));
    for (directory, name) in sandbox.chain(named) {
        let Ok(path) = plain.resolve(directory) else {
            continue;
        };
        let path = path.as_str().to_owned();
        if !roots.iter().any(|root| root.path == path) {
            roots.push(PolicyRoot {
                path,
                name: name.to_owned(),
            });
        }
    }
    plain.check(roots)
}

/// The rules of a compiled policy document; empty if it is not a policy.
fn rules(policy: &Json) -> impl Iterator<Item = &Json> {
    policy.get("rules").and_then(Json::as_array).into_iter().flatten()
}

/// The roots as `file://` URIs. Paths are not percent-encoded, because existing servers expect them as they are.
pub fn to_mcp_roots(roots: &[PolicyRoot]) -> Vec<McpRoot> {
    roots
        .iter()
        .map(|root| McpRoot {
            uri: format!("file://{}", root.path),
            name: root.name.clone(),
        })
        .collect()
}

/// The directory that holds a path: its canonical parent, or the path itself if it ends in `/`.
///
/// # Errors
/// When the host fails. A path without a canonical form is taken lexically.
pub fn directory_for_path(path: &str, host: &dyn Host) -> Result<String, HostError> {
    let mut plain = FunctionHost::new(host);
    let resolved = plain.resolve_or_lexical(path);
    let directory = if path.ends_with('/') {
        resolved
    } else {
        parent(&resolved).to_owned()
    };
    plain.check(directory)
}

/// The servers that a compiled policy's rules name, in order of first mention, except those that are not real
/// servers. A pattern names no server, so it is left out.
pub fn extract_required_servers(policy: &Json) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    let named = rules(policy).filter_map(|rule| rule.get("if")?.get("server"));
    let named = named.flat_map(|server| match server {
        Json::Array(servers) => servers.as_slice(),
        one => std::slice::from_ref(one),
    });
    for server in named.filter_map(Json::as_str) {
        if !RESERVED_SERVERS.contains(&server)
            && !server.contains('*')
            && !servers.iter().any(|known| known == server)
        {
            servers.push(server.to_owned());
        }
    }
    servers
}
