//! Arguments that are absent together.
//!
//! Paths are judged one by one, so arguments with the role of a path are looked at apart. But what rules say of a role without
//! any value shows only where every argument that bears it is absent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::choice::Choice;
use super::divided::{Divided, Group, Mode, Picks};
use super::regions::Cut;
use super::{Part, Place, Region};
use callgate_engine::role::RoleId;

/// The choices by which arguments of several groups are absent: each a group, an argument of it, and the choice.
pub(super) type Absences = Vec<(usize, usize, usize)>;

impl Divided<'_, '_> {
    /// The arguments of each role that are absent together in a call, where groups look at them apart.
    pub(super) fn absent_together(&self, mode: &Mode, groups: &[Group]) -> BTreeSet<Absences> {
        let mut bearers: BTreeMap<(bool, RoleId), Vec<usize>> = BTreeMap::new();
        for slot in 0..self.slots.len() {
            let roles = self.roles_at(mode, slot);
            for (is_own, roles) in [(true, roles.own), (false, roles.other)] {
                for role in roles.iter() {
                    bearers.entry((is_own, role)).or_default().push(slot);
                }
            }
        }
        let mut found = BTreeSet::new();
        for slots in bearers.into_values() {
            let given = slots.iter().filter(|slot| !is_fixed_empty(mode, **slot));
            let absences: Option<Absences> = given.map(|slot| absence(groups, *slot)).collect();
            let absences = absences.unwrap_or_default();
            let first = absences.first().map(|(group, ..)| *group);
            if absences.iter().any(|(group, ..)| Some(*group) != first) {
                found.insert(absences);
            }
        }
        found
    }

    /// Regions of calls in which arguments are absent together, where that is judged otherwise than each of them alone.
    pub(super) fn parts_without(&mut self, mode: &Mode, groups: &[Group], least: &Picks) -> Vec<Cut> {
        let mut parts = Vec::new();
        for absences in self.absent_together(mode, groups) {
            let mut strictest = 0;
            for one in &absences {
                let region = self.region_without(mode, groups, least, std::slice::from_ref(one));
                strictest = strictest.max(region.1);
            }
            let (region, strictness) = self.region_without(mode, groups, least, &absences);
            if strictness != strictest {
                parts.push(Cut {
                    slots: slots_of(groups, &absences).collect(),
                    has_extra: false,
                    is_whole: false,
                    part: Part {
                        when: self.when(mode),
                        regions: vec![region],
                    },
                });
            }
        }
        parts
    }

    pub(super) fn region_without(
        &mut self,
        mode: &Mode,
        groups: &[Group],
        least: &Picks,
        absences: &[(usize, usize, usize)],
    ) -> (Region, u8) {
        let picks = without(least, absences);
        let asked = self.asked(mode, groups, &picks);
        let (strictness, judged) = self.judge(&asked);
        let places = self.places_without(mode, groups, absences).into_iter();
        let region = Region::new(places.map(Arc::new).collect(), judged, asked);
        (region, strictness)
    }

    /// The places of the arguments that are absent together.
    pub(super) fn places_without(
        &self,
        mode: &Mode,
        groups: &[Group],
        absences: &[(usize, usize, usize)],
    ) -> Vec<Place> {
        let label = |(group, nth, pick): &(usize, usize, usize)| {
            let group = groups.get(*group)?;
            let (slot, choices) = (group.slots.get(*nth)?, group.choices.get(*nth)?);
            Some(self.place(mode, *slot, choices.get(*pick)?.label.to_string()))
        };
        absences.iter().filter_map(label).collect()
    }
}

/// The arguments that are absent.
fn slots_of(groups: &[Group], absences: &[(usize, usize, usize)]) -> impl Iterator<Item = usize> {
    let slot = |group: usize, nth: usize| groups.get(group)?.slots.get(nth).copied();
    absences
        .iter()
        .filter_map(move |(group, nth, _)| slot(*group, *nth))
}

/// The picks, but these arguments absent.
pub(super) fn without(picks: &Picks, absences: &[(usize, usize, usize)]) -> Picks {
    let mut picks = picks.clone();
    for (group, nth, absent) in absences {
        if let Some(pick) = picks.get_mut(*group).and_then(|picks| picks.get_mut(*nth)) {
            *pick = *absent;
        }
    }
    picks
}

fn is_fixed_empty(mode: &Mode, slot: usize) -> bool {
    let fixed = mode.fixed.get(slot).and_then(Option::as_ref);
    fixed.is_some_and(Choice::is_empty)
}

/// The choice by which a slot is absent or names nothing, if it may be so.
fn absence(groups: &[Group], slot: usize) -> Option<(usize, usize, usize)> {
    groups.iter().enumerate().find_map(|(at, group)| {
        let nth = group.slots.iter().position(|one| *one == slot)?;
        let choices = group.choices.get(nth)?;
        let absent = choices.iter().position(|choice| choice.value.is_none());
        let absent = absent.or_else(|| choices.iter().position(Choice::is_empty))?;
        Some((at, nth, absent))
    })
}
