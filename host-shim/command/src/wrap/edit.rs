//! Changing the commands of servers in the text of a configuration, and nothing else.

use std::ops::Range;

use callgate_jsontext::replace;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::entries::{ADDRESSES, Dialect, Entry, elsewhere, json_of, members, range, servers, way_of};
use super::server::{ELSEWHERE, Guarded, Plan, Server, Unwrapped, Way, Wrapped};

/// Writes the text again with the guards that are planned.
///
/// # Errors
/// Why the text is not a configuration of MCP servers.
pub(super) fn wrap(text: &str, mut plan: impl FnMut(&Server<'_>) -> Plan) -> Result<Wrapped, String> {
    let json = json_of(text);
    let servers = servers(&json)?;
    let mut wrapped = Wrapped::default();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for entry in &servers {
        let Entry { name, raw, .. } = entry;
        wrapped.names.insert(name.clone());
        let leave = |reason: &'static str| (entry.title(), reason.into());
        let members: Map<String, Value> = match serde_json::from_str(raw.get()) {
            Ok(members) => members,
            Err(_) => {
                wrapped.left.push(leave("its entry is not an object"));
                continue;
            }
        };
        self::members(raw.get()).map_err(|error| format!("the server `{}`: {error}", entry.title()))?;
        let way = match way_of(&members) {
            Ok(way) => way,
            Err(reason) => {
                wrapped.left.push(leave(reason));
                continue;
            }
        };
        let server = Server { name, way };
        let Some(guard) = wrapped.note(entry.title(), plan(&server)) else {
            continue;
        };
        match server.way {
            Way::Program(_) => edits.extend(edits_of(&json, raw, &guard.command)?),
            Way::Url(_) => edits.push((range(&json, raw)?, entry_of(members, guard, entry.dialect))),
        }
    }
    for place in elsewhere(&serde_json::from_str(&json).unwrap_or_default(), &servers) {
        wrapped.left.push((place, ELSEWHERE.into()));
    }
    wrapped.text = edited(text, edits)?;
    Ok(wrapped)
}

/// Writes the text again without the guards that `guard_of` finds. A server that is a program follows its guard; the entry of one
/// with an address is the one in `before`, if that is what the guard was put before.
///
/// # Errors
/// Why the text is not a configuration of MCP servers.
pub(super) fn unwrap(
    text: &str,
    before: &str,
    guard_of: impl Fn(&Server<'_>) -> Option<Vec<String>>,
) -> Result<Unwrapped, String> {
    let (json, json_before) = (json_of(text), json_of(before));
    let earlier = servers(&json_before).unwrap_or_default();
    let mut unwrapped = Unwrapped::default();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for entry in &servers(&json)? {
        let Entry { name, raw, .. } = entry;
        let Ok(members) = serde_json::from_str::<Map<String, Value>>(raw.get()) else {
            continue;
        };
        let Ok(way) = way_of(&members) else { continue };
        let server = Server { name, way };
        let guard = guard_of(&server);
        unwrapped.guards.push(guard.clone());
        let (Some(guard), Way::Program(command)) = (guard, &server.way) else {
            continue;
        };
        match command.get(guard.len()..).and_then(<[String]>::split_first) {
            Some((lead, program)) if lead == "--" => edits.extend(edits_of(&json, raw, program)?),
            _ => {
                let known = earlier.iter().find(|known| known.is_of(entry));
                let known = known.filter(|known| known.guarded_by(guard).as_ref() == Some(&members));
                let given = match known {
                    Some(known) => before.get(range(&json_before, known.raw)?),
                    None => None,
                };
                match given {
                    Some(given) => edits.push((range(&json, raw)?, given.to_owned())),
                    None => unwrapped.stuck.push(entry.title()),
                }
            }
        }
    }
    unwrapped.text = edited(text, edits)?;
    Ok(unwrapped)
}

fn edited(text: &str, edits: Vec<(Range<usize>, String)>) -> Result<String, String> {
    replace(text, edits).ok_or_else(|| "two changes touch the same place".to_owned())
}

impl Entry<'_> {
    /// The members of the entry with the guard before its address; `None` if it has none.
    fn guarded_by(&self, guard: Vec<String>) -> Option<Map<String, Value>> {
        let members: Map<String, Value> = serde_json::from_str(self.raw.get()).ok()?;
        let way = way_of(&members).ok()?;
        let entry = entry_of(members, Guarded::before(&way, guard), self.dialect);
        serde_json::from_str(&entry).ok()
    }
}

/// An entry with an address as one with a command. Whatever else it says stays.
fn entry_of(members: Map<String, Value>, guard: Guarded, dialect: Dialect) -> String {
    let is_array = dialect == Dialect::Array;
    let mut entry = Map::new();
    for (name, value) in members {
        match &*name {
            "headers" => {}
            name if ADDRESSES.contains(&name) => {}
            "type" => {
                let kind = if is_array { "local" } else { "stdio" };
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
    if is_array {
        entry.insert("command".to_owned(), words.collect());
    } else {
        entry.insert("command".to_owned(), words.next().into());
        entry.insert("args".to_owned(), words.collect());
    }
    if !environment.is_empty() {
        let name = if is_array { "environment" } else { "env" };
        entry.insert(name.to_owned(), environment.into());
    }
    Value::Object(entry).to_string()
}

/// The part of the text to replace so that a server's entry has this command.
fn edits_of(json: &str, raw: &RawValue, words: &[String]) -> Result<Vec<(Range<usize>, String)>, String> {
    let members = members(raw.get())?;
    let range = |value| range(json, value);
    let array = |words: &[String]| serde_json::to_string(words).map_err(|error| error.to_string());
    let Some(command) = members.0.get("command") else {
        return Ok(Vec::new());
    };
    if command.get().starts_with('[') {
        return Ok(vec![(range(command)?, array(words)?)]);
    }
    let (program, arguments) = words.split_at(words.len().min(1));
    let program = Value::String(program.concat()).to_string();
    let arguments = array(arguments)?;
    Ok(match members.0.get("args") {
        Some(given) => vec![(range(command)?, program), (range(given)?, arguments)],
        None => vec![(range(command)?, format!("{program}, \"args\": {arguments}"))],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::server::{AMBIGUOUS, planned};

    fn guarded(text: &str) -> Wrapped {
        wrap(text, planned).unwrap()
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

    #[test]
    fn an_address_becomes_a_command_and_its_secrets_stay_out_of_it() {
        for (text, expected) in [
            (
                r#"{"mcpServers": {"s": {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${T}"}, "timeout": 5}}}"#,
                r#"{"mcpServers": {"s": {"type":"stdio","timeout":5,"command":"/bin/callgate","args":["guard","--server","s","--url-env","CALLGATE_URL","--header-env","Authorization=CALLGATE_HEADER_1"],"env":{"CALLGATE_URL":"https://x/mcp","CALLGATE_HEADER_1":"Bearer ${T}"}}}}"#,
            ),
            (
                r#"{"mcpServers": {"s": {"httpUrl": "http://x"}}}"#,
                r#"{"mcpServers": {"s": {"command":"/bin/callgate","args":["guard","--server","s","--url-env","CALLGATE_URL"],"env":{"CALLGATE_URL":"http://x"}}}}"#,
            ),
            (
                r#"{"mcp": {"s": {"url": "https://k:p@x/t?key=1", "oauth": false}}}"#,
                r#"{"mcp": {"s": {"oauth":false,"command":["/bin/callgate","guard","--server","s","--url-env","CALLGATE_URL"],"environment":{"CALLGATE_URL":"https://k:p@x/t?key=1"}}}}"#,
            ),
            (
                r#"{"mcpServers": {"s": {"serverUrl": "https://x", "oauth": null}}}"#,
                r#"{"mcpServers": {"s": {"oauth":null,"command":"/bin/callgate","args":["guard","--server","s","--url-env","CALLGATE_URL"],"env":{"CALLGATE_URL":"https://x"}}}}"#,
            ),
            (
                r#"{"mcp": {"s": {"type": "remote", "url": "https://x", "headers": {"A": "b"}}}}"#,
                r#"{"mcp": {"s": {"type":"local","command":["/bin/callgate","guard","--server","s","--url-env","CALLGATE_URL","--header-env","A=CALLGATE_HEADER_1"],"environment":{"CALLGATE_URL":"https://x","CALLGATE_HEADER_1":"b"}}}}"#,
            ),
        ] {
            let wrapped = guarded(text);
            assert_eq!(wrapped.text, expected);
            assert_eq!(guarded(expected).already, ["s"]);
        }
        for entry in [
            r#"{"url": "unix:///run/x"}"#,
            r#"{"url": 5}"#,
            r#"{"url": "https://x", "httpUrl": "https://y"}"#,
            r#"{"url": "https://x", "headers": []}"#,
            r#"{"url": "https://x", "headers": {"A": 1}}"#,
            r#"{"url": "https://x", "oauth": {}}"#,
            r#"{"url": "https://x", "oauth": true}"#,
            r#"{"url": "https://x", "serverUrl": "https://y"}"#,
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
        for text in [
            "[]",
            "{}",
            r#"{"mcpServers": []}"#,
            "{",
            // Agents may take either.
            r#"{"mcpServers": {"a": {"command": "x"}}, "mcpServers": {}}"#,
            r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#,
            r#"{"servers": {"a": {"command": "x", "\u0063ommand": "y"}}}"#,
        ] {
            assert!(wrap(text, planned).is_err(), "{text}");
        }
    }

    #[test]
    fn the_servers_of_projects_are_servers_too() {
        let text = r#"{
  "projects": {
    "/a": {"allowedTools": [], "mcpServers": {"s": {"type": "stdio", "command": "x", "args": []}, "odd": 5}},
    "/b": {"mcpServers": {"s": {"command": "y"}}},
    "/c": {"mcpServers": {}},
    "/d": {}
  },
  "mcpServers": {"s": {"command": "z"}}
}"#;
        let wrapped = guarded(text);
        let expected = r#"{
  "projects": {
    "/a": {"allowedTools": [], "mcpServers": {"s": {"type": "stdio", "command": "/bin/callgate", "args": ["guard","--server","s","--","x"]}, "odd": 5}},
    "/b": {"mcpServers": {"s": {"command": "/bin/callgate", "args": ["guard","--server","s","--","y"]}}},
    "/c": {"mcpServers": {}},
    "/d": {}
  },
  "mcpServers": {"s": {"command": "/bin/callgate", "args": ["guard","--server","s","--","z"]}}
}"#;
        assert_eq!(wrapped.text, expected);
        assert_eq!(wrapped.changed, ["s (project /a)", "s (project /b)", "s"]);
        assert_eq!(wrapped.left[0].0, "odd (project /a)");
        assert!(wrapped.names.iter().eq(["odd", "s"]));
        // A project may be all that has servers; without one there is nothing to guard.
        assert_eq!(
            guarded(r#"{"projects": {"/a": {"mcpServers": {"s": {"command": "x"}}}}}"#)
                .changed
                .len(),
            1
        );
        for text in [
            r#"{"projects": {"/a": {}}}"#,
            r#"{"projects": []}"#,
            r#"{"projects": {"/a": {"mcpServers": []}}}"#,
            r#"{"projects": {"/a": {}, "/a": {"mcpServers": {"s": {"command": "x"}}}}, "mcpServers": {}}"#,
        ] {
            assert!(wrap(text, planned).is_err(), "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_server_elsewhere_is_named() {
        let text = r#"{"mcp": {"servers": {"type": "local", "command": ["a"]}, "d": {"type": "local", "command": ["b"]}}}"#;
        assert_eq!(guarded(text).changed, ["d", "servers"]);
        let text = r#"{"mcpServers": {"s": {"command": "a"}}, "mcp": {"servers": {"t": {"command": "b"}}, "d": {"command": "c"}},
            "context_servers": {"z": {"url": "https://x"}}, "amp.mcpServers": {"y": {"command": "d"}},
            "hooks": {"a": [{"command": "e"}]}, "task": {"command": "f"}}"#;
        let wrapped = guarded(text);
        assert_eq!(wrapped.changed, ["s", "t"]);
        let left: Vec<&str> = wrapped.left.iter().map(|(name, _)| &**name).collect();
        assert_eq!(left, ["mcp.d", "context_servers.z", "amp.mcpServers.y"]);
    }

    #[test]
    fn no_server_is_passed_over() {
        let text = "\u{feff}{\r\n\"mcpServers\": {\"a\": {\"command\": \"x\"}}, \"servers\": {\"b\": {\"command\": \"y\"}},\r\n\"mcp\": {\"servers\": {\"c\": {\"command\": \"./callgate\", \"args\": [\"guard\", \"--\", \"z\"]}}}}";
        let wrapped = guarded(text);
        assert_eq!(wrapped.changed, ["a", "b", "c"]);
        let args =
            |name: &str| format!(r#""command": "/bin/callgate", "args": ["guard","--server","{name}","--""#);
        for name in ["a", "b", "c"] {
            assert!(wrapped.text.contains(&args(name)), "{}", wrapped.text);
        }
        assert!(wrapped.text.starts_with("\u{feff}{\r\n"));
        // Which of them counts differs from agent to agent.
        let both = r#"{"mcpServers": {"s": {"command": "x", "url": "https://x"}}}"#;
        assert_eq!(guarded(both).left, [("s".to_owned(), AMBIGUOUS.into())]);
    }

    #[test]
    fn settings_that_look_like_those_of_another_agent_keep_their_own_form() {
        let text = r#"{"mcp": {"servers": {"s": {"type": "http", "url": "https://x"}, "t": {"type": "remote", "url": "https://y"}}}}"#;
        let expected = r#"{"mcp": {"servers": {"s": {"type":"stdio","command":"/bin/callgate","args":["guard","--server","s","--url-env","CALLGATE_URL"],"env":{"CALLGATE_URL":"https://x"}}, "t": {"type":"local","command":["/bin/callgate","guard","--server","t","--url-env","CALLGATE_URL"],"environment":{"CALLGATE_URL":"https://y"}}}}}"#;
        assert_eq!(guarded(text).text, expected);
    }
}
