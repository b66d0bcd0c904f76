//! Packs: annotations reviewed by hand, a few rules and scenarios for servers that many people have.

use std::fmt;

use callgate_engine::document::did_you_mean;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub use crate::files::{PACKS, Pack};

/// Why there is no pack, or a bundle cannot have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackError {
    /// What is wrong.
    pub message: String,
    /// What to do about it, if that is known.
    pub help: Option<String>,
}

impl PackError {
    pub(crate) fn new(message: String) -> Self {
        Self { message, help: None }
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for PackError {}

/// The file `pack.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// What the rules make of the server, in a sentence.
    pub description: String,
    /// The package and its version whose `tools/list` is in `tools.json`.
    pub recorded: String,
    /// The packages, images and hosts by which a server of somebody's is recognized.
    pub recognized: Vec<String>,
    /// The kind of server that it is, if the engine has rules for it: `filesystem` or `git`.
    #[serde(default)]
    pub kind: Option<String>,
    /// The rules, of which each names the server.
    pub rules: Vec<Map<String, Value>>,
}

/// The pack of this name.
///
/// # Errors
/// When there is none; the help names one of a similar name, or all.
pub fn find(name: &str) -> Result<&'static Pack, PackError> {
    let names = || PACKS.iter().map(|pack| pack.name);
    PACKS
        .iter()
        .find(|pack| pack.name == name)
        .ok_or_else(|| PackError {
            message: format!("there is no pack `{name}`"),
            help: Some(did_you_mean(name, names()).unwrap_or_else(|| {
                format!(
                    "expected {}; for another server `callgate annotate` drafts annotations",
                    names().collect::<Vec<_>>().join(", ")
                )
            })),
        })
}

/// The pack for a server that is started by these words, or has an address with these words.
///
/// # Errors
/// Those of [`Pack::about`].
pub fn recognize<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Option<&'static Pack>, PackError> {
    let names: Vec<String> = words.into_iter().flat_map(names_of).collect();
    for pack in PACKS {
        let known = pack.about()?.recognized;
        if names.iter().any(|name| known.contains(name)) {
            return Ok(Some(pack));
        }
    }
    Ok(None)
}

/// The names that a word of a command may have for a package: without its version, as a module of Python, the program of a path,
/// the package in `node_modules`, the host of an address.
fn names_of(word: &str) -> Vec<String> {
    let word = word.strip_prefix("npm:").unwrap_or(word);
    let mut names = vec![word.to_owned()];
    // The version of npm, of Python or of an image; the first character is the scope's of npm.
    let ends = word
        .char_indices()
        .skip(1)
        .find(|(_, one)| matches!(one, '@' | ':' | '=' | '[' | '<' | '>' | '~'));
    names.extend(ends.and_then(|(end, _)| word.get(..end)).map(str::to_owned));
    if let Some((_, package)) = word.rsplit_once("node_modules/") {
        let parts = if package.starts_with('@') { 2 } else { 1 };
        names.push(package.split('/').take(parts).collect::<Vec<_>>().join("/"));
    }
    if let Some((_, rest)) = word.split_once("://") {
        names.extend(rest.split(['/', '?', '#', ':']).next().map(str::to_owned));
    } else if word.starts_with(['/', '~', '.']) {
        names.extend(word.rsplit('/').next().map(str::to_owned));
    }
    let modules: Vec<String> = names.iter().map(|name| name.replace('_', "-")).collect();
    names.extend(modules);
    names
}

impl Pack {
    /// What its file `pack.json` says.
    ///
    /// # Errors
    /// The fault of the pack's file, which the tests would have found.
    pub fn about(&self) -> Result<About, PackError> {
        serde_json::from_str(self.about).map_err(|error| self.fault("pack.json", &error))
    }

    /// The annotations of its tools, each with the schema that was recorded.
    ///
    /// # Errors
    /// Those of [`Pack::about`].
    pub fn annotated_tools(&self) -> Result<Vec<Value>, PackError> {
        let annotations: Value =
            serde_json::from_str(self.annotations).map_err(|error| self.fault("annotations.json", &error))?;
        let recorded: Vec<Value> =
            serde_json::from_str(self.tools).map_err(|error| self.fault("tools.json", &error))?;
        let servers = annotations
            .get("servers")
            .and_then(|servers| servers.get(self.name));
        let tools = servers.and_then(|server| server.get("tools")?.as_array());
        let mut tools = tools.cloned().unwrap_or_default();
        for tool in &mut tools {
            let listed = recorded
                .iter()
                .find(|listed| listed.get("name") == tool.get("toolName"));
            let schema = listed.and_then(|listed| listed.get("inputSchema")).cloned();
            if let (Some(schema), Some(tool)) = (schema, tool.as_object_mut()) {
                tool.insert("inputSchema".to_owned(), schema);
            }
        }
        Ok(tools)
    }

    /// The annotations document for a server of this name.
    ///
    /// # Errors
    /// Those of [`Pack::about`].
    pub fn annotations(&self, server: &str) -> Result<Value, PackError> {
        Ok(json!({"servers": {server: {"tools": self.annotated_tools()?}}}))
    }

    /// The scenarios for a server of this name, one a line.
    ///
    /// # Errors
    /// Those of [`Pack::about`].
    pub fn scenarios(&self, server: &str) -> Result<Vec<Value>, PackError> {
        let renamed = |line: &str| {
            let mut scenario: Value =
                serde_json::from_str(line).map_err(|error| self.fault("scenarios.jsonl", &error))?;
            if let Some(call) = scenario.get_mut("call").and_then(Value::as_object_mut) {
                call.insert("serverName".to_owned(), server.into());
            }
            Ok(scenario)
        };
        self.scenarios.lines().map(renamed).collect()
    }

    fn fault(&self, file: &str, error: &serde_json::Error) -> PackError {
        PackError::new(format!("the pack `{}` has a broken `{file}`: {error}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::draft::propose_annotations;
    use callgate_engine::document::DocumentSource;

    use super::*;

    #[test]
    fn each_pack_fits_the_recorded_list() {
        for pack in PACKS {
            let about = pack.about().unwrap();
            assert!(
                !about.recorded.is_empty() && !about.recognized.is_empty(),
                "{}",
                pack.name
            );
            let annotations = pack.annotations(pack.name).unwrap();
            let proposal = propose_annotations(
                DocumentSource::Text(pack.tools),
                pack.name,
                Some(DocumentSource::Value(&annotations)),
            )
            .unwrap();
            assert_eq!(proposal.drift, [], "{}", pack.name);
            for tool in pack.annotated_tools().unwrap() {
                assert!(
                    tool["inputSchema"].is_object(),
                    "{}: {}",
                    pack.name,
                    tool["toolName"]
                );
            }
        }
    }

    #[test]
    fn names_are_of_one_pack_and_rules_of_its_server() {
        let (mut rules, mut recognized) = (BTreeSet::new(), BTreeSet::new());
        for pack in PACKS {
            let about = pack.about().unwrap();
            for rule in about.rules {
                assert_eq!(rule["if"]["server"], pack.name);
                assert!(rules.insert(rule["name"].to_string()), "{}", rule["name"]);
            }
            for name in about.recognized {
                assert!(recognized.insert(name.clone()), "{name}");
            }
        }
    }

    #[test]
    fn servers_are_recognized_as_they_are_started() {
        for (words, expected) in [
            (
                "npx -y @modelcontextprotocol/server-filesystem .",
                Some("filesystem"),
            ),
            (
                "npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /srv",
                Some("filesystem"),
            ),
            (
                "node /opt/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js .",
                Some("filesystem"),
            ),
            (
                "docker run -i --rm -v /a:/b mcp/filesystem:latest /b",
                Some("filesystem"),
            ),
            ("uvx mcp-server-git --repository .", Some("git")),
            ("uvx mcp-server-git==2026.10.19", Some("git")),
            ("python3 -m mcp_server_git", Some("git")),
            ("/home/u/.venv/bin/mcp-server-fetch", Some("fetch")),
            (
                "deno run -A npm:@modelcontextprotocol/server-filesystem@2026 .",
                Some("filesystem"),
            ),
            (
                "cmd /c npx -y @modelcontextprotocol/server-memory",
                Some("memory"),
            ),
            ("https://mcp.context7.com/mcp?key=1", Some("context7")),
            ("docker run mcr.microsoft.com/playwright/mcp", Some("playwright")),
            ("docker run ghcr.io/github/github-mcp-server", None),
            ("npx -y git", None),
            ("node server.js", None),
            ("npx -y @evil/server-filesystem", None),
        ] {
            let found = recognize(words.split(' ')).unwrap();
            assert_eq!(found.map(|pack| pack.name), expected, "{words}");
        }
    }
}
