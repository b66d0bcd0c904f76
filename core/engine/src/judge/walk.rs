//! The rules that can say anything about one role of a call, in the policy's order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use smallvec::SmallVec;

use super::Values;
use super::directories::Around;
use super::operand::{Form, Operand};
use crate::net::Location;
use crate::program::{Program, RoleIndex, RuleId, Tool};
use crate::role::{RoleId, RoleSet};
use crate::sort;

/// Why a rule is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relevance {
    /// It is relevant to the judged role.
    Direct,
    /// The same, and it is filed under its directory.
    InDirectory,
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
    /// Those that go through the rules: under the careful defaults also what the sandbox resolved, for the sake of restrictions.
    pub(super) heard: RoleSet,
    /// Every role that has a value.
    pub(super) valued: RoleSet,
}

impl RoleView {
    /// Returns `true` if a restricting rule with conditions on values counts when `role` is judged: it is relevant to
    /// no role of the tool, and names `role`, or no judged role at all.
    fn crosses(&self, role: RoleId, relevant: RoleSet, named: RoleSet) -> bool {
        !relevant.intersects(self.roles) && (named.contains(role) || !named.intersects(self.judged))
    }
}

/// Rules of the index that are left, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cursor<'p> {
    rules: &'p [RuleId],
    relevance: Relevance,
}

/// Goes through the rules in order, each once, and skips those of which the index knows that they do not hold.
#[derive(Default)]
pub(super) struct Walk<'p> {
    /// The parts of the index that the rules come from; the one with the next rule is on top.
    parts: BinaryHeap<Reverse<Cursor<'p>>>,
    /// How many parts the rules come from.
    count: usize,
    last: Option<Candidate>,
    /// What is left of the part that the last rule came from.
    after_last: Option<Cursor<'p>>,
    /// Rules that are found by a key of the values, which are asked for when the first such rule is due.
    keyed: SmallVec<[&'p RoleIndex; 2]>,
    first_keyed: Option<RuleId>,
}

impl<'p> Walk<'p> {
    /// Adds the rules for `role`. Rules about a directory are those about the directories `around` the values.
    pub(super) fn add_role(
        &mut self,
        program: &'p Program,
        tool: &'p Tool,
        role: RoleId,
        view: RoleView,
        around: &Around,
    ) {
        for scope in program.scopes(tool) {
            self.add_index(&scope.any_role, around);
            if let Some(index) = scope.by_role.get(&role) {
                self.add_index(index, around);
            }
        }
        for scope in program.scopes(tool) {
            for group in &scope.restricting {
                let has_values = group.needed.iter().all(|roles| roles.intersects(view.valued));
                if view.crosses(role, group.relevant, group.named) && has_values {
                    self.push(&group.rules, Relevance::CrossRole);
                }
            }
        }
        self.count += self.parts.len();
    }

    fn add_index(&mut self, index: &'p RoleIndex, around: &Around) {
        self.count += 1;
        if let Some(first) = index.first_keyed {
            self.first_keyed = Some(self.first_keyed.map_or(first, |known| known.min(first)));
            self.keyed.push(index);
        }
        for (rules, known) in [
            (&index.granting, around.granting()),
            (&index.restricting, around.restricting()),
        ] {
            let mut push = |rules: &'p Vec<RuleId>| self.push(rules, Relevance::InDirectory);
            match known {
                Some(known) => known.iter().filter_map(|id| rules.get(id)).for_each(&mut push),
                None => rules.values().for_each(&mut push),
            }
        }
        self.push(&index.open, Relevance::Direct);
    }

    /// Adds every rule for the tool, for a call without a resource role.
    pub(super) fn add_tool(&mut self, program: &'p Program, tool: &'p Tool) {
        for scope in program.scopes(tool) {
            self.push(&scope.all, Relevance::Direct);
        }
    }

    /// How many parts of the index the rules come from: what it took to find them.
    pub(super) fn cost(&self) -> usize {
        self.count
    }

    fn push(&mut self, rules: &'p [RuleId], relevance: Relevance) {
        if !rules.is_empty() {
            self.parts.push(Reverse(Cursor { rules, relevance }));
        }
    }

    /// Goes past the last rule.
    fn pass(&mut self) {
        if let Some(Cursor { rules, relevance }) = self.after_last.take() {
            self.push(rules, relevance);
        }
    }

    /// Returns `true` if the next rule may be one that is found by a key.
    pub(super) fn needs_keys(&mut self) -> bool {
        self.pass();
        let next = self.parts.peek().and_then(|Reverse(cursor)| cursor.rules.first());
        self.first_keyed
            .is_some_and(|first| next.is_none_or(|next| first <= *next))
    }

    /// Says if some of these rules are found by the domains of the values, and if some are by the values' texts.
    pub(super) fn wanted_keys(&self) -> (bool, bool) {
        (
            self.keyed.iter().any(|index| !index.by_domain.is_empty()),
            self.keyed.iter().any(|index| !index.by_entry.is_empty()),
        )
    }

    /// Adds the rules that are found by one of the values' domains or texts.
    pub(super) fn add_keyed<'o, 'c: 'o>(
        &mut self,
        role: RoleId,
        operands: impl Iterator<Item = &'o Operand<'p, 'c>> + Clone,
    ) where
        'p: 'o,
    {
        self.first_keyed = None;
        let may_be_any = operands.clone().any(|operand| may_be_anything(operand, role));
        for at in 0..self.keyed.len() {
            let Some(index) = self.keyed.get(at).copied() else {
                break;
            };
            if may_be_any {
                let rules = index.by_domain.values().chain(index.by_entry.values());
                rules.for_each(|rules| self.push(rules, Relevance::Direct));
                continue;
            }
            let mut domains = Values::new();
            if !index.by_domain.is_empty() {
                let locations = operands.clone().flat_map(|operand| operand.locations(role));
                for location in locations {
                    let _: Option<()> = location.first(index.domain_scopes, |key| {
                        domains.push(index.by_domain.get_index_of(key)?);
                        None
                    });
                }
            }
            sort_and_dedup(&mut domains);
            let domains = domains.iter().filter_map(|at| index.by_domain.get_index(*at));
            domains.for_each(|(_, rules)| self.push(rules, Relevance::Direct));
            if index.by_entry.is_empty() {
                continue;
            }
            let mut entries = Values::new();
            for text in operands.clone().filter_map(|operand| operand.text(role)) {
                if let Some(entry) = index.by_entry.get_index_of(text) {
                    entries.push(entry);
                }
            }
            sort_and_dedup(&mut entries);
            let entries = entries.iter().filter_map(|at| index.by_entry.get_index(*at));
            entries.for_each(|(_, rules)| self.push(rules, Relevance::Direct));
        }
        self.keyed.clear();
    }

    /// The next rule.
    pub(super) fn next(&mut self) -> Option<Candidate> {
        loop {
            self.pass();
            let Reverse(Cursor { rules, relevance }) = self.parts.pop()?;
            let (first, rules) = rules.split_first()?;
            self.after_last = Some(Cursor { rules, relevance });
            let found = (*first, relevance);
            if self.last.replace(found) != Some(found) {
                return Some(found);
            }
        }
    }

    /// Skips the other rules that are filed under the directory of the last rule, which must be filed so: no value lies
    /// within it.
    pub(super) fn skip_directory(&mut self) {
        self.after_last = None;
    }
}

/// Returns `true` if no key tells which rules concern the value.
fn may_be_anything(operand: &Operand<'_, '_>, role: RoleId) -> bool {
    matches!(operand.form, Form::Unknown) || operand.locations(role).iter().any(Location::is_unknown)
}

/// Keeps each of the places once, in order.
fn sort_and_dedup(places: &mut Values) {
    if places.len() > 1 {
        sort::sort_numbers(places);
        places.dedup();
    }
}

/// Every rule that concerns `role`, found by a key or not, in order: what an explanation lists.
pub(super) fn concerning(program: &Program, tool: &Tool, role: RoleId, view: RoleView) -> Vec<RuleId> {
    let mut rules = Vec::new();
    for index in program.role_indices(tool, role) {
        rules.extend(&index.open);
        rules.extend(index.granting.values().flatten());
        rules.extend(index.restricting.values().flatten());
        rules.extend(index.by_domain.values().flatten());
        rules.extend(index.by_entry.values().flatten());
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};

    use super::*;

    proptest::proptest! {
        #[test]
        fn rules_come_in_order_each_once(parts in vec(btree_set(0u32..60, 0..7), 0..20)) {
            let lists: Vec<Vec<RuleId>> = parts.iter().map(|part| part.iter().copied().collect()).collect();
            let mut walk = Walk::default();
            for rules in &lists {
                walk.push(rules, Relevance::Direct);
            }
            let expected: BTreeSet<RuleId> = parts.into_iter().flatten().collect();
            let found: Vec<RuleId> = std::iter::from_fn(|| walk.next()).map(|(rule, _)| rule).collect();
            proptest::prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
