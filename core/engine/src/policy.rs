//! The compiled policy: an ordered list of rules and the lists they name.

mod ceiling;
mod conditions;
mod counter;
mod document;
mod invariant;
mod lists;

use crate::glob::NamePattern;
use crate::model::{Caller, Condition, Effect, MatchType};
use crate::role::RoleId;

pub use ceiling::names_tool;
pub use ceiling::{Ceiling, CeilingError, Exceeds, ToolArgConstraint};
pub use counter::Counter;
pub use document::{read, read_list_definitions, read_rules};
pub use invariant::Calls;
pub use invariant::Invariant;
pub use lists::{Lists, expand};

/// A compiled policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// The rules, in the order they are tried.
    pub rules: Vec<Rule>,
    /// The lists that rules may name.
    pub list_definitions: Vec<ListDefinition>,
    /// What the host counts.
    pub counters: Vec<Counter>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its position in the document, from 0, counting rules that could not be read.
    pub index: usize,
    /// The name in verdicts.
    pub name: Box<str>,
    pub(crate) description: Box<str>,
    pub(crate) principle: Box<str>,
    /// The reason in verdicts.
    pub reason: Box<str>,
    pub effect: Effect,
    pub conditions: Conditions,
}

/// The conditions of a rule. All of them must hold; a missing one always holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// An argument of the tool must have one of these roles.
    pub roles: Option<Vec<RoleId>>,
    /// The server has one of these names, or matches one of these patterns.
    pub server: Option<Vec<NamePattern>>,
    /// The same for the tool.
    pub tool: Option<Vec<NamePattern>>,
    pub(crate) paths: Option<PathCondition>,
    pub domains: Option<DomainCondition>,
    /// An empty array is not a condition.
    pub lists: Option<Vec<ListCondition>>,
    /// Conditions on arguments, all of which must hold; empty where there are none.
    pub args: Vec<Condition>,
    /// Names of who asks, all of which must hold; empty where there are none.
    pub context: Vec<(Caller, Vec<NamePattern>)>,
    /// Bounds of counts, by their names: the most with which a rule allows, or the least with which one restricts.
    pub counts: Vec<(Box<str>, u64)>,
}

impl Conditions {
    /// Returns `true` if there is no condition at all, so that the rule matches every call.
    pub fn is_empty(&self) -> bool {
        self.roles.is_none()
            && self.server.is_none()
            && self.tool.is_none()
            && self.context.is_empty()
            && self.counts.is_empty()
            && !self.name_values()
    }

    /// Returns `true` if a condition looks at the values of arguments.
    pub fn name_values(&self) -> bool {
        self.paths.is_some() || self.domains.is_some() || self.lists.is_some() || !self.args.is_empty()
    }

    /// The roles and the entries of `domains` and of each of `lists`.
    pub fn allowed(&self) -> impl Iterator<Item = (&[RoleId], &[Box<str>])> {
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
    pub fn includes_server(&self, server: &str) -> bool {
        includes(self.server.as_deref(), server)
    }

    /// Returns `true` if the rule can match a call of a tool with this name.
    pub fn includes_tool(&self, tool: &str) -> bool {
        includes(self.tool.as_deref(), tool)
    }

    /// Returns `true` if the rule can match a call of that tool of that server.
    pub fn includes(&self, server: &str, tool: &str) -> bool {
        self.includes_server(server) && self.includes_tool(tool)
    }
}

fn includes(names: Option<&[NamePattern]>, name: &str) -> bool {
    names.is_none_or(|names| names.iter().any(|one| one.matches(name)))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathCondition {
    /// The roles whose values are looked at.
    pub roles: Vec<RoleId>,
    /// As written.
    pub within: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainCondition {
    /// The roles whose values are looked at.
    pub roles: Vec<RoleId>,
    /// Patterns and `@names` of lists, as written.
    pub allowed: Vec<Box<str>>,
}

/// A condition on values other than paths and domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListCondition {
    /// The roles whose values are looked at.
    pub roles: Vec<RoleId>,
    /// Entries and `@names` of lists, as written.
    pub allowed: Vec<Box<str>>,
    pub match_type: MatchType,
}

/// A list that rules may name as `@name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListDefinition {
    /// Without its `@`.
    pub name: Box<str>,
    pub(crate) kind: MatchType,
}
