//! The changes that a call makes below the places that its values name: what is removed, and what arrives there.
//!
//! An annotation says how far a tool reaches (`reach`). Where it does not, a directory that is removed takes with it what it
//! holds, and one that the call reads or removes may be copied or moved to the path that the call writes.

use std::sync::Arc;

use super::asking::Asking;
use super::change::{Arrival, Change, Changes};
use super::inputs::Inputs;
use super::operand::Operand;
use crate::bind::Origin;
use crate::cost::{ARRIVING_PATH, ARRIVING_PATTERN};
use crate::model::{MutationClass, Reach};
use crate::path::CanonicalPath;
use crate::role::RoleId;
use crate::world::Action;

/// A path that the call reads or removes, which may arrive where it writes.
struct Source {
    origin: Origin,
    path: CanonicalPath,
    /// The names that it may have.
    names: Vec<String>,
    is_removed: bool,
    is_directory: bool,
    /// It arrives as it is: it is moved, or the annotation says that the tool reads the tree below it.
    is_itself: bool,
    role: RoleId,
}

/// The changes that the call makes, found once.
pub(super) fn changes(inputs: &Inputs, asking: &mut Asking) -> Changes {
    if let Some(known) = asking.lookups.changes.clone() {
        return known;
    }
    let found = Arc::new(find(inputs, asking));
    asking.lookups.changes = Some(Arc::clone(&found));
    found
}

fn find(inputs: &Inputs, asking: &mut Asking) -> Vec<Change> {
    let (removes_places, changes_places) = (removes_places(inputs), changes_places(inputs));
    let is_removed = |operand: &Operand<'_, '_>| {
        operand.bound.role_set.contains(RoleId::DELETE_PATH)
            || (removes_places && operand.located().is_some())
    };
    let is_written = |operand: &Operand<'_, '_>| {
        operand.bound.role_set.contains(RoleId::WRITE_PATH) || (changes_places && operand.located().is_some())
    };
    let operands = &inputs.operands;
    if !operands.iter().any(|one| is_removed(one) || is_written(one)) {
        return Vec::new();
    }
    // A pattern removes what it matches, and not the directory that it ranges over.
    let removal = |operand: &Operand<'_, '_>| {
        let is_removed = is_removed(operand) && operand.pattern().is_none();
        is_removed.then(|| operand.bound.reach.unwrap_or(Reach::Tree))
    };
    let mut changes: Vec<Change> = operands
        .iter()
        .map(|operand| Change {
            removed: removal(operand),
            arrival: None,
        })
        .collect();
    if !inputs.program.defaults.judges_below {
        return changes;
    }
    let receives = |one: &&Operand<'_, '_>| is_written(one) && one.bound.reach != Some(Reach::Entry);
    let mut receiving = operands.iter().filter(receives).map(|one| one.bound.origin());
    let Some(first) = receiving.next() else {
        return changes;
    };
    let are_several = receiving.any(|origin| origin != first);
    let (protected, rules) = (&inputs.program.protected, &inputs.program.directories);
    let each = protected.patterns.len() * ARRIVING_PATTERN + protected.paths.len() + rules.len();
    let may_send_given = asking.canonicalizer.base.may_send_given;
    let facts = &mut asking.canonicalizer.facts;
    let mut sources = Vec::new();
    for operand in operands {
        let may_be_copied = operand.located().is_some()
            || operand.bound.role_set.contains(RoleId::READ_PATH)
                && !operand.bound.role_set.contains(RoleId::WRITE_PATH);
        let is_removed = is_removed(operand);
        let origin = operand.bound.origin();
        let arrives_elsewhere = are_several || origin != first;
        let Some(path) = place(operand) else { continue };
        if !(is_removed || may_be_copied) || !arrives_elsewhere || facts.has_failed() {
            continue;
        }
        let known = match operand.bound.reach {
            Some(Reach::Entry) => Some(false),
            Some(Reach::Tree) | None => facts.is_directory(path.as_str()),
        };
        sources.push(Source {
            origin,
            names: names(operand, may_send_given),
            is_removed,
            is_directory: known.unwrap_or(is_removed),
            is_itself: is_removed || operand.bound.reach == Some(Reach::Tree),
            path: path.clone(),
            role: match is_removed {
                true => RoleId::DELETE_PATH,
                false => RoleId::READ_PATH,
            },
        });
    }
    for (operand, change) in operands.iter().zip(&mut changes) {
        if receives(&operand)
            && let Some(path) = place(operand)
        {
            facts.take_steps(sources.len() * ARRIVING_PATH);
            // Programs refuse to copy a directory into itself; what is written there is made from what is read.
            let arrives = |source: &&Source| {
                source.origin != operand.bound.origin()
                    && (source.is_removed || !path.is_within(&source.path))
            };
            let arriving: Vec<&Source> = sources.iter().filter(arrives).collect();
            let is_put_inside = !arriving.is_empty() && facts.is_directory(path.as_str()) == Some(true);
            if is_put_inside {
                let places: usize = arriving.iter().map(|source| source.names.len()).sum();
                facts.take_steps(places * each);
            }
            if facts.has_failed() {
                break;
            }
            let said = operand.bound.reach == Some(Reach::Tree);
            change.arrival = Some(arrival(path, &arriving, said, is_put_inside));
        }
    }
    changes
}

/// Returns `true` if the call may remove what its addresses name, by the area of its command or by the kind of its
/// tool.
pub(super) fn removes_places(inputs: &Inputs) -> bool {
    let Some(world) = &inputs.program.world else {
        return false;
    };
    let action = Action {
        tool: &inputs.call.tool,
        command: inputs.call.context().command(),
    };
    let kind = inputs.tool.map(|tool| tool.semantics.kind);
    world.removes(&action) || kind.is_some_and(|kind| kind.mutation_class() == MutationClass::Destructive)
}

/// Returns `true` if the call may change what its addresses name, by the same.
fn changes_places(inputs: &Inputs) -> bool {
    let Some(world) = &inputs.program.world else {
        return false;
    };
    let action = Action {
        tool: &inputs.call.tool,
        command: inputs.call.context().command(),
    };
    let kind = inputs.tool.map(|tool| tool.semantics.kind);
    !world.reads(&action) && !kind.is_some_and(|kind| kind.is_read_only())
}

fn arrival(path: &CanonicalPath, arriving: &[&Source], is_said: bool, is_put_inside: bool) -> Arrival {
    let directories = arriving.iter().filter(|source| source.is_directory);
    let within = arriving.iter().filter(|_| is_put_inside);
    let within = within.flat_map(|source| {
        let names = source.names.iter();
        names.map(|name| {
            (
                format!("{}/{name}", path.as_str().trim_end_matches('/')),
                source.is_removed,
            )
        })
    });
    let mut from: Vec<RoleId> = Vec::new();
    for source in arriving {
        if !from.contains(&source.role) {
            from.push(source.role);
        }
    }
    // A file that arrives as it is brings nothing along; any other may be an archive, whatever comes beside it.
    let may_be_archive = |source: &&Source| !source.is_itself && !source.is_directory;
    let is_unknown = is_said && (arriving.is_empty() || arriving.iter().any(may_be_archive));
    Arrival {
        is_tree: is_unknown || directories.clone().next().is_some(),
        is_unknown,
        is_moved: directories.clone().any(|source| source.is_removed),
        sources: directories.map(|source| source.path.clone()).collect(),
        inside: within.collect(),
        from,
    }
}

/// The canonical path of a value, whether it is a path or an address.
fn place<'o>(operand: &'o Operand<'_, '_>) -> Option<&'o CanonicalPath> {
    let located = operand.located().map(|located| &located.path);
    operand.path().or(located)
}

/// The last names of the paths that lead to a value's place, each once. The one that is given counts where it may be sent.
fn names(operand: &Operand<'_, '_>, may_send_given: bool) -> Vec<String> {
    let canonical = operand.paths().map(CanonicalPath::as_str);
    let located = operand.located();
    let located = located.map(|located| [located.path.as_str(), &*located.lexical]);
    let forms = canonical
        .chain(located.into_iter().flatten())
        .chain(may_send_given.then(|| operand.given()));
    let mut names: Vec<String> = Vec::new();
    for form in forms {
        let name = form.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if !matches!(name, "" | "." | ".." | "~") && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}
