//! The parts that schemas are made of.

use serde_json::{Map, Value, json};

use callgate_engine::named::Named;
use callgate_engine::role::Registry;

/// An object with these keys, each described by `of`; a key that it does not describe is `false`, which a test looks for.
/// If it is `strict`, other keys are errors.
pub(super) fn object(keys: &[&str], required: &[&str], strict: bool, of: impl Fn(&str) -> Value) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), of(key))).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if let Some(members) = schema.as_object_mut() {
        if !required.is_empty() {
            members.insert("required".to_owned(), json!(required));
        }
        if strict {
            members.insert("additionalProperties".to_owned(), json!(false));
        }
    }
    schema
}

/// The same for a whole document, which may name its schema.
pub(super) fn document(keys: &[&str], required: &[&str], strict: bool, of: impl Fn(&str) -> Value) -> Value {
    let keys: Vec<&str> = std::iter::once("$schema").chain(keys.iter().copied()).collect();
    object(&keys, required, strict, |key| match key {
        "$schema" if strict => json!({"type": "string"}),
        "$schema" => json!({}),
        key => of(key),
    })
}

pub(super) fn about(mut schema: Value, description: &str) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.insert("description".to_owned(), json!(description));
    }
    schema
}

pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub(super) fn name(description: &str) -> Value {
    json!({"type": "string", "minLength": 1, "description": description})
}

pub(super) fn flag(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

pub(super) fn list(items: Value, description: &str) -> Value {
    json!({"type": "array", "items": items, "description": description})
}

pub(super) fn texts(description: &str) -> Value {
    list(json!({"type": "string"}), description)
}

pub(super) fn names(description: &str) -> Value {
    list(json!({"type": "string", "minLength": 1}), description)
}

/// An object from any key to such values.
pub(super) fn map(values: Value, description: &str) -> Value {
    json!({"type": "object", "additionalProperties": values, "description": description})
}

/// One of the words of a table.
pub(super) fn one_of<T>(table: &[(&str, T)], description: &str) -> Value {
    let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
    json!({"enum": words, "description": description})
}

/// One of the words of a closed set.
pub(super) fn word<T: Named>(description: &str) -> Value {
    one_of(T::NAMES, description)
}

pub(super) fn either(schemas: impl IntoIterator<Item = Value>) -> Value {
    json!({"anyOf": schemas.into_iter().collect::<Vec<_>>()})
}

/// One role, as [`definitions`] has it.
fn role() -> Value {
    json!({"$ref": "#/$defs/role"})
}

/// The definitions that a schema with roles refers to. An editor offers the built-in ones; the host may define more.
pub(super) fn definitions() -> Value {
    let registry = Registry::new(true);
    let names: Vec<&str> = registry.iter().map(|(_, role)| &*role.name).collect();
    let role = either([json!({"enum": names}), json!({"type": "string"})]);
    json!({"role": about(role, "What an argument means.")})
}

/// The word of one role, or several.
pub(super) fn roles(description: &str) -> Value {
    about(
        either([role(), json!({"type": "array", "items": role()})]),
        description,
    )
}

/// The same, but at least one.
pub(super) fn some_roles(description: &str) -> Value {
    let several = json!({"type": "array", "items": role(), "minItems": 1});
    about(either([role(), several]), description)
}
