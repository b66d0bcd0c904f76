//! Protected paths: values of path roles, then whatever looks like a path.

use super::Case;
use super::check::{Check, deny};
use crate::path::CanonicalPath;
use crate::role::RoleId;

/// A path that may be protected.
struct Candidate {
    path: CanonicalPath,
    /// Whether the call removes it.
    is_deleted: bool,
    /// What is shown instead of the path.
    address: Option<String>,
}

pub(super) fn check<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    if case.program.protected.is_empty() {
        return Check::Pass;
    }
    let candidates = candidates(case);
    if candidates.is_empty() {
        return Check::Pass;
    }
    let path_case = case.program.path_case;
    let (protected, sandbox) = case.directories.protection(&mut case.canonicalizer);
    for candidate in candidates {
        let folded = path_case.fold(&candidate.path);
        let is_protected = protected.iter().any(|entry| {
            let is_covered = entry.covers(&folded) && !sandbox.excepts(&candidate.path, entry, path_case);
            is_covered || (candidate.is_deleted && entry.lies_within(&folded))
        });
        if is_protected {
            let shown = candidate.address.unwrap_or_else(|| candidate.path.to_string());
            let reason = format!("Access to protected path is forbidden: {shown}");
            return deny("structural-protected-path", reason);
        }
    }
    Check::Holds("no value lies within a protected path")
}

fn candidates(case: &mut Case<'_, '_, '_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for operand in &case.operands {
        let is_deleted = operand.bound.role_set.contains(RoleId::DELETE_PATH);
        candidates.extend(operand.paths().map(|path| Candidate {
            path: path.clone(),
            is_deleted,
            address: None,
        }));
        candidates.extend(operand.located().map(|located| Candidate {
            path: located.path.clone(),
            is_deleted: false,
            address: Some(located.address.clone()),
        }));
    }
    for (_, text) in &case.arguments.path_like {
        // A string without a path role that is not a path either names nothing to protect.
        candidates.extend(case.canonicalizer.path_like(text).ok().map(|path| Candidate {
            path,
            is_deleted: false,
            address: None,
        }));
    }
    candidates
}
