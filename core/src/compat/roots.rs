//! The directories that a policy lets a server see: MCP roots (SPEC §10).

use serde_json::Value as Json;

use super::functions::Plain;
use crate::host::{Host, HostError};
use crate::path::parent;
use crate::seed::RESERVED_SERVERS;

/// A directory with the name that it is shown under.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PolicyRoot {
    /// The canonical path.
    pub path: String,
    /// `sandbox`, or the name of the first rule that names the directory.
    pub name: String,
}

/// A root as MCP's `roots/list` gives it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct McpRoot {
    /// A `file://` URI.
    pub uri: String,
    /// The root's name.
    pub name: String,
}

/// The directories of the sandbox, each named `sandbox`, then the directory of each allow or escalate rule of a compiled
/// policy, each directory once.
///
/// # Errors
/// When the host fails. A directory without a canonical form is left out.
pub fn extract_policy_roots<'p>(
    policy: &'p Json,
    allowed_directories: impl IntoIterator<Item = &'p str>,
    host: &dyn Host,
) -> Result<Vec<PolicyRoot>, HostError> {
    let text = |rule: &'p Json, pointer: &str| rule.pointer(pointer).and_then(Json::as_str);
    let granting = rules(policy).filter(|rule| text(rule, "/then") != Some("deny"));
    let named = granting.filter_map(|rule| {
        let within = text(rule, "/if/paths/within").filter(|within| !within.is_empty())?;
        Some((within, text(rule, "/name").unwrap_or_default()))
    });
    let mut plain = Plain::new(host);
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

/// The rules of a compiled policy as a document; none where it is no policy.
fn rules(policy: &Json) -> impl Iterator<Item = &Json> {
    policy.get("rules").and_then(Json::as_array).into_iter().flatten()
}

/// The roots as `file://` URIs: the path as it is, without percent-encoding, as existing servers expect it.
pub fn to_mcp_roots(roots: &[PolicyRoot]) -> Vec<McpRoot> {
    roots
        .iter()
        .map(|root| McpRoot {
            uri: format!("file://{}", root.path),
            name: root.name.clone(),
        })
        .collect()
}

/// The directory that holds a path: its canonical parent, or itself where the text ends in `/`.
///
/// # Errors
/// When the host fails. A path without a canonical form is taken lexically.
pub fn directory_for_path(path: &str, host: &dyn Host) -> Result<String, HostError> {
    let mut plain = Plain::new(host);
    let directory = match plain.resolve(path) {
        Ok(resolved) if path.ends_with('/') => resolved.as_str().to_owned(),
        Ok(resolved) => resolved.parent().as_str().to_owned(),
        Err(_) => {
            let lexical = plain.resolve_or_lexical(path);
            if path.ends_with('/') {
                lexical
            } else {
                parent(&lexical).to_owned()
            }
        }
    };
    plain.check(directory)
}

/// The servers that the rules of a compiled policy name, in order of first mention, without those that are not
/// real servers.
pub fn extract_required_servers(policy: &Json) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    let named = rules(policy)
        .filter_map(|rule| rule.get("if")?.get("server")?.as_array())
        .flatten();
    for server in named.filter_map(Json::as_str) {
        if !RESERVED_SERVERS.contains(&server) && !servers.iter().any(|known| known == server) {
            servers.push(server.to_owned());
        }
    }
    servers
}
