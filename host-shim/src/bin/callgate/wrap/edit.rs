//! Changing the commands of servers in the text of a configuration, and nothing else.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use callgate_core::without_comments;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::server::{AMBIGUOUS, Address, Guarded, Plan, Server, Unwrapped, Way, Wrapped, unsuitable};

/// The mark that some editors write before a text, and some agents pass over.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Where agents have their servers.
const KEYS: [&str; 3] = ["mcpServers", "servers", "mcp"];

/// Where one agent keeps, under the folder of each project, the servers that it has there.
const PROJECTS: &str = "projects";

/// The members of an object as they are written.
#[derive(Default)]
struct Members<'t>(BTreeMap<String, &'t RawValue>);

/// A server as it is written.
struct Entry<'t> {
    name: String,
    /// The folder of the project that alone has it.
    project: Option<String>,
    raw: &'t RawValue,
    dialect: Dialect,
}

/// How an entry with an address says that it is started as a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// `stdio`, with a command and its arguments.
    Usual,
    /// `local`, with a command that is an array.
    Array,
}

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
        let leave = |reason| (entry.title(), reason);
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
        let guard = match plan(&server) {
            Plan::Guard(guard) => guard,
            Plan::Already => {
                wrapped.already.push(entry.title());
                continue;
            }
            Plan::Differs => {
                wrapped.differing.push(entry.title());
                continue;
            }
            Plan::Leave(reason) => {
                wrapped.left.push(leave(reason));
                continue;
            }
        };
        match server.way {
            Way::Program(_) => edits.extend(edits_of(&json, raw, &guard.command)?),
            Way::Url(_) => edits.push((range(&json, raw), entry_of(members, guard, entry.dialect))),
        }
        wrapped.changed.push(entry.title());
    }
    wrapped.text = edited(text, edits);
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
                match known.filter(|known| known.guarded_by(guard).as_ref() == Some(&members)) {
                    Some(known) => {
                        let given = before.get(range(&json_before, known.raw)).unwrap_or_default();
                        edits.push((range(&json, raw), given.to_owned()));
                    }
                    None => unwrapped.stuck.push(entry.title()),
                }
            }
        }
    }
    unwrapped.text = edited(text, edits);
    Ok(unwrapped)
}

/// The text as JSON, in which every place stays where it is.
fn json_of(text: &str) -> Cow<'_, str> {
    let json = without_comments(text);
    match json.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => Cow::Owned(format!("{:1$}{rest}", "", BYTE_ORDER_MARK.len())),
        None => json,
    }
}

fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut written = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        written.replace_range(range, &new);
    }
    written
}

impl Entry<'_> {
    /// Returns `true` if the other entry is of the same server.
    fn is_of(&self, other: &Entry<'_>) -> bool {
        (&self.name, &self.project, self.dialect) == (&other.name, &other.project, other.dialect)
    }

    /// The members of the entry with the guard before its address; `None` if it has none.
    fn guarded_by(&self, guard: Vec<String>) -> Option<Map<String, Value>> {
        let members: Map<String, Value> = serde_json::from_str(self.raw.get()).ok()?;
        let way = way_of(&members).ok()?;
        let entry = entry_of(members, Guarded::before(&way, guard), self.dialect);
        serde_json::from_str(&entry).ok()
    }

    /// The name for a person, whom one project's server must not be taken for another's.
    fn title(&self) -> String {
        match &self.project {
            Some(project) => format!("{} (project {project})", self.name),
            None => self.name.clone(),
        }
    }
}

/// An object of which no two readers take another member.
fn members(text: &str) -> Result<Members<'_>, String> {
    serde_json::from_str(text).map_err(|error| format!("expected an object: {error}"))
}

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if members.0.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("the member `{name}` occurs twice")));
                    }
                    members.0.insert(name, value);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// The servers, and how each of them says that it is a program.
fn servers(json: &str) -> Result<Vec<Entry<'_>>, String> {
    let top = members(json)?;
    let mut servers = Vec::new();
    let mut has_any = servers_of_projects(&top, &mut servers)?;
    for key in KEYS {
        let Some(raw) = top.0.get(key) else { continue };
        has_any = true;
        let mut inner = members(raw.get()).map_err(|error| format!("`{key}`: {error}"))?;
        // One agent's newer form, and another's settings, have them one level down.
        let below = inner.0.get("servers").copied().filter(|_| key == "mcp");
        if let Some(raw) = below {
            inner = members(raw.get()).map_err(|error| format!("`mcp.servers`: {error}"))?;
        }
        for (name, raw) in inner.0 {
            let is_array = match below {
                Some(_) => matches!(type_of(raw).as_deref(), Some("local" | "remote")),
                None => key == "mcp",
            };
            let dialect = if is_array { Dialect::Array } else { Dialect::Usual };
            servers.push(Entry {
                name,
                project: None,
                raw,
                dialect,
            });
        }
    }
    match has_any {
        true => Ok(servers),
        false => {
            Err("has none of `mcpServers`, `servers` and `mcp`, expected the servers of an agent".to_owned())
        }
    }
}

/// Adds the servers that single projects have, and returns `true` if a project may have some.
fn servers_of_projects<'t>(top: &Members<'t>, servers: &mut Vec<Entry<'t>>) -> Result<bool, String> {
    let mut has_any = false;
    let is_object = |raw: &&RawValue| raw.get().starts_with('{');
    // Other agents may mean something else by the word.
    let Some(projects) = top.0.get(PROJECTS).copied().filter(is_object) else {
        return Ok(false);
    };
    let projects = members(projects.get()).map_err(|error| format!("`{PROJECTS}`: {error}"))?;
    for (project, raw) in projects.0.into_iter().filter(|(_, raw)| is_object(raw)) {
        let place = |error| format!("the project `{project}`: {error}");
        let settings = members(raw.get()).map_err(place)?;
        let Some(raw) = settings.0.get(KEYS[0]) else {
            continue;
        };
        has_any = true;
        let entries = members(raw.get()).map_err(|error| place(format!("`{}`: {error}", KEYS[0])))?;
        servers.extend(entries.0.into_iter().map(|(name, raw)| Entry {
            name,
            project: Some(project.clone()),
            raw,
            dialect: Dialect::Usual,
        }));
    }
    Ok(has_any)
}

fn type_of(entry: &RawValue) -> Option<String> {
    let entry = members(entry.get()).ok()?;
    serde_json::from_str(entry.0.get("type")?.get()).ok()
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
    let has_address = members.contains_key("httpUrl") || members.contains_key("url");
    if members.contains_key("command") && has_address {
        return Err(AMBIGUOUS);
    }
    if members.contains_key("command") {
        return command_of(members)
            .map(Way::Program)
            .ok_or("its command is not a string, or an array of strings");
    }
    let url = match (members.get("httpUrl"), members.get("url")) {
        (Some(_), Some(_)) => return Err("it has two addresses, and agents differ about which counts"),
        (Some(url), None) | (None, Some(url)) => url,
        (None, None) => return Err("it has neither a command nor an address"),
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
fn entry_of(members: Map<String, Value>, guard: Guarded, dialect: Dialect) -> String {
    let is_array = dialect == Dialect::Array;
    let mut entry = Map::new();
    for (name, value) in members {
        match &*name {
            "url" | "httpUrl" | "headers" => {}
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

/// Where the text has a value. Values are borrowed from the text.
fn range(json: &str, value: &RawValue) -> Range<usize> {
    let begin = value.get().as_ptr().addr() - json.as_ptr().addr();
    begin..begin + value.get().len()
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
        return Ok(vec![(range(command), array(words)?)]);
    }
    let (program, arguments) = words.split_at(words.len().min(1));
    let program = Value::String(program.concat()).to_string();
    let arguments = array(arguments)?;
    Ok(match members.0.get("args") {
        Some(given) => vec![(range(command), program), (range(given), arguments)],
        None => vec![(range(command), format!("{program}, \"args\": {arguments}"))],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::server::planned;

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
            r#"{"url": "https://x", "httpUrl": "https://y"}"#,
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
        assert_eq!(guarded(both).left, [("s".to_owned(), AMBIGUOUS)]);
    }

    #[cfg(feature = "http")]
    #[test]
    fn settings_that_look_like_those_of_another_agent_keep_their_own_form() {
        let text = r#"{"mcp": {"servers": {"s": {"type": "http", "url": "https://x"}, "t": {"type": "remote", "url": "https://y"}}}}"#;
        let expected = r#"{"mcp": {"servers": {"s": {"type":"stdio","command":"/bin/callgate","args":["guard","--server","s","--url","https://x"]}, "t": {"type":"local","command":["/bin/callgate","guard","--server","t","--url","https://y"]}}}}"#;
        assert_eq!(guarded(text).text, expected);
    }
}
