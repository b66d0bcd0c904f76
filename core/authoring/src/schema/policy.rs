//! The schemas of a policy and of its lists.

use serde_json::{Value, json};

use super::shape::{about, document, either, list, map, name, object, one_of, roles, text, texts, word};
use callgate_engine::document::{IS, keys};
use callgate_engine::model::{Caller, Effect, MatchType};

pub(super) fn policy() -> Value {
    let schema = document(keys::POLICY, &["rules"], false, |key| match key {
        "generatedAt" => text("When it was generated. It decides nothing."),
        "constitutionHash" | "inputHash" => text("What it was generated from. It decides nothing."),
        "rules" => list(
            rule(),
            "The first rule that holds for a value decides about it; what no rule decides is denied.",
        ),
        "listDefinitions" => list(list_definition(), "The lists that the rules name as `@name`."),
        "counters" => list(
            counter(),
            "What the host counts, for rules that look at it by `counts`.",
        ),
        "skippedServers" => about(json!({}), "Servers without rules. It decides nothing."),
        _ => json!(false),
    });
    about(schema, "An ordered list of rules.")
}

fn rule() -> Value {
    object(
        keys::RULE,
        &["name", "if", "then", "reason"],
        true,
        |key| match key {
            "name" => text("The rule's name, which a verdict gives."),
            "description" => text("What the rule is for. It decides nothing."),
            "principle" => text("Why there is such a rule. It decides nothing."),
            "if" => conditions(keys::RULE_CONDITIONS),
            "then" => word::<Effect>("What becomes of the call: a person is asked where it escalates."),
            "reason" => text("Why, for the person who reads the verdict."),
            _ => json!(false),
        },
    )
}

/// Calls that the host counts.
fn counter() -> Value {
    object(keys::COUNTER, &["name", "if", "seconds"], true, |key| match key {
        "name" => name("The counter's name, at which rules look."),
        "description" => text("What it is for. It decides nothing."),
        "if" => {
            let keys: Vec<&str> = keys::RULE_CONDITIONS
                .iter()
                .copied()
                .filter(|key| *key != "counts")
                .collect();
            conditions(&keys)
        }
        "seconds" => about(integer(1, 2_678_400), "For how long a call counts."),
        "per" => about(
            either([
                word::<Caller>("One of them."),
                list(word::<Caller>("One of them."), "Several."),
            ]),
            "Whose calls count together: those of one subject, agent or session. Without it, everybody's.",
        ),
        _ => json!(false),
    })
}

fn integer(least: u64, most: u64) -> Value {
    json!({"type": "integer", "minimum": least, "maximum": most})
}

fn conditions(keys: &[&str]) -> Value {
    let several = |what: &str| {
        about(
            either([
                json!({"type": "string"}),
                json!({"type": "array", "items": {"type": "string"}}),
            ]),
            what,
        )
    };
    let schema = object(keys, &[], true, |key| match key {
        "roles" => roles("The tool has an argument with one of these roles."),
        "server" => several("The call's server: a name, or a pattern such as `git*`."),
        "tool" => several("The call's tool: a name, or a pattern such as `get_*`."),
        "paths" => object(keys::PATHS, &["roles", "within"], true, |key| match key {
            "roles" => roles("The roles of the paths."),
            "within" => text("The directory that the paths lie in."),
            _ => json!(false),
        }),
        "domains" => object(keys::DOMAINS, &["roles", "allowed"], true, |key| match key {
            "roles" => roles("The roles of the URLs."),
            "allowed" => texts("A domain, `*.domain`, `host/path`, `*`, or the `@name` of a list."),
            _ => json!(false),
        }),
        "lists" => list(
            object(
                keys::LIST,
                &["roles", "allowed", "matchType"],
                true,
                |key| match key {
                    "roles" => roles("The roles of the values."),
                    "allowed" => texts("The entries, or the `@name` of a list."),
                    "matchType" => word::<MatchType>("How values are compared with the entries."),
                    _ => json!(false),
                },
            ),
            "Every one of these must hold.",
        ),
        "args" => {
            let one = condition(2, 2);
            json!({"type": "array", "items": one, "minItems": 1,
                   "description": "Conditions on arguments, whatever their roles."})
        }
        "context" => {
            let mut schema = object(keys::CALLER, &[], true, |key| match key {
                "subject" => several("The person or the service: a name, or a pattern such as `ci-*`."),
                "agent" => several("The program that acts for one: a name, or a pattern."),
                "session" => several("The conversation of that program: a name, or a pattern."),
                _ => json!(false),
            });
            if let Some(members) = schema.as_object_mut() {
                members.insert("minProperties".to_owned(), json!(1));
            }
            about(schema, "Who asks, as the host says.")
        }
        "counts" => {
            let mut one = object(keys::COUNT, &[], true, |key| match key {
                "atLeast" => about(integer(1, 1_000), "In a rule that escalates or denies."),
                "atMost" => about(integer(0, 999), "In a rule that allows."),
                _ => json!(false),
            });
            if let Some(members) = one.as_object_mut() {
                members.insert("minProperties".to_owned(), json!(1));
                members.insert("maxProperties".to_owned(), json!(1));
            }
            let mut schema = map(one, "How many calls the counters of these names have counted.");
            if let Some(members) = schema.as_object_mut() {
                members.insert("minProperties".to_owned(), json!(1));
            }
            schema
        }
        _ => json!(false),
    });
    about(schema, "All of these must hold; one that is missing holds.")
}

/// A condition on an argument with so many keys: `arg`, and a test.
pub(super) fn condition(least: usize, most: usize) -> Value {
    let scalar = || json!({"type": ["string", "number", "boolean", "null"]});
    let mut schema = object(keys::CONDITION, &["arg"], true, |key| match key {
        "arg" => text("The argument's name, or a JSON Pointer into the arguments."),
        "equals" => about(scalar(), "Its value is this one."),
        "in" => list(scalar(), "Its value is one of these."),
        "is" => one_of(
            &IS,
            "`present` is given and not null; `truthy` is as in JavaScript.",
        ),
        _ => json!(false),
    });
    if let Some(members) = schema.as_object_mut() {
        members.insert("minProperties".to_owned(), json!(least));
        members.insert("maxProperties".to_owned(), json!(most));
    }
    schema
}

fn list_definition() -> Value {
    object(keys::LIST_DEFINITION, &["name", "type"], false, |key| match key {
        "name" => name("Rules refer to it as `@name`."),
        "type" => word::<MatchType>("What its entries are."),
        "principle" | "generationPrompt" | "requiresMcp" | "mcpServerHint" => {
            about(json!({}), "How it was generated. It decides nothing.")
        }
        _ => json!(false),
    })
}

pub(super) fn lists() -> Value {
    let resolved = object(
        keys::RESOLVED_LIST,
        &["values", "manualAdditions", "manualRemovals"],
        false,
        |key| match key {
            "values" => texts("The generated entries."),
            "manualAdditions" => texts("The entries that people added."),
            "manualRemovals" => texts("The entries that people removed, which count whatever else says."),
            "resolvedAt" | "inputHash" => text("How it was generated. It decides nothing."),
            _ => json!(false),
        },
    );
    let schema = document(keys::LISTS, &["lists"], false, |key| match key {
        "generatedAt" => text("When they were generated. It decides nothing."),
        "lists" => map(resolved.clone(), "The lists by their names."),
        _ => json!(false),
    });
    about(schema, "What the `@names` of a policy stand for.")
}
