//! The stage that gives each value of a call its canonical form (SPEC §6). The same forms are judged and sent.

use std::sync::Arc;

use super::StructuralRule;
use super::asking::Asking;
use super::check::{Finding, deny};
use super::inputs::Inputs;
use super::operand::{Form, Operand};
use super::reason::shown_as_given;
use crate::bind::{BoundValue, PointerToken};
use crate::cost::FURTHER_VALUE;
use crate::path::Unresolvable;

/// Makes the canonical form of each value, up to the first that has none.
pub(super) fn resolvable_values<'p>(inputs: &mut Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    while let Some(bound) = next_pending(inputs, asking) {
        let base = base_of(inputs, asking, &bound);
        asking.take_steps(1);
        let mut operand = asking.canonicalizer.operand(bound, base, inputs.call.context());
        narrow(inputs, &mut operand);
        inputs.operands.push(operand);
        if let Some(operand) = inputs.operands.last()
            && let Form::Unresolvable(why) = &operand.form
        {
            return unresolvable(inputs, operand, why);
        }
        if asking.has_failed() {
            break;
        }
    }
    inputs.file_operands();
    inputs.read_siblings();
    asking.note_held("resolvable-values", "every resource value has a canonical form");
    None
}

fn unresolvable<'p>(
    inputs: &Inputs<'p, '_>,
    operand: &Operand<'p, '_>,
    why: &Unresolvable,
) -> Option<Finding<'p>> {
    let shown = shown_as_given(inputs, operand);
    let reason = format!("Unresolvable value of {shown}: {why}");
    match why {
        Unresolvable::TooLong { .. } => deny(StructuralRule::Limit, reason),
        Unresolvable::Several => deny(
            StructuralRule::UnreadableArgument,
            format!("Unreadable argument: {shown}, which {why}"),
        ),
        _ => deny(StructuralRule::UnresolvableValue, reason),
    }
}

/// Makes the forms of the values that a check left without one, since they are sent. Of an address that was not judged nothing
/// tells whether it may be used. No view is made of a call whose work has ended.
pub(super) fn make_rest(inputs: &mut Inputs, asking: &mut Asking) {
    while let Some(bound) = next_pending(inputs, asking) {
        if asking.has_failed() {
            break;
        }
        if !bound.role_set.intersects(inputs.program.address_roles) {
            let base = base_of(inputs, asking, &bound);
            let context = inputs.call.context();
            let operand = asking.canonicalizer.operand(bound, base, context);
            inputs.operands.push(operand);
        }
    }
}

/// What a pattern of a shell matches is meant, and not the directory that it ranges over.
fn narrow(inputs: &Inputs, operand: &mut Operand<'_, '_>) {
    let name = inputs.name_of(operand.bound.argument);
    let [PointerToken::Item(at)] = &*operand.bound.place else {
        return;
    };
    let mut patterns = inputs.patterns.iter();
    let found = patterns.find(|(argument, item, _)| *argument == name && item == at);
    if let (Some((_, _, pattern)), Form::Path { rest, .. }) = (found, &mut operand.form) {
        rest.pattern = Some(pattern.clone());
    }
}

/// Takes the next value that has no canonical form. Values beyond as many as one role may have cost what they hold; where some
/// were left out, no steps are left.
fn next_pending<'p, 'c>(inputs: &mut Inputs<'p, 'c>, asking: &mut Asking) -> Option<BoundValue<'p, 'c>> {
    let bound = inputs.pending.next()?;
    if inputs.arguments.are_left_out {
        asking.take_steps(usize::MAX);
    } else if inputs.operands.len() >= inputs.program.limits.values_per_role {
        asking.take_steps(FURTHER_VALUE);
    }
    Some(bound)
}

/// The path of the argument that the value is relative to, if it is relative to one that has a path. That has its form
/// already, since such values come first.
pub(super) fn base_of(inputs: &Inputs, asking: &mut Asking, bound: &BoundValue<'_, '_>) -> Option<Arc<str>> {
    let Some(wanted) = bound.relative_to else {
        // It starts from where the server takes it, and it is not sent.
        bound.absent?;
        let directory = inputs.settings.working_directory.as_ref();
        let directory = directory.or_else(|| inputs.program.sandbox.first())?;
        return Some(Arc::from(&**directory));
    };
    let base = match asking.lookups.bases.get(wanted) {
        Some(known) => known.clone(),
        None => find_base(inputs, asking, wanted),
    }?;
    // The value's own path will begin with it: it is copied, and its components are looked at.
    asking.take_steps(base.len());
    Some(base)
}

fn find_base(inputs: &Inputs, asking: &mut Asking, wanted: &str) -> Option<Arc<str>> {
    let mut operands = inputs.operands.iter().filter(|operand| {
        let bound = &operand.bound;
        !bound.is_filled_in()
            && bound.place.is_empty()
            && bound.relative_to.is_none()
            && inputs.name_of_value(bound) == wanted
    });
    let base = operands.find_map(|operand| Some(Arc::from(operand.path()?.as_str())));
    asking.take_steps(inputs.operands.len());
    asking.lookups.bases.insert(wanted.into(), base.clone());
    base
}
