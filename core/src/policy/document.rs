//! The compiled policy document
//! `{generatedAt, constitutionHash, inputHash, rules, listDefinitions?, skippedServers?}`.

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, Object, Relative};
use crate::limits::Limits;
use crate::role::Registry;

use super::{
    Conditions, DomainCondition, Effect, ListCondition, ListDefinition, MatchType, PathCondition, Policy,
    Rule, reachable,
};

/// Reads a compiled policy. Faults go to the document's report; where there are errors, the answer is what
/// could be read.
pub(crate) fn read(document: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Policy {
    let mut policy = Policy::default();
    let Some(object) = document.object() else {
        return policy;
    };
    object.unknown_keys(
        &[
            "generatedAt",
            "constitutionHash",
            "inputHash",
            "rules",
            "listDefinitions",
            "skippedServers",
        ],
        Severity::Warning,
    );
    for key in ["generatedAt", "constitutionHash", "inputHash"] {
        object.string(key);
    }
    if let Some(rules) = object.required("rules", "an array of rules") {
        policy.rules = read_rules(&rules, registry, limits);
    }
    if let Some(definitions) = object.optional("listDefinitions") {
        policy.list_definitions = read_list_definitions(&definitions);
    }
    policy
}

/// Reads an array of rules, at most `rules` of them.
pub(crate) fn read_rules(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Vec<Rule> {
    let Some(items) = node.array() else {
        return Vec::new();
    };
    let count = items.len();
    if count > limits.rules {
        node.error(Code::Limit, || {
            format!(
                "`{count}` rules, expected at most {} (limit `rules`)",
                limits.rules
            )
        });
        return Vec::new();
    }
    let mut rules = Vec::with_capacity(count);
    let mut entries = 0;
    for item in items {
        let Some(rule) = read_rule(&item, registry, limits) else {
            continue;
        };
        reachable::check(&rule, &item, registry);
        let conditions = &rule.conditions;
        entries += conditions
            .domains
            .as_ref()
            .map_or(0, |domains| domains.allowed.len());
        entries += conditions
            .lists
            .iter()
            .flatten()
            .map(|list| list.allowed.len())
            .sum::<usize>();
        rules.push(rule);
    }
    if entries > limits.list_entries {
        node.error(Code::Limit, || {
            format!(
                "`{entries}` entries under `allowed`, expected at most {} (limit `list_entries`)",
                limits.list_entries
            )
        });
    }
    rules
}

/// Reads the definitions of lists. Only the name and the type mean something here.
pub(super) fn read_list_definitions(node: &Node<'_, '_>) -> Vec<ListDefinition> {
    let read = |item: &Node<'_, '_>| {
        let definition = item.object()?;
        definition.unknown_keys(
            &[
                "name",
                "type",
                "principle",
                "generationPrompt",
                "requiresMcp",
                "mcpServerHint",
            ],
            Severity::Warning,
        );
        let name = definition
            .required("name", "the name of a list")
            .and_then(|node| node.name());
        let kind = definition
            .required("type", "the type of the list")
            .and_then(|node| node.one_of(&MatchType::TABLE));
        Some(ListDefinition {
            name: name?.into(),
            kind: kind?,
        })
    };
    node.each(read).unwrap_or_default()
}

fn read_rule(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Option<Rule> {
    let rule = node.object()?;
    rule.unknown_keys(
        &["name", "description", "principle", "if", "then", "reason"],
        Severity::Error,
    );
    let text = |key| rule.string(key).map(Box::<str>::from);
    let (name, description, principle) = (text("name"), text("description"), text("principle"));
    let conditions = rule
        .required("if", "an object of conditions")
        .and_then(|node| read_conditions(&node, registry, limits));
    let effect = rule
        .required("then", "one of `allow`, `escalate`, `deny`")
        .and_then(|node| node.one_of(&Effect::TABLE));
    let reason = text("reason");
    Some(Rule {
        name: name?,
        description: description?,
        principle: principle?,
        reason: reason?,
        effect: effect?,
        conditions: conditions?,
    })
}

fn read_conditions(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Option<Conditions> {
    let object = node.object()?;
    // A condition that is misspelled would not be there, and the rule wider than it looks.
    object.unknown_keys(
        &["roles", "server", "tool", "paths", "domains", "lists"],
        Severity::Error,
    );
    let roles = field(&object, "roles", |node| node.roles(registry));
    let server = field(&object, "server", |node| node.strings());
    let tool = field(&object, "tool", |node| node.strings());
    let paths = field(&object, "paths", |node| read_paths(node, registry, limits));
    let domains = field(&object, "domains", |node| read_domains(node, registry, limits));
    let lists = field(&object, "lists", |node| {
        node.each(|item| read_list(item, registry, limits))
    });
    Some(Conditions {
        roles: roles?,
        server: server?,
        tool: tool?,
        paths: paths?,
        domains: domains?,
        lists: lists?,
    })
}

/// A field that may be missing but not faulty: `None` for a fault, `Some(None)` for a missing field.
fn field<T>(
    object: &Object<'_, '_>,
    key: &str,
    read: impl FnOnce(&Node<'_, '_>) -> Option<T>,
) -> Option<Option<T>> {
    match object.optional(key) {
        None => Some(None),
        Some(node) => read(&node).map(Some),
    }
}

fn read_paths(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Option<PathCondition> {
    let paths = node.object()?;
    paths.unknown_keys(&["roles", "within"], Severity::Error);
    let roles = paths
        .required("roles", "an array of roles")
        .and_then(|node| node.roles(registry));
    let within = paths
        .required("within", "a directory")
        .and_then(|node| node.path(Relative::Warned, limits));
    Some(PathCondition {
        roles: roles?,
        within: within?.into(),
    })
}

fn read_domains(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Option<DomainCondition> {
    let domains = node.object()?;
    domains.unknown_keys(&["roles", "allowed"], Severity::Error);
    let roles = domains
        .required("roles", "an array of roles")
        .and_then(|node| node.roles(registry));
    let allowed = domains
        .required("allowed", "an array of domain patterns")
        .and_then(|node| node.patterns(limits));
    Some(DomainCondition {
        roles: roles?,
        allowed: allowed?,
    })
}

fn read_list(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Option<ListCondition> {
    let list = node.object()?;
    list.unknown_keys(&["roles", "allowed", "matchType"], Severity::Error);
    let roles = list
        .required("roles", "an array of roles")
        .and_then(|node| node.roles(registry));
    let allowed = list
        .required("allowed", "an array of entries")
        .and_then(|node| node.patterns(limits));
    let match_type = list
        .required("matchType", "one of `domains`, `emails`, `identifiers`")
        .and_then(|node| node.one_of(&MatchType::TABLE));
    Some(ListCondition {
        roles: roles?,
        allowed: allowed?,
        match_type: match_type?,
    })
}
