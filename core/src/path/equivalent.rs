//! Names that are missing while the same name in another Unicode form exists.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use crate::host::RealpathError;

use super::CanonicalPath;
use super::lexical::{join, split_last};
use super::resolve::Resolver;

impl Resolver<'_, '_> {
    /// Returns `true` if the first name of the path that does not exist does exist in Unicode's composed or decomposed
    /// form ([UAX 15](https://www.unicode.org/reports/tr15/)). Some servers and disks take the one for the other, and
    /// follow it if it is a link.
    pub(crate) fn has_equivalent(&mut self, path: &CanonicalPath) -> bool {
        if path.as_str().is_ascii() {
            return false;
        }
        let mut missing = None;
        let mut rest = path.as_str();
        while let Some((above, name)) = split_last(rest) {
            match self.facts.realpath(rest) {
                Err(RealpathError::NotFound) => missing = Some((above, name)),
                Ok(_) | Err(_) => break,
            }
            rest = above;
        }
        let Some((directory, name)) = missing else {
            return false;
        };
        let composed = ComposingNormalizerBorrowed::new_nfc().normalize(name);
        let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(name);
        [composed, decomposed].into_iter().any(|other| {
            let other_path = join(directory, &other);
            *other != *name
                && (self.facts.realpath(&other_path) != Err(RealpathError::NotFound)
                    || self.facts.read_link(&other_path).is_some())
        })
    }
}
