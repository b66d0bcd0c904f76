//! Protected paths: values of path roles, then whatever looks like a path.

use super::StructuralRule;
use super::canonical::Canonicalizer;
use super::changes::changes;
use super::check::{Finding, deny};
use super::touch::{Place, Through, Touch, touches, touches_match};
use super::{Case, Verdict};
use crate::model::Reach;
use crate::path::{CanonicalPath, Unresolvable};
use crate::program::{self};
use crate::role::{REDACTED, RoleId};

/// A path that may be protected.
struct Candidate<'o> {
    place: Place<'o>,
    from: From,
    /// The text to show in its place, in an engine with a world: the address, or the text as it was given.
    shown: Option<&'o str>,
}

/// Where it comes from.
#[derive(Clone, Copy)]
enum From {
    /// An operand.
    Role(usize),
    /// A text that looks like a path.
    Heuristic(usize),
}

/// The place of a protected path, or of a pattern, in the program.
#[derive(Clone, Copy)]
enum Entry {
    Path(usize),
    Pattern(usize),
}

/// A candidate that touches something protected.
struct Found {
    shown: String,
    from: From,
    entry: Entry,
    through: Through,
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

pub(super) fn check<'p>(case: &mut Case<'p, '_, '_>) -> Option<Finding<'p>> {
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
    let (mut certain, mut possible) = (None, None);
    hold(case, &path_like, |candidate, entry, touch| {
        let found = |through| {
            let path = candidate.place.path;
            let path = path.or(candidate.place.written.first().map(String::as_str));
            let shown = candidate.shown.filter(|_| has_world).or(path).unwrap_or_default();
            Found {
                shown: shown.to_owned(),
                from: candidate.from,
                entry,
                through,
            }
        };
        match touch {
            Touch::No => {}
            Touch::Possible(through) => {
                possible.get_or_insert_with(|| found(through));
            }
            Touch::Certain(through) => certain = Some(found(through)),
        }
        matches!(touch, Touch::Certain(_))
    });
    if let Some(found) = certain {
        return deny(StructuralRule::ProtectedPath, forbidden(case, &found));
    }
    if let Some((argument, why)) = unclear {
        let shown = case.shown_argument(argument);
        let reason = format!("Unresolvable value of {shown}, which looks like a path: it {why}");
        return deny(StructuralRule::UnresolvableValue, reason);
    }
    let Some(found) = possible.filter(|_| program.defaults.judges_below) else {
        case.note_held("protected-paths", "no value lies within a protected path");
        return None;
    };
    let reason = doubtful(case, &found);
    case.note("protected-paths", false, || reason.clone());
    let verdict = Verdict::escalate(roles_of(case, &found), StructuralRule::ProtectedBelow, reason);
    Some(Finding::Escalate(verdict))
}

/// The reason of a denial.
fn forbidden(case: &Case<'_, '_, '_>, found: &Found) -> String {
    let (shown, from) = (shown(case, found), &found.from);
    if !case.names_arguments() {
        return format!("Access to protected path is forbidden: {shown}");
    }
    let (source, entry) = (source(case, *from), shown_entry(case, found.entry));
    match found.through {
        Through::Name => format!("Access to protected path is forbidden: {shown} ({source})"),
        Through::Removal => format!(
            "Removing {shown} would remove the protected path {entry} ({source}, which the annotation gives `delete-path`)"
        ),
        Through::Pattern => format!(
            "The pattern matches the protected path {entry} below {shown} ({source}), expected one that does not"
        ),
        Through::Arrival => {
            format!("What is moved to {shown} would become a part of the protected path {entry} ({source})")
        }
    }
}

/// The reason of an escalation.
fn doubtful(case: &Case<'_, '_, '_>, found: &Found) -> String {
    let (shown, from) = (shown(case, found), &found.from);
    let (source, entry) = (source(case, *from), shown_entry(case, found.entry));
    let is_said = match from {
        From::Role(at) => {
            let operand = case.operands.get(*at);
            operand.is_some_and(|operand| operand.bound.reach == Some(Reach::Tree))
        }
        From::Heuristic(_) => false,
    };
    match found.through {
        Through::Name | Through::Removal => format!(
            "Removing {shown} may remove the protected path {entry}, since nobody can see all that is in it ({source}, which the \
             annotation gives `delete-path`)"
        ),
        Through::Pattern => format!(
            "The pattern may match the protected path {entry} below {shown}, since nobody can see all that it matches there \
             ({source})"
        ),
        Through::Arrival if is_said => format!(
            "What arrives in {shown} may replace the protected path {entry}, since nobody can see all of it ({source}, which the \
             annotation gives `reach: \"tree\"`)"
        ),
        Through::Arrival => format!(
            "A directory that is copied or moved to {shown} may replace the protected path {entry}, since nobody can see all that is \
             in it ({source}; its annotation says so by `reach: \"tree\"`, and that one entry is written by `reach: \"entry\"`)"
        ),
    }
}

/// The entry as it was written. A world's agents learn no path of the host.
fn shown_entry(case: &Case<'_, '_, '_>, entry: Entry) -> String {
    let program = case.program;
    if program.world.is_some() {
        return "of the configuration".to_owned();
    }
    match entry {
        Entry::Path(at) => program.protected.paths.get(at).map(|path| path.to_string()),
        Entry::Pattern(at) => {
            let pattern = program.protected.patterns.get(at);
            pattern.map(program::ProtectedPattern::shown)
        }
    }
    .unwrap_or_default()
}

/// The roles that the doubt is about: of the value, as far as it is changed, and of what arrives there.
fn roles_of<'p>(case: &mut Case<'p, '_, '_>, found: &Found) -> Vec<&'p str> {
    let From::Role(at) = found.from else {
        return Vec::new();
    };
    let changes = changes(case);
    let arrival = changes.get(at).and_then(|change| change.arrival.as_ref());
    let from = arrival.map_or(&[][..], |arrival| &arrival.from);
    let own = case
        .operands
        .get(at)
        .map(|operand| operand.bound.roles)
        .unwrap_or_default();
    let addresses = case.program.address_roles;
    let is_changed = |role: &RoleId| {
        matches!(*role, RoleId::WRITE_PATH | RoleId::DELETE_PATH)
            || addresses.contains(*role)
            || (found.through == Through::Pattern && case.program.path_roles.contains(*role))
    };
    let mut roles: Vec<RoleId> = own.iter().copied().filter(is_changed).collect();
    if found.through == Through::Arrival {
        let others = from
            .iter()
            .copied()
            .filter(|role| case.tool_roles.contains(*role));
        let others: Vec<RoleId> = others.filter(|role| !roles.contains(role)).collect();
        roles.extend(others);
    }
    let registry = &case.program.registry;
    roles.into_iter().map(|role| registry.name(role)).collect()
}

/// Holds every candidate against what is protected, until `ends` says that it is enough.
fn hold(
    case: &mut Case<'_, '_, '_>,
    path_like: &[PathLike],
    mut ends: impl FnMut(&Candidate<'_>, Entry, Touch) -> bool,
) {
    let changes = changes(case);
    let program = case.program;
    let (operands, canonicalizer) = (&case.operands, &mut case.canonicalizer);
    let (protection, sandbox) = case.directories.protection(canonicalizer);
    let has_patterns = !program.protected.patterns.is_empty();
    let mut held = |candidate: Candidate<'_>| {
        for (at, entry) in protection.paths.iter().enumerate() {
            let is_directory = || {
                let path = program.protected.paths.get(at);
                path.is_some_and(|path| canonicalizer.facts.is_directory(path) == Some(true))
            };
            let touch = touches(&candidate.place, entry, sandbox, program.path_case, is_directory);
            if touch != Touch::No && ends(&candidate, Entry::Path(at), touch) {
                return true;
            }
        }
        for (at, pattern) in protection.patterns.iter().enumerate() {
            let touch = touches_match(&candidate.place, pattern, sandbox, canonicalizer);
            if touch != Touch::No && ends(&candidate, Entry::Pattern(at), touch) {
                return true;
            }
        }
        false
    };
    let _ = operands.iter().enumerate().any(|(place, operand)| {
        let change = changes.get(place);
        let from = From::Role(place);
        let mut paths = operand.paths().enumerate();
        paths.any(|(at, path)| {
            held(Candidate {
                place: Place {
                    path: Some(path.as_str()),
                    folded: Some(program.path_case.fold(path)),
                    written: if at == 0 { operand.written() } else { &[] },
                    change,
                    pattern: operand.pattern(),
                },
                from,
                shown: Some(operand.bound.raw()),
            })
        }) || operand.located().is_some_and(|located| {
            let written = has_patterns.then(|| located.lexical.to_string());
            held(Candidate {
                place: Place {
                    path: Some(located.path.as_str()),
                    folded: Some(program.path_case.fold(&located.path)),
                    written: written.as_slice(),
                    change,
                    pattern: None,
                },
                from,
                shown: Some(&located.address),
            })
        })
    }) || path_like.iter().any(|one| {
        let given = case.arguments.path_like.get(one.at);
        let folded = one.canonical.as_ref().map(|path| program.path_case.fold(path));
        let lexical = one.lexical.as_deref();
        held(Candidate {
            place: Place {
                path: one.canonical.as_ref().map(CanonicalPath::as_str).or(lexical),
                folded: folded.or_else(|| lexical.map(|text| program.path_case.fold_written(text))),
                written: &one.written,
                change: None,
                pattern: None,
            },
            from: From::Heuristic(one.at),
            shown: given.map(|given| &*given.text),
        })
    });
}

/// The parts of a call that protected paths are about.
#[derive(Default)]
pub(super) struct Touched {
    /// The operands that touch one.
    pub(super) certain: Vec<usize>,
    /// The operands that may.
    pub(super) possible: Vec<usize>,
    /// `true` if a text without a path role does, or may.
    pub(super) is_text: bool,
}

pub(super) fn touched(case: &mut Case<'_, '_, '_>) -> Touched {
    let mut seen = Touched::default();
    if case.program.protected.is_empty() {
        return seen;
    }
    let (path_like, unclear) = path_like(case);
    hold(case, &path_like, |candidate, _, touch| {
        match (candidate.from, touch) {
            (From::Role(at), Touch::Certain(_)) => seen.certain.push(at),
            (From::Role(at), Touch::Possible(_)) => seen.possible.push(at),
            (From::Heuristic(_), Touch::Certain(_) | Touch::Possible(_)) => seen.is_text = true,
            (From::Role(_) | From::Heuristic(_), Touch::No) => {}
        }
        false
    });
    seen.is_text |= unclear.is_some();
    seen
}

/// The patterns that match an operand, by their place in the program.
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

/// The argument that a candidate comes from, as a reason names it.
fn source(case: &Case<'_, '_, '_>, from: From) -> String {
    match from {
        From::Role(at) => {
            let operand = case.operands.get(at);
            operand.map_or_else(String::new, |operand| case.shown_source(&operand.bound))
        }
        From::Heuristic(at) => {
            let found = case.arguments.path_like.get(at);
            let shown = found.map_or_else(String::new, |found| case.shown_argument(found.argument));
            format!("{shown}, which looks like a path")
        }
    }
}

/// The text of a candidate, or a placeholder where a role of its argument redacts it.
fn shown<'f>(case: &Case<'_, '_, '_>, found: &'f Found) -> &'f str {
    let name = match found.from {
        From::Role(at) => case.operands.get(at).map(|one| case.name_of_value(&one.bound)),
        From::Heuristic(at) => {
            let found = case.arguments.path_like.get(at);
            found.map(|found| case.name_of(Some(found.argument)))
        }
    };
    match name.is_some_and(|name| case.redacts(name)) {
        true => REDACTED,
        false => &found.shown,
    }
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
