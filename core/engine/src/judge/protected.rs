//! Protected paths: values of path roles, then whatever looks like a path.

use super::StructuralRule;
use super::Verdict;
use super::asking::Asking;
use super::canonical::Canonicalizer;
use super::changes::changes;
use super::check::{Finding, deny};
use super::inputs::Inputs;
use super::reason::{shown_argument, shown_source};
use super::touch::{Place, Through, Touch, touches, touches_match};
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
    /// It is only read, which some entries allow.
    is_read: bool,
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

pub(super) fn check<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking) -> Option<Finding<'p>> {
    if inputs.program.protected.is_empty()
        || (inputs.operands.is_empty() && inputs.arguments.path_like.is_empty())
    {
        return None;
    }
    let names_places = count_operands(inputs, asking);
    if !names_places && inputs.arguments.path_like.is_empty() {
        return None;
    }
    let (path_like, unclear) = path_like(inputs, asking);
    if (!names_places && path_like.is_empty() && unclear.is_none()) || asking.has_failed() {
        return None;
    }
    let program = inputs.program;
    let has_world = program.world.is_some();
    let (mut certain, mut possible) = (None, None);
    hold(inputs, asking, &path_like, |candidate, entry, touch| {
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
        return deny(StructuralRule::ProtectedPath, forbidden(inputs, &found));
    }
    if let Some((argument, why)) = unclear {
        let shown = shown_argument(inputs, argument);
        let reason = format!("Unresolvable value of {shown}, which looks like a path: it {why}");
        return deny(StructuralRule::UnresolvableValue, reason);
    }
    let Some(found) = possible.filter(|_| program.defaults.judges_below) else {
        asking.note_held("protected-paths", "no value lies within a protected path");
        return None;
    };
    let reason = doubtful(inputs, &found);
    asking.note("protected-paths", false, || reason.clone());
    let verdict = Verdict::escalate(
        roles_of(inputs, asking, &found),
        StructuralRule::ProtectedBelow,
        reason,
    );
    Some(Finding::Escalate(verdict))
}

/// The reason of a denial.
fn forbidden(inputs: &Inputs, found: &Found) -> String {
    let (shown, from) = (shown(inputs, found), &found.from);
    if !inputs.names_arguments() {
        return format!("Access to protected path is forbidden: {shown}");
    }
    let (source, entry) = (source(inputs, *from), shown_entry(inputs, found.entry));
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
fn doubtful(inputs: &Inputs, found: &Found) -> String {
    let (shown, from) = (shown(inputs, found), &found.from);
    let (source, entry) = (source(inputs, *from), shown_entry(inputs, found.entry));
    let is_said = match from {
        From::Role(at) => {
            let operand = inputs.operands.get(*at);
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
fn shown_entry(inputs: &Inputs, entry: Entry) -> String {
    let program = inputs.program;
    if program.world.is_some() {
        return "of the configuration".to_owned();
    }
    match entry {
        Entry::Path(at) => program.protected.paths.get(at).map(|one| one.path.to_string()),
        Entry::Pattern(at) => {
            let pattern = program.protected.patterns.get(at);
            pattern.map(program::ProtectedPattern::shown)
        }
    }
    .unwrap_or_default()
}

/// The roles that the doubt is about: of the value, as far as it is changed, and of what arrives there.
fn roles_of<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking, found: &Found) -> Vec<&'p str> {
    let From::Role(at) = found.from else {
        return Vec::new();
    };
    let changes = changes(inputs, asking);
    let arrival = changes.get(at).and_then(|change| change.arrival.as_ref());
    let from = arrival.map_or(&[][..], |arrival| &arrival.from);
    let own = inputs
        .operands
        .get(at)
        .map(|operand| operand.bound.roles)
        .unwrap_or_default();
    let addresses = inputs.program.address_roles;
    let is_changed = |role: &RoleId| {
        matches!(*role, RoleId::WRITE_PATH | RoleId::DELETE_PATH)
            || addresses.contains(*role)
            || (found.through == Through::Pattern && inputs.program.path_roles.contains(*role))
    };
    let mut roles: Vec<RoleId> = own.iter().copied().filter(is_changed).collect();
    if found.through == Through::Arrival {
        let others = from.iter().copied().filter(|role| inputs.roles.contains(*role));
        let others: Vec<RoleId> = others.filter(|role| !roles.contains(role)).collect();
        roles.extend(others);
    }
    let registry = &inputs.program.registry;
    roles.into_iter().map(|role| registry.name(role)).collect()
}

/// Holds every candidate against what is protected, until `ends` says that it is enough.
fn hold(
    inputs: &Inputs,
    asking: &mut Asking,
    path_like: &[PathLike],
    mut ends: impl FnMut(&Candidate<'_>, Entry, Touch) -> bool,
) {
    let changes = changes(inputs, asking);
    let program = inputs.program;
    let (operands, canonicalizer) = (&inputs.operands, &mut asking.canonicalizer);
    let (protection, sandbox) = asking.directories.protection(canonicalizer);
    let has_patterns = !program.protected.patterns.is_empty();
    let mut held = |candidate: Candidate<'_>| {
        let counts = |may_be_read: bool| !(candidate.is_read && may_be_read);
        let paths = protection.paths.iter().enumerate();
        for (at, entry) in paths.filter(|(_, entry)| counts(entry.may_be_read)) {
            let is_directory = || {
                let path = program.protected.paths.get(at);
                path.is_some_and(|one| canonicalizer.facts.is_directory(&one.path) == Some(true))
            };
            let touch = touches(&candidate.place, entry, sandbox, program.path_case, is_directory);
            if touch != Touch::No && ends(&candidate, Entry::Path(at), touch) {
                return true;
            }
        }
        let patterns = protection.patterns.iter().enumerate();
        for (at, pattern) in patterns.filter(|(_, pattern)| counts(pattern.may_be_read)) {
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
        let is_read = operand.is_read(program);
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
                is_read,
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
                is_read,
            })
        })
    }) || path_like.iter().any(|one| {
        let given = inputs.arguments.path_like.get(one.at);
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
            is_read: false,
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

pub(super) fn touched(inputs: &Inputs, asking: &mut Asking) -> Touched {
    let mut seen = Touched::default();
    if inputs.program.protected.is_empty() {
        return seen;
    }
    let (path_like, unclear) = path_like(inputs, asking);
    hold(inputs, asking, &path_like, |candidate, _, touch| {
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
pub(super) fn patterns_of(inputs: &Inputs, asking: &mut Asking, at: usize) -> Vec<usize> {
    let Some(operand) = inputs.operands.get(at) else {
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
    let (protection, sandbox) = asking.directories.protection(&mut asking.canonicalizer);
    let patterns = protection.patterns.iter().enumerate();
    let is_read = operand.is_read(inputs.program);
    let matching = patterns.filter(|(_, pattern)| {
        let mut forms = forms.iter().filter(|_| !(is_read && pattern.may_be_read));
        forms.any(|form| pattern.protects(form, sandbox.forms()))
    });
    matching.map(|(at, _)| at).collect()
}

/// The argument that a candidate comes from, as a reason names it.
fn source(inputs: &Inputs, from: From) -> String {
    match from {
        From::Role(at) => {
            let operand = inputs.operands.get(at);
            operand.map_or_else(String::new, |operand| shown_source(inputs, &operand.bound))
        }
        From::Heuristic(at) => {
            let found = inputs.arguments.path_like.get(at);
            let shown = found.map_or_else(String::new, |found| shown_argument(inputs, found.argument));
            format!("{shown}, which looks like a path")
        }
    }
}

/// The text of a candidate, or a placeholder where a role of its argument redacts it.
fn shown<'f>(inputs: &Inputs, found: &'f Found) -> &'f str {
    let name = match found.from {
        From::Role(at) => inputs
            .operands
            .get(at)
            .map(|one| inputs.name_of_value(&one.bound)),
        From::Heuristic(at) => {
            let found = inputs.arguments.path_like.get(at);
            found.map(|found| inputs.name_of(Some(found.argument)))
        }
    };
    match name.is_some_and(|name| inputs.redacts(name)) {
        true => REDACTED,
        false => &found.shown,
    }
}

/// Counts what it takes to hold the operands against every entry; whether one of them names a place.
fn count_operands(inputs: &Inputs, asking: &mut Asking) -> bool {
    let protected = &inputs.program.protected;
    let mut names_places = false;
    for operand in &inputs.operands {
        if asking.has_failed() {
            break;
        }
        // The forms of a path were paid for when they were found.
        let forms = operand.located().map_or(0, |located| located.lexical.len());
        let patterns = protected.cost_of_patterns(forms);
        asking.take_steps(protected.cost() + patterns);
        names_places |= operand.path().is_some() || operand.located().is_some();
    }
    names_places
}

/// The texts that look like paths, each found once and held against every entry, and the first that programs read as
/// different ones. A text may be a name of the host, or one that the tool's server has for a place.
fn path_like(inputs: &Inputs, asking: &mut Asking) -> (Vec<PathLike>, Option<(usize, Unresolvable)>) {
    let (mut texts, mut unclear) = (Vec::new(), None);
    for (at, found) in inputs.arguments.path_like.iter().enumerate() {
        if asking.has_failed() {
            break;
        }
        if !found.is_well_formed {
            unclear.get_or_insert((found.argument, Unresolvable::IllFormed));
            continue;
        }
        let names = asking.canonicalizer.host_names(&found.text);
        for text in std::iter::once(&*found.text).chain(names.iter().map(String::as_str)) {
            match located(&mut asking.canonicalizer, at, text) {
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
