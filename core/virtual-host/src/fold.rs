//! Names that a filesystem treats as the same.

use icu_normalizer::DecomposingNormalizer;

use super::Filesystem;

/// The differences between two names that do not count.
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

    /// A form that is the same for all names that the filesystem treats as the same. `/` stays `/`.
    pub(super) fn key(self, path: &str) -> String {
        let mut key = if self.ignorables {
            path.chars().filter(|symbol| !is_ignorable(*symbol)).collect()
        } else {
            path.to_owned()
        };
        if self.case {
            // To upper case and back, so that letters without a single counterpart (`ß`, `SS`) become equal.
            key = key.to_uppercase().to_lowercase();
        }
        if self.composition {
            key = DecomposingNormalizer::new_nfd().normalize(&key).into_owned();
        }
        key
    }
}

/// Returns `true` for the characters that HFS+ ignores in names (Apple's technical note 1150, "case-insensitive string
/// comparison").
fn is_ignorable(symbol: char) -> bool {
    matches!(symbol, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
