//! Several values of one argument at once, where the verdict about them is not that of the strictest.

use serde_json::Value;

use super::atoms::sandbox_wants_all;
use super::choice::Choice;
use super::divided::{Divided, SlotRoles};
use super::label::Label;
use super::slots::Slot;
use crate::program::{Program, Tool};
use crate::role::RoleSet;

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
        let other = self
            .other
            .map(|other| enough(other.imagined.program(), other.tool, roles.other));
        let both = [Some(own), other];
        if both.iter().flatten().all(|enough| matches!(enough, Enough::One)) {
            return;
        }
        let name = self.slots.get(slot).map(Slot::name).unwrap_or_default();
        if both.iter().flatten().any(|enough| matches!(enough, Enough::More)) {
            self.note(format!("more than two values of `{name}` at once"));
        }
        let texts: Vec<Choice> = choices
            .iter()
            .filter(|one| one.value.is_some())
            .cloned()
            .collect();
        if texts.len() * texts.len() / 2 > self.analysis.bounds.values {
            self.note(format!("several values of `{name}` at once"));
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
