//! The rules that can say anything about one role of a call, in the policy's order.

use crate::program::{DirectoryId, IndexKey, Program, RoleIndex, RuleId, Tool};
use crate::role::{RoleId, RoleSet};
use crate::sort;

/// Why a rule is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relevance {
    /// It is relevant to the judged role.
    Direct,
    /// It restricts, and is relevant to no judged role.
    CrossRole,
}

/// A rule that is looked at.
pub(super) type Candidate = (RuleId, Relevance);

/// The roles that the rules are about in one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoleView {
    /// The tool's resource roles.
    pub(super) roles: RoleSet,
    /// Those that the sandbox did not resolve.
    pub(super) judged: RoleSet,
    /// Every role that has a value.
    pub(super) valued: RoleSet,
}

impl RoleView {
    /// Whether a restricting rule with conditions on values counts when `role` is judged: it is relevant to no role of
    /// the tool, and names `role`, or no judged role at all.
    fn crosses(&self, role: RoleId, relevant: RoleSet, named: RoleSet) -> bool {
        !relevant.intersects(self.roles) && (named.contains(role) || !named.intersects(self.judged))
    }
}

/// Goes through the rules in order, each once, and skips those of which the index knows that they do not hold.
pub(super) struct Walk<'p> {
    /// In descending order: the next one is the last.
    rest: Vec<Candidate>,
    /// Rules that are found by a key of the values, which are asked for when the first such rule is due.
    keyed: Vec<&'p RoleIndex>,
    first_keyed: Option<RuleId>,
}

impl<'p> Walk<'p> {
    /// The rules for `role`. Rules about a directory are those about `directories`, where these are known.
    pub(super) fn of_role(
        program: &'p Program,
        tool: &'p Tool,
        role: RoleId,
        view: RoleView,
        directories: Option<&[DirectoryId]>,
    ) -> Self {
        let mut rest = Vec::new();
        let mut push = |rules: &[RuleId], relevance| {
            rest.extend(rules.iter().map(|rule| (*rule, relevance)));
        };
        let keyed: Vec<&RoleIndex> = program.role_indices(tool, role).collect();
        for index in &keyed {
            push(&index.open, Relevance::Direct);
            match directories {
                Some(directories) => {
                    let known = directories.iter().filter_map(|id| index.by_directory.get(id));
                    known.for_each(|rules| push(rules, Relevance::Direct));
                }
                None => index
                    .by_directory
                    .values()
                    .for_each(|rules| push(rules, Relevance::Direct)),
            }
        }
        for group in program.scopes(tool).flat_map(|scope| &scope.restricting) {
            let has_values = group.needed.iter().all(|roles| roles.intersects(view.valued));
            if view.crosses(role, group.relevant, group.named) && has_values {
                push(&group.rules, Relevance::CrossRole);
            }
        }
        let first_keyed = keyed.iter().filter_map(|index| index.first_keyed).min();
        Self::new(rest, keyed, first_keyed)
    }

    /// Every rule for the tool, for a call without a resource role.
    pub(super) fn of_tool(program: &'p Program, tool: &'p Tool) -> Self {
        let rules = program.scopes(tool).flat_map(|scope| &scope.all);
        let rest = rules.map(|rule| (*rule, Relevance::Direct)).collect();
        Self::new(rest, Vec::new(), None)
    }

    fn new(mut rest: Vec<Candidate>, keyed: Vec<&'p RoleIndex>, first_keyed: Option<RuleId>) -> Self {
        in_order(&mut rest);
        Self {
            rest,
            keyed,
            first_keyed,
        }
    }

    /// Whether the next rule may be one that is found by a key.
    pub(super) fn needs_keys(&self) -> bool {
        let next = self.rest.last().map(|(rule, _)| *rule);
        self.first_keyed
            .is_some_and(|first| next.is_none_or(|next| first <= next))
    }

    /// Adds the rules that have one of the values' keys.
    pub(super) fn add_keyed(&mut self, keys: &[IndexKey]) {
        self.first_keyed = None;
        for index in std::mem::take(&mut self.keyed) {
            let found = keys.iter().filter_map(|key| index.by_key.get(key)).flatten();
            self.rest.extend(found.map(|rule| (*rule, Relevance::Direct)));
        }
        in_order(&mut self.rest);
    }

    /// The next rule.
    pub(super) fn next(&mut self) -> Option<Candidate> {
        self.rest.pop()
    }
}

fn in_order(rules: &mut Vec<Candidate>) {
    sort::sort_by(rules, |one, other| other.cmp(one));
    rules.dedup();
}

/// Every rule that concerns `role`, found by a key or not, in order: what an explanation lists.
pub(super) fn concerning(program: &Program, tool: &Tool, role: RoleId, view: RoleView) -> Vec<RuleId> {
    let mut rules = Vec::new();
    for index in program.role_indices(tool, role) {
        rules.extend(&index.open);
        rules.extend(index.by_directory.values().flatten());
        rules.extend(index.by_key.values().flatten());
    }
    for group in program.scopes(tool).flat_map(|scope| &scope.restricting) {
        if view.crosses(role, group.relevant, group.named) {
            rules.extend(&group.rules);
        }
    }
    sort::sort(&mut rules);
    rules.dedup();
    rules
}
