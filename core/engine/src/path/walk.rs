//! Walks through the file system, name by name where links make that necessary (SPEC §2.3).

use std::borrow::Cow;
use std::sync::Arc;

use crate::cost::{KNOWN_PATH, PATH_BYTES};
use crate::host::Facts;
use crate::limits::Limits;
use crate::text::strip_directory;

use super::PathCase;
use super::lexical::{join, parent, split_last};
use super::refusal::{Unresolvable, check_length, check_names, existing};

/// How many ancestors are asked about one by one before the steps up grow.
const NEAR_ANCESTORS: usize = 3;

/// One walk, which counts the links that it follows.
pub(super) struct Walk<'w, 'h> {
    facts: &'w mut Facts<'h>,
    limits: &'w Limits,
    path_case: PathCase,
    links: usize,
}

impl<'w, 'h> Walk<'w, 'h> {
    pub(super) fn new(facts: &'w mut Facts<'h>, limits: &'w Limits, path_case: PathCase) -> Self {
        Self {
            facts,
            limits,
            path_case,
            links: 0,
        }
    }

    /// Where the collapsed `path` really is, if it exists.
    ///
    /// If the answer differs from the question, there is a link on the way. The host follows every link, even one
    /// that leads elsewhere in another process, so the links are checked here.
    pub(super) fn existing(&mut self, path: &str) -> Result<Option<Arc<str>>, Unresolvable> {
        check_names(path, self.path_case)?;
        let Some(real) = existing(self.facts.realpath(path))? else {
            return Ok(None);
        };
        if !real.is_same {
            check_names(&real.path, self.path_case)?;
            self.check_links(path, &real.path)?;
        }
        Ok(Some(real.path))
    }

    /// Where the collapsed `path`, which is missing, would be made, if an earlier walk found that out.
    pub(super) fn known_missing<'p>(&self, path: &'p str) -> Result<Option<Cow<'p, str>>, Unresolvable> {
        let place = self.facts.place_of_missing(path);
        if let Some(place) = &place {
            check_names(place, self.path_case)?;
        }
        Ok(place)
    }

    /// Where the absolute path `text` leads if each `..` is the parent of the place reached so far.
    ///
    /// Missing names count as directories to be created, so a `..` in the text itself undoes them. In a link's
    /// target, which the kernel walks, only an existing directory has a parent.
    pub(super) fn follow(self, text: &str) -> Result<String, Unresolvable> {
        self.walk(steps(text, Origin::Value))
    }

    /// The same for a text that is collapsed, and so one step.
    pub(super) fn follow_collapsed(self, text: &str) -> Result<String, Unresolvable> {
        let names = text.strip_prefix('/').filter(|names| !names.is_empty());
        self.walk(
            names
                .map(|names| Step::Down(names.to_owned()))
                .into_iter()
                .collect(),
        )
    }

    fn walk(mut self, mut pending: Vec<Step>) -> Result<String, Unresolvable> {
        let mut place = Position::root();
        pending.reverse();
        while let Some(step) = pending.pop() {
            match step {
                Step::Up(Origin::Link) => {
                    if place.is_missing() || self.facts.is_directory(&place.path) == Some(false) {
                        return Err(Unresolvable::BrokenLink);
                    }
                    place.leave();
                }
                Step::Up(Origin::Value) => place.leave(),
                Step::Stay => {
                    if !place.is_missing() && self.facts.is_directory(&place.path) == Some(false) {
                        return Err(Unresolvable::BrokenLink);
                    }
                }
                Step::Down(names) => {
                    if let Some(link) = self.enter(&mut place, &names)? {
                        pending.extend(link.below.map(Step::Down));
                        pending.extend(steps(&link.target, Origin::Link).into_iter().rev());
                    }
                }
            }
        }
        check_names(&place.path, self.path_case)?;
        Ok(place.path)
    }

    /// Goes down to `names` below `place`, or to the base of the first dangling link on the way.
    fn enter(&mut self, place: &mut Position, names: &str) -> Result<Option<DanglingLink>, Unresolvable> {
        let path = join(&place.path, names);
        if place.is_missing() {
            place.path = path;
            return Ok(None);
        }
        self.facts.take_steps(KNOWN_PATH);
        if let Some(real) = self.existing(&path)? {
            *place = Position::existing(&real);
            return Ok(None);
        }
        let (directory, missing) = self.deepest_existing(place, &path)?;
        let name = split_last(missing).map_or("", |(_, name)| name);
        let below = path.strip_prefix(missing).unwrap_or("").trim_start_matches('/');
        let candidate = join(&directory, name);
        let link = self.facts.read_link(&candidate);
        let created = link.is_none().then_some(candidate.as_str());
        self.facts.note_missing_root(missing, created);
        let Some(target) = link else {
            *place = Position {
                path: join(&candidate, below),
                existing: directory.len(),
            };
            return Ok(None);
        };
        self.check_target(&target)?;
        self.links += 1;
        self.check_count(self.links)?;
        *place = Position::existing(if target.starts_with('/') { "/" } else { &directory });
        Ok(Some(DanglingLink {
            target,
            below: (!below.is_empty()).then(|| below.to_owned()),
        }))
    }

    /// The deepest existing ancestor of the missing `path` below the existing `place`: its real place, and the
    /// missing path just below it.
    ///
    /// Everything below a missing path is missing too, so the steps up can grow, followed by a binary search.
    fn deepest_existing<'p>(
        &mut self,
        place: &Position,
        path: &'p str,
    ) -> Result<(Arc<str>, &'p str), Unresolvable> {
        let known = if place.path == "/" { 0 } else { place.path.len() };
        let mut above = path
            .rmatch_indices('/')
            .map_while(|(at, _)| path.get(..at).filter(|_| at > known));
        // The path itself and then its ancestors, as far up as they were needed: most often a few of many.
        let mut upwards = vec![path];
        let mut missing = 0;
        let mut asked = 0;
        let mut stride = 1;
        let (mut deepest, mut real) = loop {
            upwards.extend(above.by_ref().take(missing + stride + 1 - upwards.len()));
            let last = upwards.len() - 1;
            if missing == last {
                return Ok((self.real_start(place)?, upwards.last().copied().unwrap_or(path)));
            }
            let probe = last.min(missing + stride);
            if let Some(real) = self.ancestor(upwards.get(probe).copied().unwrap_or(path))? {
                break (probe, real);
            }
            missing = probe;
            asked += 1;
            if asked >= NEAR_ANCESTORS {
                stride *= 2;
            }
        };
        while deepest - missing > 1 {
            let probe = deepest - (deepest - missing) / 2;
            match self.ancestor(upwards.get(probe).copied().unwrap_or(path))? {
                Some(found) => (deepest, real) = (probe, found),
                None => missing = probe,
            }
        }
        Ok((real, upwards.get(missing).copied().unwrap_or(path)))
    }

    /// [`Walk::existing`] of an ancestor: its text is kept beside that of the path which the call brought.
    fn ancestor(&mut self, path: &str) -> Result<Option<Arc<str>>, Unresolvable> {
        self.facts.take_steps(path.len() / PATH_BYTES);
        self.existing(path)
    }

    /// The real place of `place`. The host has already confirmed it, unless it is the root where the walk began.
    fn real_start(&mut self, place: &Position) -> Result<Arc<str>, Unresolvable> {
        if place.path == "/" {
            return self.existing("/")?.ok_or(Unresolvable::NoAncestor);
        }
        Ok(place.path.as_str().into())
    }

    /// Refuses an existing `path` that reaches `real` through a process's link.
    ///
    /// The host is not asked about names on the way to `real`: a canonical path contains no links.
    fn check_links(&mut self, path: &str, real: &str) -> Result<(), Unresolvable> {
        // There is no link as far as both paths have the same names, and `path` itself was looked at.
        let (same, rest) = split_where_apart(path, real);
        let mut place = if same.is_empty() { "/" } else { same }.to_owned();
        let mut names: Vec<Cow<'_, str>> = rest.rsplit('/').map(Cow::Borrowed).collect();
        self.facts.take_steps(names.len());
        // `real` as seen from the place, while that is on the way to it.
        let mut ahead = strip_directory(real, &place);
        let mut links = 0;
        while let Some(name) = names.pop() {
            match &*name {
                "" | "." => continue,
                ".." => {
                    place.truncate(parent(&place).len());
                    ahead = strip_directory(real, &place);
                    continue;
                }
                _ => {}
            }
            let directory = place.len();
            if place != "/" {
                place.push('/');
            }
            place.push_str(&name);
            check_names(&place, self.path_case)?;
            ahead = ahead.and_then(|rest| strip_directory(rest, &name));
            if ahead.is_some() {
                continue;
            }
            let Some(target) = self.facts.read_link(&place) else {
                continue;
            };
            self.check_target(&target)?;
            links += 1;
            self.check_count(links)?;
            match target.starts_with('/') {
                true => place.truncate(1),
                false => place.truncate(directory),
            }
            ahead = strip_directory(real, &place);
            let before = names.len();
            names.extend(target.rsplit('/').map(|name| Cow::Owned(name.to_owned())));
            self.facts.take_steps(names.len() - before);
        }
        Ok(())
    }

    fn check_target(&self, target: &str) -> Result<(), Unresolvable> {
        check_length(target, self.limits)?;
        match target {
            "" => Err(Unresolvable::BrokenLink),
            _ if target.contains('\0') => Err(Unresolvable::Nul),
            _ => Ok(()),
        }
    }

    fn check_count(&self, links: usize) -> Result<(), Unresolvable> {
        let limit = self.limits.links;
        if links > limit {
            return Err(Unresolvable::TooManyLinks { limit });
        }
        Ok(())
    }
}

/// `path` up to the last `/` before which it has the same names as `other`, and the rest.
fn split_where_apart<'p>(path: &'p str, other: &str) -> (&'p str, &'p str) {
    let both = path.bytes().zip(other.bytes());
    let same = both.take_while(|(one, other)| one == other).count();
    let slash = path.bytes().take(same).rposition(|byte| byte == b'/');
    path.split_at_checked(slash.unwrap_or_default())
        .unwrap_or(("", path))
}

/// A link whose target does not exist, and the names after it.
struct DanglingLink {
    target: String,
    below: Option<String>,
}

/// A canonical path of which the first `existing` bytes exist.
struct Position {
    path: String,
    existing: usize,
}

impl Position {
    fn root() -> Self {
        Self::existing("/")
    }

    fn existing(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            existing: path.len(),
        }
    }

    fn is_missing(&self) -> bool {
        self.existing < self.path.len()
    }

    /// Goes to the parent; the root is its own parent.
    fn leave(&mut self) {
        let length = parent(&self.path).len();
        self.path.truncate(length);
        self.existing = self.existing.min(length);
    }
}

/// Where a `..` comes from: the caller's value or a link's target.
#[derive(Clone, Copy)]
enum Origin {
    Value,
    Link,
}

/// A `..`, or the names up to the next one.
enum Step {
    Up(Origin),
    /// The end of a link's target that must be a directory, `x/` or `x/.`; a file there breaks the link.
    Stay,
    Down(String),
}

fn steps(text: &str, origin: Origin) -> Vec<Step> {
    let mut steps = Vec::new();
    for name in text.split('/') {
        match (name, steps.last_mut()) {
            ("" | ".", _) => {}
            ("..", _) => steps.push(Step::Up(origin)),
            (_, Some(Step::Down(names))) => {
                names.push('/');
                names.push_str(name);
            }
            (_, Some(Step::Up(_) | Step::Stay) | None) => steps.push(Step::Down(name.to_owned())),
        }
    }
    let names_directory = text.ends_with('/') || text.ends_with("/.");
    if let (Origin::Link, true, Some(Step::Down(_))) = (origin, names_directory, steps.last()) {
        steps.push(Step::Stay);
    }
    steps
}
