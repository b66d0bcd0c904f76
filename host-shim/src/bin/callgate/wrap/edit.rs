//! Changing the commands of servers in the text of a configuration, and nothing else.

use std::collections::BTreeMap;
use std::ops::Range;

use callgate_core::without_comments;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A server that is started as a program.
pub(super) struct Server<'s> {
    pub(super) name: &'s str,
    /// The program and its arguments.
    pub(super) command: Vec<String>,
}

/// A configuration with the guard in it.
#[derive(Debug, Default)]
pub(super) struct Wrapped {
    pub(super) text: String,
    pub(super) changed: Vec<String>,
    pub(super) already: Vec<String>,
    /// Servers that were left as they are, and why.
    pub(super) left: Vec<(String, &'static str)>,
}

impl Wrapped {
    pub(super) fn iter_names(&self) -> impl Iterator<Item = &String> {
        let left = self.left.iter().map(|(name, _)| name);
        self.changed.iter().chain(&self.already).chain(left)
    }
}

/// The members of an object as they are written.
type Members<'t> = BTreeMap<String, &'t RawValue>;

/// Writes the text again with the commands that `guarded` gives; `None` leaves a server as it is.
///
/// # Errors
/// Why the text is not a configuration of MCP servers.
pub(super) fn wrap(
    text: &str,
    mut guarded: impl FnMut(&Server<'_>) -> Option<Vec<String>>,
) -> Result<Wrapped, String> {
    let json = without_comments(text);
    let servers = servers(&json)?;
    let mut wrapped = Wrapped::default();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (name, raw) in &servers {
        let leave = |reason| (name.clone(), reason);
        let members: Map<String, Value> = match serde_json::from_str(raw.get()) {
            Ok(members) => members,
            Err(_) => {
                wrapped.left.push(leave("its entry is not an object"));
                continue;
            }
        };
        let Some(command) = command_of(&members) else {
            let reason = match members.contains_key("command") {
                true => "its command is not a string, or an array of strings",
                false => "it is not started as a program; the guard stands before programs only",
            };
            wrapped.left.push(leave(reason));
            continue;
        };
        if is_guard(&command) {
            wrapped.already.push(name.clone());
            continue;
        }
        let Some(words) = guarded(&Server { name, command }) else {
            wrapped.left.push(leave("it was not asked for"));
            continue;
        };
        edits.extend(edits_of(&json, raw, &words)?);
        wrapped.changed.push(name.clone());
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut written = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        written.replace_range(range, &new);
    }
    wrapped.text = written;
    Ok(wrapped)
}

fn members(text: &str) -> Result<Members<'_>, String> {
    serde_json::from_str(text).map_err(|error| format!("expected an object: {error}"))
}

fn servers(json: &str) -> Result<Members<'_>, String> {
    let top = members(json)?;
    let found = ["mcpServers", "servers", "mcp"]
        .into_iter()
        .find_map(|key| Some((key, top.get(key)?)));
    let Some((key, raw)) = found else {
        return Err(
            "has none of `mcpServers`, `servers` and `mcp`, expected the servers of an agent".to_owned(),
        );
    };
    let inner = members(raw.get()).map_err(|error| format!("`{key}`: {error}"))?;
    // The newer form of one agent has them one level down.
    match inner.get("servers").filter(|_| key == "mcp") {
        Some(raw) => members(raw.get()).map_err(|error| format!("`mcp.servers`: {error}")),
        None => Ok(inner),
    }
}

fn command_of(members: &Map<String, Value>) -> Option<Vec<String>> {
    let strings = |value: &Value| -> Option<Vec<String>> {
        value
            .as_array()?
            .iter()
            .map(|word| word.as_str().map(str::to_owned))
            .collect()
    };
    match members.get("command")? {
        Value::String(program) => {
            let mut command = vec![program.clone()];
            if let Some(arguments) = members.get("args") {
                command.extend(strings(arguments)?);
            }
            Some(command)
        }
        value => strings(value).filter(|command| !command.is_empty()),
    }
}

fn is_guard(command: &[String]) -> bool {
    let [program, verb, ..] = command else {
        return false;
    };
    program.rsplit('/').next() == Some("callgate") && verb == "guard"
}

/// What to replace in the text so that a server's entry has this command.
fn edits_of(json: &str, raw: &RawValue, words: &[String]) -> Result<Vec<(Range<usize>, String)>, String> {
    let members = members(raw.get())?;
    // Values are borrowed from the text, so each begins where the text has it.
    let range = |value: &RawValue| {
        let begin = value.get().as_ptr().addr() - json.as_ptr().addr();
        begin..begin + value.get().len()
    };
    let array = |words: &[String]| serde_json::to_string(words).map_err(|error| error.to_string());
    let Some(command) = members.get("command") else {
        return Ok(Vec::new());
    };
    if command.get().starts_with('[') {
        return Ok(vec![(range(command), array(words)?)]);
    }
    let (program, arguments) = words.split_at(words.len().min(1));
    let program = Value::String(program.concat()).to_string();
    let arguments = array(arguments)?;
    Ok(match members.get("args") {
        Some(given) => vec![(range(command), program), (range(given), arguments)],
        None => vec![(range(command), format!("{program}, \"args\": {arguments}"))],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guarded(text: &str) -> Wrapped {
        let words = |server: &Server<'_>| {
            let guard = ["/bin/callgate", "guard", "--server", server.name, "--"].map(str::to_owned);
            Some(guard.into_iter().chain(server.command.iter().cloned()).collect())
        };
        wrap(text, words).unwrap()
    }

    #[test]
    fn commands_change_and_nothing_else() {
        let text = r#"{
  // Servers of this project.
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, },
    "git": {"args": [ "--repository" , "." ], "command": "mcp-server-git"},
    "bare": {"command": "serve"},
    "far": {"type": "http", "url": "https://example.com/mcp"},
    "odd": {"command": 5}
  }
}
"#;
        let wrapped = guarded(text);
        let expected = r#"{
  // Servers of this project.
  "mcpServers": {
    "files": { "command": "/bin/callgate", "args": ["guard","--server","files","--","npx","-y","x"], "env": {"A": "1"}, },
    "git": {"args": ["guard","--server","git","--","mcp-server-git","--repository","."], "command": "/bin/callgate"},
    "bare": {"command": "/bin/callgate", "args": ["guard","--server","bare","--","serve"]},
    "far": {"type": "http", "url": "https://example.com/mcp"},
    "odd": {"command": 5}
  }
}
"#;
        assert_eq!(wrapped.text, expected);
        assert_eq!(wrapped.changed, ["bare", "files", "git"]);
        let left: Vec<&str> = wrapped.left.iter().map(|(name, _)| &**name).collect();
        assert_eq!(left, ["far", "odd"]);
        // A second time there is nothing to do.
        let again = guarded(expected);
        assert_eq!(again.text, expected);
        assert_eq!(again.already, ["bare", "files", "git"]);
    }

    #[test]
    fn every_dialect_has_its_servers() {
        for (text, expected) in [
            (
                r#"{"servers": {"s": {"command": "a"}}, "inputs": []}"#,
                r#"{"servers": {"s": {"command": "/bin/callgate", "args": ["guard","--server","s","--","a"]}}, "inputs": []}"#,
            ),
            (
                r#"{"mcp": {"s": {"type": "local", "command": ["a", "b"]}}}"#,
                r#"{"mcp": {"s": {"type": "local", "command": ["/bin/callgate","guard","--server","s","--","a","b"]}}}"#,
            ),
            (
                r#"{"mcp": {"servers": {"s": {"command": ["a"]}}}}"#,
                r#"{"mcp": {"servers": {"s": {"command": ["/bin/callgate","guard","--server","s","--","a"]}}}}"#,
            ),
        ] {
            assert_eq!(guarded(text).text, expected);
        }
        for text in ["[]", "{}", r#"{"mcpServers": []}"#, "{"] {
            assert!(wrap(text, |_| None).is_err(), "{text}");
        }
    }
}
