//! A configured directory, and a protected path, as a call sees them.

use super::canonical::Canonicalizer;
use crate::path::{CanonicalPath, Folded, PathCase};
use crate::text::is_at_or_below;

/// A configured directory as a call sees it.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    resolved: Resolved,
    /// Where the disk may not tell spellings apart, the form that they share.
    folded: Option<Folded>,
}

#[derive(Clone, Debug)]
enum Resolved {
    /// Its canonical form.
    Known(CanonicalPath),
    /// It cannot be resolved: it grants nothing, and restricts what lies within it as it is written.
    Unresolvable(Box<str>),
}

impl Resolved {
    fn of(canonicalizer: &mut Canonicalizer<'_, '_>, lexical: &str) -> Self {
        match canonicalizer.directory(lexical) {
            Ok(path) => Self::Known(path),
            Err(_) => Self::Unresolvable(lexical.into()),
        }
    }

    fn fold(&self, case: PathCase) -> Folded {
        match self {
            Self::Known(path) => case.fold(path),
            Self::Unresolvable(lexical) => case.fold_written(lexical),
        }
    }
}

impl Directory {
    pub(super) fn resolve(canonicalizer: &mut Canonicalizer<'_, '_>, lexical: &str) -> Self {
        let resolved = Resolved::of(canonicalizer, lexical);
        let folded = match canonicalizer.program.path_case {
            PathCase::Sensitive => None,
            PathCase::Insensitive => Some(resolved.fold(PathCase::Insensitive)),
        };
        Self { resolved, folded }
    }

    /// A directory without a canonical form.
    pub(super) fn unresolvable(lexical: &str) -> Self {
        Self {
            resolved: Resolved::Unresolvable(lexical.into()),
            folded: None,
        }
    }

    /// Whether a grant for this directory covers the path.
    pub(crate) fn grants(&self, path: &CanonicalPath) -> bool {
        match &self.resolved {
            Resolved::Known(directory) => path.is_within(directory),
            Resolved::Unresolvable(_) => false,
        }
    }

    /// Whether a restriction on this directory covers the path.
    pub(crate) fn restricts(&self, path: &CanonicalPath) -> bool {
        match &self.resolved {
            Resolved::Known(directory) => path.is_within(directory),
            Resolved::Unresolvable(lexical) => is_at_or_below(path.as_str(), lexical),
        }
    }

    /// Whether the path lies within the directory on a disk that does not tell spellings apart.
    pub(crate) fn may_hold(&self, path: &CanonicalPath) -> bool {
        let folded = |directory: &Folded| PathCase::Insensitive.fold(path).may_be_within(directory);
        self.folded.as_ref().is_some_and(folded)
    }

    /// Whether the directory lies within the path, or may on a disk that does not tell spellings apart.
    pub(crate) fn lies_within(&self, path: &CanonicalPath) -> bool {
        let within = match &self.resolved {
            Resolved::Known(directory) => directory.is_within(path),
            Resolved::Unresolvable(lexical) => is_at_or_below(lexical, path.as_str()),
        };
        let folded = |directory: &Folded| directory.may_be_within(&PathCase::Insensitive.fold(path));
        within || self.folded.as_ref().is_some_and(folded)
    }

    /// The canonical form, where there is one.
    pub(crate) fn known(&self) -> Option<&CanonicalPath> {
        match &self.resolved {
            Resolved::Known(path) => Some(path),
            Resolved::Unresolvable(_) => None,
        }
    }

    /// The text that explanations show.
    pub(crate) fn as_str(&self) -> &str {
        match &self.resolved {
            Resolved::Known(path) => path.as_str(),
            Resolved::Unresolvable(lexical) => lexical,
        }
    }
}

/// A protected path in the forms that are compared: what it stands for, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Protected {
    /// What it stands for; as written, where that cannot be resolved.
    folded: Folded,
    entry: Option<Folded>,
}

impl Protected {
    pub(super) fn resolve(canonicalizer: &mut Canonicalizer<'_, '_>, lexical: &str) -> Self {
        let case = canonicalizer.program.path_case;
        let folded = Resolved::of(canonicalizer, lexical).fold(case);
        let entry = canonicalizer.directory_entry(lexical).ok().flatten();
        let entry = entry.map(|entry| case.fold(&entry));
        Self { folded, entry }
    }

    /// Whether the path lies within what is protected, or is the link that stands for it.
    pub(crate) fn covers(&self, path: &Folded) -> bool {
        path.may_be_within(&self.folded) || self.entry.as_ref().is_some_and(|entry| path.may_be_within(entry))
    }

    /// Whether removing the path would remove what is protected.
    pub(crate) fn lies_within(&self, path: &Folded) -> bool {
        self.folded.may_be_within(path) || self.entry.as_ref().is_some_and(|entry| entry.may_be_within(path))
    }
}
