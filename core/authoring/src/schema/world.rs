//! The schema of a world.

use serde_json::{Map, Value, json};

use super::shape::{about, document, either, list, map, name, object, text};
use callgate_engine::document::keys;
use callgate_engine::world::{Condition, declared_areas};

pub(super) fn world() -> Value {
    let schema = document(
        keys::WORLD,
        &["roots", "visibility", "operations"],
        true,
        |key| match key {
            "roots" => map(
                text("A directory."),
                "Directories by their keys in addresses: `root:<key>/…`.",
            ),
            "mounts" => map(
                text("A directory."),
                "Directories of mods by their names: `mod:<name>/…`.",
            ),
            "visibility" => list(
                row(keys::VISIBILITY, |key| match key {
                    "when" => conditions("What must hold for the place to be seen."),
                    _ => json!(false),
                }),
                "What each mode sees.",
            ),
            "operations" => list(
                row(keys::OPERATIONS, |key| match key {
                    "rules" => list(operation_rule(), "The first rule that has the command decides."),
                    _ => json!(false),
                }),
                "What may be done where.",
            ),
            "execTool" => name("The tool that `exec` stands for."),
            "areas" => areas(),
            _ => json!(false),
        },
    );
    about(
        schema,
        "Places that agents name by address, and what may be done there.",
    )
}

fn row(keys: &[&str], own: impl Fn(&str) -> Value) -> Value {
    object(keys, keys, true, |key| match key {
        "mode" => name("The mode."),
        "root" => name("The key of the root."),
        "subdirectory" => either([name("The first name below the root."), json!({"type": "null"})]),
        key => own(key),
    })
}

fn operation_rule() -> Value {
    object(
        keys::OPERATION_RULE,
        keys::OPERATION_RULE,
        true,
        |key| match key {
            "commands" => either([json!({"const": "exec"}), pairs()]),
            "when" => conditions("What must hold."),
            _ => json!(false),
        },
    )
}

fn pairs() -> Value {
    let part = || json!({"type": "string", "minLength": 1});
    list(
        json!({"type": "array", "items": part(), "minItems": 2, "maxItems": 2}),
        "Pairs of a tool and its command.",
    )
}

fn conditions(description: &str) -> Value {
    let names: Vec<&str> = Condition::names().collect();
    let one = either([
        json!({"enum": names}),
        json!({"type": "string", "pattern": "^host:[\\s\\S]"}),
    ]);
    list(one, description)
}

fn areas() -> Value {
    let properties: Map<String, Value> = declared_areas()
        .map(|(name, _)| ((*name).to_owned(), pairs()))
        .collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}
