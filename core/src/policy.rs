//! The compiled policy: an ordered list of rules, and the lists that they name.

mod ceiling;
mod document;
mod lists;

use crate::model::{Effect, MatchType};
use crate::role::RoleId;

pub use ceiling::{Ceiling, CeilingError, Exceeds, ToolArgConstraint};
pub(crate) use document::{read, read_list_definitions, read_rules};
pub(crate) use lists::{Lists, expand};

/// A compiled policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Policy {
    /// The rules, in the order in which they are tried.
    pub(crate) rules: Vec<Rule>,
    /// The lists that rules may name, as the policy's compiler defined them.
    pub(crate) list_definitions: Vec<ListDefinition>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its place in the document, from 0; rules that could not be read count.
    pub(crate) index: usize,
    /// The name that verdicts give.
    pub(crate) name: Box<str>,
    /// What the rule does, for people.
    pub(crate) description: Box<str>,
    /// Where the rule comes from, for people.
    pub(crate) principle: Box<str>,
    /// The reason that verdicts give.
    pub(crate) reason: Box<str>,
    /// What the rule says about a call that it matches.
    pub(crate) effect: Effect,
    /// When the rule matches.
    pub(crate) conditions: Conditions,
}

/// The conditions of a rule, all of which must hold; one that is not there always does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    /// A role that an argument of the tool must bear.
    pub(crate) roles: Option<Vec<RoleId>>,
    /// The servers.
    pub(crate) server: Option<Vec<Box<str>>>,
    /// The tools.
    pub(crate) tool: Option<Vec<Box<str>>>,
    /// Where paths must lie.
    pub(crate) paths: Option<PathCondition>,
    /// Which domains URLs must name.
    pub(crate) domains: Option<DomainCondition>,
    /// Which lists values must be on; without any list it is no condition.
    pub(crate) lists: Option<Vec<ListCondition>>,
}

impl Conditions {
    /// Whether there is no condition at all, so that the rule matches every call.
    pub(crate) fn is_empty(&self) -> bool {
        self.roles.is_none() && self.server.is_none() && self.tool.is_none() && !self.name_values()
    }

    /// Whether a condition looks at the values of arguments.
    pub(crate) fn name_values(&self) -> bool {
        self.paths.is_some() || self.domains.is_some() || self.lists.is_some()
    }

    /// Whether the rule can match a call of that server.
    pub(crate) fn includes_server(&self, server: &str) -> bool {
        includes(self.server.as_deref(), server)
    }

    /// Whether the rule can match a call of a tool of that name.
    pub(crate) fn includes_tool(&self, tool: &str) -> bool {
        includes(self.tool.as_deref(), tool)
    }
}

fn includes(names: Option<&[Box<str>]>, name: &str) -> bool {
    names.is_none_or(|names| names.iter().any(|one| **one == *name))
}

/// A condition on paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathCondition {
    /// The roles whose values are looked at.
    pub(crate) roles: Vec<RoleId>,
    /// The directory, as written.
    pub(crate) within: Box<str>,
}

/// A condition on domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainCondition {
    /// The roles whose values are looked at.
    pub(crate) roles: Vec<RoleId>,
    /// Patterns and `@names` of lists, as written.
    pub(crate) allowed: Vec<Box<str>>,
}

/// A condition on other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListCondition {
    /// The roles whose values are looked at.
    pub(crate) roles: Vec<RoleId>,
    /// Entries and `@names` of lists, as written.
    pub(crate) allowed: Vec<Box<str>>,
    /// How values and entries are compared.
    pub(crate) match_type: MatchType,
}

/// A list that rules may name as `@name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListDefinition {
    /// The name without its `@`.
    pub(crate) name: Box<str>,
    /// What the list holds.
    pub(crate) kind: MatchType,
}
