//! A path as the key of an answer.

use std::cmp::Ordering;
use std::sync::Arc;

/// Paths that begin alike differ within as many bytes of their end.
const END: usize = 16;

/// A path, ordered by its length, then by its end, and only then as text: the paths of one call often lie in one deep directory,
/// and with 16,384 of them a comparison from the start takes more than a call within the limits may (`core/engine/benches`:
/// `gate of 4,000 links in directories 2,000 deep`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathKey(pub(super) Arc<str>);

impl PathKey {
    pub(super) fn new(path: &str) -> Self {
        Self(path.into())
    }
}

impl Ord for PathKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, other) = (self.0.as_bytes(), other.0.as_bytes());
        let lengths = one.len().cmp(&other.len());
        lengths
            .then_with(|| end(one).cmp(end(other)))
            .then_with(|| one.cmp(other))
    }
}

impl PartialOrd for PathKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The last bytes.
pub(super) fn end(text: &[u8]) -> &[u8] {
    text.last_chunk::<END>().map_or(text, |end| end)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_are_told_apart_as_texts_are(paths in prop::collection::vec("/(a|b){0,24}", 0..40)) {
            let plain: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
            let keys: BTreeSet<PathKey> = paths.iter().map(|path| PathKey::new(path)).collect();
            prop_assert_eq!(keys.len(), plain.len());
            prop_assert!(plain.iter().all(|path| keys.contains(&PathKey::new(path))));
        }
    }
}
