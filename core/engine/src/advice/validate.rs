//! Validation of compiled rules before they are used: loading's diagnostics, and whether their lists exist.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{Json, JsonPath, Node, Report};
use crate::limits::Limits;
use crate::model::MatchType;
use crate::policy::{ListDefinition, Lists, Rule, read_list_definitions, read_rules};
use crate::role::Registry;

use super::lists::{Use, each_list_name};
use super::patterns;
use super::reachable::check_rules;

/// The diagnostics of compiled rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validation {
    /// Rules that an engine would refuse, and wrong references to lists.
    pub errors: Vec<Diagnostic>,
    /// Doubtful rules.
    pub warnings: Vec<Diagnostic>,
}

/// Validates an array of rules against an array of list definitions (SPEC §7).
pub fn validate_compiled_rules(
    rules: &Value,
    list_definitions: &Value,
    registry: &Registry,
    limits: &Limits,
) -> Validation {
    let (rules_report, definitions_report) = (Report::default(), Report::default());
    let (rules, list_definitions) = (Json::from(rules), Json::from(list_definitions));
    let definitions = read_list_definitions(&Node::document(
        &list_definitions,
        "listDefinitions",
        &definitions_report,
    ));
    let node = Node::document(&rules, "rules", &rules_report);
    let read = read_rules(&node, registry, limits);
    check_rules(&read, &node, registry);
    let path = JsonPath::Document("rules");
    patterns::check(
        &read,
        &path,
        (&Lists::default(), registry),
        Severity::Warning,
        &rules_report,
    );
    // If a rule could not be read, indices do not match the document and its lists are not known.
    if !rules_report.has_errors() && !definitions_report.has_errors() {
        check_lists(&read, &definitions, &rules_report, &definitions_report);
    }
    let mut validation = Validation::default();
    let faults = rules_report.finish("rules").into_iter();
    for fault in faults.chain(definitions_report.finish("listDefinitions")) {
        match fault.severity {
            Severity::Error => validation.errors.push(fault),
            Severity::Warning => validation.warnings.push(fault),
        }
    }
    validation
}

fn check_lists(rules: &[Rule], definitions: &[ListDefinition], report: &Report, definitions_report: &Report) {
    let mut used = BTreeSet::new();
    let document = JsonPath::Document("rules");
    each_list_name(rules, &document, |name, condition, path| {
        used.insert(name);
        check_list(name, condition, definitions, path, report);
    });
    let document = JsonPath::Document("listDefinitions");
    for (index, definition) in definitions.iter().enumerate() {
        if !used.contains(&*definition.name) {
            definitions_report.warning(
                Code::UnusedList,
                &JsonPath::Index(&document, index),
                format_args!(
                    "no rule uses the list `@{}`, expected one that does",
                    definition.name
                ),
            );
        }
    }
}

fn check_list(
    name: &str,
    condition: Use,
    definitions: &[ListDefinition],
    path: &JsonPath<'_>,
    report: &Report,
) {
    let Some(definition) = definitions.iter().find(|definition| *definition.name == *name) else {
        report.error(
            Code::MissingList,
            path,
            format_args!("found `@{name}`, which is not defined, expected the name of a defined list"),
        );
        return;
    };
    let expected = match condition {
        Use::Domains if definition.kind == MatchType::Domains => return,
        Use::Domains => "a list of domains under `domains`".to_owned(),
        Use::Lists(_) if definition.kind == MatchType::Domains => {
            "a list of domains to stand under `domains`".to_owned()
        }
        Use::Lists(match_type) if definition.kind == match_type => return,
        Use::Lists(match_type) => format!("a list of {}", match_type.as_str()),
    };
    report.error(Code::ListType, path, || {
        let kind = definition.kind.as_str();
        format!("found `@{name}`, a list of {kind}, expected {expected}")
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(rules: Value, definitions: Value, errors: &[&str], warnings: &[&str]) {
        let validation =
            validate_compiled_rules(&rules, &definitions, &Registry::default(), &Limits::default());
        for (found, expected) in [(validation.errors, errors), (validation.warnings, warnings)] {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.len(), expected.len(), "{found:#?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
        }
    }

    fn rule(conditions: Value) -> Value {
        json!({"name": "n", "description": "", "principle": "", "if": conditions, "then": "allow", "reason": ""})
    }

    #[test]
    fn lists_must_exist_and_fit() {
        let definitions = json!([
            {"name": "sites", "type": "domains"},
            {"name": "people", "type": "emails"},
            {"name": "idle", "type": "identifiers"},
        ]);
        let domains = |entry: &str| json!({"roles": ["fetch-url"], "allowed": ["x", entry]});
        let list =
            |entry: &str, kind: &str| json!([{"roles": ["none"], "allowed": [entry], "matchType": kind}]);
        check(
            json!([
                rule(json!({"domains": domains("@sites")})),
                rule(json!({"lists": list("@people", "emails")})),
            ]),
            definitions.clone(),
            &[],
            &["warning[unused-list] at listDefinitions[2]: no rule uses the list `@idle`"],
        );
        check(
            json!([
                rule(json!({"domains": domains("@people")})),
                rule(json!({"domains": domains("@constructor")})),
                rule(json!({"lists": list("@sites", "domains")})),
                rule(json!({"lists": list("@people", "identifiers")})),
                rule(json!({"lists": list("@idle", "identifiers"), "tool": ["t"]})),
            ]),
            definitions.clone(),
            &[
                "error[list-type] at rules[0].if.domains.allowed[1]: found `@people`, a list of emails, expected a list of domains under `domains`",
                "error[missing-list] at rules[1].if.domains.allowed[1]: found `@constructor`, which is not defined",
                "error[list-type] at rules[2].if.lists[0].allowed[0]: found `@sites`, a list of domains, expected a list of domains to stand under",
                "error[list-type] at rules[3].if.lists[0].allowed[0]: found `@people`, a list of emails, expected a list of identifiers",
            ],
            &[],
        );
        check(
            json!([
                rule(json!({"domains": {"roles": ["fetch-url"], "allowed": []}})),
                rule(json!({}))
            ]),
            json!([]),
            &[],
            &[
                "warning[never-matches] at rules[0]: ",
                "warning[empty-condition] at rules[1]: ",
            ],
        );
        check(
            json!([rule(json!({"domain": {}, "domains": domains("@nowhere")}))]),
            definitions,
            &["error[unknown-key] at rules[0].if.domain: "],
            &[],
        );
        check(
            json!({}),
            json!([{"name": "l"}]),
            &[
                "error[wrong-type] at rules: ",
                "error[missing-field] at listDefinitions[0]: the field `type`",
            ],
            &[],
        );
    }
}
