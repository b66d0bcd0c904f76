//! Names that a filesystem takes for one.

use icu_normalizer::DecomposingNormalizer;

use super::Filesystem;

/// Which differences between two names do not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folding {
    case: bool,
    composition: bool,
    ignorables: bool,
}

impl Folding {
    pub(super) fn new(fs: &Filesystem) -> Self {
        Self {
            case: fs.case_insensitive,
            composition: fs.normalization_insensitive,
            ignorables: fs.ignorables,
        }
    }

    /// The form in which names that are one name are equal. `/` stays `/`.
    pub(super) fn key(self, path: &str) -> String {
        let mut key = if self.ignorables {
            path.chars().filter(|symbol| !is_ignorable(*symbol)).collect()
        } else {
            path.to_owned()
        };
        if self.case {
            // Up and down again, so that what has no one-letter counterpart (`ß`, `SS`) meets.
            key = key.to_uppercase().to_lowercase();
        }
        if self.composition {
            key = DecomposingNormalizer::new_nfd().normalize(&key).into_owned();
        }
        key
    }
}

/// The characters that HFS+ passes over in names (Apple's technical note 1150, "case-insensitive string
/// comparison").
fn is_ignorable(symbol: char) -> bool {
    matches!(symbol, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
