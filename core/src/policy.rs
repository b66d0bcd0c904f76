//! The compiled policy: an ordered list of rules and the lists they name.

mod ceiling;
mod document;
mod invariant;
mod lists;

use crate::glob::NamePattern;
use crate::model::{Condition, Effect, MatchType};
use crate::role::RoleId;

pub(crate) use ceiling::names_tool;
pub use ceiling::{Ceiling, CeilingError, Exceeds, ToolArgConstraint};
pub(crate) use document::{read, read_list_definitions, read_rules};
#[cfg(feature = "analysis")]
pub(crate) use invariant::Calls;
pub(crate) use invariant::Invariant;
pub(crate) use lists::{Lists, expand};

/// A compiled policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Policy {
    /// The rules, in the order they are tried.
    pub(crate) rules: Vec<Rule>,
    /// The lists that rules may name.
    pub(crate) list_definitions: Vec<ListDefinition>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    /// Its position in the document, from 0, counting rules that could not be read.
    pub(crate) index: usize,
    /// The name in verdicts.
    pub(crate) name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) principle: Box<str>,
    /// The reason in verdicts.
    pub(crate) reason: Box<str>,
    pub(crate) effect: Effect,
    pub(crate) conditions: Conditions,
}

/// The conditions of a rule. All of them must hold; a missing one always holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conditions {
    /// An argument of the tool must have one of these roles.
    pub(crate) roles: Option<Vec<RoleId>>,
    /// The server has one of these names, or matches one of these patterns.
    pub(crate) server: Option<Vec<NamePattern>>,
    /// The same for the tool.
    pub(crate) tool: Option<Vec<NamePattern>>,
    pub(crate) paths: Option<PathCondition>,
    pub(crate) domains: Option<DomainCondition>,
    /// An empty array is not a condition.
    pub(crate) lists: Option<Vec<ListCondition>>,
    /// Conditions on arguments, all of which must hold; empty where there are none.
    pub(crate) args: Vec<Condition>,
}

impl Conditions {
    /// Returns `true` if there is no condition at all, so that the rule matches every call.
    pub(crate) fn is_empty(&self) -> bool {
        self.roles.is_none() && self.server.is_none() && self.tool.is_none() && !self.name_values()
    }

    /// Returns `true` if a condition looks at the values of arguments.
    pub(crate) fn name_values(&self) -> bool {
        self.paths.is_some() || self.domains.is_some() || self.lists.is_some() || !self.args.is_empty()
    }

    /// The roles and the entries of `domains` and of each of `lists`.
    pub(crate) fn allowed(&self) -> impl Iterator<Item = (&[RoleId], &[Box<str>])> {
        let domains = self
            .domains
            .iter()
            .map(|domains| (&domains.roles, &domains.allowed));
        let lists = self
            .lists
            .iter()
            .flatten()
            .map(|list| (&list.roles, &list.allowed));
        domains
            .chain(lists)
            .map(|(roles, allowed)| (&**roles, &**allowed))
    }

    /// Returns `true` if the rule can match a call of this server.
    pub(crate) fn includes_server(&self, server: &str) -> bool {
        includes(self.server.as_deref(), server)
    }

    /// Returns `true` if the rule can match a call of a tool with this name.
    pub(crate) fn includes_tool(&self, tool: &str) -> bool {
        includes(self.tool.as_deref(), tool)
    }
}

fn includes(names: Option<&[NamePattern]>, name: &str) -> bool {
    names.is_none_or(|names| names.iter().any(|one| one.matches(name)))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathCondition {
    /// The roles whose values are looked at.
    pub(crate) roles: Vec<RoleId>,
    /// As written.
    pub(crate) within: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainCondition {
    /// The roles whose values are looked at.
    pub(crate) roles: Vec<RoleId>,
    /// Patterns and `@names` of lists, as written.
    pub(crate) allowed: Vec<Box<str>>,
}

/// A condition on values other than paths and domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListCondition {
    /// The roles whose values are looked at.
    pub(crate) roles: Vec<RoleId>,
    /// Entries and `@names` of lists, as written.
    pub(crate) allowed: Vec<Box<str>>,
    pub(crate) match_type: MatchType,
}

/// A list that rules may name as `@name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListDefinition {
    /// Without its `@`.
    pub(crate) name: Box<str>,
    pub(crate) kind: MatchType,
}
