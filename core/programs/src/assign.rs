//! Which operand has which role.

use super::program::Slot;
use super::role::Role;
use callgate_shell::{Construct, NotUnderstood};
use callgate_shell::{Value, Word};

/// Gives each operand its role, in order. What follows a `command` or `execute` is not read as operands of the program.
pub(super) fn assign(
    slots: &[Slot],
    operands: &[Word],
    place: callgate_shell::Place,
) -> Result<Vec<(Role, Word)>, NotUnderstood> {
    let mut found = Vec::new();
    let mut rest = operands;
    for (at, slot) in slots.iter().enumerate() {
        if matches!(slot.role, Role::Command | Role::Expression) {
            found.extend(rest.iter().map(|word| (slot.role, word.clone())));
            return Ok(found);
        }
        if slot.role == Role::Assignments {
            let is_assignment = |word: &&Word| word.exact().is_some_and(|text| text.contains('='));
            let count = rest.iter().take_while(is_assignment).count();
            let (these, others) = rest.split_at(count);
            found.extend(these.iter().map(|word| (slot.role, word.clone())));
            rest = others;
            continue;
        }
        let after = slots.get(at + 1..).unwrap_or_default();
        let needed = after.iter().filter(|slot| !slot.is_optional).count();
        let free = rest.len().saturating_sub(needed);
        let count = match (slot.is_many, slot.is_optional) {
            (true, _) => free,
            (false, true) => free.min(1),
            (false, false) => 1,
        };
        if rest.len() < count || slot.is_many && !slot.is_optional && count == 0 {
            return Err(NotUnderstood {
                place,
                construct: Construct::Operand(slot.role.as_str().to_owned()),
            });
        }
        let (these, others) = rest.split_at(count);
        found.extend(these.iter().map(|word| (slot.role, word.clone())));
        rest = others;
    }
    match rest.first() {
        Some(word) => Err(NotUnderstood {
            place: word.place,
            construct: Construct::Operand(word.exact().unwrap_or_default().to_owned()),
        }),
        None if is_uncertain(slots, operands) => Err(NotUnderstood {
            place,
            construct: Construct::UnknownWord,
        }),
        None => Ok(found),
    }
}

/// Returns `true` if a word that stands for several may be more or fewer operands, whose roles differ.
fn is_uncertain(slots: &[Slot], operands: &[Word]) -> bool {
    let many = |word: &&Word| match &word.value {
        Value::Unknown { is_many, .. } | Value::Pattern { is_many, .. } => *is_many,
        Value::Exact(_) | Value::Pipe => false,
    };
    let Some(word) = operands.iter().find(many) else {
        return false;
    };
    // Names that match a pattern stand where any number may, and the places after it are counted from the end.
    let unknown = matches!(word.value, Value::Unknown { .. });
    let at = operands
        .iter()
        .position(|one| std::ptr::eq(one, word))
        .unwrap_or_default();
    let first_many = slots.iter().position(|slot| slot.is_many);
    match first_many {
        None => true,
        Some(first) => {
            let after = slots.len() - first - 1;
            unknown && slots.len() > 1 || at < first || at + after >= operands.len()
        }
    }
}
