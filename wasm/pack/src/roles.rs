//! The registry of roles as a JavaScript module, so that TypeScript uses the core's table instead of its own.

use std::error::Error;
use std::fmt::Write as _;

use callgate_engine::role::{Registry, RoleDefinition, RoleSet};
use serde_json::{Map, Value, json};

/// `export const ROLES = {…}`, and the names of the roles that the sandbox resolves.
pub(crate) fn javascript() -> Result<String, Box<dyn Error>> {
    let mut text = String::from("/* @ts-self-types=\"./roles.d.ts\" */\nexport const ROLES = {\n");
    for (name, fields) in table() {
        writeln!(
            text,
            "  {}: Object.freeze({}),",
            json!(name),
            Value::Object(fields)
        )?;
    }
    text.push_str("};\nObject.freeze(ROLES);\n");
    writeln!(
        text,
        "export const SANDBOX_SAFE = Object.freeze({});",
        sandbox_safe()
    )?;
    Ok(text)
}

/// The types of those constants: every field of every role is a literal.
pub(crate) fn declarations() -> Result<String, Box<dyn Error>> {
    let mut text = String::from("export declare const ROLES: {\n");
    for (name, fields) in table() {
        writeln!(text, "  readonly {}: {{", json!(name))?;
        for (field, value) in fields {
            let readonly = if value.is_array() { "readonly " } else { "" };
            writeln!(text, "    readonly {field}: {readonly}{value};")?;
        }
        text.push_str("  };\n");
    }
    text.push_str("};\n");
    writeln!(
        text,
        "export declare const SANDBOX_SAFE: readonly {};",
        sandbox_safe()
    )?;
    Ok(text)
}

fn sandbox_safe() -> Value {
    let registry = Registry::default();
    let safe = registry
        .iter()
        .filter(|(role, _)| RoleSet::SANDBOX_SAFE.contains(*role));
    safe.map(|(_, role)| json!(role.name)).collect()
}

/// A role's name and its fields.
type Role = (String, Map<String, Value>);

fn table() -> Vec<Role> {
    let registry = Registry::default();
    registry
        .iter()
        .map(|(_, role)| (role.name.to_string(), fields(role)))
        .collect()
}

fn fields(role: &RoleDefinition) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("description".to_owned(), json!(role.description));
    fields.insert(
        "isResourceIdentifier".to_owned(),
        json!(role.is_resource_identifier()),
    );
    fields.insert("category".to_owned(), json!(role.category));
    fields.insert("canonicalize".to_owned(), json!(role.canonicalize));
    fields.insert("annotationGuidance".to_owned(), json!(role.annotation_guidance));
    fields.insert("serverNames".to_owned(), json!(role.server_names));
    fields
}
