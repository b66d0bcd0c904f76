//! From a value to its canonical path: the only place where a [`CanonicalPath`] is made.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::host::Facts;
use crate::limits::Limits;

use super::lexical::{absolute, climbs, collapse, is_collapsed, join, parent, split_last};
use super::refusal::{Unresolvable, check_value};
use super::walk::Walk;
use super::{PathCase, expand_tilde, lexical};

/// The one place that a value means: absolute, free of links, `.`, `..` and `//` (SPEC §2.3).
///
/// What it names need not exist. It is made by a [`Resolver`] alone; copies share the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CanonicalPath(Arc<str>);

impl CanonicalPath {
    fn new(text: Arc<str>) -> Self {
        debug_assert!(is_collapsed(&text), "{text:?} is not collapsed");
        Self(text)
    }

    /// The path as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as text that is shared, not copied.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The directory that holds this path; the root holds itself.
    pub(crate) fn parent(&self) -> CanonicalPath {
        Self::new(parent(&self.0).into())
    }
}

impl fmt::Display for CanonicalPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Resolves values in one evaluation.
///
/// A value that exists costs one question, one that does not exist about `log n` for `n` missing names; a
/// `..` after a name and a link on the way cost a few more. Untrusted values are welcome: every length and
/// every number of links is bounded by the limits.
pub(crate) struct Resolver<'a, 'h> {
    /// What the host answered so far.
    pub(crate) facts: &'a mut Facts<'h>,
    /// The absolute path that `~` stands for.
    pub(crate) home: &'a str,
    /// The bounds of the engine.
    pub(crate) limits: &'a Limits,
    /// How the host's disk compares names; decides what is process-relative.
    pub(crate) path_case: PathCase,
}

impl<'h> Resolver<'_, 'h> {
    /// The canonical form of `value`, which is relative to the absolute path `base` where it is relative.
    ///
    /// # Errors
    /// Every reason of [`Unresolvable`].
    pub(crate) fn resolve(&mut self, value: &str, base: &str) -> Result<CanonicalPath, Unresolvable> {
        check_value(value, self.limits)?;
        let home = self.home;
        self.canonical(&absolute(&expand_tilde(value, home), base))
    }

    /// Where the last name of `value` is, when it is a symbolic link, be it dangling or not: the canonical
    /// form of its directory, continued by that name. Nothing, when it is no link (SPEC §2.8).
    ///
    /// # Errors
    /// As [`Resolver::resolve`], which is to be asked as well: this is where removing acts, that is where
    /// reading and writing do.
    pub(crate) fn entry(&mut self, value: &str, base: &str) -> Result<Option<CanonicalPath>, Unresolvable> {
        check_value(value, self.limits)?;
        let home = self.home;
        let expanded = expand_tilde(value, home);
        let text = absolute(&expanded, base);
        let lexical = collapse(&text);
        let Some((above, name)) = split_last(&lexical) else {
            return Ok(None);
        };
        // A text that is collapsed climbs nowhere.
        let climbs = matches!(lexical, Cow::Owned(_)) && climbs(&text);
        if !climbs
            && self
                .walk()
                .existing(&lexical)?
                .is_some_and(|real| *real == *lexical)
        {
            return Ok(None);
        }
        let directory = self.canonical(directory_as_written(&text).unwrap_or(above))?;
        let place = join(directory.as_str(), name);
        let link = self.facts.read_link(&place);
        Ok(link.map(|_| CanonicalPath::new(place.into())))
    }

    /// The canonical form of `value`, or its lexical form where it is unresolvable (SPEC §6.6).
    pub(crate) fn resolve_or_lexical(&mut self, value: &str, base: &str) -> Arc<str> {
        match self.resolve(value, base) {
            Ok(canonical) => canonical.shared(),
            Err(_) => lexical(&expand_tilde(value, self.home), base).into(),
        }
    }

    /// The canonical form of an absolute path as it is written, when both readings of each `..` agree.
    fn canonical(&mut self, text: &str) -> Result<CanonicalPath, Unresolvable> {
        let lexical = collapse(text);
        let canonical = match self.walk().existing(&lexical)? {
            Some(real) => CanonicalPath::new(real),
            None => CanonicalPath::new(self.walk().follow(&lexical)?.into()),
        };
        let rewritten = matches!(lexical, Cow::Owned(_));
        if rewritten && climbs(text) && self.walk().follow(text)? != canonical.as_str() {
            return Err(Unresolvable::Ambiguous);
        }
        Ok(canonical)
    }

    fn walk(&mut self) -> Walk<'_, 'h> {
        Walk::new(self.facts, self.limits, self.path_case)
    }
}

/// The absolute path `text` without its last name, the `..` before it left as they are; nothing where `text`
/// ends in `..`.
fn directory_as_written(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some((directory, name)) = rest.rsplit_once('/') {
        match name {
            "" | "." => rest = directory,
            ".." => return None,
            _ if directory.is_empty() => return Some("/"),
            _ => return Some(directory),
        }
    }
    None
}
