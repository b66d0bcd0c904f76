//! Paths as a case-insensitive disk compares them, for comparisons that can only deny.

use std::borrow::Cow;
use std::sync::Arc;

use super::{CanonicalPath, PathCase};
use crate::text::{is_at_or_below, strip_directory};

/// A path in the form that all its spellings on the host's disk share.
///
/// It stands for more than one path, so it must never grant. It can neither be read nor turned back into a
/// [`CanonicalPath`], which is what granting requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded(Arc<str>);

impl Folded {
    /// Returns `true` if the disk may read this path as `directory` or as something in it.
    pub fn may_be_within(&self, directory: &Folded) -> bool {
        is_at_or_below(&self.0, &directory.0)
    }

    /// The answer of `ask` for this path relative to the directory; `None` if the disk cannot read it as lying there.
    pub fn with_names_below<T>(&self, directory: &Folded, ask: impl FnOnce(&str) -> T) -> Option<T> {
        strip_directory(&self.0, &directory.0).map(ask)
    }
}

impl PathCase {
    /// The folded form of `path`: the path itself, not copied, if case matters.
    pub fn fold(self, path: &CanonicalPath) -> Folded {
        match self.fold_text(path.as_str()) {
            Cow::Borrowed(_) => Folded(path.shared()),
            Cow::Owned(text) => Folded(text.into()),
        }
    }

    /// The folded form of a configured path that has no canonical form, so that it restricts as written.
    pub fn fold_written(self, lexical: &str) -> Folded {
        Folded(self.fold_text(lexical).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::tests::disk::canonical;

    #[test]
    fn a_folded_path_may_be_within_a_folded_directory() {
        use PathCase::{Insensitive, Sensitive};
        for (path, directory, sensitive, insensitive) in [
            ("/home/u/.ssh/id", "/home/u/.ssh", true, true),
            ("/HOME/u/.SSH/id", "/home/u/.ssh", false, true),
            ("/home/u/.ssh", "/home/u/.SSH", false, true),
            ("/home/u/.SSH2/id", "/home/u/.ssh", false, false),
            ("/etc", "/", true, true),
        ] {
            let (path, directory) = (canonical(path), canonical(directory));
            for (case, expected) in [(Sensitive, sensitive), (Insensitive, insensitive)] {
                let found = case.fold(&path).may_be_within(&case.fold(&directory));
                assert_eq!(found, expected, "{path} in {directory}, {case:?}");
            }
        }
    }
}
