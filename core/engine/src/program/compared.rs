//! From the texts that a rule compares with to what judging looks up.

use std::collections::BTreeMap;

use super::lists::{Emails, Identifiers};
use super::{Defaults, DirectoryId, ListCondition, ListMatcher};
use crate::annotation;
use crate::model::refs;
use crate::model::{Effect, MatchType, Test};
use crate::net::{DomainSet, PathEnding};
use crate::policy;
use crate::role::{Registry, RoleId, RoleSet, Step};
use crate::table::Set;

/// The roles that arguments of each name may have, in whatever tool; values within an argument count for it.
pub(super) fn roles_of_arguments(tools: &[annotation::Tool]) -> BTreeMap<Box<str>, RoleSet> {
    let mut found: BTreeMap<Box<str>, RoleSet> = BTreeMap::new();
    for argument in tools.iter().flat_map(|tool| &tool.arguments) {
        if let Some(name) = argument.name.first() {
            let roles = found.entry(name.into()).or_default();
            argument.roles.possible().for_each(|role| roles.insert(role));
        }
    }
    found
}

/// The paths that rules name.
pub(super) struct Paths<'r> {
    pub(super) defaults: Defaults,
    pub(super) directories: &'r mut Set<Box<str>>,
    pub(super) absolute: &'r dyn Fn(&str) -> Box<str>,
}

impl Paths<'_> {
    pub(super) fn directory(&mut self, path: &str) -> DirectoryId {
        let (at, _) = self.directories.insert_full((self.absolute)(path));
        at as DirectoryId
    }

    /// The names that a condition of this effect compares with, in the form of each of the roles.
    fn names(
        &mut self,
        entries: &[&str],
        roles: impl Iterator<Item = RoleId>,
        branches: Vec<&str>,
        effect: Effect,
        registry: &Registry,
    ) -> Identifiers {
        let mut steps: Vec<Step> = Vec::new();
        for role in roles {
            let step = registry.get(role).canonicalize;
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        let is_path = |entry: &str| entry.starts_with('/') || entry == "~" || entry.starts_with("~/");
        let is_careful = self.defaults.wants_one_reading;
        let lexical = |entry: &str| match is_careful && is_path(entry) {
            true => (self.absolute)(entry).into(),
            false => entry.to_owned(),
        };
        let mut names = Identifiers::new(entries, &steps, branches, lexical);
        if is_careful && effect != Effect::Allow && steps.contains(&Step::Path) {
            let paths = entries.iter().filter(|entry| is_path(entry));
            names.paths = paths.map(|entry| self.directory(entry)).collect();
        }
        names
    }
}

/// The matcher of a list condition.
pub(super) fn compile_list(
    condition: &policy::ListCondition,
    effect: Effect,
    (registry, lists): (&Registry, &policy::Lists),
    ending: PathEnding,
    places: &mut Paths<'_>,
) -> ListCondition {
    let (allowed, _) = policy::expand(&condition.allowed, lists);
    let matcher = match condition.match_type {
        MatchType::Domains => ListMatcher::Domains(DomainSet::new(allowed.iter().map(|one| &**one), ending)),
        MatchType::Emails => ListMatcher::Emails(Emails::new(allowed.iter().map(|one| &**one))),
        MatchType::Identifiers => {
            let allowed: Vec<&str> = allowed.iter().map(|one| &**one).collect();
            let read = allowed
                .iter()
                .filter(|_| condition.roles.contains(&RoleId::BRANCH_NAME));
            let branches: Vec<&str> = match effect {
                Effect::Allow => read.map(|entry| refs::granted_by(entry)).collect(),
                Effect::Escalate | Effect::Deny => read.flat_map(|entry| refs::named_by(entry)).collect(),
            };
            let roles = condition.roles.iter().copied();
            ListMatcher::Identifiers(places.names(&allowed, roles, branches, effect, registry))
        }
    };
    ListCondition {
        roles: condition.roles.iter().copied().collect(),
        matcher,
    }
}

/// The texts of a test in the form of these roles, as lists compare them. Texts as they are, and branches, are compared by the
/// test itself.
pub(super) fn compile_argument(
    test: &Test,
    roles: RoleSet,
    effect: Effect,
    registry: &Registry,
    places: &mut Paths<'_>,
) -> Box<[ListMatcher]> {
    let texts: Vec<&str> = test.texts().collect();
    let has_form = |role: &RoleId| {
        !matches!(
            registry.get(*role).canonicalize,
            Step::Identity | Step::Redact | Step::Callback
        )
    };
    let mut found = Vec::new();
    if !texts.is_empty() && roles.contains(RoleId::EMAIL_ADDRESS) {
        found.push(ListMatcher::Emails(Emails::new(texts.iter().copied())));
    }
    let mut formed = roles.iter().filter(has_form).peekable();
    if !texts.is_empty() && formed.peek().is_some() {
        let names = places.names(&texts, formed, Vec::new(), effect, registry);
        found.push(ListMatcher::Identifiers(names));
    }
    found.into()
}
