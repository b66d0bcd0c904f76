//! Protected paths: values of path roles, then whatever looks like a path.

use super::Case;
use super::check::{Check, deny};
use crate::path::CanonicalPath;
use crate::role::RoleId;

/// A path that may be protected.
struct Candidate {
    path: Path,
    /// Whether the call removes it.
    is_deleted: bool,
    /// What is shown instead of the path, in an engine with a world: the address, or the text as it was given.
    shown: Option<String>,
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
            let shown = candidate.shown.unwrap_or_else(|| text.to_owned());
            let reason = format!("Access to protected path is forbidden: {shown}");
            return deny("structural-protected-path", reason);
        }
    }
    Check::Holds("no value lies within a protected path")
}

fn candidates(case: &mut Case<'_, '_, '_>) -> Vec<Candidate> {
    // What each of them costs: it is found once, and held against every entry.
    let cost = 1 + case.program.protected.len();
    let mut candidates = Vec::new();
    let shown = |given: &str| case.program.world.is_some().then(|| given.to_owned());
    let removes_places = case.removes_places();
    for operand in &case.operands {
        case.canonicalizer.facts.take_steps(cost);
        let is_deleted = operand.bound.role_set.contains(RoleId::DELETE_PATH);
        candidates.extend(operand.paths().map(|path| Candidate {
            path: Path::Canonical(path.clone()),
            is_deleted,
            shown: shown(operand.bound.raw()),
        }));
        candidates.extend(operand.located().map(|located| Candidate {
            path: Path::Canonical(located.path.clone()),
            is_deleted: is_deleted || removes_places,
            shown: Some(located.address.clone()),
        }));
    }
    let longest = case.program.limits.path_like_bytes;
    for (_, text) in &case.arguments.path_like {
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
            is_deleted: false,
            shown: case.program.world.is_some().then(|| text.to_string()),
        }));
    }
    candidates
}
