//! The most harmless values of arguments, so that the verdict about others shows.

use std::sync::Arc;

use super::divided::{Divided, Group, Mode, Picks, products};
use crate::bind::Call;
use crate::judge::Apart;
use crate::role::{Registry, RoleSet};

impl Divided<'_, '_> {
    /// For each group the values about which the verdict is the least strict.
    pub(super) fn least(&mut self, mode: &Mode, groups: &[Group]) -> Picks {
        let mut least: Picks = groups.iter().map(|group| vec![0; group.choices.len()]).collect();
        if groups.len() < 2 {
            return least;
        }
        let roles: Vec<RoleSet> = groups.iter().map(|group| roles_of(mode, group)).collect();
        self.align(mode, groups, &roles, &mut least);
        for (at, (group, own_roles)) in groups.iter().zip(&roles).enumerate() {
            let sizes: Vec<usize> = group.choices.iter().map(|choices| choices.len()).collect();
            let start = least.get(at).cloned().unwrap_or_default();
            let mut best: Option<(usize, Vec<usize>)> = None;
            for picks in std::iter::once(start).chain(products(&sizes, self.analysis.bounds.calls)) {
                let mut whole = least.clone();
                if let Some(own) = whole.get_mut(at) {
                    own.clone_from(&picks);
                }
                let (strictness, _) = self.apart(mode, groups, &whole, *own_roles);
                if best.as_ref().is_none_or(|(known, _)| strictness < *known) {
                    best = Some((strictness, picks));
                }
                if strictness == 0 {
                    break;
                }
            }
            if let (Some((_, picks)), Some(own)) = (best, least.get_mut(at)) {
                *own = picks;
            }
        }
        least
    }

    /// Where several arguments bear one role, each hides what the engine says of the others. So they begin with one value that
    /// is as harmless as possible for all of them.
    fn align(&mut self, mode: &Mode, groups: &[Group], roles: &[RoleSet], least: &mut Picks) {
        let single = |group: &Group| match group.choices.as_slice() {
            [choices] if group.extra.is_none() => Some(Arc::clone(choices)),
            _ => None,
        };
        for (at, own) in roles.iter().enumerate() {
            let shares = |other: &usize| {
                *other != at
                    && roles.get(*other).is_some_and(|roles| roles.intersects(*own))
                    && groups.get(*other).is_some_and(|group| single(group).is_some())
            };
            let others: Vec<usize> = (0..groups.len()).filter(shares).collect();
            let Some(choices) = groups.get(at).and_then(single).filter(|_| !others.is_empty()) else {
                continue;
            };
            let concerned = others.iter().filter_map(|other| roles.get(*other));
            let concerned = concerned.fold(*own, |all, roles| all.union(*roles));
            let mut best: Option<(usize, Picks)> = None;
            for (pick, choice) in choices.iter().enumerate() {
                let mut whole = least.clone();
                if let Some(own) = whole.get_mut(at) {
                    *own = vec![pick];
                }
                for other in &others {
                    let place = groups
                        .get(*other)
                        .and_then(single)
                        .and_then(|choices| choices.iter().position(|one| one.value == choice.value));
                    if let (Some(place), Some(own)) = (place, whole.get_mut(*other)) {
                        *own = vec![place];
                    }
                }
                let (_, sum) = self.apart(mode, groups, &whole, concerned);
                if best.as_ref().is_none_or(|(known, _)| sum < *known) {
                    best = Some((sum, whole));
                }
                if sum == 0 {
                    break;
                }
            }
            if let Some((_, whole)) = best {
                *least = whole;
            }
        }
    }

    /// How strict the engine is about these roles, whatever it says of others: about the worst of them, and about all.
    fn apart(&mut self, mode: &Mode, groups: &[Group], picks: &Picks, roles: RoleSet) -> (usize, usize) {
        let arguments = self.arguments(mode, groups, picks);
        let call = Call::from_value(&self.tool.server, &self.tool.name, &arguments);
        self.calls += 1;
        match self.analysis.imagined.judge_apart(&call) {
            Apart::Structural(strictness) => {
                (strictness.into(), usize::from(strictness) * Registry::CAPACITY)
            }
            Apart::Whole(effect) => (effect as usize, effect as usize),
            Apart::Roles(judged) => {
                let own = judged.iter().filter(|(role, _)| roles.contains(*role));
                let each = own.map(|(_, effect)| *effect as usize);
                each.fold((0, 0), |(most, sum), one| (most.max(one), sum + one))
            }
        }
    }
}

/// Every role of the group's arguments.
fn roles_of(mode: &Mode, group: &Group) -> RoleSet {
    let roles = group.slots.iter().filter_map(|slot| mode.roles.get(*slot));
    roles.flatten().copied().collect()
}
