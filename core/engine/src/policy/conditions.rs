//! The conditions of a rule.

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, Relative, keys};
use crate::glob::NamePattern;
use crate::limits::Limits;
use crate::model::{Caller, Condition};
use crate::role::{Registry, RoleId};

use super::{Conditions, DomainCondition, ListCondition, PathCondition};

/// The conditions of a rule, but for those on counts.
pub(super) fn read_conditions(
    node: &Node<'_, '_>,
    registry: &Registry,
    limits: &Limits,
) -> Option<Conditions> {
    let object = node.object()?;
    // A misspelled condition would be missing, and the rule wider than it looks.
    let all_known = object.unknown_keys(keys::RULE_CONDITIONS, Severity::Error);
    let roles = object.read_if_present("roles", |node| rule_roles(node, registry));
    let server = object.read_if_present("server", |node| read_names(node, limits));
    let tool = object.read_if_present("tool", |node| read_names(node, limits));
    let paths = object.read_if_present("paths", |node| read_paths(node, registry, limits));
    let domains = object.read_if_present("domains", |node| read_domains(node, registry, limits));
    let lists = object.read_if_present("lists", |node| {
        node.each("an array of conditions", |item| read_list(item, registry, limits))
    });
    let args = object.read_if_present("args", |node| read_arguments(node, limits));
    let context = object.read_if_present("context", |node| read_context(node, limits));
    all_known.then_some(Conditions {
        roles: roles?,
        server: server?,
        tool: tool?,
        paths: paths?,
        domains: domains?,
        lists: lists?,
        args: args?.unwrap_or_default(),
        context: context?.unwrap_or_default(),
        counts: Vec::new(),
    })
}

/// Names of servers or tools, or patterns of them.
pub(super) fn read_names(node: &Node<'_, '_>, limits: &Limits) -> Option<Vec<NamePattern>> {
    node.one_or_each("an array of strings", |item| {
        let name = NamePattern::from(item.string()?);
        let is_short = !name.is_wildcard()
            || item.check_limit(name.as_str().len(), "bytes", "glob_bytes", limits.glob_bytes);
        is_short.then_some(name)
    })
}

/// Roles that a rule may be about. Under `resource-uri` nothing is judged.
fn rule_roles(node: &Node<'_, '_>, registry: &Registry) -> Option<Vec<RoleId>> {
    let roles = node.roles(registry)?;
    if !roles.is_empty() && roles.iter().all(|role| *role == RoleId::RESOURCE_URI) {
        node.refuse(
            Code::InvalidValue,
            "expected `read-path` or `fetch-url`, as which the values of `resource-uri` are judged",
        );
        return None;
    }
    Some(roles)
}

fn read_paths(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Option<PathCondition> {
    let paths = node.object_of(keys::PATHS, Severity::Error)?;
    let roles = paths.require("roles", "an array of roles", |node| rule_roles(node, registry));
    let within = paths.require("within", "a directory", |node| {
        node.path(Relative::Warned, limits)
    });
    Some(PathCondition {
        roles: roles?,
        within: within?,
    })
}

fn read_domains(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Option<DomainCondition> {
    let domains = node.object_of(keys::DOMAINS, Severity::Error)?;
    let roles = domains.require("roles", "an array of roles", |node| rule_roles(node, registry));
    let allowed = domains.require("allowed", "an array of domain patterns", |node| {
        node.patterns(limits)
    });
    Some(DomainCondition {
        roles: roles?,
        allowed: allowed?,
    })
}

fn read_list(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Option<ListCondition> {
    let list = node.object_of(keys::LIST, Severity::Error)?;
    let roles = list.require("roles", "an array of roles", |node| rule_roles(node, registry));
    let allowed = list.require("allowed", "an array of entries", |node| node.patterns(limits));
    let match_type = list.require("matchType", "one of `domains`, `emails`, `identifiers`", |node| {
        node.word()
    });
    Some(ListCondition {
        roles: roles?,
        allowed: allowed?,
        match_type: match_type?,
    })
}

/// Names of who asks. Without any the rule would be wider than it looks.
fn read_context(node: &Node<'_, '_>, limits: &Limits) -> Option<Vec<(Caller, Vec<NamePattern>)>> {
    let object = node.object_of(keys::CALLER, Severity::Error)?;
    let mut context = Vec::new();
    for caller in Caller::ALL {
        let names = object.read_if_present(caller.as_str(), |node| read_names(node, limits))?;
        context.extend(names.map(|names| (*caller, names)));
    }
    if context.is_empty() || context.iter().any(|(_, names)| names.is_empty()) {
        node.refuse(Code::InvalidValue, "expected at least one name");
        return None;
    }
    Some(context)
}

/// Conditions on arguments. A missing one would widen the rule, so there is at least one, and each has a test.
fn read_arguments(node: &Node<'_, '_>, limits: &Limits) -> Option<Vec<Condition>> {
    let conditions = node.each("an array of conditions", |item| item.condition(Severity::Error))?;
    let values = conditions.iter().map(|condition| condition.test.cost()).sum();
    if conditions.is_empty() {
        node.refuse(Code::InvalidValue, "expected at least one condition");
        return None;
    }
    node.check_limit(values, "values", "list_entries", limits.list_entries)
        .then_some(conditions)
}
