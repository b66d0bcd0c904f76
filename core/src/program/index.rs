//! The index over rules: by server and tool, by role, and by what a rule's first condition compares.

use std::collections::BTreeMap;

use super::{DirectoryId, Program, Rule, RuleId, Tool};
use crate::model::Effect;
use crate::net::Key;
use crate::role::{RoleId, RoleSet};
use crate::sort;

/// Rules whose domain or list condition has at most this many keys are found by them; others are walked.
const MOST_KEYS: usize = 64;

/// What must be seen in a call before the rules behind it can hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gate {
    /// A URL value of the judged role has this key.
    Domain(Key<'static>),
    /// A value of the judged role is this entry.
    Entry(Box<str>),
}

/// The rules of one bucket that are relevant to one role, or to every role.
#[derive(Default)]
pub(crate) struct Lane {
    /// Rules that must be looked at each time.
    pub(crate) open: Vec<RuleId>,
    /// Rules with a directory, by it.
    pub(crate) by_directory: BTreeMap<DirectoryId, Vec<RuleId>>,
    /// Rules with few domains or entries, by each of them.
    pub(crate) by_gate: BTreeMap<Gate, Vec<RuleId>>,
}

/// The rules for one server or any, and one tool or any.
#[derive(Default)]
pub(crate) struct Bucket {
    /// Every rule of the bucket, in order.
    pub(crate) all: Vec<RuleId>,
    /// Rules that are relevant to every role.
    pub(crate) any_role: Lane,
    /// Rules that are relevant to some roles, by role.
    pub(crate) by_role: BTreeMap<RoleId, Lane>,
    /// Restricting rules with conditions on values, by the roles of those conditions.
    pub(crate) restricting: Vec<Restricting>,
}

/// Restricting rules whose conditions are about the same roles.
pub(crate) struct Restricting {
    /// The roles that the rules are relevant to.
    pub(crate) relevant: RoleSet,
    /// Every role that a condition names.
    pub(crate) named: RoleSet,
    /// The roles of each condition on values: without a value of one of them it does not hold.
    pub(crate) needed: Vec<RoleSet>,
    pub(crate) rules: Vec<RuleId>,
}

/// A server and a tool, each or any.
type Scope = (Option<Box<str>>, Option<Box<str>>);

/// All buckets.
#[derive(Default)]
pub(crate) struct Index {
    pub(crate) buckets: Vec<Bucket>,
    by_scope: BTreeMap<Scope, usize>,
}

impl Index {
    /// Files a rule under each server and tool that it names.
    pub(crate) fn file(
        &mut self,
        id: RuleId,
        rule: &Rule,
        servers: Option<&[Box<str>]>,
        tools: Option<&[Box<str>]>,
        roles: &[RoleId],
    ) {
        for server in scope(servers) {
            for tool in scope(tools) {
                let fresh = self.buckets.len();
                let at = *self.by_scope.entry((server.clone(), tool)).or_insert(fresh);
                if at == fresh {
                    self.buckets.push(Bucket::default());
                }
                if let Some(bucket) = self.buckets.get_mut(at) {
                    bucket.file(id, rule, roles);
                }
            }
        }
    }

    /// The roles for which rules are filed by their values.
    pub(crate) fn gated_roles(&self) -> RoleSet {
        let lanes = self.buckets.iter().flat_map(|bucket| &bucket.by_role);
        lanes
            .filter(|(_, lane)| !lane.by_gate.is_empty())
            .map(|(role, _)| *role)
            .collect()
    }

    /// The buckets whose rules can match that tool.
    pub(crate) fn buckets_for(&self, server: &str, tool: &str) -> Vec<usize> {
        [
            (None, None),
            (Some(server), None),
            (None, Some(tool)),
            (Some(server), Some(tool)),
        ]
        .into_iter()
        .filter_map(|(server, tool)| {
            self.by_scope
                .get(&(server.map(Into::into), tool.map(Into::into)))
                .copied()
        })
        .collect()
    }
}

/// Each name once, or any.
fn scope(names: Option<&[Box<str>]>) -> Vec<Option<Box<str>>> {
    match names {
        None => vec![None],
        Some(names) => {
            let mut names: Vec<_> = names.iter().cloned().map(Some).collect();
            sort::sort(&mut names);
            names.dedup();
            names
        }
    }
}

impl Bucket {
    fn file(&mut self, id: RuleId, rule: &Rule, roles: &[RoleId]) {
        self.all.push(id);
        if rule.relevant == RoleSet::ALL {
            self.any_role.file(id, rule, None);
        } else {
            for role in roles.iter().copied().filter(|role| rule.relevant.contains(*role)) {
                self.by_role.entry(role).or_default().file(id, rule, Some(role));
            }
        }
        if rule.effect != Effect::Allow && !rule.value_conditions().is_empty() && !rule.named.is_empty() {
            let needed = rule.value_conditions();
            let kin = self.restricting.iter_mut().find(|group| {
                group.relevant == rule.relevant && group.named == rule.named && group.needed == needed
            });
            match kin {
                Some(group) => group.rules.push(id),
                None => self.restricting.push(Restricting {
                    relevant: rule.relevant,
                    named: rule.named,
                    needed,
                    rules: vec![id],
                }),
            }
        }
    }
}

impl Lane {
    fn file(&mut self, id: RuleId, rule: &Rule, role: Option<RoleId>) {
        if let Some(gates) = role.and_then(|role| gates(rule, role)) {
            for gate in gates {
                let rules = self.by_gate.entry(gate).or_default();
                if rules.last() != Some(&id) {
                    rules.push(id);
                }
            }
        } else if let Some((_, directory)) = rule.paths {
            self.by_directory.entry(directory).or_default().push(id);
        } else {
            self.open.push(id);
        }
    }
}

/// The keys of the rule's condition on the role, where they are few.
///
/// INVARIANT: when no value of the role has one of the keys, the rule does not hold.
fn gates(rule: &Rule, role: RoleId) -> Option<Vec<Gate>> {
    if let Some((roles, set)) = &rule.domains
        && roles.contains(role)
    {
        let keys: Vec<Gate> = set
            .keys()
            .take(MOST_KEYS + 1)
            .map(|key| Gate::Domain(key.into_owned()))
            .collect();
        return (keys.len() <= MOST_KEYS).then_some(keys);
    }
    let condition = rule
        .lists
        .iter()
        .find(|condition| condition.roles.contains(role))?;
    match &condition.matcher {
        super::ListMatcher::Identifiers(sets) => {
            let few = sets.iter().map(|(_, entries)| entries.len()).sum::<usize>() <= MOST_KEYS;
            few.then(|| {
                sets.iter()
                    .flat_map(|(_, entries)| entries.iter())
                    .map(|one| Gate::Entry(one.into()))
                    .collect()
            })
        }
        super::ListMatcher::Domains(_) | super::ListMatcher::Emails(_) => None,
    }
}

/// A chain of at most this many rules is kept with the tool itself.
const SHORT_CHAIN: usize = 64;

impl Index {
    /// The rules that can say anything about the role of a tool with these buckets, where they are few.
    pub(crate) fn short_chain(&self, buckets: &[usize], role: RoleId) -> Option<Box<[RuleId]>> {
        let mut rules = Vec::new();
        for bucket in buckets.iter().filter_map(|at| self.buckets.get(*at)) {
            let lanes = std::iter::once(&bucket.any_role).chain(bucket.by_role.get(&role));
            for lane in lanes {
                rules.extend(lane.open.iter().take(SHORT_CHAIN + 1));
                rules.extend(lane.by_directory.values().flatten().take(SHORT_CHAIN + 1));
                rules.extend(lane.by_gate.values().flatten().take(SHORT_CHAIN + 1));
            }
            rules.extend(
                bucket
                    .restricting
                    .iter()
                    .flat_map(|group| &group.rules)
                    .take(SHORT_CHAIN + 1),
            );
        }
        sort::sort(&mut rules);
        rules.dedup();
        (rules.len() <= SHORT_CHAIN).then(|| rules.into())
    }
}

impl Program {
    /// The buckets whose rules can match the tool.
    pub(crate) fn buckets<'p>(&'p self, tool: &'p Tool) -> impl Iterator<Item = &'p Bucket> {
        tool.buckets.iter().filter_map(|at| self.index.buckets.get(*at))
    }

    /// The lanes of a tool's buckets for one role, and for every role.
    pub(crate) fn lanes<'p>(&'p self, buckets: &'p [usize], role: RoleId) -> impl Iterator<Item = &'p Lane> {
        buckets
            .iter()
            .filter_map(|at| self.index.buckets.get(*at))
            .flat_map(move |bucket| std::iter::once(&bucket.any_role).chain(bucket.by_role.get(&role)))
    }
}
