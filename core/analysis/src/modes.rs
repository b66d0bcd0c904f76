//! Arguments that conditions look at: the combinations of values that matter.

use std::collections::BTreeSet;

use serde_json::Value;

use super::atoms::Atoms;
use super::choice::Choice;
use super::divided::{Divided, Mode, SlotRoles, one_by_one, products};
use super::label::Label;
use super::names::{self, Naming};
use super::slots::{self, Accepts, Slot};
use crate::imagined::Imagined;
use callgate_engine::bind::Call;
use callgate_engine::model::Test;
use callgate_engine::program::{Program, Tool, UnknownArguments};
use callgate_engine::role::RoleSet;

impl Divided<'_, '_> {
    /// The combinations of values that conditions tell apart.
    pub(super) fn modes(&mut self) -> Vec<Mode> {
        let program = self.analysis.imagined.program();
        let tested: Vec<usize> = (0..self.slots.len())
            .filter(|at| self.slots.get(*at).is_some_and(|slot| !slot.tests.is_empty()))
            .collect();
        // Of this argument a condition may not tell a protected path from other texts, and yet its verdict is another.
        let shows = self.text_in_place_of_value();
        let protected = shows.map(|_| self.protected_texts()).unwrap_or_default();
        let mut dimensions: Vec<Vec<Choice>> = Vec::new();
        for at in &tested {
            let mut found = Vec::new();
            let slot = self.slots.get(*at);
            let may_be_array = slot.is_some_and(|slot| slot.accepts == Accepts::Either);
            // What escalates may still be denied by a rule that looks at it.
            let is_let_through = |program: &Program, tool: &Tool| {
                program.unknown_arguments == UnknownArguments::Escalate
                    || slot.is_none_or(|slot| slot.is_known(tool))
            };
            let is_refused = |imagined: &Imagined<'_>, tool| !is_let_through(imagined.program(), tool);
            if is_refused(&self.analysis.imagined, self.tool)
                || self.others().any(|other| is_refused(other.imagined, other.tool))
            {
                dimensions.push(vec![Choice::absent()]);
                continue;
            }
            let may_be_absent = slot.is_none_or(|slot| !slot.is_required);
            found.extend(may_be_absent.then(Choice::absent));
            names::tested(
                slot.into_iter().flat_map(|slot| slot.tests.iter().copied()),
                &mut found,
            );
            let possible = |tool: &Tool, at: Option<usize>| {
                let argument = at.and_then(|at| tool.arguments.get(at)).into_iter();
                argument
                    .flat_map(|argument| argument.roles.possible())
                    .collect::<RoleSet>()
            };
            let other = self
                .other
                .map(|other| possible(other.tool, slot.and_then(|slot| slot.other)));
            let roles = SlotRoles {
                own: possible(self.tool, slot.and_then(|slot| slot.argument)),
                other: other.unwrap_or_default(),
            };
            for choice in &mut found {
                let is_mistyped = |slot: &Slot<'_>| !slot.is_typed(self.tool, choice.value.as_ref());
                if slot.is_some_and(is_mistyped) {
                    choice.label = Label::Words("a value of another type");
                }
            }
            if self.are_valued(roles) {
                let own = self.choices_for(*at, roles);
                let atoms = self.atoms(roles);
                found = self.distinguished(*at, found, |value| (kind(value), listed_as(&atoms, value)));
                // A grant sees an array as such, whatever it holds.
                if may_be_array {
                    found.extend(own.iter().filter_map(in_array));
                }
                found.extend(own.iter().cloned());
                found = self.reaching(roles, found);
            } else {
                found = self.distinguished(*at, found, |_| ());
                if shows == Some(*at) {
                    found.extend(protected.iter().cloned());
                }
            }
            dimensions.push(found);
        }
        let most = self.analysis.bounds.modes;
        let all = dimensions.iter().map(Vec::len).try_fold(1, usize::checked_mul);
        if all.is_none_or(|all| all > most * most) {
            self.note_cut(
                "conditions tell more combinations of arguments apart than were looked at".to_owned(),
            );
        }
        let mut modes: Vec<(Mode, (bool, Met))> = Vec::new();
        let sizes: Vec<usize> = dimensions.iter().map(Vec::len).collect();
        for picks in ordered(&sizes, most) {
            let mut fixed: Vec<Option<Choice>> = vec![None; self.slots.len()];
            for ((at, dimension), pick) in tested.iter().zip(&dimensions).zip(picks) {
                if let (Some(slot), Some(choice)) = (fixed.get_mut(*at), dimension.get(pick)) {
                    *slot = Some(choice.clone());
                }
            }
            let values = fixed.iter().map(|choice| choice.as_ref()?.value.as_ref());
            let (arguments, _) = self.given(values);
            let roles = slots::roles(program, self.tool, &arguments);
            let other = self
                .other
                .map(|other| slots::roles(other.imagined.program(), other.tool, &arguments));
            let met = self.met(&arguments);
            let mode = Mode {
                fixed,
                alike: Vec::new(),
                roles,
                other: other.unwrap_or_default(),
            };
            let shown = shows.and_then(|at| mode.fixed.get(at)?.as_ref());
            let is_protected = shown.is_some_and(|own| protected.iter().any(|one| one.value == own.value));
            let seen = (is_protected, met);
            let holds_values = tested.iter().any(|at| self.are_valued(self.roles_at(&mode, *at)));
            let count = modes.len();
            let known = modes.iter_mut().find(|(one, known)| {
                let is_like = one.roles == mode.roles && one.other == mode.other;
                !holds_values && is_like && *known == seen
            });
            match known {
                Some((known, _)) => {
                    let labels = tested
                        .iter()
                        .filter_map(|at| Some(mode.fixed.get(*at)?.as_ref()?.label.clone()));
                    known.alike.push(labels.collect());
                }
                None if count == most => {
                    self.note_cut(format!("conditions tell more than {most} kinds of calls apart"));
                    break;
                }
                None => modes.push((mode, seen)),
            }
        }
        modes.into_iter().map(|(mode, _)| mode).collect()
    }

    /// Of the choices those that name what the analysis looks for, and none; all of them where they name nothing like it.
    fn reaching(&self, roles: SlotRoles, choices: Vec<Choice>) -> Vec<Choice> {
        let is_wanted = |choice: &Choice| choice.value.is_none() || self.is_named(roles, choice);
        match choices.iter().any(|choice| self.is_named(roles, choice)) {
            true => choices.into_iter().filter(is_wanted).collect(),
            false => choices,
        }
    }

    /// The first of each set of values of one kind that the slot's tests do not tell apart.
    fn distinguished<K: PartialEq>(
        &self,
        slot: usize,
        choices: Vec<Choice>,
        kind: impl Fn(Option<&Value>) -> K,
    ) -> Vec<Choice> {
        let Some(own) = self.slots.get(slot) else {
            return choices;
        };
        let (mut kept, mut known) = (Vec::new(), Vec::new());
        for choice in choices {
            let value = choice.value.as_ref();
            let values = (0..self.slots.len()).map(|at| value.filter(|_| at == slot));
            let (arguments, _) = self.given(values);
            let found = (kind(value), test_each(&own.clauses, value), self.met(&arguments));
            if !known.contains(&found) {
                known.push(found);
                kept.push(choice);
            }
        }
        kept
    }

    /// How a call with these arguments meets the conditions of rules on them.
    pub(super) fn met(&self, arguments: &Value) -> Met {
        if self.slots.iter().all(|slot| slot.tests.is_empty()) {
            return Met::new();
        }
        let call = Call::from_value(&self.tool.server, &self.tool.name, arguments);
        let others = self.others().map(|other| other.imagined);
        let all = std::iter::once(&self.analysis.imagined).chain(others);
        all.map(|imagined| imagined.conditions(&call)).collect()
    }
}

/// Combinations of one choice out of each of these many. Where not all of them may be looked at, those come first that differ from
/// the first one in one place: no choice is then left out altogether before others were combined.
fn ordered(sizes: &[usize], most: usize) -> Vec<Vec<usize>> {
    let all: Vec<Vec<usize>> = products(sizes, most * most).collect();
    if all.len() <= most {
        return all;
    }
    let changed = |picks: &Vec<usize>| picks.iter().filter(|pick| **pick > 0).count();
    let base = vec![0; sizes.len()];
    let singles = one_by_one(sizes, &base, most * most);
    let singles = singles.into_iter().filter(|picks| changed(picks) == 1);
    let combined = all.into_iter().filter(|picks| changed(picks) > 1);
    let ordered = std::iter::once(base.clone()).chain(singles).chain(combined);
    ordered.take(most * most).collect()
}

/// How a call meets the conditions on its arguments, in each program; `None` where it is not of the tool's shape.
pub(super) type Met = Vec<Option<Vec<u8>>>;

/// The type of a value.
pub(super) fn kind(value: Option<&Value>) -> u8 {
    match value {
        None => 0,
        Some(Value::Null) => 1,
        Some(Value::Bool(_)) => 2,
        Some(Value::Number(_)) => 3,
        Some(Value::String(_)) => 4,
        Some(Value::Array(_)) => 5,
        Some(Value::Object(_)) => 6,
    }
}

/// How lists see a text: the entries that it names, and the text itself where they hold domains.
type Listed = (BTreeSet<(Naming, String)>, Option<String>);

/// How lists see a value that is a text, or an array that begins with one.
fn listed_as(atoms: &Atoms, value: Option<&Value>) -> Option<Listed> {
    let item = value.and_then(Value::as_array).and_then(|items| items.first());
    let text = item.or(value).and_then(Value::as_str)?;
    let host = (!atoms.domains.is_empty()).then(|| text.to_owned());
    Some((names::class(atoms, text, &[]), host))
}

/// A text, alone in an array.
fn in_array(choice: &Choice) -> Option<Choice> {
    let text = choice.value.as_ref().filter(|value| value.is_string())?;
    let label = Label::InArray(Box::new(choice.label.clone()));
    Some(Choice::value(Value::Array(vec![text.clone()]), label))
}

/// How each condition of a role sees the value: whether it holds, and whether it may for servers that convert what they get.
fn test_each(tests: &[&Test], value: Option<&Value>) -> Vec<bool> {
    let seen = names::seen(value);
    let each = tests.iter();
    each.flat_map(|one| [one.surely_holds(seen), one.may_hold(seen)])
        .collect()
}
