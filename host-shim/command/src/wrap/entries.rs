//! The servers in the text of a configuration.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use callgate_engine::document::without_comments;
use callgate_jsontext::place_of;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::server::{AMBIGUOUS, Address, Way, unsuitable, words_of};

/// The mark that some editors write before a text, and some agents pass over.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Where agents have their servers.
const KEYS: [&str; 3] = ["mcpServers", "servers", "mcp"];

/// Where one agent keeps, under the folder of each project, the servers that it has there.
const PROJECTS: &str = "projects";

/// The members in which an entry has its address.
pub(super) const ADDRESSES: [&str; 3] = ["httpUrl", "url", "serverUrl"];

/// The members of an object as they are written.
pub(super) struct Members<'t>(pub(super) BTreeMap<String, &'t RawValue>);

/// A server as it is written.
pub(super) struct Entry<'t> {
    pub(super) name: String,
    /// The folder of the project that alone has it.
    pub(super) project: Option<String>,
    pub(super) raw: &'t RawValue,
    pub(super) dialect: Dialect,
}

/// How an entry with an address says that it is started as a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `stdio`, with a command and its arguments.
    Usual,
    /// `local`, with a command that is an array.
    Array,
}

impl Entry<'_> {
    /// Returns `true` if the other entry is of the same server.
    pub(super) fn is_of(&self, other: &Entry<'_>) -> bool {
        (&self.name, &self.project, self.dialect) == (&other.name, &other.project, other.dialect)
    }

    /// The name for a person, whom one project's server must not be taken for another's.
    pub(super) fn title(&self) -> String {
        match &self.project {
            Some(project) => format!("{} (project {project})", self.name),
            None => self.name.clone(),
        }
    }
}

/// The text as JSON, in which every place stays where it is.
pub(super) fn json_of(text: &str) -> Cow<'_, str> {
    let json = without_comments(text);
    match json.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => Cow::Owned(format!("{:1$}{rest}", "", BYTE_ORDER_MARK.len())),
        None => json,
    }
}

/// Where the text has a value, which is borrowed from it.
pub(super) fn range(json: &str, value: &RawValue) -> Result<Range<usize>, String> {
    place_of(json, value.get()).ok_or_else(|| "an entry was not read from this text".to_owned())
}

/// An object of which no two readers take another member.
pub(super) fn members(text: &str) -> Result<Members<'_>, String> {
    let read =
        callgate_jsontext::Members::read(text).map_err(|error| format!("expected an object: {error}"))?;
    match read.repeated() {
        Some(name) => Err(format!("expected an object: the member `{name}` occurs twice")),
        None => Ok(Members(read.0.into_iter().collect())),
    }
}

/// The servers, and how each of them says that it is a program.
pub(super) fn servers(json: &str) -> Result<Vec<Entry<'_>>, String> {
    let top = members(json)?;
    let mut servers = Vec::new();
    let mut has_any = servers_of_projects(&top, &mut servers)?;
    for key in KEYS {
        let Some(raw) = top.0.get(key) else { continue };
        has_any = true;
        let mut inner = members(raw.get()).map_err(|error| format!("`{key}`: {error}"))?;
        // One agent's newer form, and another's settings, have them one level down.
        // A server may have that name.
        let below = inner.0.get("servers").copied();
        let below = below
            .filter(|raw| key == "mcp" && !is_entry(&serde_json::from_str(raw.get()).unwrap_or_default()));
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

/// Returns `true` if the value has a command or an address, as the entry of a server does.
fn is_entry(value: &Value) -> bool {
    let has = |name: &str| {
        value
            .get(name)
            .is_some_and(|value| value.is_string() || value.is_array())
    };
    has("command") || ADDRESSES.iter().any(|name| has(name))
}

/// Where a value has what looks like servers, in places where no agent is known to have them.
pub(super) fn elsewhere(value: &Value, known: &[Entry<'_>]) -> Vec<String> {
    let mut found = looking_like_servers(value);
    let is_known = |place: &String| {
        known.iter().any(|entry| {
            let keys = KEYS.iter().chain(&["mcp.servers"]);
            let mut places = keys.map(|key| match &entry.project {
                Some(project) => format!("{PROJECTS}.{project}.{key}.{}", entry.name),
                None => format!("{key}.{}", entry.name),
            });
            places.any(|known| known == *place)
        })
    };
    found.retain(|place| !is_known(place));
    found
}

/// Where a value has what looks like servers.
pub(super) fn looking_like_servers(value: &Value) -> Vec<String> {
    fn look(value: &Value, place: &str, is_of_servers: bool, found: &mut Vec<String>) {
        for (name, value) in value.as_object().into_iter().flatten() {
            let lower = name.to_lowercase();
            let inner = match place {
                "" => name.clone(),
                place => format!("{place}.{name}"),
            };
            if is_of_servers && is_entry(value) {
                found.push(inner);
                continue;
            }
            let is_named = lower.contains("mcp") || lower.ends_with("servers");
            look(value, &inner, is_of_servers || is_named, found);
        }
        for (index, value) in value.as_array().into_iter().flatten().enumerate() {
            let inner = format!("{place}[{index}]");
            match is_of_servers && is_entry(value) {
                true => found.push(inner),
                false => look(value, &inner, is_of_servers, found),
            }
        }
    }
    let mut found = Vec::new();
    look(value, "", false, &mut found);
    found
}

fn type_of(entry: &RawValue) -> Option<String> {
    let entry = members(entry.get()).ok()?;
    serde_json::from_str(entry.0.get("type")?.get()).ok()
}

fn command_of(members: &Map<String, Value>) -> Result<Vec<String>, &'static str> {
    const COMMAND: &str = "its command is not a string, or an array of strings";
    let strings = |value: &Value| -> Option<Vec<String>> {
        value
            .as_array()?
            .iter()
            .map(|word| word.as_str().map(str::to_owned))
            .collect()
    };
    match members.get("command") {
        Some(Value::String(program)) => {
            let mut command = words_of(program)?;
            if let Some(arguments) = members.get("args") {
                command.extend(strings(arguments).ok_or(COMMAND)?);
            }
            Ok(command)
        }
        Some(value) => strings(value)
            .filter(|command| !command.is_empty())
            .ok_or(COMMAND),
        None => Err(COMMAND),
    }
}

pub(super) fn way_of(members: &Map<String, Value>) -> Result<Way, &'static str> {
    let mut addresses = ADDRESSES.iter().filter_map(|name| members.get(*name));
    let addresses = (addresses.next(), addresses.next());
    let has_address = addresses.0.is_some();
    if members.contains_key("command") && has_address {
        return Err(AMBIGUOUS);
    }
    if members.contains_key("command") {
        return command_of(members).map(Way::Program);
    }
    let url = match addresses {
        (Some(_), Some(_)) => return Err("it has two addresses, and agents differ about which counts"),
        (Some(url), None) => url,
        (None, _) => return Err("it has neither a command nor an address"),
    };
    let url = url.as_str().ok_or("its address is not a string")?;
    if members.get("type").and_then(Value::as_str) == Some("sse") {
        return Err(
            "it speaks HTTP+SSE, which the guard does not, nor do revisions of MCP from 2025-03-26 on",
        );
    }
    // `false` and `null` say that it does not, `{}` that it does.
    let signs_in = |name| !matches!(members.get(name), None | Some(Value::Bool(false) | Value::Null));
    if signs_in("auth") || signs_in("oauth") {
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
