//! JSON Schemas of the documents, for editors and for whoever checks documents elsewhere.
//!
//! A schema says what the reader of its document says about the shape: types, keys and words. It takes the keys from the
//! readers' own tables. What a schema cannot say stays with the reader: that a path is absolute, that a role exists, that a
//! list is there.

mod annotations;
mod config;
mod policy;
mod scenario;
mod shape;
mod world;

use serde_json::{Value, json};

use callgate_engine::bundle::{OTHERS, PARTS};
use callgate_engine::config::DocumentKind;
use callgate_engine::named::named;
use shape::{about, definitions, document, either, text, texts};

named! {
    /// A document that has a schema.
    pub enum Schema {
        /// A bundle: `callgate.json`.
        Bundle = "bundle",
        /// The rules.
        Policy = "policy",
        /// The annotations of every tool.
        Annotations = "annotations",
        /// The lists that `@names` in the policy stand for.
        Lists = "lists",
        /// Programs that the commands of shells may run.
        Programs = "programs",
        /// The options of an engine.
        Options = "options",
        /// A capability ceiling.
        Ceiling = "ceiling",
        /// A world.
        World = "world",
        /// The host-defined roles.
        Roles = "roles",
        /// A tool call: a line of `calls.jsonl`.
        Call = "call",
        /// Calls and what is expected of them: a file, or a line of one.
        Scenarios = "scenarios",
    }
}

impl Schema {
    /// The schema, of the draft 2020-12.
    pub fn to_json(self) -> Value {
        let schema = match self {
            Self::Bundle => bundle(),
            Self::Policy => policy::policy(),
            Self::Annotations => annotations::annotations(),
            Self::Lists => policy::lists(),
            Self::Programs => programs(),
            Self::Options => config::options(),
            Self::Ceiling => config::ceiling(),
            Self::World => world::world(),
            Self::Roles => config::roles(),
            Self::Call => call(),
            Self::Scenarios => scenario::scenarios(),
        };
        let mut whole = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": format!("Callgate: {self}"),
        });
        if let (Some(whole), Value::Object(schema)) = (whole.as_object_mut(), schema) {
            whole.extend(schema);
            match self {
                Self::Bundle => {
                    let (mut all, programs) = (definitions(), programs());
                    let of_programs = programs.get("$defs").and_then(Value::as_object);
                    if let (Some(all), Some(of_programs)) = (all.as_object_mut(), of_programs) {
                        all.extend(of_programs.clone());
                    }
                    whole.insert("$defs".to_owned(), all);
                }
                Self::Policy | Self::Annotations => {
                    whole.insert("$defs".to_owned(), definitions());
                }
                Self::Scenarios => {
                    whole.insert("$defs".to_owned(), scenario::definitions());
                }
                Self::Lists
                | Self::Programs
                | Self::Options
                | Self::Ceiling
                | Self::World
                | Self::Roles
                | Self::Call => {}
            }
        }
        whole
    }
}

fn bundle() -> Value {
    let keys: Vec<&str> = PARTS.iter().map(|(kind, _)| kind.as_str()).collect();
    let keys: Vec<&str> = keys.into_iter().chain(OTHERS).collect();
    let schema = document(&keys, &[], true, |key| {
        let Some(kind) = DocumentKind::parse(key) else {
            let one_or_several = |what| about(either([json!({"type": "string"}), texts(what)]), what);
            return match key {
                "tests" => one_or_several(
                    "The files of scenarios that `callgate test` runs, relative to the bundle's folder.",
                ),
                "leaves" => one_or_several(
                    "Servers, or patterns for them, of whose tools the layers below decide where this bundle does not annotate the tool. It means nothing unless the bundle stands above another (`--above`).",
                ),
                _ => text("What the bundle is for."),
            };
        };
        let file = || text("The path of its file, relative to the bundle's folder.");
        match kind {
            DocumentKind::Policy => either([file(), policy::policy()]),
            DocumentKind::Annotations => either([file(), annotations::annotations()]),
            DocumentKind::Lists => either([file(), policy::lists(), json!({"type": "null"})]),
            DocumentKind::Programs => {
                let mut inner = programs();
                if let Some(members) = inner.as_object_mut() {
                    // The bundle has them.
                    members.retain(|key, _| !["$schema", "$defs", "title"].contains(&key.as_str()));
                }
                either([file(), inner])
            }
            DocumentKind::Ceiling => either([file(), config::ceiling()]),
            DocumentKind::World => either([file(), world::world()]),
            DocumentKind::Options => config::options(),
            DocumentKind::Roles => config::roles(),
            DocumentKind::Sandbox => about(
                json!({"type": ["string", "null"]}),
                "A directory in which file and git servers may use paths without a rule. Protected paths and rules that deny hold there too; the options say for which servers and roles, and when.",
            ),
            DocumentKind::ProtectedPaths => config::protected_paths(),
            DocumentKind::DomainAllowlists => config::domain_allowlists(),
            DocumentKind::TrustedServers => config::trusted_servers(),
            DocumentKind::Invariants => config::invariants(),
            // It follows from where the bundle is.
            DocumentKind::Folder => json!(false),
        }
    });
    about(schema, "Names or holds everything that a gate is built from.")
}

/// The schema that the table of programs keeps to as well.
fn programs() -> Value {
    serde_json::from_str(callgate_programs::SCHEMA).unwrap_or_default()
}

fn call() -> Value {
    json!({
        "type": "object",
        "description": "A call of MCP's `tools/call`, with the server that offers the tool.",
        "properties": {
            "serverName": text("The server that offers the tool."),
            "toolName": text("The tool's name."),
            "arguments": {"description": "The arguments. Whatever is not an object is denied."},
        },
        "required": ["serverName", "toolName"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of keys that a reader knows and the schema does not describe.
    fn missing(schema: &Value, place: &str, found: &mut Vec<String>) {
        match schema {
            Value::Object(members) => {
                for (key, value) in members {
                    let place = format!("{place}/{key}");
                    if *value == json!(false) && key != "additionalProperties" {
                        found.push(place);
                    } else {
                        missing(value, &place, found);
                    }
                }
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(index, item)| missing(item, &format!("{place}/{index}"), found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_key_of_a_reader_is_described() {
        for schema in Schema::ALL {
            let mut found = Vec::new();
            missing(&schema.to_json(), schema.as_str(), &mut found);
            assert_eq!(found, [""; 0]);
        }
    }
}
