//! Protected paths: values of path roles, then whatever looks like a path.

use super::Case;
use super::check::{Check, deny};
use super::directories::Protection;
use super::sandbox::Sandbox;
use crate::path::{CanonicalPath, PathCase, Unresolvable};
use crate::role::RoleId;

/// A path that may be protected.
struct Candidate {
    /// None where only patterns count.
    path: Option<Path>,
    from: From,
    /// Other paths that lead there, for patterns.
    written: Vec<String>,
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
    /// The lexical form of a string that is too long to be looked up, or has no canonical form.
    Lexical(String),
}

impl Path {
    fn as_str(&self) -> &str {
        match self {
            Self::Canonical(path) => path.as_str(),
            Self::Lexical(text) => text,
        }
    }
}

pub(super) fn check<'p>(case: &mut Case<'p, '_, '_>) -> Check<'p> {
    if case.program.protected.is_empty() {
        return Check::Pass;
    }
    let (candidates, unclear) = candidates(case);
    if case.canonicalizer.facts.has_failed() || (candidates.is_empty() && unclear.is_none()) {
        return Check::Pass;
    }
    let path_case = case.program.path_case;
    let (protection, sandbox) = case.directories.protection(&mut case.canonicalizer);
    for candidate in candidates {
        if is_protected(&candidate, protection, sandbox, path_case) {
            let path = candidate.path.as_ref().map(Path::as_str);
            let path = path.or(candidate.written.first().map(String::as_str));
            let shown = candidate.shown.as_deref().or(path).unwrap_or_default();
            let mut reason = format!("Access to protected path is forbidden: {shown}");
            if case.names_arguments() {
                reason = format!("{reason} ({})", source(case, candidate.from));
            }
            return deny("structural-protected-path", reason);
        }
    }
    if let Some((argument, why)) = unclear {
        let shown = case.shown_argument(Some(argument));
        let reason = format!("Unresolvable value of {shown}, which looks like a path: it {why}");
        return deny("structural-unresolvable-value", reason);
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
            let shown = case.shown_argument(found.map(|found| found.argument));
            format!("{shown}, which looks like a path")
        }
    }
}

fn is_protected(candidate: &Candidate, protection: &Protection, sandbox: &Sandbox, case: PathCase) -> bool {
    if let Some(path) = &candidate.path {
        let folded = match path {
            Path::Canonical(path) => case.fold(path),
            Path::Lexical(text) => case.fold_written(text),
        };
        let mut paths = protection.paths.iter();
        let is_in_one = paths.any(|entry| {
            let is_covered = entry.covers(&folded) && !sandbox.excepts(path.as_str(), entry, case);
            is_covered || (candidate.is_deleted && entry.lies_within(&folded))
        });
        if is_in_one {
            return true;
        }
    }
    protection.patterns.iter().any(|pattern| {
        let path = candidate.path.as_ref().map(Path::as_str);
        let mut forms = path
            .into_iter()
            .chain(candidate.written.iter().map(String::as_str));
        forms.any(|form| {
            pattern.protects(form, sandbox.forms()) || (candidate.is_deleted && pattern.may_lie_within(form))
        })
    })
}

/// What may be protected, and the first text that looks like a path and that programs read as different ones.
fn candidates(case: &mut Case<'_, '_, '_>) -> (Vec<Candidate>, Option<(usize, Unresolvable)>) {
    let program = case.program;
    // What each of them costs: it is found once, and held against every entry.
    let cost = program.protected.cost();
    let mut candidates = Vec::new();
    let has_patterns = !program.protected.patterns.is_empty();
    let shown = |given: &str| program.world.is_some().then(|| given.to_owned());
    let removes_places = case.removes_places();
    for (place, operand) in case.operands.iter().enumerate() {
        if case.canonicalizer.facts.has_failed() {
            break;
        }
        // The forms of a path were paid for when they were found.
        let forms = operand.located().map_or(0, |located| located.lexical.len());
        let patterns = program.protected.cost_of_patterns(forms);
        case.canonicalizer.facts.take_steps(cost + patterns);
        let is_deleted = operand.bound.role_set.contains(RoleId::DELETE_PATH);
        let written = |is_first: bool| match is_first {
            true => operand.written().to_vec(),
            false => Vec::new(),
        };
        candidates.extend(operand.paths().enumerate().map(|(at, path)| Candidate {
            path: Some(Path::Canonical(path.clone())),
            from: From::Role(place),
            written: written(at == 0),
            is_deleted,
            shown: shown(operand.bound.raw()),
        }));
        candidates.extend(operand.located().map(|located| {
            Candidate {
                path: Some(Path::Canonical(located.path.clone())),
                from: From::Role(place),
                written: has_patterns
                    .then(|| located.lexical.to_string())
                    .into_iter()
                    .collect(),
                is_deleted: is_deleted || removes_places,
                shown: Some(located.address.clone()),
            }
        }));
    }
    let longest = program.limits.path_like_bytes;
    let mut unclear = None;
    for (at, found) in case.arguments.path_like.iter().enumerate() {
        let text = &*found.text;
        if case.canonicalizer.facts.has_failed() {
            break;
        }
        if !found.is_well_formed {
            unclear.get_or_insert((found.argument, Unresolvable::IllFormed));
            continue;
        }
        case.canonicalizer
            .facts
            .take_steps(cost + program.protected.cost_of_patterns(text.len().min(longest)));
        let path = if text.len() > longest {
            Some(Path::Lexical(case.canonicalizer.lexical(text)))
                .filter(|path| path.as_str().len() <= longest)
        } else {
            match case.canonicalizer.path_like(text) {
                Ok(path) => Some(Path::Canonical(path)),
                Err(why) if why.may_lead_elsewhere(text) => {
                    unclear.get_or_insert((found.argument, why));
                    continue;
                }
                Err(_) => Some(Path::Lexical(case.canonicalizer.lexical(text))),
            }
        };
        let written = has_patterns && text.len() <= longest;
        let written = written.then(|| case.canonicalizer.lexical(text));
        if path.is_some() || written.is_some() {
            candidates.push(Candidate {
                path,
                from: From::Heuristic(at),
                written: written.into_iter().collect(),
                is_deleted: false,
                shown: shown(text),
            });
        }
    }
    (candidates, unclear)
}
