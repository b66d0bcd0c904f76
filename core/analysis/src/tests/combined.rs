//! The verdict of a call against those of the regions that its parts lie in.

use serde_json::Value;

use super::division::{Mistake, Tally};
use super::subject::{Subject, has_text, value_at};
use crate::choice::Choice;
use crate::divided::Mode;
use crate::modes::kind;
use crate::slots::Slot;
use callgate_engine::judge::Sight;

impl Subject<'_, '_> {
    /// The verdict is the strictest of the regions that the parts lie in.
    pub(super) fn check_combined(
        &mut self,
        given: &Value,
        (stands, context): (&Value, Option<&Value>),
        sight: &Sight,
        verdict: u8,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let says_nothing = matches!(self.mistake, Mistake::HidesNotes);
        if !self.divided.inexact.is_empty() && !says_nothing {
            return Ok(());
        }
        let met = self.divided.met(given);
        // What bears values that judging looks at is a mode of its own.
        let holds_values = |slot: &Slot<'_>| {
            let name = slot.name();
            let mut values = sight.values.iter().filter_map(|value| value.argument);
            let is_valued =
                values.any(|at| self.divided.slots.get(at).is_some_and(|slot| slot.name() == name));
            is_valued && !slot.tests.is_empty()
        };
        let is_mode = |mode: &Mode| {
            let is_valued = |slot: &Slot<'_>| {
                let mut slots = self.divided.slots.iter();
                let at = slots.position(|one| std::ptr::eq(one, slot)).unwrap();
                self.divided.are_valued(self.divided.roles_at(mode, at))
            };
            let values = mode.fixed.iter().map(|choice| choice.as_ref()?.value.as_ref());
            let (mut arguments, _) = self.divided.given(values);
            // A repository says what a branch is.
            for (name, value) in given.as_object().into_iter().flatten() {
                let mut slots = self.divided.slots.iter();
                if slots.all(|slot| slot.tests.is_empty() || !slot.begins_at(name)) {
                    arguments[name] = value.clone();
                }
            }
            let mut each = self.divided.slots.iter();
            mode.roles == sight.roles
                && self.divided.met(&arguments) == met
                && each.all(|slot| {
                    let name = slot.name();
                    let (own, stands) = (value_at(&arguments, &name), value_at(stands, &name));
                    match holds_values(slot) {
                        true => own == stands,
                        false => {
                            slot.tests.is_empty()
                                || !is_valued(slot)
                                || has_text(own) == has_text(stands) && kind(own) == kind(stands)
                        }
                    }
                })
        };
        let Some(at) = self.modes.iter().position(is_mode) else {
            let is_several = |slot: &Slot<'_>| {
                let value = value_at(stands, &slot.name()).and_then(Value::as_array);
                holds_values(slot) && value.is_some_and(|all| all.len() != 1)
            };
            return match self.divided.slots.iter().any(is_several) {
                true => Ok(()),
                false => Err(format!("no mode for {given}, {stands}")),
            };
        };
        let way = self.ways.get(at).unwrap();
        let mut strictest = 0;
        for (group, regions) in way.groups.iter().zip(&way.parts) {
            let mut place = 0;
            for (slot, choices) in group.slots.iter().zip(&group.choices) {
                if self.divided.context == Some(*slot) {
                    let found = choices.iter().position(|choice| choice.value.as_ref() == context);
                    place = place * choices.len() + found.unwrap();
                    continue;
                }
                let name = self.divided.slots.get(*slot).unwrap().name();
                let value = match value_at(stands, &name) {
                    Some(Value::Array(items)) if items.len() == 1 && items[0].is_string() => items.first(),
                    other => other,
                };
                let found = match value {
                    Some(Value::String(_)) => {
                        choices.iter().position(|choice| choice.value.as_ref() == value)
                    }
                    // Whatever names nothing is alike.
                    other if !has_text(other) => match choices.iter().position(Choice::is_empty) {
                        None => {
                            return Err(format!("`{name}` names nothing in {stands}, and no region is so"));
                        }
                        found => found,
                    },
                    _ => return Ok(()),
                };
                let Some(found) = found else { return Ok(()) };
                place = place * choices.len() + found;
            }
            let decision = regions.get(place).unwrap().decision;
            strictest = strictest.max(strictness(decision));
        }
        if way.groups.is_empty() {
            let region = way.parts.first().and_then(|regions| regions.first()).unwrap();
            strictest = strictness(region.decision);
        }
        for region in &way.without {
            let mut places = region.places.iter();
            if places.all(|place| !has_text(value_at(stands, &place.argument))) {
                strictest = strictest.max(strictness(region.decision));
            }
        }
        tally.combined += 1;
        if strictest != verdict {
            return Err(format!(
                "the regions of {stands} say {strictest}, the engine {verdict}"
            ));
        }
        Ok(())
    }
}

fn strictness(decision: &str) -> u8 {
    match decision {
        "allow" => 0,
        "escalate" => 1,
        _ => 2,
    }
}
