//! The predicate of a call that touches a place, which protected paths, their patterns and restricting rules share (SPEC §8.3.2).

use super::canonical::Canonicalizer;
use super::change::{Arrival, Change};
use super::directory::{Directory, Protected};
use super::operand::Operand;
use super::pattern::ProtectedPattern;
use super::sandbox::Sandbox;
use crate::glob::Rest;
use crate::model::Reach;
use crate::path::{CanonicalPath, Folded, PathCase, Pathspec};
use crate::role::{RoleId, RoleSet};

/// The answer to the question if a call changes a place, or reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    /// It does not.
    No,
    /// Nobody can see whether it does.
    Possible(Through),
    /// It does.
    Certain(Through),
}

/// The way in which a call touches a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Through {
    /// It names it, or something in it.
    Name,
    /// It removes what holds it.
    Removal,
    /// Something that arrives there replaces it.
    Arrival,
    /// A pattern of git matches it.
    Pattern,
}

impl Touch {
    fn certain(holds: bool, through: Through) -> Self {
        if holds { Self::Certain(through) } else { Self::No }
    }

    fn possible(holds: bool, through: Through) -> Self {
        if holds { Self::Possible(through) } else { Self::No }
    }
}

/// A path that a call names, in its forms.
pub(super) struct Place<'o> {
    /// The canonical path, or the lexical one of what has none; none where only patterns count.
    pub(super) path: Option<&'o str>,
    /// The form of it that is compared with protected paths.
    pub(super) folded: Option<Folded>,
    /// Other paths that lead there, for patterns.
    pub(super) written: &'o [String],
    pub(super) change: Option<&'o Change>,
    /// The pattern of git that ranges over it.
    pub(super) pattern: Option<&'o Pathspec>,
}

impl Place<'_> {
    fn removed(&self) -> Option<Reach> {
        self.change.and_then(|change| change.removed)
    }

    fn arrival(&self) -> Option<&Arrival> {
        self.change.and_then(|change| change.arrival.as_ref())
    }

    fn forms(&self) -> impl Iterator<Item = &str> {
        let written = self.written.iter().map(String::as_str);
        self.path.into_iter().chain(written)
    }
}

/// Says if the call touches a protected path at the place; `is_directory` says if that is one.
pub(super) fn touches(
    place: &Place<'_>,
    entry: &Protected,
    sandbox: &Sandbox,
    case: PathCase,
    is_directory: impl FnOnce() -> bool,
) -> Touch {
    let (Some(path), Some(folded)) = (place.path, &place.folded) else {
        return Touch::No;
    };
    let covers = |path: &str, folded: &Folded| entry.covers(folded) && !sandbox.excepts(path, entry, case);
    if covers(path, folded) {
        return Touch::Certain(Through::Name);
    }
    if let Some(pattern) = place.pattern {
        if entry.has_names_below(folded, |names| pattern.may_match(names)) {
            return Touch::Certain(Through::Pattern);
        }
        if entry.has_names_below(folded, |names| pattern.may_match_in(names)) && is_directory() {
            return Touch::Possible(Through::Pattern);
        }
    }
    let lies_below = entry.lies_within(folded);
    let removal = match place.removed() {
        Some(Reach::Tree) => Touch::certain(lies_below, Through::Removal),
        Some(Reach::Entry) => Touch::possible(lies_below, Through::Removal),
        None => Touch::No,
    };
    let Some(arrival) = place.arrival() else {
        return removal;
    };
    let inside = arrival.inside.iter().map(|(path, is_moved)| {
        let is_covered = covers(path, &case.fold_written(path));
        match is_moved {
            true => Touch::certain(is_covered, Through::Arrival),
            false => Touch::possible(is_covered, Through::Arrival),
        }
    });
    let below = Touch::possible(arrival.is_tree && lies_below, Through::Arrival);
    inside.fold(removal.max(below), Ord::max)
}

/// Says if the call touches a match of the pattern at the place, as far as the host can tell.
pub(super) fn touches_match(
    place: &Place<'_>,
    pattern: &ProtectedPattern,
    sandbox: &Sandbox,
    canonicalizer: &mut Canonicalizer<'_, '_>,
) -> Touch {
    if place.forms().any(|form| pattern.protects(form, sandbox.forms())) {
        return Touch::Certain(Through::Name);
    }
    if let Some(git) = place.pattern {
        let touch = matches_match(place, git, pattern, sandbox, canonicalizer);
        if touch != Touch::No {
            return touch;
        }
    }
    if place.removed().is_none() && place.arrival().is_none() {
        return Touch::No;
    }
    let bytes: usize = place.forms().map(str::len).sum();
    canonicalizer.facts.take_steps(pattern.cost_below(bytes));
    if canonicalizer.facts.has_failed() {
        return Touch::No;
    }
    let removal = match place.removed() {
        Some(reach) => removes_match(place, reach, pattern, sandbox, canonicalizer),
        None => Touch::No,
    };
    match place.arrival() {
        Some(arrival) if !matches!(removal, Touch::Certain(_)) => {
            removal.max(brings_match(place, arrival, pattern, sandbox, canonicalizer))
        }
        Some(_) | None => removal,
    }
}

/// Says if a pattern of git may match what the protected pattern matches.
fn matches_match(
    place: &Place<'_>,
    git: &Pathspec,
    pattern: &ProtectedPattern,
    sandbox: &Sandbox,
    canonicalizer: &mut Canonicalizer<'_, '_>,
) -> Touch {
    for form in place.forms() {
        let steps = pattern.cost_below(form.len()) + git.cost(pattern.bytes() + form.len());
        canonicalizer.facts.take_steps(steps);
    }
    if canonicalizer.facts.has_failed() {
        return Touch::No;
    }
    let rests = place.forms().flat_map(|form| pattern.below(form));
    let rests: Vec<Rest> = rests.flat_map(|below| below.rests).collect();
    for rest in rests
        .iter()
        .filter(|rest| rest.is_whole && !rest.names.is_empty())
    {
        let Some(directory) = place.path else { break };
        let (matches, matches_in) = (git.may_match(&rest.names), git.may_match_in(&rest.names));
        if (matches || matches_in) && exists_in(directory, rest, pattern, sandbox, canonicalizer) {
            let path = format!("{}/{}", directory.trim_end_matches('/'), rest.names);
            if matches {
                return Touch::Certain(Through::Pattern);
            }
            if canonicalizer.facts.is_directory(&path) == Some(true) {
                return Touch::Possible(Through::Pattern);
            }
        }
    }
    Touch::possible(
        place.forms().any(|form| pattern.may_meet(form, git)),
        Through::Pattern,
    )
}

fn removes_match(
    place: &Place<'_>,
    reach: Reach,
    pattern: &ProtectedPattern,
    sandbox: &Sandbox,
    canonicalizer: &mut Canonicalizer<'_, '_>,
) -> Touch {
    let found = |is_known: bool| match reach {
        Reach::Tree if is_known => Touch::Certain(Through::Removal),
        Reach::Tree | Reach::Entry => Touch::Possible(Through::Removal),
    };
    if place.forms().any(|form| pattern.begins_within(form)) {
        return found(true);
    }
    let Some(directory) = place.path else {
        return Touch::No;
    };
    let all: Vec<_> = place.forms().flat_map(|form| pattern.below(form)).collect();
    if all.is_empty() || canonicalizer.facts.is_directory(directory) == Some(false) {
        return Touch::No;
    }
    let mut touch = Touch::No;
    for below in all {
        // Only an empty directory is removed as an entry.
        if below.is_deep && reach == Reach::Tree {
            touch = touch.max(found(false));
        }
        for rest in &below.rests {
            let exists = exists_in(directory, rest, pattern, sandbox, canonicalizer);
            if exists {
                touch = touch.max(found(rest.is_whole || rest.is_named));
            }
        }
    }
    touch
}

fn brings_match(
    place: &Place<'_>,
    arrival: &Arrival,
    pattern: &ProtectedPattern,
    sandbox: &Sandbox,
    canonicalizer: &mut Canonicalizer<'_, '_>,
) -> Touch {
    let mut touch = Touch::No;
    for (path, is_moved) in &arrival.inside {
        let begins = || {
            pattern
                .below(path)
                .iter()
                .any(|below| below.rests.iter().any(|rest| rest.is_named))
        };
        if pattern.protects(path, sandbox.forms()) || (arrival.is_tree && begins()) {
            touch = touch.max(match is_moved {
                true => Touch::Certain(Through::Arrival),
                false => Touch::Possible(Through::Arrival),
            });
        }
    }
    if !arrival.is_tree {
        return touch;
    }
    let all: Vec<_> = place.forms().flat_map(|form| pattern.below(form)).collect();
    if all.is_empty() && place.forms().any(|form| pattern.begins_within(form)) {
        return touch.max(Touch::Possible(Through::Arrival));
    }
    for rest in all.iter().flat_map(|below| &below.rests) {
        if arrival.is_moved && rest.is_named {
            return Touch::Certain(Through::Arrival);
        }
        let sources = arrival.sources.iter().map(CanonicalPath::as_str);
        let mut directories = place.path.into_iter().chain(sources);
        if arrival.is_unknown || directories.any(|one| exists_in(one, rest, pattern, sandbox, canonicalizer))
        {
            touch = touch.max(Touch::Possible(Through::Arrival));
        }
    }
    touch
}

/// Returns `true` if the first names of the rest are in the directory, or none can be asked for.
pub(super) fn exists_in(
    directory: &str,
    rest: &Rest,
    pattern: &ProtectedPattern,
    sandbox: &Sandbox,
    canonicalizer: &mut Canonicalizer<'_, '_>,
) -> bool {
    if rest.names.is_empty() {
        return true;
    }
    let path = format!("{}/{}", directory.trim_end_matches('/'), rest.names);
    let is_excepted =
        rest.is_whole && pattern.covers(&path, None) && !pattern.protects(&path, sandbox.forms());
    !is_excepted && canonicalizer.resolver().may_exist(&path)
}

/// Returns `true` if a restriction on the directory may concern the value although it does not lie within it: the call may
/// change something in the directory, or the disk may take the value's spelling for one there. `roles` are those that the
/// restriction is about.
pub(super) fn may_concern(
    operand: &Operand<'_, '_>,
    change: Option<&Change>,
    directory: &Directory,
    roles: RoleSet,
) -> bool {
    let removes = operand.bound.role_set.contains(RoleId::DELETE_PATH) && operand.pattern().is_none();
    let is_matched = |path: &CanonicalPath| {
        operand.pattern().is_some_and(|pattern| {
            directory.has_names_below(path, |names| {
                pattern.may_match(names) || pattern.may_match_in(names)
            })
        })
    };
    let lies_below = || operand.path().is_some_and(|path| directory.lies_within(path));
    let arrives = |arrival: &Arrival| {
        let inside = |(path, _): &(String, bool)| directory.meets(path, arrival.is_tree);
        (arrival.is_tree && lies_below()) || arrival.inside.iter().any(inside)
    };
    let arrival = change.and_then(|change| change.arrival.as_ref());
    operand
        .paths()
        .any(|path| directory.may_hold(path) || is_matched(path))
        || (removes && lies_below())
        || (roles.contains(RoleId::WRITE_PATH) && arrival.is_some_and(arrives))
}
