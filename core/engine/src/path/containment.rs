//! Which directories hold a canonical path.

use super::CanonicalPath;
use super::lexical::split_last;
use crate::sort;
use crate::text::{is_at_or_below, strip_directory};

impl CanonicalPath {
    /// Returns `true` if this path is `directory` or below it; everything is within `/` (SPEC §2.4).
    pub fn is_within(&self, directory: &CanonicalPath) -> bool {
        is_at_or_below(self.as_str(), directory.as_str())
    }

    /// This path relative to the directory, empty for the directory itself; `None` if it is not within the directory.
    pub fn below(&self, directory: &CanonicalPath) -> Option<&str> {
        strip_directory(self.as_str(), directory.as_str())
    }
}

/// The path and the directories above it, nearest first, without those of more than `longest` bytes.
pub fn holding(path: &str, longest: usize) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| Some(split_last(path)?.0))
        .skip_while(move |ancestor| ancestor.len() > longest)
}

/// A set of numbered directories, to find those that hold a path.
///
/// A question costs a binary search for each ancestor of the path that is not longer than the longest directory, so
/// the depth of the path does not matter.
#[derive(Clone, Debug, Default)]
pub struct DirIndex {
    entries: Box<[(CanonicalPath, u32)]>,
    longest: usize,
}

impl DirIndex {
    /// An index of `entries`; a directory may occur with several numbers.
    pub fn new(mut entries: Vec<(CanonicalPath, u32)>) -> Self {
        sort::sort(&mut entries);
        let longest = entries.iter().map(|(path, _)| path.as_str().len()).max();
        Self {
            entries: entries.into_boxed_slice(),
            longest: longest.unwrap_or(0),
        }
    }

    /// The numbers of the directories that hold `path`: nearest directory first, the numbers of one directory in
    /// ascending order.
    pub fn containing(&self, path: &CanonicalPath) -> impl Iterator<Item = u32> {
        holding(path.as_str(), self.longest).flat_map(|ancestor| self.numbers_of(ancestor))
    }

    fn numbers_of(&self, directory: &str) -> impl Iterator<Item = u32> {
        let start = self
            .entries
            .partition_point(|(path, _)| path.as_str() < directory);
        self.entries
            .iter()
            .skip(start)
            .take_while(move |(path, _)| path.as_str() == directory)
            .map(|(_, number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::path::tests::disk::canonical;

    #[test]
    fn every_directory_that_holds_a_path_is_found() {
        let index = DirIndex::new(vec![
            (canonical("/srv/box"), 4),
            (canonical("/"), 0),
            (canonical("/srv"), 7),
            (canonical("/srv/box"), 2),
            (canonical("/srv/box-old"), 3),
            (canonical("/srv/box/a/b"), 9),
        ]);
        for (path, expected) in [
            ("/", vec![0]),
            ("/etc/passwd", vec![0]),
            ("/srv", vec![7, 0]),
            ("/srv/box", vec![2, 4, 7, 0]),
            ("/srv/box/a/b/c/d", vec![9, 2, 4, 7, 0]),
            ("/srv/box2", vec![7, 0]),
            ("/srv/box-old/x", vec![3, 7, 0]),
        ] {
            let found: Vec<u32> = index.containing(&canonical(path)).collect();
            assert_eq!(found, expected, "{path:?}");
        }
        assert_eq!(DirIndex::default().containing(&canonical("/a")).count(), 0);
    }

    proptest! {
        #[test]
        fn the_index_agrees_with_asking_each_directory(
            directories in prop::collection::vec("/|(/[ab-]{1,2}){1,4}", 0..12),
            path in "/|(/[ab-]{1,2}){1,6}",
        ) {
            let path = canonical(&path);
            let entries: Vec<(CanonicalPath, u32)> =
                directories.iter().map(|directory| canonical(directory)).zip(0..).collect();
            let mut expected: Vec<u32> = entries
                .iter()
                .filter(|(directory, _)| path.is_within(directory))
                .map(|(_, number)| *number)
                .collect();
            let mut found: Vec<u32> = DirIndex::new(entries).containing(&path).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
