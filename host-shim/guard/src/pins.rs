//! The tools that a person has looked at and accepted.
//!
//! A server may say tomorrow that a tool does something else, or take something else. A tool is all that is listed of it: its
//! name, description, schemas and hints, how it runs, its icons, its `_meta`, and what MCP does not have, which a client may
//! show its model all the same. One that has changed in any of it is held back until it is accepted again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::digest::digest;
use super::strict;

const FORMAT: &str = "callgate-lock/1";

/// The parts of a tool that MCP has, by their names in `tools/list`: no other member may be taken for one of them.
pub(super) const PARTS: [&str; 9] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "execution",
    "icons",
    "_meta",
];

/// A lock file: what was accepted, by server and tool.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    format: String,
    servers: BTreeMap<String, BTreeMap<String, Pin>>,
}

/// A tool that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    digest: String,
    /// The tool as it was accepted, to show how another differs from it.
    tool: Map<String, Value>,
}

/// How a server's tools differ from what was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PinChange {
    /// The tool.
    pub tool: String,
    /// Its change.
    pub change: PinChangeKind,
    /// Its parts that differ, with what was accepted and what is there; empty for a tool that is new or gone.
    pub parts: Vec<(String, Value, Value)>,
}

/// The change of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PinChangeKind {
    /// It was not accepted before.
    New,
    /// It differs from the tool that was accepted.
    Changed,
    /// The server does not have it any more.
    Gone,
}

impl Default for Lock {
    fn default() -> Self {
        Self {
            format: FORMAT.to_owned(),
            servers: BTreeMap::new(),
        }
    }
}

impl Lock {
    /// Reads a lock file.
    ///
    /// # Errors
    /// Why it is not one. It must not be taken for one without tools.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let lock: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if lock.format != FORMAT {
            return Err(format!("found the format `{}`, expected `{FORMAT}`", lock.format));
        }
        for (server, tools) in &lock.servers {
            for (name, pin) in tools {
                if pin.digest != Pin::new(pin.tool.clone()).digest {
                    return Err(format!("the digest of `{server}/{name}` is not that of its tool"));
                }
            }
        }
        Ok(lock)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        // Texts as keys are always JSON.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The tools of a server that were accepted.
    pub fn pins(&self, server: &str) -> Pins {
        Pins(self.servers.get(server).cloned().unwrap_or_default())
    }

    /// How a server's tools, the items of `tools/list`, differ from those that were accepted.
    ///
    /// # Errors
    /// An item is not a tool, or a name occurs twice.
    pub fn changes(&self, server: &str, tools: &[Value]) -> Result<Vec<PinChange>, String> {
        let listed = listed(tools)?;
        let pinned = self.servers.get(server);
        let mut changes = Vec::new();
        for (name, pin) in &listed {
            let (change, parts) = match pinned.and_then(|tools| tools.get(name)) {
                Some(known) if known == pin => continue,
                Some(known) => (PinChangeKind::Changed, known.parts_unlike(pin)),
                None => (PinChangeKind::New, Vec::new()),
            };
            let tool = name.clone();
            changes.push(PinChange { tool, change, parts });
        }
        let gone = pinned
            .into_iter()
            .flatten()
            .filter(|(name, _)| !listed.contains_key(*name));
        changes.extend(gone.map(|(name, _)| PinChange {
            tool: name.clone(),
            change: PinChangeKind::Gone,
            parts: Vec::new(),
        }));
        Ok(changes)
    }

    /// Accepts a server's tools as they are, and forgets the others of that server.
    ///
    /// # Errors
    /// Those of [`Lock::changes`].
    pub fn accept(&mut self, server: &str, tools: &[Value]) -> Result<(), String> {
        self.servers.insert(server.to_owned(), listed(tools)?);
        Ok(())
    }
}

/// The tools of one server that were accepted.
#[derive(Clone, Debug)]
pub struct Pins(BTreeMap<String, Pin>);

impl Pins {
    pub(super) fn digest(&self, tool: &str) -> Option<&str> {
        self.0.get(tool).map(|pin| &*pin.digest)
    }
}

impl Pin {
    /// A tool as it is listed.
    fn new(tool: Map<String, Value>) -> Self {
        let tool = sorted(tool);
        // A map of texts is always JSON.
        let digest = digest(&serde_json::to_vec(&tool).unwrap_or_default());
        Self { digest, tool }
    }

    fn parts_unlike(&self, other: &Self) -> Vec<(String, Value, Value)> {
        let part = |pin: &Self, name: &str| pin.tool.get(name).cloned().unwrap_or_default();
        let further = self.tool.keys().chain(other.tool.keys()).map(String::as_str);
        let further: BTreeSet<&str> = further.filter(|name| !PARTS.contains(name)).collect();
        let parts = PARTS
            .into_iter()
            .chain(further)
            .map(|name| (name.to_owned(), part(self, name), part(other, name)));
        parts.filter(|(_, before, after)| before != after).collect()
    }
}

/// The digest of a tool as it is listed; `None` if two programs may read it differently: a name that stands there twice at any
/// depth, half of a surrogate pair, a number that no double holds, an integer of more than 64 bits, too many levels.
pub(super) fn digest_of(tool: &str) -> Option<String> {
    strict::check_exact(tool).ok()?;
    serde_json::from_str(tool).ok().map(|tool| Pin::new(tool).digest)
}

fn listed(tools: &[Value]) -> Result<BTreeMap<String, Pin>, String> {
    let mut listed = BTreeMap::new();
    for tool in tools {
        let name = tool.get("name").and_then(Value::as_str);
        let (Some(name), Some(members)) = (name, tool.as_object()) else {
            return Err(format!("found `{tool}`, expected a tool with a name"));
        };
        if listed
            .insert(name.to_owned(), Pin::new(members.clone()))
            .is_some()
        {
            return Err(format!("the tool `{name}` occurs twice"));
        }
    }
    Ok(listed)
}

/// The members by name, at every depth, so that their order does not count.
fn sorted(members: Map<String, Value>) -> Map<String, Value> {
    let mut members: Vec<(String, Value)> = members
        .into_iter()
        .map(|(name, value)| (name, by_name(value)))
        .collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    members.into_iter().collect()
}

fn by_name(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(sorted(members)),
        Value::Array(items) => Value::Array(items.into_iter().map(by_name).collect()),
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds(lock: &Lock, tools: &Value) -> Vec<(String, PinChangeKind, Vec<String>)> {
        let changes = lock.changes("s", tools.as_array().unwrap()).unwrap();
        let parts = |change: &PinChange| change.parts.iter().map(|(name, _, _)| name.clone()).collect();
        changes
            .iter()
            .map(|change| (change.tool.clone(), change.change, parts(change)))
            .collect()
    }

    #[test]
    fn what_a_model_sees_is_pinned() {
        let tools = json!([
            {"name": "a", "description": "A", "inputSchema": {"x": 1, "y": [{"p": 1, "q": 2}]}, "_meta": {"z": 1}, "later": 1},
            {"name": "b"}
        ]);
        let mut lock = Lock::default();
        lock.accept("s", tools.as_array().unwrap()).unwrap();
        let lock = Lock::from_json(&lock.to_json()).unwrap();
        assert_eq!(kinds(&lock, &tools), []);
        // The order of names does not count.
        let same = json!([
            {"name": "b"},
            {"_meta": {"z": 1}, "later": 1, "inputSchema": {"y": [{"q": 2, "p": 1}], "x": 1}, "description": "A", "name": "a"}
        ]);
        assert_eq!(kinds(&lock, &same), []);
        let other = json!([
            {"name": "a", "description": "A!", "inputSchema": {"x": 2, "y": []}, "outputSchema": {"description": "A"},
                "execution": {"taskSupport": "required"}, "icons": [{"src": "data:"}], "_meta": {"z": 2}, "later": 2,
                "note": "B"},
            {"name": "c"}
        ]);
        assert_eq!(
            kinds(&lock, &other),
            [
                (
                    "a".to_owned(),
                    PinChangeKind::Changed,
                    [
                        "description",
                        "inputSchema",
                        "outputSchema",
                        "execution",
                        "icons",
                        "_meta",
                        "later",
                        "note"
                    ]
                    .map(str::to_owned)
                    .to_vec()
                ),
                ("c".to_owned(), PinChangeKind::New, vec![]),
                ("b".to_owned(), PinChangeKind::Gone, vec![]),
            ]
        );
        assert!(
            lock.changes("s", &[json!({"name": "a"}), json!({"name": "a"})])
                .is_err()
        );
        assert_eq!(lock.changes("t", &[json!({"name": "a"})]).unwrap().len(), 1);
    }

    #[test]
    fn a_tool_that_programs_read_differently_has_no_digest() {
        let tool = |schema: &str| format!(r#"{{"name":"a","inputSchema":{schema}}}"#);
        assert!(digest_of(&tool(r#"{"properties":{"-a":{},"-A":{}}}"#)).is_some());
        let numbers = r#"{"maximum":18446744073709551615,"minimum":-9223372036854775808,"default":1.8446744073709552e19}"#;
        assert!(digest_of(&tool(numbers)).is_some());
        let deep = "[".repeat(200) + &"]".repeat(200);
        for schema in [
            r#""\ud800""#,
            "1e400",
            "18446744073709551616",
            "-9223372036854775809",
            r#"{"properties":{"a":{"type":"string","type":"object"}}}"#,
            &deep,
        ] {
            assert_eq!(digest_of(&tool(schema)), None, "{schema}");
        }
    }

    #[test]
    fn a_lock_that_cannot_be_read_is_not_an_empty_one() {
        let mut lock = Lock::default();
        lock.accept("s", &[json!({"name": "a", "description": "A"})])
            .unwrap();
        for text in [
            String::new(),
            "{}".to_owned(),
            r#"{"format": "callgate-lock/2", "servers": {}}"#.to_owned(),
            lock.to_json().replace("\"A\"", "\"B\""),
            lock.to_json().replace("servers", "Servers"),
        ] {
            assert!(Lock::from_json(&text).is_err(), "{text}");
        }
    }
}
