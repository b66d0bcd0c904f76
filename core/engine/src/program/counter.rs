//! What the host counts, for rules that look at it.

use super::{Program, Rule};
use crate::glob::NamePattern;
use crate::model::Caller;

/// Calls that the host counts.
pub struct Counter {
    /// The servers and tools whose calls are counted; `None` for all.
    pub(super) servers: Option<Vec<NamePattern>>,
    pub(super) tools: Option<Vec<NamePattern>>,
    /// The further conditions, as those of a rule that asks. Its name is the counter's.
    pub rule: Rule,
    /// For how long a call counts, and whose calls count together.
    pub seconds: u64,
    pub per: Vec<Caller>,
}

impl Counter {
    /// Returns `true` if it counts calls of the tool.
    pub fn is_about(&self, server: &str, tool: &str) -> bool {
        let names = |names: &Option<Vec<NamePattern>>, name: &str| {
            names
                .as_ref()
                .is_none_or(|names| names.iter().any(|one| one.matches(name)))
        };
        names(&self.servers, server) && names(&self.tools, tool)
    }

    /// Returns `true` if both count calls of the same servers and tools, whose and for as long.
    pub fn is_as(&self, other: &Self) -> bool {
        self.servers == other.servers
            && self.tools == other.tools
            && self.seconds == other.seconds
            && self.per == other.per
    }
}

impl Program {
    /// The counter with this name.
    pub fn counter(&self, name: &str) -> Option<&Counter> {
        self.counters.iter().find(|counter| *counter.rule.name == *name)
    }
}
