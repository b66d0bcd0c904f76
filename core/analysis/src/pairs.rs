//! Several values of one argument at once, where the verdict about them is not that of the strictest.

use std::collections::BTreeSet;

use serde_json::Value;

use super::atoms::sandbox_wants_all;
use super::choice::Choice;
use super::divided::{Divided, SlotRoles};
use super::label::Label;
use super::slots::Slot;
use crate::imagined::Imagined;
use callgate_engine::bind::Call;
use callgate_engine::model::refs::Ref;
use callgate_engine::program::{Program, Tool};
use callgate_engine::role::{RoleId, RoleSet};

/// How many values at once tell everything about several.
enum Enough {
    One,
    Two,
    /// More: as many as there are conditions on the values.
    More,
}

impl Divided<'_, '_> {
    /// Adds two values at once where one is not enough.
    pub(super) fn add_pairs(&mut self, slot: usize, roles: SlotRoles, choices: &mut Vec<Choice>) {
        let own = enough(self.analysis.imagined.program(), self.tool, roles.own);
        let others = self.beside(roles);
        let others = others.map(|(other, roles)| enough(other.imagined.program(), other.tool, roles));
        let each: Vec<Enough> = std::iter::once(own).chain(others).collect();
        if each.iter().all(|enough| matches!(enough, Enough::One)) {
            return;
        }
        let name = self.slots.get(slot).map(Slot::name).unwrap_or_default();
        if each.iter().any(|enough| matches!(enough, Enough::More)) {
            self.note(format!("more than two values of `{name}` at once"));
        }
        let texts: Vec<Choice> = choices
            .iter()
            .filter(|one| one.value.is_some())
            .cloned()
            .collect();
        let texts = self.seen_apart(slot, roles, texts);
        if texts.len() * texts.len() / 2 > self.analysis.bounds.values {
            self.note_cut(format!("several values of `{name}` at once"));
            return;
        }
        for (at, one) in texts.iter().enumerate() {
            for other in texts.iter().skip(at + 1) {
                if let (Some(first), Some(second)) = (&one.value, &other.value) {
                    let label = Label::Both(Box::new(one.label.clone()), Box::new(other.label.clone()));
                    choices.push(Choice::value(
                        Value::Array(vec![first.clone(), second.clone()]),
                        label,
                    ));
                }
            }
        }
    }
}

impl Divided<'_, '_> {
    /// The first of each set of texts in which every program sees the same.
    fn seen_apart(&self, slot: usize, roles: SlotRoles, mut texts: Vec<Choice>) -> Vec<Choice> {
        let mut known = BTreeSet::new();
        texts.retain(|choice| {
            self.seen(slot, roles, choice)
                .is_none_or(|seen| known.insert(seen))
        });
        texts
    }

    /// The things that each program sees in the text; `None` where they may depend on other arguments.
    fn seen(&self, slot: usize, roles: SlotRoles, choice: &Choice) -> Option<Vec<Vec<u8>>> {
        let place = self.slots.get(slot).filter(|slot| slot.tests.is_empty())?;
        let text = choice.value.as_ref()?.as_str()?;
        let values = (0..self.slots.len()).map(|at| choice.value.as_ref().filter(|_| at == slot));
        let (arguments, fits) = self.given(values);
        let call = Call::from_value(&self.tool.server, &self.tool.name, &arguments);
        let seen = |imagined: &Imagined<'_>, argument: Option<usize>, roles: RoleSet| {
            if !fits || depends(imagined, roles, text) {
                return None;
            }
            let sight = imagined.sight(&call)?;
            let argument = argument?;
            let borne: RoleSet = sight.roles.get(argument)?.iter().copied().collect();
            let mut own = sight
                .values
                .into_iter()
                .filter(|one| one.argument == Some(argument));
            let one = own.next()?;
            let is_told = borne == roles && !sight.is_above && !sight.looks_protected;
            (is_told && own.next().is_none()).then_some(one.seen)
        };
        let mut all = vec![seen(&self.analysis.imagined, place.argument, roles.own)?];
        for layer in &self.layers {
            all.push(seen(layer.imagined, place.argument, roles.own)?);
        }
        if let Some(other) = self.other {
            all.push(seen(other.imagined, place.other, roles.other)?);
        }
        Some(all)
    }
}

/// Returns `true` if what a text stands for may depend on other arguments, on the context or on a repository.
fn depends(imagined: &Imagined<'_>, roles: RoleSet, text: &str) -> bool {
    let program = imagined.program();
    let is_branch = roles.contains(RoleId::BRANCH_NAME);
    let is_remote = roles.contains(RoleId::GIT_REMOTE_URL);
    roles.intersects(program.address_roles)
        || roles.intersects(program.path_roles) && !text.starts_with('/')
        || is_remote && !text.contains(':')
        || is_branch && Ref::read(text) == Ref::Current
        || (is_branch || is_remote) && imagined.asks_host()
}

/// Each path is discharged by itself, so one is enough, unless the sandbox wants all of them. Any other values meet a condition
/// together as the one does that meets it least: as many values as there are conditions tell everything.
fn enough(program: &Program, tool: &Tool, roles: RoleSet) -> Enough {
    let conditions = program.rules_of(tool).map(|(_, rule)| {
        let domains = rule.domains.as_ref().is_some_and(|(of, _)| of.intersects(roles));
        let lists = rule
            .lists
            .iter()
            .filter(|list| list.roles.intersects(roles))
            .count();
        usize::from(domains) + lists
    });
    let wants_all = roles.intersects(program.path_roles) && sandbox_wants_all(program, tool);
    match conditions.sum::<usize>() {
        0 if !wants_all => Enough::One,
        0..=2 => Enough::Two,
        _ => Enough::More,
    }
}
