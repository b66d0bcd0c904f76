//! Rules that match every call, or none.

use crate::diagnostic::{Code, Severity};
use crate::document::{Json, Node};
use crate::model::Effect;
use crate::policy::Rule;
use crate::role::{Category, Registry, RoleId, RoleSet};

/// Warns about each rule that matches every call, and each that can never match.
///
/// Only the rule itself is examined: a rule without a warning may still never match.
pub fn check(rules: &[Rule], document: &Node<'_, '_>, registry: &Registry) {
    let policy = match document.value() {
        Json::Object(_) => document.object(),
        _ => None,
    };
    let node = policy.as_ref().and_then(|policy| policy.optional("rules"));
    check_rules(rules, node.as_ref().unwrap_or(document), registry);
}

/// As [`check`], for an array of rules without its policy.
pub(super) fn check_rules(rules: &[Rule], node: &Node<'_, '_>, registry: &Registry) {
    let Json::Array(_) = node.value() else { return };
    let mut items = node.array("an array of rules").into_iter().flatten().enumerate();
    // They are in the document's order.
    for rule in rules {
        if let Some((_, item)) = items.find(|(at, _)| *at == rule.index) {
            check_rule(rule, &item, registry);
        }
    }
}

fn check_rule(rule: &Rule, node: &Node<'_, '_>, registry: &Registry) {
    if rule.conditions.is_empty() {
        node.warning(
            Code::EmptyCondition,
            format_args!(
                "the rule `{}` has no condition and matches every call, expected a condition",
                rule.name
            ),
        );
        return;
    }
    if let Some(why) = why_unmatched(rule, registry) {
        node.fault(Severity::Warning, Code::NeverMatches, || {
            let name = &rule.name;
            let message =
                format!("the rule `{name}` can never match: {why}, expected a rule that some call matches");
            let help = "leave a condition out where nothing is to be restricted";
            (message, Some(help.to_owned()))
        });
    }
}

/// Why no call can match the rule; `None` if one may.
fn why_unmatched(rule: &Rule, registry: &Registry) -> Option<String> {
    let conditions = &rule.conditions;
    let empty = [
        ("roles", is_empty(&conditions.roles)),
        ("server", is_empty(&conditions.server)),
        ("tool", is_empty(&conditions.tool)),
    ];
    if let Some((name, _)) = empty.into_iter().find(|(_, is_empty)| *is_empty) {
        return Some(format!("`{name}` is empty"));
    }
    let is_path = |role: &RoleId| registry.get(*role).category == Category::Path;
    if conditions
        .paths
        .as_ref()
        .is_some_and(|paths| !paths.roles.iter().any(is_path))
    {
        return Some("`paths.roles` names no role of a path".to_owned());
    }
    let domains = conditions.domains.iter();
    let mut unmatched = domains
        .filter_map(|domains| unmatched("domains", &domains.roles, &domains.allowed))
        .chain(
            (conditions.lists.iter().flatten())
                .filter_map(|list| unmatched("lists", &list.roles, &list.allowed)),
        );
    unmatched.next().or_else(|| {
        (rule.effect == Effect::Allow && !has_common_role(rule, registry))
            .then(|| "no role is named by all of its conditions".to_owned())
    })
}

fn is_empty<T>(condition: &Option<Vec<T>>) -> bool {
    condition.as_ref().is_some_and(Vec::is_empty)
}

fn unmatched(condition: &str, roles: &[RoleId], allowed: &[Box<str>]) -> Option<String> {
    if roles.is_empty() {
        Some(format!("`{condition}` names no role"))
    } else if allowed.is_empty() {
        Some(format!("`allowed` of `{condition}` is empty"))
    } else {
        None
    }
}

/// Returns `true` if an allow rule applies to some role, or can match a tool without resources (SPEC §8.4). Rules
/// that restrict apply across roles, so their conditions need no role in common.
fn has_common_role(rule: &Rule, registry: &Registry) -> bool {
    let conditions = &rule.conditions;
    let set = |roles: &Vec<RoleId>| roles.iter().copied().collect::<RoleSet>();
    let is_resource = |role: &RoleId| registry.get(*role).is_resource_identifier();
    let named = [
        conditions.roles.as_ref().map(set),
        conditions.paths.as_ref().map(|paths| set(&paths.roles)),
        conditions.domains.as_ref().map(|domains| set(&domains.roles)),
    ];
    let common = named
        .into_iter()
        .flatten()
        .fold(RoleSet::ALL, RoleSet::intersection);
    let listed = conditions.lists.as_ref().map(|lists| {
        let roles = lists.iter().flat_map(|list| &list.roles);
        roles.copied().collect::<RoleSet>()
    });
    // A list of data is a further condition of a rule that names its resources elsewhere.
    let narrowing =
        listed.filter(|listed| common == RoleSet::ALL || listed.iter().any(|role| is_resource(&role)));
    let common = narrowing.map_or(common, |listed| common.intersection(listed));
    // A rule without `paths` also holds for a tool that has no resource role.
    let names_opaque = |roles: &[RoleId]| roles.iter().any(|role| !is_resource(role));
    let holds_without_resources = conditions.paths.is_none()
        && conditions.roles.as_deref().is_none_or(names_opaque)
        && conditions.allowed().all(|(roles, _)| names_opaque(roles));
    holds_without_resources
        || registry
            .iter()
            .any(|(role, _)| is_resource(&role) && common.contains(role))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::document::{Json, Node, Report};
    use crate::limits::Limits;
    use crate::policy::read_rules;
    use crate::role::Registry;

    /// Checks the message about a rule with that effect and those conditions; `expected` is the part that differs.
    fn check(effect: &str, conditions: Value, expected: Option<&str>) {
        let rules = json!([{
            "name": "n", "description": "", "principle": "", "if": conditions, "then": effect, "reason": "",
        }]);
        let report = Report::default();
        let json = Json::from(&rules);
        let node = Node::document(&json, "rules", &report);
        let read = read_rules(&node, &Registry::default(), &Limits::default());
        super::check_rules(&read, &node, &Registry::default());
        let found: Vec<String> = report.finish("rules").iter().map(ToString::to_string).collect();
        let expected: Vec<String> = expected.map(|why| format!("warning[{why}")).into_iter().collect();
        assert_eq!(found.len(), expected.len(), "{effect} {rules} {found:?}");
        for (found, expected) in found.iter().zip(&expected) {
            let found = found.replace(" at rules[0]: the rule `n` can never match", "");
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn rules_that_match_all_or_none_are_pointed_out() {
        let paths = |role: &str| json!({"roles": [role], "within": "/x"});
        let domains = |role: &str| json!({"roles": [role], "allowed": ["x"]});
        let list = |role: &str| json!({"roles": [role], "allowed": ["x"], "matchType": "identifiers"});
        let common = Some("never-matches]: no role is named by all of its conditions");
        for (conditions, allow, deny) in [
            (json!({}), Some("empty-condition]"), Some("empty-condition]")),
            (json!({"server": ["s"]}), None, None),
            (
                json!({"server": []}),
                Some("never-matches]: `server` is"),
                Some("never-matches]: `server` is"),
            ),
            (
                json!({"tool": []}),
                Some("never-matches]: `tool` is"),
                Some("never-matches]: `tool` is"),
            ),
            (
                json!({"roles": []}),
                Some("never-matches]: `roles` is"),
                Some("never-matches]: `roles` is"),
            ),
            (json!({"roles": ["none"]}), None, None),
            (json!({"paths": paths("read-path")}), None, None),
            (
                json!({"paths": paths("fetch-url")}),
                Some("never-matches]: `paths.roles` names no role of a path"),
                Some("never-matches]: `paths.roles` names no role of a path"),
            ),
            (
                json!({"domains": {"roles": [], "allowed": ["x"]}}),
                Some("never-matches]: `domains` names no role"),
                Some("never-matches]: `domains` names no role"),
            ),
            (
                json!({"lists": [list("none"), {"roles": ["none"], "allowed": [], "matchType": "emails"}]}),
                Some("never-matches]: `allowed` of `lists` is empty"),
                Some("never-matches]: `allowed` of `lists` is empty"),
            ),
            // Identifiers have domains too.
            (json!({"domains": domains("proxy-domain")}), None, None),
            (
                json!({"domains": domains("fetch-url"), "paths": paths("read-path")}),
                common,
                None,
            ),
            (
                json!({"roles": ["write-path"], "paths": paths("read-path")}),
                common,
                None,
            ),
            (
                json!({"roles": ["none"], "domains": domains("fetch-url")}),
                common,
                None,
            ),
            // A tool without resources can meet both.
            (
                json!({"roles": ["none"], "lists": [list("email-address")]}),
                None,
                None,
            ),
            // A list of data is a further condition.
            (
                json!({"domains": domains("git-remote-url"), "lists": [list("branch-name")]}),
                None,
                None,
            ),
            // One list names the judged role, the other another role of the call.
            (
                json!({"lists": [list("github-owner"), list("email-address")]}),
                None,
                None,
            ),
            (
                json!({"roles": ["github-repo"], "lists": [list("github-owner")]}),
                common,
                None,
            ),
        ] {
            check("allow", conditions.clone(), allow);
            check("escalate", conditions.clone(), deny);
            check("deny", conditions, deny);
        }
    }
}
