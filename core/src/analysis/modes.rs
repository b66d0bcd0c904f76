//! Arguments that conditions look at: the combinations of values that matter.

use serde_json::Value;

use super::choice::Choice;
use super::divided::{Divided, Mode, products};
use super::{names, slots};
use crate::model::{Seen, Test};
use crate::role::RoleSet;

impl Divided<'_, '_> {
    /// The combinations of values that conditions tell apart.
    pub(super) fn modes(&mut self) -> Vec<Mode> {
        let program = self.analysis.imagined.program();
        let tested: Vec<usize> = (0..self.slots.len())
            .filter(|at| self.slots.get(*at).is_some_and(|slot| !slot.tests.is_empty()))
            .collect();
        let mut dimensions: Vec<Vec<Choice>> = Vec::new();
        for at in &tested {
            let mut found = Vec::new();
            let slot = self.slots.get(*at);
            if slot.is_some_and(|slot| !slot.is_known(self.tool)) {
                dimensions.push(vec![Choice::absent()]);
                continue;
            }
            names::tested(
                slot.into_iter().flat_map(|slot| slot.tests.iter().copied()),
                &mut found,
            );
            let argument = slot.and_then(|slot| slot.argument);
            let roles: RoleSet = argument
                .and_then(|at| self.tool.arguments.get(at))
                .into_iter()
                .flat_map(|argument| argument.roles.possible())
                .collect();
            if roles.intersects(program.valued_roles) {
                found.extend(self.choices_for(*at, roles).iter().cloned());
            } else {
                found = self.told_apart(*at, found);
            }
            dimensions.push(found);
        }
        let most = self.analysis.bounds.modes;
        let all = dimensions.iter().map(Vec::len).try_fold(1, usize::checked_mul);
        if all.is_none_or(|all| all > most * most) {
            self.note("conditions tell more combinations of arguments apart than were looked at".to_owned());
        }
        let mut modes: Vec<(Mode, Vec<bool>)> = Vec::new();
        for picks in products(&dimensions.iter().map(Vec::len).collect::<Vec<_>>(), most * most) {
            let mut fixed: Vec<Option<Choice>> = vec![None; self.slots.len()];
            for ((at, dimension), pick) in tested.iter().zip(&dimensions).zip(picks) {
                if let (Some(slot), Some(choice)) = (fixed.get_mut(*at), dimension.get(pick)) {
                    *slot = Some(choice.clone());
                }
            }
            let values = fixed.iter().map(|choice| choice.as_ref()?.value.as_ref());
            let (arguments, _) = slots::arguments(self.tool, &self.slots, values);
            let roles = slots::roles(program, self.tool, &arguments);
            let tests = self.tests(&fixed);
            let holds_values = tested.iter().any(|at| {
                let argument = self.slots.get(*at).and_then(|slot| slot.argument);
                let roles = argument.and_then(|at| roles.get(at));
                roles.is_some_and(|roles| roles.iter().any(|role| program.valued_roles.contains(*role)))
            });
            let count = modes.len();
            let known = modes
                .iter_mut()
                .find(|(mode, known)| !holds_values && mode.roles == roles && *known == tests);
            match known {
                Some((mode, _)) => {
                    let labels = tested
                        .iter()
                        .filter_map(|at| Some(fixed.get(*at)?.as_ref()?.label.clone()));
                    mode.alike.push(labels.collect());
                }
                None if count == most => {
                    self.note(format!("conditions tell more than {most} kinds of calls apart"));
                    break;
                }
                None => modes.push((
                    Mode {
                        fixed,
                        alike: Vec::new(),
                        roles,
                    },
                    tests,
                )),
            }
        }
        modes.into_iter().map(|(mode, _)| mode).collect()
    }

    /// The first of each set of values that the slot's tests do not tell apart.
    fn told_apart(&self, slot: usize, choices: Vec<Choice>) -> Vec<Choice> {
        let tests = self
            .slots
            .get(slot)
            .map(|slot| slot.tests.as_slice())
            .unwrap_or_default();
        let mut kept: Vec<(Choice, Vec<bool>)> = Vec::new();
        for choice in choices {
            let found = test_each(tests, choice.value.as_ref());
            if kept.iter().all(|(_, known)| *known != found) {
                kept.push((choice, found));
            }
        }
        kept.into_iter().map(|(choice, _)| choice).collect()
    }

    fn tests(&self, fixed: &[Option<Choice>]) -> Vec<bool> {
        let each = self.slots.iter().zip(fixed);
        each.flat_map(|(slot, choice)| {
            test_each(&slot.tests, choice.as_ref().and_then(|one| one.value.as_ref()))
        })
        .collect()
    }
}

/// How each test sees the value: whether a grant takes it as met, and whether a restriction does.
pub(super) fn test_each(tests: &[&Test], value: Option<&Value>) -> Vec<bool> {
    let mut seen = names::seen(value);
    // A text that holds JSON is read by some servers and not by others.
    if let Seen::Text("[]") = seen {
        seen = Seen::Unreadable;
    }
    let each = tests.iter();
    each.flat_map(|one| [one.surely_holds(seen), one.may_hold(seen)])
        .collect()
}
