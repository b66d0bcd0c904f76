//! Visibility and operations (SPEC §8.3.5, §13): the places that a call's addresses name.

use super::StructuralRule;
use super::asking::Asking;
use super::canonical::Canonicalizer;
use super::change::Change;
use super::changes::{changes, removes_places};
use super::check::{Finding, deny};
use super::inputs::Inputs;
use super::operand::{Form, Operand};
use crate::model::Reach;
use crate::text::is_at_or_below;
use crate::world::{Action, Reply};

/// How a world answers to an address: what a context can change in the verdict about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlaceSeen {
    /// `true` if the mode sees the place.
    pub is_visible: bool,
    /// `true` if the command is allowed there.
    pub is_allowed: bool,
    /// `true` if the call may remove it.
    pub is_removed: bool,
    /// `true` if the host failed to answer, so that the call is denied.
    pub has_failed: bool,
}

/// How the world answers to the value, if it is an address.
pub(super) fn place_seen(inputs: &Inputs, asking: &mut Asking, at: usize) -> Option<PlaceSeen> {
    let is_removed = removes_places(inputs);
    let context = inputs.call.context();
    let action = Action {
        tool: &inputs.call.tool,
        command: context.command(),
    };
    let Form::Address(resolution) = &inputs.operands.get(at)?.form else {
        return None;
    };
    let allowed = match resolution {
        Ok(located) => asking.canonicalizer.judge_at(located, &action, context),
        Err(_) => None,
    };
    Some(PlaceSeen {
        is_visible: resolution.is_ok(),
        is_allowed: allowed.is_some_and(|reply| reply.is_ok()),
        is_removed,
        has_failed: asking.has_failed(),
    })
}

/// Every address must name a place that the mode sees.
pub(super) fn visibility<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    if !inputs.has_addresses() {
        return None;
    }
    let mut has_addresses = false;
    for operand in &inputs.operands {
        has_addresses |= operand.bound.role_set.intersects(inputs.program.address_roles);
        if let Form::Address(resolution) = &operand.form
            && let Err(reply) = resolution
        {
            return deny(StructuralRule::Visibility, reply.sentence());
        }
    }
    if has_addresses {
        asking.note_held("visibility", "every address is visible");
    }
    None
}

/// The tool's command must be allowed at each place.
pub(super) fn operations<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    if !inputs.has_addresses() {
        return None;
    }
    let context = inputs.call.context();
    let action = Action {
        tool: &inputs.call.tool,
        command: context.command(),
    };
    let mut allowed = Vec::new();
    for located in inputs.operands.iter().filter_map(Operand::located) {
        match asking.canonicalizer.judge_at(located, &action, context) {
            Some(Ok(reply)) => allowed.push(format!("{}: {}", located.address, reply.sentence())),
            Some(Err(reply)) => {
                let reason = reply.sentence();
                note_allowed(asking, allowed);
                return deny(StructuralRule::Operation, reason);
            }
            None => {}
        }
    }
    note_allowed(asking, allowed);
    if let Some((rule, reply)) = below_roots(inputs, asking, &action) {
        return deny(rule, reply.sentence());
    }
    Some(Finding::PlacesAllowed)
}

/// The answer to what the call changes below a root of which a subdirectory has rows of its own, where that is not allowed: a
/// root that is removed or moved away takes every subdirectory along, and a directory that arrives there brings those that it
/// holds.
fn below_roots(
    inputs: &Inputs,
    asking: &mut Asking,
    action: &Action<'_>,
) -> Option<(StructuralRule, Box<Reply>)> {
    let world = inputs.program.world.as_ref()?;
    let context = inputs.call.context();
    let mode = context.mode()?;
    if !inputs.program.defaults.judges_below {
        return None;
    }
    let changes = changes(inputs, asking);
    for (operand, change) in inputs.operands.iter().zip(changes.iter()) {
        let Some(located) = operand.located().filter(|located| located.subdirectory.is_none()) else {
            continue;
        };
        for name in world.rows_below(mode, &located.root) {
            let facts = &mut asking.canonicalizer.facts;
            facts.take_steps(1);
            if facts.has_failed() {
                return None;
            }
            let path = format!("{}/{name}", located.path.as_str().trim_end_matches('/'));
            let is_removed = change.removed == Some(Reach::Tree);
            if !is_removed && !arrives(change, &path, name, &mut asking.canonicalizer) {
                continue;
            }
            let address = format!("{}/{name}", located.base());
            let resolver = &mut asking.canonicalizer.resolver();
            let below = match world.resolve_address(&address, Some(mode), context, resolver) {
                Ok(below) => below,
                Err(reply) => return Some((StructuralRule::Visibility, reply)),
            };
            if let Some(Err(reply)) = asking.canonicalizer.judge_at(&below, action, context) {
                return Some((StructuralRule::Operation, reply));
            }
        }
    }
    None
}

/// Returns `true` if something of this name arrives in the directory that is changed, which makes it the path, or if nobody can tell.
fn arrives(change: &Change, path: &str, name: &str, canonicalizer: &mut Canonicalizer<'_, '_>) -> bool {
    let Some(arrival) = &change.arrival else {
        return false;
    };
    let is_put_there = arrival
        .inside
        .iter()
        .any(|(place, _)| is_at_or_below(place, path));
    let mut sources = arrival.sources.iter();
    is_put_there
        || arrival.is_unknown
        || sources.any(|source| {
            let there = format!("{}/{name}", source.as_str().trim_end_matches('/'));
            canonicalizer.resolver().may_exist(&there)
        })
}

fn note_allowed(asking: &mut Asking, allowed: Vec<String>) {
    for detail in allowed {
        asking.note("operations", true, || detail);
    }
}
