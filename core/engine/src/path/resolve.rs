//! Resolves a value to its canonical path. This is the only place where a [`CanonicalPath`] is made.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::host::Facts;
use crate::limits::Limits;

use super::lexical::{absolute, climbs, collapse, is_collapsed, join, parent, split_last};
use super::refusal::{Unresolvable, check_value};
use super::walk::Walk;
use super::{PathCase, expand_tilde, lexical};

/// The one place that a value means: an absolute path without links, `.`, `..` and `//` (SPEC §2.3).
///
/// It need not exist. Only a [`Resolver`] makes one; copies share the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CanonicalPath(Arc<str>);

impl CanonicalPath {
    fn new(text: Arc<str>) -> Self {
        debug_assert!(is_collapsed(&text), "{text:?} is not collapsed");
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as shared text.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The parent of this path; the root is its own parent.
    pub fn parent(&self) -> CanonicalPath {
        Self::new(parent(&self.0).into())
    }
}

impl fmt::Display for CanonicalPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Resolves values during one evaluation.
///
/// An existing value costs one question to the host, a missing one about `log n` for `n` missing names; a `..` after
/// a name and a link on the way cost a few more. Values may be untrusted: lengths and the number of links are
/// limited.
pub struct Resolver<'a, 'h> {
    /// The host's answers so far.
    pub facts: &'a mut Facts<'h>,
    /// The absolute path that `~` stands for.
    pub home: &'a str,
    pub limits: &'a Limits,
    /// How the host's disk compares names, for process-relative paths.
    pub path_case: PathCase,
}

impl<'h> Resolver<'_, 'h> {
    /// The canonical form of `value`; a relative value is resolved against the absolute path `base`.
    ///
    /// # Errors
    /// Every reason of [`Unresolvable`].
    pub fn resolve(&mut self, value: &str, base: &str) -> Result<CanonicalPath, Unresolvable> {
        check_value(value, self.limits)?;
        let home = self.home;
        self.canonical(&absolute(&expand_tilde(value, home), base))
    }

    /// The canonical form of a path that is absolute and collapsed already.
    ///
    /// # Errors
    /// Every reason of [`Unresolvable`].
    pub fn resolve_lexical(&mut self, path: &str) -> Result<CanonicalPath, Unresolvable> {
        check_value(path, self.limits)?;
        self.canonical_of_lexical(path)
    }

    /// The place of the symbolic link that `value` names, dangling or not: the canonical form of its directory and
    /// the last name. `None` if it is not a link (SPEC §2.8).
    ///
    /// # Errors
    /// As [`Resolver::resolve`], which must be called as well: deleting acts on this place, reading and writing on
    /// that one.
    pub fn entry(&mut self, value: &str, base: &str) -> Result<Option<CanonicalPath>, Unresolvable> {
        check_value(value, self.limits)?;
        let home = self.home;
        let expanded = expand_tilde(value, home);
        let text = absolute(&expanded, base);
        let lexical = collapse(&text);
        let Some((above, name)) = split_last(&lexical) else {
            return Ok(None);
        };
        // A collapsed path has no `..`.
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

    /// The canonical form of `value`, or its lexical form if it is unresolvable (SPEC §6.6).
    pub fn resolve_or_lexical(&mut self, value: &str, base: &str) -> Arc<str> {
        match self.resolve(value, base) {
            Ok(canonical) => canonical.shared(),
            Err(_) => lexical(&expand_tilde(value, self.home), base).into(),
        }
    }

    /// The path, absolute and collapsed already, if it exists and has no link on the way: it is its own canonical form, and no link.
    pub fn existing_without_links(&mut self, text: &str) -> Option<CanonicalPath> {
        check_value(text, self.limits).ok()?;
        let real = self.walk().existing(text).ok()??;
        (*real == *text).then(|| CanonicalPath::new(real))
    }

    /// Returns `true` if something is at the path, absolute and collapsed already, a dangling link included, or if that cannot
    /// be told.
    pub fn may_exist(&mut self, text: &str) -> bool {
        match self.walk().existing(text) {
            Ok(Some(_)) | Err(_) => true,
            Ok(None) => self.facts.read_link(text).is_some(),
        }
    }

    /// The canonical form of an absolute path as written; both readings of each `..` must agree.
    fn canonical(&mut self, text: &str) -> Result<CanonicalPath, Unresolvable> {
        let lexical = collapse(text);
        let canonical = self.canonical_of_lexical(&lexical)?;
        let rewritten = matches!(lexical, Cow::Owned(_));
        if rewritten && climbs(text) && self.walk().follow(text)? != canonical.as_str() {
            return Err(Unresolvable::Ambiguous);
        }
        Ok(canonical)
    }

    fn canonical_of_lexical(&mut self, lexical: &str) -> Result<CanonicalPath, Unresolvable> {
        debug_assert!(is_collapsed(lexical), "{lexical:?} is not collapsed");
        if let Some(real) = self.walk().existing(lexical)? {
            return Ok(CanonicalPath::new(real));
        }
        Ok(CanonicalPath::new(match self.walk().known_missing(lexical)? {
            Some(place) => self.facts.shared(&place),
            None => {
                let place = self.walk().follow_collapsed(lexical)?;
                self.facts.shared(&place)
            }
        }))
    }

    fn walk(&mut self) -> Walk<'_, 'h> {
        Walk::new(self.facts, self.limits, self.path_case)
    }
}

/// The absolute path `text` without its last name, keeping each `..` before it; `None` if `text` ends in `..`.
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
