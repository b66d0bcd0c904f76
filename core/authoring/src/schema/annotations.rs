//! The schema of annotations.

use serde_json::{Value, json};

use super::policy::condition;
use super::shape::{
    about, document, either, flag, list, map, name, object, roles, some_roles, text, texts, word,
};
use callgate_engine::document::keys;
use callgate_engine::model::{Reach, Scheme, Separator, SideEffectLevel, ToolKind, Unjudged};
use callgate_engine::named::Named;

pub(super) fn annotations() -> Value {
    about(either([file(), harn()]), "The roles of every tool's arguments.")
}

fn file() -> Value {
    let server = object(keys::SERVER, &["tools"], false, |key| match key {
        "inputHash" => text("What they were generated from. It decides nothing."),
        "unjudged" => word::<Unjudged>("What is said of its tools that say nothing themselves."),
        "tools" => list(tool(), "The server's tools. One that is not here is denied."),
        _ => json!(false),
    });
    document(keys::ANNOTATIONS, &["servers"], false, |key| match key {
        "generatedAt" => text("When they were generated. It decides nothing."),
        "servers" => map(server.clone(), "The servers by their names."),
        _ => json!(false),
    })
}

/// A file of the Harn VM: tools by their names, of which at least one says something.
fn harn() -> Value {
    let tool = object(keys::SEMANTICS, &[], false, semantics);
    let says: Vec<Value> = keys::SEMANTICS
        .iter()
        .map(|key| json!({"required": [key]}))
        .collect();
    json!({
        "type": "object",
        "properties": {"$schema": {"type": "string"}},
        "additionalProperties": tool,
        "not": {"anyOf": [
            {"required": ["servers"]},
            {"required": ["generatedAt"]},
            {"properties": {"$schema": {}}, "additionalProperties": {"not": {"anyOf": says}}},
        ]},
    })
}

fn tool() -> Value {
    let keys: Vec<&str> = keys::TOOL.iter().chain(keys::SEMANTICS).copied().collect();
    object(&keys, &["toolName", "args"], false, |key| match key {
        "toolName" => name("The tool's name."),
        "serverName" => text("The server under which the tool stands. It may be left out."),
        "comment" => text("What the tool does. It decides nothing."),
        "args" => map(
            argument(),
            "The roles of each argument, by its name or a JSON Pointer.",
        ),
        "inputSchema" => json!({
            "type": "object",
            "description": "The tool's own schema.",
            "properties": {"properties": {"type": "object"}},
        }),
        "unjudged" => word::<Unjudged>(
            "What a call may do whose arguments name no resource, where no rule that names the tool decides.",
        ),
        "sideEffects" => about(json!({}), "It decides nothing."),
        key => semantics(key),
    })
}

/// The roles of one argument.
fn argument() -> Value {
    let spec = object(keys::ROLE_SPEC, &["roles"], true, |key| match key {
        "roles" => either([some_roles("Its roles."), conditional()]),
        "relativeTo" => name("The argument that its relative paths start from."),
        "reach" => word::<Reach>(
            "How far the tool changes what its paths name: the entry alone, or the tree below it.",
        ),
        "scheme" => word::<Scheme>("The scheme of a URL that is given without one, as browsers take it."),
        "separator" => word::<Separator>(
            "What stands between the values in one text; `json`: the text is a JSON array of strings.",
        ),
        "absent" => about(
            json!({"type": "string", "minLength": 1}),
            "The meaning of a call without it: `nothing`, or the value that the server takes.",
        ),
        _ => json!(false),
    });
    either([
        some_roles("Its roles; `none` where it names nothing."),
        conditional(),
        spec,
    ])
}

fn conditional() -> Value {
    let clause = object(keys::CLAUSE, keys::CLAUSE, true, |key| match key {
        "condition" => condition(1, 2),
        "roles" => roles("The roles if the condition holds."),
        _ => json!(false),
    });
    object(
        keys::CONDITIONAL_ROLES,
        keys::CONDITIONAL_ROLES,
        true,
        |key| match key {
            "default" => some_roles("The roles if no condition holds."),
            "when" => list(
                clause.clone(),
                "The first clause whose condition holds gives the roles.",
            ),
            _ => json!(false),
        },
    )
}

fn semantics(key: &str) -> Value {
    match key {
        "kind" => word::<ToolKind>("The kind of the tool; by default `other`."),
        "side_effect_level" => level(),
        "arg_schema" => object(keys::ARG_SCHEMA, &[], false, |key| match key {
            "path_params" => texts("The arguments that hold paths."),
            "arg_aliases" => map(json!({"type": "string"}), "The key that each alias stands for."),
            "required" => texts("The arguments that must be there."),
            _ => json!(false),
        }),
        "capabilities" => map(
            texts("The operations."),
            "The operations that the tool needs, by capability.",
        ),
        "emits_artifacts" => flag("Whether it may answer with a reference to its output."),
        "result_readers" => texts("The tools that read such references."),
        "inline_result" => flag("Whether its output is always complete."),
        _ => json!(false),
    }
}

/// An unknown word is taken for `none`, so an editor offers the words and takes any.
pub(super) fn level() -> Value {
    let words: Vec<&str> = SideEffectLevel::names().collect();
    about(
        either([json!({"enum": words}), json!({"type": "string"})]),
        "How far the effects of a tool reach.",
    )
}
