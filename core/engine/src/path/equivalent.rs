//! Names that are missing while the same name in another Unicode form exists.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use crate::host::RealpathError;

use super::CanonicalPath;
use super::lexical::{join, split_last};
use super::refusal::Unresolvable;
use super::resolve::Resolver;

impl Resolver<'_, '_> {
    /// The path with its first name that does not exist in the form in which it does, of Unicode's composed or decomposed
    /// form ([UAX 15](https://www.unicode.org/reports/tr15/)). Some servers and disks take the one for the other, and
    /// follow it if it is a link. `None` if it exists in neither.
    ///
    /// # Errors
    /// It exists in both, or nobody can tell what is there.
    pub fn equivalent(&mut self, path: &CanonicalPath) -> Result<Option<String>, Unresolvable> {
        if path.as_str().is_ascii() {
            return Ok(None);
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
            return Ok(None);
        };
        let composed = ComposingNormalizerBorrowed::new_nfc().normalize(name);
        let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(name);
        let below = path
            .as_str()
            .strip_prefix(&*join(directory, name))
            .unwrap_or_default();
        let mut found = None;
        for other in [composed, decomposed]
            .into_iter()
            .filter(|other| **other != *name)
        {
            let other_path = join(directory, &other);
            let exists = match self.facts.realpath(&other_path) {
                Ok(_) => true,
                Err(RealpathError::NotFound) if self.facts.read_link(&other_path).is_none() => false,
                Err(_) => return Err(Unresolvable::Equivalent),
            };
            if exists && found.replace(format!("{other_path}{below}")).is_some() {
                return Err(Unresolvable::Equivalent);
            }
        }
        Ok(found)
    }
}
