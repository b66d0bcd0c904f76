//! A configured directory, and a protected path, as a call sees them.

use super::canonical::Canonicalizer;
use super::operand::Operand;
use crate::model::Effect;
use crate::path::{CanonicalPath, Folded, PathCase};
use crate::program;
use crate::text::{is_at_or_below, strip_directory};

/// A configured directory as a call sees it.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Its canonical form. Without one it grants nothing, and restricts what lies within it as it is written.
    known: Option<CanonicalPath>,
    /// How it is written, unless that is its canonical form.
    written: Option<Box<str>>,
    /// Where the disk may not tell spellings apart, the form that they share.
    folded: Option<Folded>,
}

impl Directory {
    pub(super) fn resolve(canonicalizer: &mut Canonicalizer<'_, '_>, lexical: &str) -> Self {
        let mut directory = match canonicalizer.directory(lexical) {
            Ok(known) => Self {
                written: (known.as_str() != lexical).then(|| lexical.into()),
                known: Some(known),
                folded: None,
            },
            Err(_) => Self::unresolvable(lexical),
        };
        if canonicalizer.program.path_case == PathCase::Insensitive {
            directory.folded = Some(directory.fold(PathCase::Insensitive));
        }
        directory
    }

    /// A directory without a canonical form.
    pub(super) fn unresolvable(lexical: &str) -> Self {
        Self {
            known: None,
            written: Some(lexical.into()),
            folded: None,
        }
    }

    fn fold(&self, case: PathCase) -> Folded {
        match &self.known {
            Some(path) => case.fold(path),
            None => case.fold_written(self.as_str()),
        }
    }

    /// Returns `true` if a grant for this directory covers the path.
    pub fn grants(&self, path: &CanonicalPath) -> bool {
        self.known
            .as_ref()
            .is_some_and(|directory| path.is_within(directory))
    }

    /// Returns `true` if a restriction on this directory covers the path.
    pub fn restricts(&self, path: &CanonicalPath) -> bool {
        is_at_or_below(path.as_str(), self.as_str())
    }

    /// Returns `true` if the path lies within the directory on a disk that does not tell spellings apart.
    pub fn may_hold(&self, path: &CanonicalPath) -> bool {
        let folded = |directory: &Folded| PathCase::Insensitive.fold(path).may_be_within(directory);
        self.folded.as_ref().is_some_and(folded)
    }

    /// Returns `true` if the directory lies within the path, or may on a disk that does not tell spellings apart.
    pub fn lies_within(&self, path: &CanonicalPath) -> bool {
        let folded = |directory: &Folded| directory.may_be_within(&PathCase::Insensitive.fold(path));
        is_at_or_below(self.as_str(), path.as_str()) || self.folded.as_ref().is_some_and(folded)
    }

    /// Returns `true` if the path, as it is written, may lie within the directory, or for a tree the directory within the path.
    pub(super) fn meets(&self, path: &str, is_tree: bool) -> bool {
        let folded = |directory: &Folded| {
            let path = PathCase::Insensitive.fold_written(path);
            path.may_be_within(directory) || (is_tree && directory.may_be_within(&path))
        };
        is_at_or_below(path, self.as_str())
            || (is_tree && is_at_or_below(self.as_str(), path))
            || self.folded.as_ref().is_some_and(folded)
    }

    /// Returns `true` if one of these holds of the names that lead to the directory from a path above it.
    pub(super) fn has_names_below(&self, path: &CanonicalPath, holds: impl Fn(&str) -> bool) -> bool {
        let names = |directory: &Folded| {
            let above = PathCase::Insensitive.fold(path);
            directory.with_names_below(&above, &holds) == Some(true)
        };
        strip_directory(self.as_str(), path.as_str()).is_some_and(&holds)
            || self.folded.as_ref().is_some_and(names)
    }

    /// The canonical form, where there is one.
    pub fn known(&self) -> Option<&CanonicalPath> {
        self.known.as_ref()
    }

    /// The directory as it is written, and its canonical form where there is one and it is another.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        let known = self.known.as_ref().map(CanonicalPath::as_str);
        self.written.as_deref().into_iter().chain(known)
    }

    /// The canonical form, else the directory as it is written.
    pub fn as_str(&self) -> &str {
        let written = || self.written.as_deref().unwrap_or_default();
        self.known.as_ref().map_or_else(written, CanonicalPath::as_str)
    }
}

/// A protected path in the forms that are compared: what it stands for, and where it stands.
#[derive(Clone, Debug)]
pub struct Protected {
    /// The canonical path; the path as written if that cannot be resolved.
    folded: Folded,
    entry: Option<Folded>,
    /// It is protected against writing alone.
    pub(super) may_be_read: bool,
}

impl Protected {
    pub(super) fn resolve(canonicalizer: &mut Canonicalizer<'_, '_>, one: &program::ProtectedPath) -> Self {
        let (lexical, may_be_read) = (&*one.path, one.may_be_read);
        let case = canonicalizer.program.path_case;
        if let Some(path) = canonicalizer.directory_without_links(lexical) {
            return Self {
                folded: case.fold(&path),
                entry: None,
                may_be_read,
            };
        }
        let folded = match canonicalizer.directory(lexical) {
            Ok(path) => case.fold(&path),
            Err(_) => case.fold_written(lexical),
        };
        let entry = canonicalizer.directory_entry(lexical).ok().flatten();
        let entry = entry.map(|entry| case.fold(&entry));
        Self {
            folded,
            entry,
            may_be_read,
        }
    }

    /// Returns `true` if the path lies within the protected path, or is the link that stands for it.
    pub fn covers(&self, path: &Folded) -> bool {
        path.may_be_within(&self.folded) || self.entry.as_ref().is_some_and(|entry| path.may_be_within(entry))
    }

    /// Returns `true` if this holds of the names that lead to the protected path from a directory above it.
    pub(super) fn has_names_below(&self, directory: &Folded, holds: impl Fn(&str) -> bool) -> bool {
        let mut forms = std::iter::once(&self.folded).chain(&self.entry);
        forms.any(|form| form.with_names_below(directory, &holds) == Some(true))
    }

    /// Returns `true` if removing the path would remove the protected path.
    pub fn lies_within(&self, path: &Folded) -> bool {
        self.folded.may_be_within(path) || self.entry.as_ref().is_some_and(|entry| entry.may_be_within(path))
    }
}

/// Returns `true` if the value lies within the directory, in the sense that fits the effect.
pub(super) fn lies_within(operand: &Operand<'_, '_>, directory: &Directory, effect: Effect) -> bool {
    match effect {
        Effect::Allow => operand.path().is_some() && operand.paths().all(|path| directory.grants(path)),
        Effect::Escalate | Effect::Deny => operand.paths().any(|path| directory.restricts(path)),
    }
}
