//! Protected paths: values of path roles, then whatever looks like a path.

use super::Case;
use super::canonical::Canonicalizer;
use super::check::{Checked, deny};
use super::directories::Protection;
use super::operand::Operand;
use super::sandbox::Sandbox;
use crate::path::{CanonicalPath, PathCase, Unresolvable};
use crate::program::Compatibility;
use crate::role::RoleId;

/// A path that may be protected.
struct Candidate<'o> {
    /// None where only patterns count.
    path: Option<Path<'o>>,
    from: From,
    /// Other paths that lead there, for patterns.
    written: &'o [String],
    change: Change,
    /// The direct entries of the directory that the call removes, as far as patterns may match there.
    contents: &'o [String],
    /// The text to show in its place, in an engine with a world: the address, or the text as it was given.
    shown: Option<&'o str>,
}

/// The change that the call may make below a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    /// It removes the path.
    Removal,
    /// It moves a directory there.
    Arrival,
}

/// Where it comes from.
#[derive(Clone, Copy)]
enum From {
    /// An operand.
    Role(usize),
    /// A text that looks like a path.
    Heuristic(usize),
}

enum Path<'o> {
    Canonical(&'o CanonicalPath),
    /// The lexical form of a string that is too long to be looked up, or has no canonical form.
    Lexical(&'o str),
}

impl Path<'_> {
    fn as_str(&self) -> &str {
        match self {
            Self::Canonical(path) => path.as_str(),
            Self::Lexical(text) => text,
        }
    }
}

/// A text that looks like a path, in the forms that are compared.
struct PathLike {
    /// Its place among these texts.
    at: usize,
    canonical: Option<CanonicalPath>,
    /// The lexical form, where it is too long to be looked up or has no canonical form.
    lexical: Option<String>,
    /// The lexical form, for patterns.
    written: Vec<String>,
}

pub(super) fn check<'p>(case: &mut Case<'p, '_, '_>) -> Checked<'p> {
    if case.program.protected.is_empty() || (case.operands.is_empty() && case.arguments.path_like.is_empty())
    {
        return None;
    }
    let names_places = count_operands(case);
    if !names_places && case.arguments.path_like.is_empty() {
        return None;
    }
    let (path_like, unclear) = path_like(case);
    if (!names_places && path_like.is_empty() && unclear.is_none()) || case.canonicalizer.facts.has_failed() {
        return None;
    }
    let program = case.program;
    let has_world = program.world.is_some();
    let mut found = None;
    let contents = contents(case);
    hold(case, &path_like, &contents, |candidate, is_protected| {
        if is_protected {
            let path = candidate.path.as_ref().map(Path::as_str);
            let path = path.or(candidate.written.first().map(String::as_str));
            let shown = candidate.shown.filter(|_| has_world).or(path).unwrap_or_default();
            found = Some((shown.to_owned(), candidate.from));
        }
        is_protected
    });
    let Some((shown, from)) = found else {
        let Some((argument, why)) = unclear else {
            case.note_held("protected-paths", "no value lies within a protected path");
            return None;
        };
        let shown = case.shown_argument(Some(argument));
        let reason = format!("Unresolvable value of {shown}, which looks like a path: it {why}");
        return deny("structural-unresolvable-value", reason);
    };
    let mut reason = format!("Access to protected path is forbidden: {shown}");
    if case.names_arguments() {
        reason = format!("{reason} ({})", source(case, from));
    }
    deny("structural-protected-path", reason)
}

/// Holds every candidate against what is protected, until `ends` says that it is enough.
fn hold(
    case: &mut Case<'_, '_, '_>,
    path_like: &[PathLike],
    contents: &[Vec<String>],
    mut ends: impl FnMut(&Candidate<'_>, bool) -> bool,
) {
    let removes_places = case.removes_places();
    let moves_directory = moves_directory(case);
    let program = case.program;
    let (protection, sandbox) = case.directories.protection(&mut case.canonicalizer);
    let has_patterns = !program.protected.patterns.is_empty();
    let mut held = |candidate: Candidate<'_>| {
        let is_protected = is_protected(&candidate, protection, sandbox, program.path_case);
        ends(&candidate, is_protected)
    };
    let _ = case.operands.iter().enumerate().any(|(place, operand)| {
        let roles = operand.bound.role_set;
        let change = match roles.contains(RoleId::DELETE_PATH) {
            true => Change::Removal,
            false if moves_directory && roles.contains(RoleId::WRITE_PATH) => Change::Arrival,
            false => Change::None,
        };
        let contents = contents.get(place).map_or(&[][..], Vec::as_slice);
        let from = From::Role(place);
        let mut paths = operand.paths().enumerate();
        paths.any(|(at, path)| {
            held(Candidate {
                path: Some(Path::Canonical(path)),
                from,
                written: if at == 0 { operand.written() } else { &[] },
                change,
                contents,
                shown: Some(operand.bound.raw()),
            })
        }) || operand.located().is_some_and(|located| {
            let written = has_patterns.then(|| located.lexical.to_string());
            held(Candidate {
                path: Some(Path::Canonical(&located.path)),
                from,
                written: written.as_slice(),
                change: if removes_places { Change::Removal } else { change },
                contents,
                shown: Some(&located.address),
            })
        })
    }) || path_like.iter().any(|one| {
        let given = case.arguments.path_like.get(one.at);
        let canonical = one.canonical.as_ref().map(Path::Canonical);
        held(Candidate {
            path: canonical.or_else(|| one.lexical.as_deref().map(Path::Lexical)),
            from: From::Heuristic(one.at),
            written: &one.written,
            change: Change::None,
            contents: &[],
            shown: given.map(|given| &*given.text),
        })
    });
}

/// The operands that are protected, and whether a text without a path role is, or may be.
#[cfg(feature = "analysis")]
pub(super) fn found(case: &mut Case<'_, '_, '_>) -> (Vec<usize>, bool) {
    let (mut operands, mut is_text) = (Vec::new(), false);
    if case.program.protected.is_empty() {
        return (operands, is_text);
    }
    let (path_like, unclear) = path_like(case);
    let contents = contents(case);
    hold(case, &path_like, &contents, |candidate, is_protected| {
        match candidate.from {
            From::Role(at) if is_protected => operands.push(at),
            From::Heuristic(_) if is_protected => is_text = true,
            From::Role(_) | From::Heuristic(_) => {}
        }
        false
    });
    (operands, is_text || unclear.is_some())
}

/// The patterns that match an operand, by their place in the program.
#[cfg(feature = "analysis")]
pub(super) fn patterns_of(case: &mut Case<'_, '_, '_>, at: usize) -> Vec<usize> {
    let Some(operand) = case.operands.get(at) else {
        return Vec::new();
    };
    let paths = operand.paths().map(CanonicalPath::as_str);
    let written = operand.written().iter().map(String::as_str);
    let located = operand.located();
    let located = located.map(|located| [located.path.as_str(), &*located.lexical]);
    let forms: Vec<&str> = paths
        .chain(written)
        .chain(located.into_iter().flatten())
        .collect();
    let (protection, sandbox) = case.directories.protection(&mut case.canonicalizer);
    let patterns = protection.patterns.iter().enumerate();
    let matching = patterns.filter(|(_, pattern)| {
        let mut forms = forms.iter();
        forms.any(|form| pattern.protects(form, sandbox.forms()))
    });
    matching.map(|(at, _)| at).collect()
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

fn is_protected(
    candidate: &Candidate<'_>,
    protection: &Protection,
    sandbox: &Sandbox,
    case: PathCase,
) -> bool {
    if let Some(path) = &candidate.path {
        let folded = match path {
            Path::Canonical(path) => case.fold(path),
            Path::Lexical(text) => case.fold_written(text),
        };
        let mut paths = protection.paths.iter();
        let is_in_one = paths.any(|entry| {
            let is_covered = entry.covers(&folded) && !sandbox.excepts(path.as_str(), entry, case);
            is_covered || (candidate.change != Change::None && entry.lies_within(&folded))
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
            let is_near = match candidate.change {
                Change::None => false,
                Change::Removal => pattern.may_lie_within(form),
                Change::Arrival => pattern.may_come_along(form),
            };
            is_near || pattern.protects(form, sandbox.forms())
        }) || candidate
            .contents
            .iter()
            .any(|form| pattern.protects(form, sandbox.forms()))
    })
}

/// Returns `true` if the call may move a directory: it removes a path that is not known to be a file, and writes another. What
/// is in the directory is then written as well.
fn moves_directory(case: &mut Case<'_, '_, '_>) -> bool {
    let has = |role: RoleId| move |operand: &Operand<'_, '_>| operand.bound.role_set.contains(role);
    let writes =
        |operand: &Operand<'_, '_>| has(RoleId::WRITE_PATH)(operand) && !has(RoleId::DELETE_PATH)(operand);
    if case.program.compatibility == Compatibility::Runtime || !case.operands.iter().any(writes) {
        return false;
    }
    let facts = &mut case.canonicalizer.facts;
    let removed = case
        .operands
        .iter()
        .filter(|operand| has(RoleId::DELETE_PATH)(operand));
    let mut places = removed.filter_map(|operand| {
        let located = operand.located().map(|located| &located.path);
        operand.path().or(located)
    });
    places.any(|path| facts.is_directory(path.as_str()) != Some(false))
}

/// The direct entries of the places that the call removes, by operand, as far as patterns may match there.
fn contents(case: &mut Case<'_, '_, '_>) -> Vec<Vec<String>> {
    if case.program.protected.patterns.is_empty() {
        return Vec::new();
    }
    let removes_places = case.removes_places();
    let mut contents = Vec::new();
    for (place, operand) in case.operands.iter().enumerate() {
        let is_deleted = operand.bound.role_set.contains(RoleId::DELETE_PATH);
        let path = operand.path().filter(|_| is_deleted);
        let located = operand.located().filter(|_| is_deleted || removes_places);
        if let Some(path) = path.or_else(|| located.map(|located| &located.path))
            && !case.canonicalizer.facts.has_failed()
        {
            contents.resize_with(place, Vec::new);
            contents.push(case.canonicalizer.protected_names_in(path.as_str()));
        }
    }
    contents
}

/// Counts what it takes to hold the operands against every entry; whether one of them names a place.
fn count_operands(case: &mut Case<'_, '_, '_>) -> bool {
    let protected = &case.program.protected;
    let mut names_places = false;
    for operand in &case.operands {
        if case.canonicalizer.facts.has_failed() {
            break;
        }
        // The forms of a path were paid for when they were found.
        let forms = operand.located().map_or(0, |located| located.lexical.len());
        let patterns = protected.cost_of_patterns(forms);
        case.canonicalizer.facts.take_steps(protected.cost() + patterns);
        names_places |= operand.path().is_some() || operand.located().is_some();
    }
    names_places
}

/// The texts that look like paths, each found once and held against every entry, and the first that programs read as
/// different ones. A text may be a name of the host, or one that the tool's server has for a place.
fn path_like(case: &mut Case<'_, '_, '_>) -> (Vec<PathLike>, Option<(usize, Unresolvable)>) {
    let (mut texts, mut unclear) = (Vec::new(), None);
    for (at, found) in case.arguments.path_like.iter().enumerate() {
        if case.canonicalizer.facts.has_failed() {
            break;
        }
        if !found.is_well_formed {
            unclear.get_or_insert((found.argument, Unresolvable::IllFormed));
            continue;
        }
        let names = case.canonicalizer.host_names(&found.text);
        for text in std::iter::once(&*found.text).chain(names.iter().map(String::as_str)) {
            match located(&mut case.canonicalizer, at, text) {
                Ok(found) => texts.extend(found),
                Err(why) => {
                    unclear.get_or_insert((found.argument, why));
                }
            }
        }
    }
    (texts, unclear)
}

/// Finds the place of a text that looks like a path; `None` where it is too long to be one, and an error where programs read
/// it as different ones.
fn located(
    canonicalizer: &mut Canonicalizer<'_, '_>,
    at: usize,
    text: &str,
) -> Result<Option<PathLike>, Unresolvable> {
    let program = canonicalizer.program;
    let longest = program.limits.path_like_bytes;
    let patterns = program.protected.cost_of_patterns(text.len().min(longest));
    let cost = program.protected.cost() + patterns;
    canonicalizer.facts.take_steps(cost);
    let (mut canonical, mut lexical) = (None, None);
    if text.len() > longest {
        lexical = Some(canonicalizer.lexical(text)).filter(|lexical| lexical.len() <= longest);
    } else {
        match canonicalizer.path_like(text) {
            Ok(path) => canonical = Some(path),
            Err(why) if why.may_lead_elsewhere(text) => return Err(why),
            Err(_) => lexical = Some(canonicalizer.lexical(text)),
        }
    }
    let has_patterns = !program.protected.patterns.is_empty();
    let written = has_patterns && text.len() <= longest;
    let written = written.then(|| canonicalizer.lexical(text));
    let is_found = canonical.is_some() || lexical.is_some() || written.is_some();
    Ok(is_found.then(|| PathLike {
        at,
        canonical,
        lexical,
        written: written.into_iter().collect(),
    }))
}
