//! The most harmless values of arguments, so that the verdict about others shows.

use std::sync::Arc;

use super::choice::Choice;
use super::divided::{Divided, Group, Mode, Picks, products};
use callgate_engine::judge::Apart;
use callgate_engine::role::RoleSet;

/// How strict the engine is about parts of a call; the least is the most harmless.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Harm {
    /// About the worst of them.
    worst: usize,
    /// `true` if a structural check decides, and not rules about roles.
    is_structural: bool,
    /// About all of them.
    sum: usize,
}

impl Harm {
    /// How strict one engine is about these roles.
    fn new(apart: &Apart, roles: RoleSet) -> Self {
        let (is_structural, (worst, sum)) = match apart {
            Apart::Structural { strictness, sum } => (true, (usize::from(*strictness), *sum)),
            Apart::Whole(effect) => (false, (*effect as usize, *effect as usize)),
            Apart::Roles(judged) => {
                let own = judged.iter().filter(|(role, _)| roles.contains(*role));
                let each = own.map(|(_, effect)| *effect as usize);
                (
                    false,
                    each.fold((0, 0), |(most, sum), one| (most.max(one), sum + one)),
                )
            }
        };
        Self {
            worst,
            is_structural,
            sum,
        }
    }
}

impl Divided<'_, '_> {
    /// For each group the values about which the verdict is the least strict.
    pub(super) fn least(&mut self, mode: &Mode, groups: &[Group]) -> Picks {
        let mut least: Picks = groups.iter().map(|group| vec![0; group.choices.len()]).collect();
        if groups.len() < 2 {
            return least;
        }
        // What is looked for here takes nothing from what may be looked at in the regions.
        let calls = self.calls;
        let roles: Vec<RoleSet> = groups.iter().map(|group| roles_of(mode, group)).collect();
        self.align(mode, groups, &roles, &mut least);
        // Values that are refused hide what the engine says of all others, so those are looked at once more without them.
        if self.improve(mode, groups, &roles, &mut least) {
            self.improve(mode, groups, &roles, &mut least);
        }
        self.calls = calls;
        least
    }

    /// Takes the most harmless values of one group after the other. Whether a structural check decided before.
    fn improve(&mut self, mode: &Mode, groups: &[Group], roles: &[RoleSet], least: &mut Picks) -> bool {
        let mut was_structural = false;
        for (at, (group, own_roles)) in groups.iter().zip(roles).enumerate() {
            // Two values at once are not more harmless than one of them.
            let single: Vec<Vec<usize>> = group.choices.iter().map(|choices| single(choices)).collect();
            let sizes: Vec<usize> = single.iter().map(Vec::len).collect();
            let all = products(&sizes, self.analysis.bounds.calls).map(|picks| {
                let each = single.iter().zip(picks);
                each.map(|(choices, pick)| choices.get(pick).copied().unwrap_or_default())
                    .collect()
            });
            let start = least.get(at).cloned().unwrap_or_default();
            let mut best: Option<(Harm, Vec<usize>)> = None;
            for picks in std::iter::once(start).chain(all) {
                let mut whole = least.clone();
                if let Some(own) = whole.get_mut(at) {
                    own.clone_from(&picks);
                }
                let harm = self.apart(mode, groups, &whole, *own_roles);
                was_structural |= at == 0 && best.is_none() && harm.is_structural;
                let is_enough = harm.worst == 0;
                if best.as_ref().is_none_or(|(known, _)| harm < *known) {
                    best = Some((harm, picks));
                }
                if is_enough {
                    break;
                }
            }
            if let (Some((_, picks)), Some(own)) = (best, least.get_mut(at)) {
                *own = picks;
            }
        }
        was_structural
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
            let mut best: Option<((bool, usize), Picks)> = None;
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
                let harm = self.apart(mode, groups, &whole, concerned);
                let harm = (harm.is_structural, harm.sum);
                if best.as_ref().is_none_or(|(known, _)| harm < *known) {
                    best = Some((harm, whole));
                }
                if harm == (false, 0) {
                    break;
                }
            }
            if let Some((_, whole)) = best {
                *least = whole;
            }
        }
    }

    /// How strict the engine is about these roles, whatever it says of others.
    fn apart(&mut self, mode: &Mode, groups: &[Group], picks: &Picks, roles: RoleSet) -> Harm {
        let asked = self.asked(mode, groups, picks);
        self.calls += 1;
        let call = asked.call(self.tool);
        let layers = self.layers.iter().map(|layer| layer.imagined);
        let all = std::iter::once(&self.analysis.imagined).chain(layers);
        let each = all.map(|imagined| Harm::new(&imagined.judge_apart(&call), roles));
        each.fold(Harm::default(), |all, one| Harm {
            worst: all.worst.max(one.worst),
            is_structural: all.is_structural || one.is_structural,
            sum: all.sum + one.sum,
        })
    }
}

/// The places of the choices that are not two values at once.
fn single(choices: &[Choice]) -> Vec<usize> {
    let all = choices.iter().enumerate();
    all.filter(|(_, choice)| !choice.is_pair())
        .map(|(at, _)| at)
        .collect()
}

/// Every role of the group's arguments.
fn roles_of(mode: &Mode, group: &Group) -> RoleSet {
    let roles = group.slots.iter().filter_map(|slot| mode.roles.get(*slot));
    roles.flatten().copied().collect()
}
