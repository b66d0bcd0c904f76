//! Changing the commands of servers in the text of a configuration, and nothing else.

use std::collections::BTreeMap;
use std::ops::Range;

use callgate_core::without_comments;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::server::{Address, Guarded, NOT_ASKED_FOR, Server, Way, Wrapped, is_guard, unsuitable};

/// The members of an object as they are written.
type Members<'t> = BTreeMap<String, &'t RawValue>;

/// Writes the text again with the commands that `guarded` gives; `None` leaves a server as it is.
///
/// # Errors
/// Why the text is not a configuration of MCP servers.
pub(super) fn wrap(
    text: &str,
    mut guarded: impl FnMut(&Server<'_>) -> Option<Guarded>,
) -> Result<Wrapped, String> {
    let json = without_comments(text);
    let (servers, is_nested) = servers(&json)?;
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
        let way = match way_of(&members) {
            Ok(way) => way,
            Err(reason) => {
                wrapped.left.push(leave(reason));
                continue;
            }
        };
        if matches!(&way, Way::Program(command) if is_guard(command)) {
            wrapped.already.push(name.clone());
            continue;
        }
        let server = Server { name, way };
        let Some(guard) = guarded(&server) else {
            wrapped.left.push(leave(NOT_ASKED_FOR));
            continue;
        };
        match server.way {
            Way::Program(_) => edits.extend(edits_of(&json, raw, &guard.command)?),
            Way::Url(_) => edits.push((range(&json, raw), entry_of(members, guard, is_nested))),
        }
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

/// The servers, and whether they are those of the agent whose commands are arrays.
fn servers(json: &str) -> Result<(Members<'_>, bool), String> {
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
        Some(raw) => Ok((
            members(raw.get()).map_err(|error| format!("`mcp.servers`: {error}"))?,
            true,
        )),
        None => Ok((inner, key == "mcp")),
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

fn way_of(members: &Map<String, Value>) -> Result<Way, &'static str> {
    if members.contains_key("command") {
        return command_of(members)
            .map(Way::Program)
            .ok_or("its command is not a string, or an array of strings");
    }
    let Some(url) = members.get("httpUrl").or(members.get("url")) else {
        return Err("it has neither a command nor an address");
    };
    let url = url.as_str().ok_or("its address is not a string")?;
    if members.get("type").and_then(Value::as_str) == Some("sse") {
        return Err(
            "it speaks HTTP+SSE, which the guard does not, nor do revisions of MCP from 2025-03-26 on",
        );
    }
    if members.contains_key("auth") || members.contains_key("oauth") {
        return Err("the agent signs in to it, which the guard cannot");
    }
    if let Some(reason) = unsuitable(url) {
        return Err(reason);
    }
    let mut headers = Vec::new();
    match members.get("headers") {
        None => {}
        Some(Value::Object(given)) => {
            for (name, value) in given {
                let value = value.as_str().ok_or("a header of it is not a string")?;
                headers.push((name.clone(), value.to_owned()));
            }
        }
        Some(_) => return Err("its headers are not an object"),
    }
    Ok(Way::Url(Address {
        url: url.to_owned(),
        headers,
        ..Address::default()
    }))
}

/// An entry with an address as one with a command. Whatever else it says stays.
fn entry_of(members: Map<String, Value>, guard: Guarded, is_nested: bool) -> String {
    let mut entry = Map::new();
    for (name, value) in members {
        match &*name {
            "url" | "httpUrl" | "headers" => {}
            "type" => {
                let kind = if is_nested { "local" } else { "stdio" };
                entry.insert(name, kind.into());
            }
            _ => {
                entry.insert(name, value);
            }
        }
    }
    let environment: Map<String, Value> = guard
        .environment
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    let mut words = guard.command.into_iter();
    if is_nested {
        entry.insert("command".to_owned(), words.collect());
    } else {
        entry.insert("command".to_owned(), words.next().into());
        entry.insert("args".to_owned(), words.collect());
    }
    if !environment.is_empty() {
        let name = if is_nested { "environment" } else { "env" };
        entry.insert(name.to_owned(), environment.into());
    }
    Value::Object(entry).to_string()
}

/// Where the text has a value. Values are borrowed from the text.
fn range(json: &str, value: &RawValue) -> Range<usize> {
    let begin = value.get().as_ptr().addr() - json.as_ptr().addr();
    begin..begin + value.get().len()
}

/// What to replace in the text so that a server's entry has this command.
fn edits_of(json: &str, raw: &RawValue, words: &[String]) -> Result<Vec<(Range<usize>, String)>, String> {
    let members = members(raw.get())?;
    let range = |value| range(json, value);
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
        let before = |server: &Server<'_>| {
            let guard = ["/bin/callgate", "guard", "--server", server.name].map(str::to_owned);
            Some(Guarded::before(&server.way, guard.into()))
        };
        wrap(text, before).unwrap()
    }

    #[test]
    fn commands_change_and_nothing_else() {
        let text = r#"{
  // Servers of this project.
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, },
    "git": {"args": [ "--repository" , "." ], "command": "mcp-server-git"},
    "bare": {"command": "serve"},
    "far": {"type": "sse", "url": "https://example.com/mcp"},
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
    "far": {"type": "sse", "url": "https://example.com/mcp"},
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

    #[cfg(feature = "http")]
    #[test]
    fn an_address_becomes_a_command_and_its_secrets_stay_out_of_it() {
        for (text, expected) in [
            (
                r#"{"mcpServers": {"s": {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${T}"}, "timeout": 5}}}"#,
                r#"{"mcpServers": {"s": {"type":"stdio","timeout":5,"command":"/bin/callgate","args":["guard","--server","s","--url","https://x/mcp","--header-env","Authorization=CALLGATE_HEADER_1"],"env":{"CALLGATE_HEADER_1":"Bearer ${T}"}}}}"#,
            ),
            (
                r#"{"mcpServers": {"s": {"httpUrl": "http://x"}}}"#,
                r#"{"mcpServers": {"s": {"command":"/bin/callgate","args":["guard","--server","s","--url","http://x"]}}}"#,
            ),
            (
                r#"{"mcp": {"s": {"type": "remote", "url": "https://x", "headers": {"A": "b"}}}}"#,
                r#"{"mcp": {"s": {"type":"local","command":["/bin/callgate","guard","--server","s","--url","https://x","--header-env","A=CALLGATE_HEADER_1"],"environment":{"CALLGATE_HEADER_1":"b"}}}}"#,
            ),
        ] {
            let wrapped = guarded(text);
            assert_eq!(wrapped.text, expected);
            assert_eq!(guarded(expected).already, ["s"]);
        }
        for entry in [
            r#"{"url": "unix:///run/x"}"#,
            r#"{"url": 5}"#,
            r#"{"url": "https://x", "headers": []}"#,
            r#"{"url": "https://x", "headers": {"A": 1}}"#,
            r#"{"url": "https://x", "oauth": {}}"#,
            r#"{"type": "http"}"#,
        ] {
            let text = format!(r#"{{"mcpServers": {{"s": {entry}}}}}"#);
            let wrapped = guarded(&text);
            assert_eq!((&*wrapped.text, wrapped.left.len()), (&*text, 1), "{entry}");
        }
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
