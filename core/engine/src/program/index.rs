//! The index over rules: by server and tool, by role, and by what a rule's first condition compares.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::Equivalent;
use smallvec::SmallVec;

use super::server::{ToolKey, ToolName};
use super::{DirectoryId, ListCondition, ListMatcher, Program, Rule, RuleId, Tool};
use crate::annotation::Tools;
use crate::config::Compatibility;
use crate::glob::NamePattern;
use crate::model::{ConditionArgument, Effect, PointerTree};
use crate::net::{Key, Scopes};
use crate::role::{RoleId, RoleSet};
use crate::sort;
use crate::table::{Set, Table, TextTable};

/// Rules whose domain or list condition has at most this many keys are found by them; other rules are always checked.
const MOST_KEYS: usize = 64;

/// The rules of one scope that are relevant to one role, or to every role.
#[derive(Default)]
pub struct RoleIndex {
    /// Rules that are always checked.
    pub open: Vec<RuleId>,
    /// Rules that grant what is in a directory, by directory.
    pub granting: BTreeMap<DirectoryId, Vec<RuleId>>,
    /// Rules that restrict what is in a directory, by directory.
    pub restricting: BTreeMap<DirectoryId, Vec<RuleId>>,
    /// Rules with few domains, by each key: they hold only when a value of the role has it.
    pub by_domain: Table<Key<'static>, Vec<RuleId>>,
    /// The texts that these keys are compared with.
    pub domain_scopes: Scopes,
    /// Rules with few entries, by each: they hold only when a value of the role is that entry.
    pub by_entry: TextTable<Vec<RuleId>>,
    /// Granting rules with few entries here and few for other roles, by each pair: they hold only when a value of the role is the
    /// one, and every value of the other roles the other.
    pub by_pair: Table<Pair, Vec<RuleId>>,
    /// The other roles of these pairs.
    pub paired: Vec<RoleSet>,
    /// The first rule that is found by a domain or an entry.
    pub first_keyed: Option<RuleId>,
}

/// An entry for a role, and one for other roles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    others: RoleSet,
    own: Box<str>,
    other: Box<str>,
}

/// The texts that such a pair is looked up by.
#[derive(Hash)]
pub struct PairOf<'t> {
    pub others: RoleSet,
    pub own: &'t str,
    pub other: &'t str,
}

impl Equivalent<Pair> for PairOf<'_> {
    fn equivalent(&self, key: &Pair) -> bool {
        self.others == key.others && *self.own == *key.own && *self.other == *key.other
    }
}

/// The rules for one server, those that match a pattern, or any, and likewise for tools.
#[derive(Default)]
pub struct ScopeIndex {
    /// Every rule of the scope, in order.
    pub all: Vec<RuleId>,
    /// Rules that are relevant to every role.
    pub any_role: RoleIndex,
    /// Rules that are relevant to some roles, by role.
    pub by_role: Table<RoleId, RoleIndex>,
    /// The arguments that conditions of these rules look at.
    conditioned: BTreeSet<ConditionArgument>,
    /// Restricting rules that name roles, by the roles of their conditions on values.
    pub restricting: Vec<Restricting>,
}

/// Restricting rules whose conditions are about the same roles.
pub struct Restricting {
    /// The roles that the rules are relevant to.
    pub relevant: RoleSet,
    /// Every role that a condition names.
    pub named: RoleSet,
    /// The roles of each condition on values: it does not hold without a value under one of them.
    pub needed: Vec<RoleSet>,
    pub rules: Vec<RuleId>,
}

/// A server and a tool, each a name, a pattern, or any.
type Scope = (Option<NamePattern>, Option<NamePattern>);

/// All scopes.
#[derive(Default)]
pub struct Index {
    /// A restricting rule by `if.roles` alone applies where it is relevant to no judged role, as one with
    /// conditions on values does.
    takes_roles_alone: bool,
    /// The servers and the tools that are annotated: no other call is judged by rules.
    servers: Set<Box<str>>,
    tools: Set<Box<str>>,
    pub(crate) scopes: Vec<ScopeIndex>,
    /// The scope of the rules that name neither a server nor a tool.
    everywhere: Option<usize>,
    /// The scopes of those that name one of them, or both. Mostly all but one of these tables are empty.
    by_server: TextTable<usize>,
    by_tool: TextTable<usize>,
    by_both: Table<ToolKey, usize>,
    /// The scopes with a pattern, which no name finds.
    patterns: Table<Scope, usize>,
}

impl Index {
    /// An empty index for calls of these tools.
    pub fn new(compatibility: Compatibility, tools: Tools<'_>) -> Self {
        Self {
            takes_roles_alone: compatibility == Compatibility::Careful,
            servers: tools.iter().map(|(server, ..)| server.into()).collect(),
            tools: tools.iter().map(|(_, tool, _)| tool.into()).collect(),
            ..Self::default()
        }
    }

    /// Adds a rule under each server and tool that it names, if they are annotated.
    pub fn file(
        &mut self,
        id: RuleId,
        rule: &Rule,
        servers: Option<&[NamePattern]>,
        tools: Option<&[NamePattern]>,
        roles: RoleSet,
    ) {
        let has_values = rule.keyed_condition().is_some() || !rule.arguments.is_empty();
        let crosses_roles = self.takes_roles_alone || has_values;
        self.each_scope(rule, servers, tools, |scope| {
            scope.file(id, rule, roles, crosses_roles)
        });
    }

    /// Adds the places at which a rule looks that is not among those of the policy.
    pub fn look(&mut self, rule: &Rule, servers: Option<&[NamePattern]>, tools: Option<&[NamePattern]>) {
        if !rule.arguments.is_empty() {
            self.each_scope(rule, servers, tools, |_| {});
        }
    }

    fn each_scope(
        &mut self,
        rule: &Rule,
        servers: Option<&[NamePattern]>,
        tools: Option<&[NamePattern]>,
        file: impl Fn(&mut ScopeIndex),
    ) {
        let is_named = |name: &Option<&NamePattern>, known: &Set<Box<str>>| match name {
            Some(NamePattern::Exact(name)) => known.contains(name),
            Some(NamePattern::Wildcard(_)) | None => true,
        };
        let mut servers = scope(servers);
        servers.retain(|server| is_named(server, &self.servers));
        let mut tools = scope(tools);
        tools.retain(|tool| is_named(tool, &self.tools));
        for server in servers.iter().copied() {
            for tool in tools.iter().copied() {
                let at = self.place(server, tool);
                if let Some(scope) = self.scopes.get_mut(at) {
                    let conditions = rule.arguments.iter();
                    let looked_at = conditions.map(|condition| condition.argument.clone());
                    scope.conditioned.extend(looked_at);
                    file(scope);
                }
            }
        }
    }

    /// Returns the place of a scope, and makes the scope first if it is new.
    fn place(&mut self, server: Option<&NamePattern>, tool: Option<&NamePattern>) -> usize {
        let next = self.scopes.len();
        let at = match (server, tool) {
            (None, None) => self.everywhere.get_or_insert(next),
            (Some(NamePattern::Exact(server)), None) => self.by_server.entry(server.clone()).or_insert(next),
            (None, Some(NamePattern::Exact(tool))) => self.by_tool.entry(tool.clone()).or_insert(next),
            (Some(NamePattern::Exact(server)), Some(NamePattern::Exact(tool))) => {
                let (server, tool) = (server.clone(), tool.clone());
                self.by_both.entry(ToolKey { server, tool }).or_insert(next)
            }
            (Some(NamePattern::Wildcard(_)), _) | (_, Some(NamePattern::Wildcard(_))) => {
                let scope = (server.cloned(), tool.cloned());
                self.patterns.entry(scope).or_insert(next)
            }
        };
        let at = *at;
        if at == next {
            self.scopes.push(ScopeIndex::default());
        }
        at
    }

    /// Gives back the room for what was not filed.
    pub fn finish(&mut self) {
        (self.servers, self.tools) = (Set::default(), Set::default());
        self.scopes.shrink_to_fit();
        for scope in &mut self.scopes {
            scope.all.shrink_to_fit();
            scope.by_role.shrink_to_fit();
            let indices = scope.by_role.values_mut();
            indices.chain([&mut scope.any_role]).for_each(RoleIndex::finish);
            scope.restricting.shrink_to_fit();
        }
    }

    /// The scopes whose rules can match that tool. More than one of them may have the same rule.
    pub fn scopes_for(&self, server: &str, tool: &str) -> Vec<usize> {
        let named = [
            self.everywhere,
            self.by_server.get(server).copied(),
            self.by_tool.get(tool).copied(),
            self.by_both.get(&ToolName { server, tool }).copied(),
        ];
        let holds = |pattern: &Option<NamePattern>, name: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(name))
        };
        let matching = self
            .patterns
            .iter()
            .filter(|((servers, tools), _)| holds(servers, server) && holds(tools, tool))
            .map(|(_, at)| *at);
        named.into_iter().flatten().chain(matching).collect()
    }
}

impl Index {
    /// Those of the scopes that have rules with conditions on arguments.
    pub fn with_conditions(&self, scopes: &[usize]) -> Vec<usize> {
        let has_conditions = |at: &usize| {
            let scope = self.scopes.get(*at);
            scope.is_some_and(|scope| !scope.conditioned.is_empty())
        };
        scopes.iter().copied().filter(has_conditions).collect()
    }

    /// The places that conditions of rules in these scopes look at.
    pub fn conditioned_in(&self, scopes: &[usize]) -> PointerTree {
        let scopes = scopes.iter().filter_map(|at| self.scopes.get(*at));
        let arguments = sort::set(scopes.flat_map(|scope| &scope.conditioned));
        PointerTree::of_conditions(arguments.into_iter())
    }
}

impl Rule {
    /// The condition by which the index finds the rule, if there is one.
    pub fn keyed_condition(&self) -> Option<&'static str> {
        if self.domains.is_some() {
            Some("domains")
        } else if !self.lists.is_empty() {
            Some("lists")
        } else {
            self.paths.map(|_| "paths")
        }
    }
}

/// Each name once, or any.
fn scope(names: Option<&[NamePattern]>) -> SmallVec<[Option<&NamePattern>; 1]> {
    match names {
        None => SmallVec::from([None]),
        Some([name]) => SmallVec::from([Some(name)]),
        Some(names) => {
            let mut names: Vec<_> = names.iter().map(Some).collect();
            sort::sort(&mut names);
            names.dedup();
            names.into()
        }
    }
}

impl ScopeIndex {
    /// `crosses_roles`: a restricting rule counts where it is relevant to no judged role too.
    fn file(&mut self, id: RuleId, rule: &Rule, roles: RoleSet, crosses_roles: bool) {
        self.all.push(id);
        if rule.relevant == RoleSet::ALL {
            self.any_role.file(id, rule, None);
        } else {
            for role in roles.intersection(rule.relevant).iter() {
                let index = self.by_role.entry(role).or_default();
                index.file(id, rule, Some((role, roles)));
            }
        }
        if rule.effect != Effect::Allow && crosses_roles && !rule.named.is_empty() {
            let needed = rule.value_conditions();
            let group = self.restricting.iter_mut().find(|group| {
                group.relevant == rule.relevant && group.named == rule.named && group.needed == needed
            });
            match group {
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

impl RoleIndex {
    fn finish(&mut self) {
        self.open.shrink_to_fit();
        self.by_domain.shrink_to_fit();
        self.by_entry.shrink_to_fit();
        self.by_pair.shrink_to_fit();
        let keyed = self.by_domain.values_mut().chain(self.by_entry.values_mut());
        keyed
            .chain(self.by_pair.values_mut())
            .for_each(Vec::shrink_to_fit);
    }

    /// `role` is the one that is judged, and all that are judged; none for rules that are relevant to every role.
    fn file(&mut self, id: RuleId, rule: &Rule, role: Option<(RoleId, RoleSet)>) {
        if role.is_some_and(|(role, judged)| self.file_by_value(id, rule, role, judged)) {
            self.first_keyed.get_or_insert(id);
        } else if let Some((_, directory)) = rule.paths {
            let by_directory = match rule.effect {
                Effect::Allow => &mut self.granting,
                Effect::Escalate | Effect::Deny => &mut self.restricting,
            };
            by_directory.entry(directory).or_default().push(id);
        } else {
            self.open.push(id);
        }
    }

    /// Files the rule by the domains or entries of its condition on the role, unless they are many or it has none.
    ///
    /// INVARIANT: if no value of the role has one of the keys, the rule does not hold.
    fn file_by_value(&mut self, id: RuleId, rule: &Rule, role: RoleId, judged: RoleSet) -> bool {
        if let Some((roles, set)) = &rule.domains
            && roles.contains(role)
        {
            let is_short = set.count() <= MOST_KEYS;
            for key in set.keys().filter(|_| is_short) {
                self.domain_scopes.insert(key.scope);
                add(self.by_domain.entry(key.into_owned()).or_default(), id);
            }
            return is_short;
        }
        let condition = rule.lists.iter().find(|condition| condition.roles.contains(role));
        let Some(entries) = condition.and_then(few_entries) else {
            return false;
        };
        let mut others = rule.lists.iter().filter(|condition| {
            rule.effect == Effect::Allow
                && !condition.roles.contains(role)
                && condition.roles.without(judged).is_empty()
        });
        let other = others.find_map(|condition| {
            let others = few_entries(condition)?;
            (entries.len() * others.len() <= MOST_KEYS).then_some((condition.roles, others))
        });
        let Some((roles, others)) = other else {
            for entry in entries {
                add(self.by_entry.entry(entry.into()).or_default(), id);
            }
            return true;
        };
        for own in entries {
            for other in &others {
                let pair = Pair {
                    others: roles,
                    own: own.into(),
                    other: (*other).into(),
                };
                add(self.by_pair.entry(pair).or_default(), id);
            }
        }
        if !self.paired.contains(&roles) {
            self.paired.push(roles);
        }
        true
    }
}

/// The entries of a condition on identifiers, unless they are many. Where a path of the list leads to is known when a call comes.
fn few_entries(condition: &ListCondition) -> Option<Vec<&str>> {
    let ListMatcher::Identifiers(names) = &condition.matcher else {
        return None;
    };
    let entries: Vec<&str> = names
        .sets
        .iter()
        .flat_map(|(_, entries)| entries.iter())
        .collect();
    (names.paths.is_empty() && entries.len() <= MOST_KEYS).then_some(entries)
}

fn add(rules: &mut Vec<RuleId>, id: RuleId) {
    if rules.last() != Some(&id) {
        rules.push(id);
    }
}

impl Program {
    /// The parts of the index whose rules can match the tool.
    pub fn scopes<'p>(&'p self, tool: &'p Tool) -> impl Iterator<Item = &'p ScopeIndex> {
        tool.scopes.iter().filter_map(|at| self.index.scopes.get(*at))
    }

    /// The rules for a tool that are relevant to one role, and to every role.
    pub fn role_indices<'p>(&'p self, tool: &'p Tool, role: RoleId) -> impl Iterator<Item = &'p RoleIndex> {
        self.scopes(tool)
            .flat_map(move |scope| std::iter::once(&scope.any_role).chain(scope.by_role.get(&role)))
    }
}
