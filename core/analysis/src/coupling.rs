//! Which arguments have to be looked at together.
//!
//! Each resource role of a call is judged by itself, and the strictest verdict stands. So arguments are looked at together only
//! where the verdict about one role depends on values of another.

use std::collections::BTreeMap;

use super::atoms::sandbox_wants_all;
use callgate_engine::model::{Effect, ServerKind};
use callgate_engine::program::{Constrained, Program, Tool};
use callgate_engine::role::{RoleId, RoleSet};

/// The sets, those that share a member joined, and each other member by itself.
pub(super) fn joined(sets: Vec<Vec<usize>>, count: usize) -> Vec<Vec<usize>> {
    let mut groups = Groups((0..count).collect());
    sets.into_iter().for_each(|set| groups.join_all(set));
    finish(&groups, count)
}

/// Sets of arguments that are joined step by step.
struct Groups(Vec<usize>);

impl Groups {
    fn find(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(above) = self.0.get(at).copied().filter(|above| *above != at) {
            at = above;
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        let (least, most) = (one.min(other), one.max(other));
        if let Some(above) = self.0.get_mut(most) {
            *above = least;
        }
    }

    fn join_all(&mut self, members: impl IntoIterator<Item = usize>) {
        let mut members = members.into_iter();
        if let Some(first) = members.next() {
            members.for_each(|other| self.join(first, other));
        }
    }
}

/// The arguments of a call in which they have these roles, in groups that are judged apart.
pub(super) fn groups(program: &Program, tool: &Tool, roles: &[Vec<RoleId>]) -> Vec<Vec<usize>> {
    let mut groups = Groups((0..roles.len()).collect());
    let mut bearers: BTreeMap<RoleId, Vec<usize>> = BTreeMap::new();
    for (at, role) in roles
        .iter()
        .enumerate()
        .flat_map(|(at, roles)| roles.iter().map(move |role| (at, *role)))
    {
        bearers.entry(role).or_default().push(at);
    }
    let all: RoleSet = bearers.keys().copied().collect();
    let resources = all.intersection(program.resource_roles);
    let bearing = |set: RoleSet| {
        let within = bearers.iter().filter(move |(role, _)| set.contains(**role));
        within.flat_map(|(_, at)| at.iter().copied()).collect::<Vec<_>>()
    };
    // Paths are discharged one by one, unless a rule or the sandbox wants all of them.
    let rules: Vec<_> = program.rules_of(tool).collect();
    let listed = rules.iter().fold(RoleSet::default(), |all, (_, rule)| {
        let lists = rule.lists.iter().fold(all, |all, list| all.union(list.roles));
        rule.domains
            .as_ref()
            .map_or(lists, |(roles, _)| lists.union(*roles))
    });
    for (role, at) in &bearers {
        let is_path = program.path_roles.contains(*role);
        let is_apart = is_path && !listed.contains(*role) && !sandbox_wants_all(program, tool);
        if program.valued_roles.contains(*role) && !is_apart {
            groups.join_all(at.iter().copied());
        }
    }
    if resources.is_empty() {
        groups.join_all(bearing(program.valued_roles));
        return finish(&groups, roles.len());
    }
    let settings = program.server(&tool.server);
    let may_resolve = !program.sandbox.is_empty() && settings.is_sandboxed;
    let hears_granted = program.defaults.hears_granted;
    if may_resolve && hears_granted && tool.acts(all) {
        // Where the sandbox grants every path, the call is judged as a whole.
        groups.join_all(bearing(program.valued_roles));
    }
    for (_, rule) in &rules {
        // A rule about the whole call is heard for what the sandbox grants where it grants every role.
        if may_resolve && hears_granted && rule.effect != Effect::Allow && rule.relevant == RoleSet::ALL {
            groups.join_all(bearing(resources));
        }
        let looked_at = rule
            .value_conditions()
            .into_iter()
            .fold(RoleSet::default(), RoleSet::union)
            .intersection(all);
        let direct = resources.intersection(rule.relevant);
        for role in direct.iter() {
            for list in rule.lists.iter().filter(|list| !list.roles.contains(role)) {
                let role: RoleSet = role.into();
                groups.join_all(bearing(role.union(list.roles.intersection(all))));
            }
        }
        if rule.effect != Effect::Allow && !rule.named.is_empty() && direct.is_empty() {
            let named = resources.intersection(rule.named);
            let hearing = match named.is_empty() || may_resolve {
                true => resources,
                false => named,
            };
            groups.join_all(bearing(hearing.union(looked_at)));
        }
    }
    // Where a domain outside the allowlist decides, what rules say of the rest does not count.
    let is_gated =
        !program.defaults.allowlist_asks && settings.allowlist.is_some() && all.intersects(program.url_roles);
    // Git reads remotes and branches in the repository that the paths name.
    let is_git = settings.kind == Some(ServerKind::Git)
        && (all.contains(RoleId::GIT_REMOTE_URL) || listed.contains(RoleId::BRANCH_NAME));
    if is_gated || is_git {
        let branches: RoleSet = RoleId::BRANCH_NAME.into();
        groups.join_all(bearing(resources.union(branches.intersection(all))));
    }
    for (at, argument) in tool.arguments.iter().enumerate() {
        if let Some(base) = &argument.relative_to {
            let mut names = tool.arguments.iter();
            if let Some(base) =
                names.position(|one| one.name.rest().is_empty() && one.name.first() == Some(base))
            {
                groups.join(at, base);
            }
        }
    }
    for (_, constrained) in &tool.ceiling.constraints {
        if let Constrained::PathParams(names) = constrained {
            let is_named = |at: &usize| {
                let argument = tool.arguments.get(*at);
                argument.is_some_and(|argument| names.contains(&argument.name))
            };
            groups.join_all((0..roles.len()).filter(is_named));
        }
    }
    finish(&groups, roles.len())
}

fn finish(groups: &Groups, count: usize) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..count {
        members.entry(groups.find(at)).or_default().push(at);
    }
    members.into_values().collect()
}
