//! A tool's calls on the way to their regions: the values that its arguments are given.

use std::sync::Arc;

use serde_json::Value;

use super::Analysis;
use super::atoms::{Atoms, Reading};
use super::choice::Choice;
use super::choices::choices;
use super::label::Label;
use super::slots::{self, Accepts, Slot, UNNAMED};
use crate::program::Tool;
use crate::role::{RoleId, RoleSet};

/// One tool, and the values that its arguments are given.
pub(super) struct Divided<'a, 'e> {
    pub(super) analysis: &'a Analysis<'e>,
    pub(super) tool: &'e Tool,
    pub(super) slots: Vec<Slot<'e>>,
    pub(super) inexact: Vec<String>,
    pub(super) calls: usize,
}

/// Slots that are looked at together, and the choices of each.
pub(super) struct Group {
    pub(super) slots: Vec<usize>,
    pub(super) choices: Vec<Arc<[Choice]>>,
    /// What the group is about, where its slots do not say it.
    pub(super) extra: Option<Extra>,
}

/// An argument that no role is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extra {
    /// A text that may look like a protected path.
    Text,
    /// An argument that neither the annotation nor the schema names.
    Unknown,
}

/// A value for every slot: the place of the choice of each slot of each group.
pub(super) type Picks = Vec<Vec<usize>>;

/// Calls in which the arguments that conditions look at are the same, as far as conditions can tell.
pub(super) struct Mode {
    /// The choice of each slot that a condition looks at.
    pub(super) fixed: Vec<Option<Choice>>,
    /// Other values that conditions do not tell from these.
    pub(super) alike: Vec<Vec<Label>>,
    /// The roles of each of the tool's arguments.
    pub(super) roles: Vec<Vec<RoleId>>,
}

impl<'a, 'e> Divided<'a, 'e> {
    /// Whether the slot may hold what the analysis looks for.
    pub(super) fn may_reach(&self, mode: &Mode, group: &Group) -> bool {
        let Some(target) = &self.analysis.target else {
            return true;
        };
        let program = self.analysis.imagined.program();
        let mut slots = group.slots.iter();
        slots.any(|slot| {
            let roles: RoleSet = mode.roles.get(*slot).into_iter().flatten().copied().collect();
            target.for_reading(Reading::new(program, roles)).is_some()
        })
    }

    pub(super) fn new(analysis: &'a Analysis<'e>, tool: &'e Tool) -> Self {
        let program = analysis.imagined.program();
        Self {
            analysis,
            tool,
            slots: slots::slots(program, tool),
            inexact: Vec::new(),
            calls: 0,
        }
    }

    pub(super) fn note(&mut self, why: String) {
        if !self.inexact.contains(&why) {
            self.inexact.push(why);
        }
    }

    /// The texts that an argument with these roles is given.
    pub(super) fn choices_for(&mut self, slot: usize, roles: RoleSet) -> Arc<[Choice]> {
        let analysis = self.analysis;
        let atoms = Atoms::new(&analysis.imagined, self.tool, roles, &analysis.cuts);
        if let Some(text) = analysis
            .target
            .as_ref()
            .and_then(|target| target.for_reading(atoms.reading))
        {
            return [Choice::text(text.to_owned(), Label::Is(text.to_owned()))].into();
        }
        let known = analysis.choices.borrow().get(&atoms).cloned();
        let texts = known.unwrap_or_else(|| {
            let texts: Arc<[Choice]> = choices(&atoms).into();
            analysis.choices.borrow_mut().insert(atoms, Arc::clone(&texts));
            texts
        });
        let (accepts, is_required) = self
            .slots
            .get(slot)
            .map_or((Accepts::Either, false), |slot| (slot.accepts, slot.is_required));
        let most = analysis.bounds.values;
        if texts.len() > most {
            let name = self.slots.get(slot).map(Slot::name).unwrap_or_default();
            self.note(format!(
                "`{name}` has {} regions, of which {most} were looked at",
                texts.len()
            ));
        }
        let mut found: Vec<Choice> = match accepts {
            Accepts::Nothing => Vec::new(),
            Accepts::Either | Accepts::Text | Accepts::Array => texts.iter().take(most).cloned().collect(),
        };
        if !is_required || found.is_empty() {
            found.push(Choice::absent());
        }
        found.into()
    }

    pub(super) fn arguments(&mut self, mode: &Mode, groups: &[Group], picks: &Picks) -> Value {
        let mut values: Vec<Option<&Value>> = mode
            .fixed
            .iter()
            .map(|choice| choice.as_ref().and_then(|choice| choice.value.as_ref()))
            .collect();
        let mut unnamed = None;
        for (group, picks) in groups.iter().zip(picks) {
            for ((at, choices), pick) in group.slots.iter().zip(&group.choices).zip(picks) {
                if let (Some(value), Some(choice)) = (values.get_mut(*at), choices.get(*pick)) {
                    *value = choice.value.as_ref();
                }
            }
            if group.extra.is_some() {
                let choice = group.choices.first().zip(picks.first());
                let choice = choice.and_then(|(choices, pick)| choices.get(*pick));
                unnamed = choice.and_then(|choice| choice.value.clone()).or(unnamed);
            }
        }
        let (mut arguments, fits) = slots::arguments(self.tool, &self.slots, values.into_iter());
        if let (Value::Object(members), Some(value)) = (&mut arguments, unnamed) {
            members.insert(UNNAMED.to_owned(), value);
        }
        if !fits {
            self.note("an argument stands within another one that has a role or a condition".to_owned());
        }
        arguments
    }
}

/// Every choice of one out of each of these many, the last changing first; not more than `most`.
pub(super) fn products(sizes: &[usize], most: usize) -> impl Iterator<Item = Vec<usize>> + use<> {
    let sizes = sizes.to_vec();
    let mut next = sizes.iter().all(|size| *size > 0).then(|| vec![0; sizes.len()]);
    std::iter::from_fn(move || {
        let found = next.take()?;
        let mut following = found.clone();
        for (place, size) in following.iter_mut().zip(&sizes).rev() {
            *place += 1;
            if *place < *size {
                next = Some(following);
                break;
            }
            *place = 0;
        }
        Some(found)
    })
    .take(most)
}
