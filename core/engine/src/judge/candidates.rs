//! The rules that can say anything about one role of a call, in the policy's order, as the index finds them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use smallvec::SmallVec;

use super::answers::text_of;
use super::asking::Asking;
use super::changes::changes;
use super::directories::{Around, Grants, Known, Pinned};
use super::inputs::{Inputs, Values};
use super::locations::locations_of;
use super::lookups::Lookups;
use super::operand::{Form, Operand};
use crate::cost::{self, LOOK_UP};
use crate::net::Location;
use crate::program::{DirectoryId, PairOf, Program, RoleIndex, Rule, RuleId, Tool};
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
type Candidate = (RuleId, Relevance);

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
pub(super) struct Candidates<'p> {
    /// The parts of the index that the rules come from; the one with the next rule is on top.
    parts: BinaryHeap<Reverse<Cursor<'p>>>,
    /// How many parts of the index the rules come from: what it took to find them.
    count: usize,
    last: Option<Candidate>,
    /// What is left of the part that the last rule came from.
    after_last: Option<Cursor<'p>>,
    /// Rules that are found by a key of the values, which are asked for when the first such rule is due.
    keyed: SmallVec<[&'p RoleIndex; 2]>,
    first_keyed: Option<RuleId>,
}

impl<'p> Candidates<'p> {
    /// Adds the rules for `role`. Rules about a directory are those about the directories `around` the values.
    fn add_role(
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

    /// Every rule for the tool, for a call without a resource role.
    pub(super) fn of_tool(program: &'p Program, tool: &'p Tool) -> Self {
        let mut candidates = Self::default();
        for scope in program.scopes(tool) {
            candidates.push(&scope.all, Relevance::Direct);
        }
        candidates
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
    fn needs_keys(&mut self) -> bool {
        self.pass();
        let next = self.parts.peek().and_then(|Reverse(cursor)| cursor.rules.first());
        self.first_keyed
            .is_some_and(|first| next.is_none_or(|next| first <= *next))
    }

    /// Says if some of these rules are found by the domains of the values, and if some are by the values' texts.
    fn wanted_keys(&self) -> (bool, bool) {
        (
            self.keyed.iter().any(|index| !index.by_domain.is_empty()),
            self.keyed
                .iter()
                .any(|index| !index.by_entry.is_empty() || !index.by_pair.is_empty()),
        )
    }

    /// The other roles whose values some of these rules are found by together with the judged one's.
    fn paired_roles(&self) -> SmallVec<[RoleSet; 1]> {
        let paired = self.keyed.iter().flat_map(|index| &index.paired);
        paired.copied().collect()
    }

    /// Adds the rules that are found by one of the values' domains or texts, or by one of these and the `first` text that there is
    /// under other roles.
    fn add_keyed<'o>(
        &mut self,
        inputs: &'o Inputs<'p, '_>,
        lookups: &'o Lookups,
        role: RoleId,
        values: &[usize],
    ) {
        self.first_keyed = None;
        let may_be_any = values
            .iter()
            .any(|at| may_be_anything(inputs, lookups, *at, role));
        let text = |at: usize, role| lookups.text(inputs.operands.get(at)?, at, role);
        for index in std::mem::take(&mut self.keyed) {
            if may_be_any {
                let rules = index.by_domain.values().chain(index.by_entry.values());
                rules
                    .chain(index.by_pair.values())
                    .for_each(|rules| self.push(rules, Relevance::Direct));
                continue;
            }
            let mut domains = Values::new();
            if !index.by_domain.is_empty() {
                let locations = values.iter().filter_map(|at| lookups.locations(*at, role));
                for location in locations.flatten() {
                    let _: Option<()> = location.first(index.domain_scopes, |key| {
                        domains.push(index.by_domain.get_index_of(key)?);
                        None
                    });
                }
            }
            sort_and_dedup(&mut domains);
            let domains = domains.iter().filter_map(|at| index.by_domain.get_index(*at));
            domains.for_each(|(_, rules)| self.push(rules, Relevance::Direct));
            let texts = || values.iter().filter_map(|at| text(*at, role));
            let mut pairs = Values::new();
            for others in index.paired.iter().copied() {
                let Some((at, role)) = first_under(inputs, others) else {
                    continue;
                };
                let is_unknown = matches!(
                    inputs.operands.get(at),
                    Some(Operand {
                        form: Form::Unknown,
                        ..
                    })
                );
                match text(at, role).filter(|_| !is_unknown) {
                    Some(other) => {
                        let found = texts().map(|own| PairOf { others, own, other });
                        pairs.extend(found.filter_map(|pair| index.by_pair.get_index_of(&pair)));
                    }
                    None => pairs.extend(0..index.by_pair.len()),
                }
            }
            sort_and_dedup(&mut pairs);
            let pairs = pairs.iter().filter_map(|at| index.by_pair.get_index(*at));
            pairs.for_each(|(_, rules)| self.push(rules, Relevance::Direct));
            if index.by_entry.is_empty() {
                continue;
            }
            let mut entries: Values = texts()
                .filter_map(|text| index.by_entry.get_index_of(text))
                .collect();
            sort_and_dedup(&mut entries);
            let entries = entries.iter().filter_map(|at| index.by_entry.get_index(*at));
            entries.for_each(|(_, rules)| self.push(rules, Relevance::Direct));
        }
    }

    /// The next rule.
    fn next(&mut self) -> Option<Candidate> {
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
fn may_be_anything(inputs: &Inputs, lookups: &Lookups, at: usize, role: RoleId) -> bool {
    let locations = lookups.locations(at, role).unwrap_or_default();
    let form = inputs.operands.get(at).map(|operand| &operand.form);
    matches!(form, Some(Form::Unknown)) || locations.iter().any(Location::is_unknown)
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
        rules.extend(index.by_pair.values().flatten());
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

/// The subject of the rules: the tool's resource roles, less those that the sandbox resolved.
pub(super) fn role_view(inputs: &Inputs, roles: RoleSet, sandboxed: RoleSet) -> RoleView {
    let operands = inputs.operands.iter();
    let judged = roles.without(sandboxed);
    RoleView {
        roles,
        judged,
        heard: match inputs.program.defaults.hears_granted {
            true => roles,
            false => judged,
        },
        valued: operands.fold(RoleSet::default(), |all, operand| {
            all.union(operand.bound.role_set)
        }),
    }
}

/// The rules that can say anything about values of the role.
pub(super) fn candidates_of<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    tool: &'p Tool,
    role: RoleId,
    view: RoleView,
    values: &[usize],
) -> Candidates<'p> {
    let around = directories_around(inputs, asking, role, values);
    let mut candidates = Candidates::default();
    candidates.add_role(inputs.program, tool, role, view, &around);
    asking.take_steps(candidates.count * LOOK_UP);
    candidates
}

/// The next of them, where these values are left. Values are read when the first rule that is found by them may be due.
pub(super) fn next_candidate<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    candidates: &mut Candidates<'p>,
    role: RoleId,
    left: &[usize],
) -> Option<(RuleId, &'p Rule, Relevance)> {
    if candidates.needs_keys() {
        add_keyed(inputs, asking, candidates, role, left);
    }
    take_candidate(inputs, asking, candidates)
}

pub(super) fn take_candidate<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    candidates: &mut Candidates<'p>,
) -> Option<(RuleId, &'p Rule, Relevance)> {
    let (id, relevance) = candidates.next()?;
    asking.take_steps(1);
    Some((id, inputs.program.rule(id)?, relevance))
}

/// Adds the rules that the index finds by these values.
fn add_keyed<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    candidates: &mut Candidates<'p>,
    role: RoleId,
    values: &[usize],
) {
    let (by_domain, by_text) = candidates.wanted_keys();
    for at in values.iter().copied() {
        if asking.has_failed() {
            return;
        }
        if by_domain {
            let cost: usize = locations_of(inputs, asking, at, role)
                .iter()
                .map(Location::cost)
                .sum();
            asking.take_steps(cost * LOOK_UP);
        }
        if by_text {
            text_of(inputs, asking, at, role);
        }
    }
    for roles in candidates.paired_roles() {
        if let Some((at, role)) = first_under(inputs, roles) {
            text_of(inputs, asking, at, role);
        }
    }
    candidates.add_keyed(inputs, &asking.lookups, role, values);
}

/// The first value under any of the roles that the tool has, and one of its roles among them.
fn first_under(inputs: &Inputs, roles: RoleSet) -> Option<(usize, RoleId)> {
    let roles = roles.intersection(inputs.roles);
    let mut operands = inputs.operands.iter().enumerate();
    operands.find_map(|(at, operand)| {
        let mut own = operand.bound.roles.iter().copied();
        Some((at, own.find(|role| roles.contains(*role))?))
    })
}

/// The rule directories that can say anything about the values.
fn directories_around(inputs: &Inputs, asking: &mut Asking, role: RoleId, values: &[usize]) -> Around {
    match asking.directories.known() {
        Known::Nothing => Around::Any,
        Known::Grants(grants) => Around::Grants(grants_around(inputs, asking, grants, values)),
        Known::All(pinned) => pinned_around(inputs, asking, pinned, role, values),
    }
}

/// The directories of grants that hold a value as it is or as it was given, by the way that they are written, or that held it.
fn grants_around(
    inputs: &Inputs,
    asking: &mut Asking,
    grants: &Grants,
    values: &[usize],
) -> Vec<DirectoryId> {
    let mut found = Vec::new();
    let mut bytes = 0;
    for operand in values.iter().filter_map(|at| inputs.operands.get(*at)) {
        let Some(path) = operand.path() else { continue };
        let canonicalizer = &mut asking.canonicalizer;
        bytes += cost::GRANT_BYTES + asking.directories.add_written(grants, path.as_str(), &mut found);
        if operand.given() != path.as_str() {
            let given = canonicalizer.lexical_of(operand);
            bytes += asking.directories.add_written(grants, &given, &mut found);
        }
        asking
            .directories
            .add_linked(canonicalizer, grants, path, &mut found);
    }
    asking.take_steps(bytes / cost::GRANT_BYTES);
    sort::sort(&mut found);
    found.dedup();
    found
}

/// The pinned directories that the values lie within.
fn pinned_around(
    inputs: &Inputs,
    asking: &mut Asking,
    pinned: &Pinned,
    role: RoleId,
    values: &[usize],
) -> Around {
    if !inputs.program.path_roles.contains(role) {
        return Around::Any;
    }
    // Removing a directory, or putting one there, concerns the rules about what is in it as well.
    let changes = changes(inputs, asking);
    let mut changed = values.iter().filter_map(|at| changes.get(*at));
    if changed.any(|change| change.removed.is_some() || change.arrival.is_some()) {
        return Around::Any;
    }
    let operands = values.iter().filter_map(|at| inputs.operands.get(*at));
    if operands.clone().any(|operand| operand.pattern().is_some()) {
        return Around::Any;
    }
    asking
        .directories
        .pinned_around(pinned, operands.flat_map(|operand| operand.paths()))
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
            let mut candidates = Candidates::default();
            for rules in &lists {
                candidates.push(rules, Relevance::Direct);
            }
            let expected: BTreeSet<RuleId> = parts.into_iter().flatten().collect();
            let found: Vec<RuleId> = std::iter::from_fn(|| candidates.next()).map(|(rule, _)| rule).collect();
            proptest::prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
