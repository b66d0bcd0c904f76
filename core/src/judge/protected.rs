//! Protected paths: values of path roles, then whatever looks like a path.

use super::Case;
use super::check::{Check, deny};
use crate::host::LOOK_UP;
use crate::path::CanonicalPath;
use crate::role::RoleId;

/// A path that may be protected.
struct Candidate {
    path: Path,
    from: From,
    /// Whether the call removes it.
    is_deleted: bool,
    /// What is shown instead of the path, in an engine with a world: the address, or the text as it was given.
    shown: Option<String>,
}

/// Where it comes from.
#[derive(Clone, Copy)]
enum From {
    /// An operand.
    Role(usize),
    /// A text that looks like a path.
    Heuristic(usize),
}

enum Path {
    Canonical(CanonicalPath),
    /// The lexical form of a string that is too long to be looked up.
    Lexical(String),
}

pub(super) fn check<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    if case.program.protected.is_empty() {
        return Check::Pass;
    }
    let candidates = candidates(case);
    if candidates.is_empty() || case.canonicalizer.facts.has_failed() {
        return Check::Pass;
    }
    let path_case = case.program.path_case;
    let (protected, sandbox) = case.directories.protection(&mut case.canonicalizer);
    for candidate in candidates {
        let (folded, text) = match &candidate.path {
            Path::Canonical(path) => (path_case.fold(path), path.as_str()),
            Path::Lexical(text) => (path_case.fold_written(text), text.as_str()),
        };
        let is_protected = protected.iter().any(|entry| {
            let is_covered = entry.covers(&folded) && !sandbox.excepts(text, entry, path_case);
            is_covered || (candidate.is_deleted && entry.lies_within(&folded))
        });
        if is_protected {
            let shown = candidate.shown.as_deref().unwrap_or(text);
            let mut reason = format!("Access to protected path is forbidden: {shown}");
            if case.names_arguments() {
                reason = format!("{reason} ({})", source(case, candidate.from));
            }
            return deny("structural-protected-path", reason);
        }
    }
    Check::Holds("no value lies within a protected path")
}

/// The argument that a candidate comes from.
fn source(case: &Case<'_, '_, '_>, from: From) -> String {
    match from {
        From::Role(at) => {
            let operand = case.operands.get(at);
            case.shown_argument(operand.and_then(|operand| operand.bound.argument))
        }
        From::Heuristic(at) => {
            let found = case.arguments.path_like.get(at);
            let shown = case.shown_argument(found.map(|(argument, _)| *argument));
            format!("{shown}, which looks like a path")
        }
    }
}

fn candidates(case: &mut Case<'_, '_, '_>) -> Vec<Candidate> {
    // What each of them costs: it is found once, and held against every entry.
    let cost = (1 + case.program.protected.len()) * LOOK_UP;
    let mut candidates = Vec::new();
    let shown = |given: &str| case.program.world.is_some().then(|| given.to_owned());
    let removes_places = case.removes_places();
    for (at, operand) in case.operands.iter().enumerate() {
        case.canonicalizer.facts.take_steps(cost);
        let is_deleted = operand.bound.role_set.contains(RoleId::DELETE_PATH);
        candidates.extend(operand.paths().map(|path| Candidate {
            path: Path::Canonical(path.clone()),
            from: From::Role(at),
            is_deleted,
            shown: shown(operand.bound.raw()),
        }));
        candidates.extend(operand.located().map(|located| Candidate {
            path: Path::Canonical(located.path.clone()),
            from: From::Role(at),
            is_deleted: is_deleted || removes_places,
            shown: Some(located.address.clone()),
        }));
    }
    let longest = case.program.limits.path_like_bytes;
    for (at, (_, text)) in case.arguments.path_like.iter().enumerate() {
        if case.canonicalizer.facts.has_failed() {
            break;
        }
        case.canonicalizer.facts.take_steps(cost);
        // A string without a path role that is not a path either names nothing to protect.
        let path = if text.len() <= longest {
            case.canonicalizer.path_like(text).ok().map(Path::Canonical)
        } else {
            let lexical = case.canonicalizer.lexical(text);
            (lexical.len() <= longest).then_some(Path::Lexical(lexical))
        };
        candidates.extend(path.map(|path| Candidate {
            path,
            from: From::Heuristic(at),
            is_deleted: false,
            shown: case.program.world.is_some().then(|| text.to_string()),
        }));
    }
    candidates
}
