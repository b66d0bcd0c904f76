//! The compiled policy document
//! `{generatedAt, constitutionHash, inputHash, rules, listDefinitions?, counters?, skippedServers?}`.

use crate::diagnostic::Severity;
use crate::document::{Node, keys};
use crate::limits::Limits;
use crate::role::Registry;

use super::conditions::read_conditions;
use super::counter::{read_counters, read_counts};
use super::{Conditions, ListDefinition, Policy, Rule};

/// Reads a compiled policy. Faults go to the document's report; if there are errors, returns what could be read.
pub fn read(document: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Policy {
    let mut policy = Policy::default();
    let Some(object) = document.object_of(keys::POLICY, Severity::Warning) else {
        return policy;
    };
    for key in ["generatedAt", "constitutionHash", "inputHash"] {
        object.optional_string(key);
    }
    if let Some(counters) = object.optional("counters") {
        policy.counters = read_counters(&counters, registry, limits);
    }
    if let Some(rules) = object.required("rules", "an array of rules") {
        let counters = policy.counters.iter().map(|counter| &*counter.rule.name);
        policy.rules = read_rules_of(&rules, registry, limits, Some(&counters.collect::<Vec<_>>()));
    }
    if let Some(definitions) = object.optional("listDefinitions") {
        policy.list_definitions = read_list_definitions(&definitions);
    }
    policy
}

/// Reads an array of rules, at most `rules` of them.
pub fn read_rules(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Vec<Rule> {
    read_rules_of(node, registry, limits, None)
}

/// The same for rules that look at no other counters than these, if they are known.
fn read_rules_of(
    node: &Node<'_, '_>,
    registry: &Registry,
    limits: &Limits,
    counters: Option<&[&str]>,
) -> Vec<Rule> {
    let Some(items) = node.array("an array of rules") else {
        return Vec::new();
    };
    let count = items.len();
    if !node.check_limit(count, "rules", "rules", limits.rules) {
        return Vec::new();
    }
    let mut rules = Vec::with_capacity(count);
    for (index, item) in items.enumerate() {
        rules.extend(read_rule(index, &item, registry, limits, counters));
    }
    let entries = rules.iter().flat_map(|rule: &Rule| rule.conditions.allowed());
    let entries = entries.map(|(_, allowed)| allowed.len()).sum();
    node.check_limit(
        entries,
        "entries under `allowed`",
        "list_entries",
        limits.list_entries,
    );
    rules
}

/// Reads the definitions of lists. Only the name and the type are used.
pub fn read_list_definitions(node: &Node<'_, '_>) -> Vec<ListDefinition> {
    let read = |item: &Node<'_, '_>| {
        let definition = item.object_of(keys::LIST_DEFINITION, Severity::Warning)?;
        let name = definition.require("name", "the name of a list", |node| node.name());
        let kind = definition.require("type", "the type of the list", |node| node.word());
        Some(ListDefinition {
            name: name?.into(),
            kind: kind?,
        })
    };
    node.each("an array of list definitions", read)
        .unwrap_or_default()
}

fn read_rule(
    index: usize,
    node: &Node<'_, '_>,
    registry: &Registry,
    limits: &Limits,
    counters: Option<&[&str]>,
) -> Option<Rule> {
    let rule = node.object_of(keys::RULE, Severity::Error)?;
    let text = |key| rule.string(key).map(Box::<str>::from);
    let optional = |key| rule.optional_string(key).map(Box::<str>::from);
    let (name, description, principle) = (text("name"), optional("description"), optional("principle"));
    let conditions = rule.require("if", "an object of conditions", |node| {
        read_conditions(node, registry, limits)
    });
    let effect = rule.require("then", "one of `allow`, `escalate`, `deny`", |node| node.word());
    let reason = text("reason");
    let counts = rule.read("if", |node| read_counts(node, effect?, counters));
    Some(Rule {
        index,
        name: name?,
        description: description?,
        principle: principle?,
        reason: reason?,
        effect: effect?,
        conditions: Conditions {
            counts: counts?,
            ..conditions?
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{DomainCondition, ListCondition, PathCondition};
    use super::*;
    use crate::document::{Json, Report};
    use crate::model::{Caller, Condition, ConditionArgument, Effect, MatchType, Test};
    use crate::role::RoleId;

    fn read_policy(value: &Value, limits: &Limits) -> (Policy, Vec<String>) {
        let report = Report::default();
        let value = Json::from(value);
        let node = Node::document(&value, "p", &report);
        let policy = read(&node, &Registry::default(), limits);
        crate::advice::reachability(&policy.rules, &node, &Registry::default());
        let faults = report.finish("p").iter().map(ToString::to_string).collect();
        (policy, faults)
    }

    fn policy(rules: Value) -> Value {
        json!({"generatedAt": "t", "constitutionHash": "c", "inputHash": "h", "rules": rules})
    }

    fn rule(conditions: Value) -> Value {
        json!({
            "name": "n", "description": "d", "principle": "p", "if": conditions, "then": "deny", "reason": "r",
        })
    }

    /// Compares the faults of a policy, each by how it starts.
    fn check(value: Value, expected: &[&str]) {
        let (_, faults) = read_policy(&value, &Limits::default());
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.starts_with(expected), "{fault}");
        }
    }

    /// The same for the conditions of one rule, after what says where they are.
    fn check_conditions(conditions: Value, expected: &[&str]) {
        let (_, faults) = read_policy(&policy(json!([rule(conditions)])), &Limits::default());
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for (fault, expected) in faults.iter().zip(expected) {
            let (severity, rest) = fault.split_once(" at p.rules[0].if").unwrap();
            let fault = format!("{severity} {}", rest.trim_start_matches([':', ' ', '.']));
            assert!(fault.starts_with(expected), "{fault}");
        }
    }

    #[test]
    fn a_policy_is_what_its_document_says() {
        let mut value = policy(json!([rule(json!({
            "roles": ["read-path"], "server": ["filesystem"], "tool": ["t"],
            "paths": {"roles": ["read-path"], "within": "~/x"},
            "domains": {"roles": ["fetch-url"], "allowed": ["*.x", "@l", ""]},
            "lists": [{"roles": ["email-address"], "allowed": ["@e"], "matchType": "emails"}],
            "args": [{"arg": "force", "is": "truthy"}],
            "context": {"agent": ["a", "b*"]},
            "counts": {"pushes": {"atLeast": 3}},
        }))]));
        value["counters"] =
            json!([{"name": "pushes", "if": {"tool": "push"}, "seconds": 60, "per": "agent"}]);
        value["listDefinitions"] =
            json!([{"name": "l", "type": "domains", "principle": "", "requiresMcp": false}]);
        value["skippedServers"] = json!([]);
        let (policy, faults) = read_policy(&value, &Limits::default());
        assert_eq!(faults, [""; 0]);
        let expected = Rule {
            index: 0,
            name: "n".into(),
            description: "d".into(),
            principle: "p".into(),
            reason: "r".into(),
            effect: Effect::Deny,
            conditions: Conditions {
                roles: Some(vec![RoleId::READ_PATH]),
                server: Some(vec!["filesystem".into()]),
                tool: Some(vec!["t".into()]),
                paths: Some(PathCondition {
                    roles: vec![RoleId::READ_PATH],
                    within: "~/x".into(),
                }),
                domains: Some(DomainCondition {
                    roles: vec![RoleId::FETCH_URL],
                    allowed: vec!["*.x".into(), "@l".into(), "".into()],
                }),
                lists: Some(vec![ListCondition {
                    roles: vec![RoleId::EMAIL_ADDRESS],
                    allowed: vec!["@e".into()],
                    match_type: MatchType::Emails,
                }]),
                args: vec![Condition {
                    argument: ConditionArgument::Top("force".into()),
                    test: Test::Truthy,
                }],
                context: vec![(Caller::Agent, vec!["a".into(), "b*".into()])],
                counts: vec![("pushes".into(), 3)],
            },
        };
        assert_eq!(policy.rules, [expected]);
        let [counter] = &*policy.counters else { panic!() };
        assert_eq!(
            (&*counter.rule.name, counter.seconds, &*counter.per),
            ("pushes", 60, &[Caller::Agent][..])
        );
        assert!(
            counter.rule.conditions.includes_tool("push") && !counter.rule.conditions.includes_tool("pull")
        );
        let definition = ListDefinition {
            name: "l".into(),
            kind: MatchType::Domains,
        };
        assert_eq!(policy.list_definitions, [definition]);
    }

    #[test]
    fn the_document_is_read_strictly() {
        check(
            json!({"rules": [null], "rulez": 1, "listDefinitions": [{"name": "l", "type": "domain", "kind": 1}]}),
            &[
                "warning[unknown-key] at p.rulez: ",
                "error[wrong-type] at p.rules[0]: found `null`, expected an object",
                "warning[unknown-key] at p.listDefinitions[0].kind: ",
                "error[unknown-value] at p.listDefinitions[0].type: found `\"domain\"`",
            ],
        );
        check(
            policy(json!({})),
            &["error[wrong-type] at p.rules: found `{}`, expected an array of rules"],
        );
        check(
            policy(json!([{"name": 1, "if": [], "then": "Deny", "When": {}}])),
            &[
                "error[unknown-key] at p.rules[0].When: ",
                "error[wrong-type] at p.rules[0].name: ",
                "error[wrong-type] at p.rules[0].if: found `[]`, expected an object",
                "error[unknown-value] at p.rules[0].then: found `\"Deny\"`, expected one of `allow`, `escalate`, `deny` (help: did you mean `deny`?)",
                "error[missing-field] at p.rules[0]: the field `reason`",
            ],
        );
    }

    #[test]
    fn conditions_are_read_strictly() {
        for (conditions, expected) in [
            (json!({"server": {}}), &["error[wrong-type] server: "][..]),
            (json!({"server": "filesystem", "tool": "get_*"}), &[]),
            (json!({"tool": [1]}), &["error[wrong-type] tool[0]: "]),
            (json!({"servers": ["x"]}), &["error[unknown-key] servers: "]),
            (json!({"roles": "read-path"}), &[]),
            (
                json!({"context": {"subject": "a", "agent": ["b*"], "session": "c"}}),
                &[],
            ),
            (json!({"context": {}}), &["error[invalid-value] context: "]),
            (
                json!({"context": {"agent": []}}),
                &["error[invalid-value] context: "],
            ),
            (json!({"context": "a"}), &["error[wrong-type] context: "]),
            (
                json!({"context": {"agents": "a"}}),
                &[
                    "error[unknown-key] context.agents: ",
                    "error[invalid-value] context: ",
                ],
            ),
            (json!({"roles": ["resource-uri", "read-path"]}), &[]),
            (
                json!({"roles": "resource-uri"}),
                &[
                    "error[invalid-value] roles: found `\"resource-uri\"`, expected `read-path` or `fetch-url`",
                ],
            ),
            (
                json!({"roles": "reader"}),
                &["error[unknown-role] roles: found `\"reader\"`, expected a role"],
            ),
            (
                json!({"roles": {}}),
                &["error[wrong-type] roles: found `{}`, expected an array of roles"],
            ),
            (json!({"roles": ["reader"]}), &["error[unknown-role] roles[0]: "]),
            (
                json!({"paths": null}),
                &["error[wrong-type] paths: found `null`, expected an object"],
            ),
            (
                json!({"paths": {"roles": ["read-path"]}}),
                &["error[missing-field] paths: the field `within`"],
            ),
            (
                json!({"paths": {"within": "/"}}),
                &["error[missing-field] paths: the field `roles`"],
            ),
            (
                json!({"paths": {"roles": ["read-path"], "within": ""}}),
                &["error[invalid-path] paths.within: "],
            ),
            (
                json!({"paths": {"roles": ["read-path"], "within": "~u"}}),
                &["error[invalid-path] paths.within: "],
            ),
            (
                json!({"paths": {"roles": ["read-path"], "within": "x"}}),
                &["warning[invalid-path] paths.within: "],
            ),
            (
                json!({"paths": {"roles": ["read-path"], "within": "/", "Within": "/x"}}),
                &["error[unknown-key] paths.Within: "],
            ),
            (
                json!({"domains": {"roles": ["fetch-url"], "allowed": "x", "allow": 1}}),
                &[
                    "error[unknown-key] domains.allow: ",
                    "error[wrong-type] domains.allowed: ",
                ],
            ),
            (
                json!({"domains": {}}),
                &["error[missing-field] domains: ", "error[missing-field] domains: "],
            ),
            (
                json!({"lists": {}}),
                &["error[wrong-type] lists: found `{}`, expected an array of conditions"],
            ),
            (
                json!({"lists": [{"roles": ["none"], "allowed": [], "matchType": "regex", "type": 1}, {}]}),
                &[
                    "error[unknown-key] lists[0].type: ",
                    "error[unknown-value] lists[0].matchType: ",
                    "error[missing-field] lists[1]: the field `roles`",
                    "error[missing-field] lists[1]: the field `allowed`",
                    "error[missing-field] lists[1]: the field `matchType`",
                ],
            ),
        ] {
            check_conditions(conditions, expected);
        }
    }

    #[test]
    fn limits_hold() {
        let any = |allowed: Value| rule(json!({"domains": {"roles": ["fetch-url"], "allowed": allowed}}));
        let rules = policy(json!([any(json!(["a"])), any(json!(["b", "c"]))]));
        let limits = |rules, list_entries| Limits {
            rules,
            list_entries,
            ..Limits::default()
        };
        for (limits, expected) in [
            (limits(2, 3), &[][..]),
            (
                limits(1, 3),
                &["error[limit] at p.rules: `2` rules, expected at most 1 (limit `rules`)"],
            ),
            (
                limits(2, 2),
                &[
                    "error[limit] at p.rules: `3` entries under `allowed`, expected at most 2 (limit `list_entries`)",
                ],
            ),
        ] {
            assert_eq!(read_policy(&rules, &limits).1, expected);
        }
    }
}
