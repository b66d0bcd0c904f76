//! Upper and lower case on the host's disk, and the form that all spellings of one name share.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

/// Says if the host's disk distinguishes `A` from `a` (SPEC §2.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathCase {
    /// Names are equal if their bytes are: the default on Linux.
    #[default]
    Sensitive,
    /// Names that differ in case, Unicode composition or ignorable characters may be the same name: the default on
    /// macOS and Windows.
    Insensitive,
}

impl PathCase {
    /// Returns `true` if the disk may read two different spellings as one name.
    pub fn confuses(self, one: &str, other: &str) -> bool {
        one != other && self.fold_text(one) == self.fold_text(other)
    }

    /// Removes what HFS+ ignores, maps to lower case and composes.
    ///
    /// It maps to upper case and back, so that `ß`, `ẞ` and `ss` become equal, as do `k` and the Kelvin sign. It
    /// composes first, because mapping depends on the order of combining marks.
    pub fn fold_text(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Sensitive => Cow::Borrowed(text),
            Self::Insensitive if text.bytes().all(is_folded) => Cow::Borrowed(text),
            Self::Insensitive => {
                let nfc = ComposingNormalizerBorrowed::new_nfc();
                let visible: String = text.chars().filter(|one| !is_ignored(*one)).collect();
                let lower: String = nfc
                    .normalize(&visible)
                    .chars()
                    .flat_map(char::to_lowercase)
                    .flat_map(char::to_uppercase)
                    .flat_map(char::to_lowercase)
                    .collect();
                Cow::Owned(nfc.normalize(&lower).into_owned())
            }
        }
    }
}

/// Returns `true` if the byte is ASCII that folding does not change.
fn is_folded(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_uppercase()
}

/// Returns `true` if HFS+ ignores the character when it compares names
/// (<https://developer.apple.com/library/archive/technotes/tn/tn1150.html#UnicodeSubtleties>).
fn is_ignored(character: char) -> bool {
    matches!(
        character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn equal_when_folded(left: &str, right: &str) -> bool {
        PathCase::Insensitive.fold_text(left) == PathCase::Insensitive.fold_text(right)
    }

    #[test]
    fn spellings_of_one_name_are_one() {
        for (left, right, expected) in [
            ("/home/u/.ssh", "/HOME/U/.SSH", true),
            ("/caf\u{e9}", "/cafe\u{301}", true),
            ("/CAF\u{c9}", "/cafe\u{301}", true),
            ("/.\u{212a}ube", "/.kube", true),
            ("/pa\u{df}", "/pass", true),
            ("/pa\u{1e9e}", "/PASS", true),
            ("/\u{17f}sh", "/ssh", true),
            ("/\u{3a3}\u{3b1}\u{3c2}", "/\u{3c3}\u{391}\u{3c3}", true),
            ("/\u{1fb4}", "/\u{391}\u{345}\u{301}", true),
            ("/.s\u{200c}s\u{202e}h\u{feff}", "/.ssh", true),
            ("/.ssh", "/.ssh2", false),
            ("/a\u{301}", "/a", false),
            ("/s\u{430}ndbox", "/sandbox", false),
            ("/a b", "/ab", false),
        ] {
            assert_eq!(equal_when_folded(left, right), expected, "{left:?} {right:?}");
        }
    }

    #[test]
    fn a_sensitive_host_changes_nothing() {
        let text = "/HOME/\u{212a}/cafe\u{301}/\u{200c}";
        assert!(matches!(PathCase::Sensitive.fold_text(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn every_character_meets_its_other_case() {
        for character in ('\0'..'\u{20000}').filter(|one| !one.is_ascii()) {
            let text = character.to_string();
            let once = PathCase::Insensitive.fold_text(&text).into_owned();
            assert_eq!(
                PathCase::Insensitive.fold_text(&once),
                once.as_str(),
                "{character:?} twice"
            );
            for cased in [text.to_uppercase(), text.to_lowercase()] {
                assert!(
                    cased == text || equal_when_folded(&cased, &once),
                    "{character:?} {cased:?}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn case_and_ignorable_characters_never_matter(text in "\\PC{0,10}", at in 0_usize..10) {
            let upper = text.to_uppercase();
            prop_assert!(equal_when_folded(&text, &upper), "{text:?} {upper:?}");
            let mut marked: Vec<char> = text.chars().collect();
            marked.insert(at.min(marked.len()), '\u{200d}');
            let marked: String = marked.into_iter().collect();
            prop_assert!(equal_when_folded(&text, &marked), "{text:?} {marked:?}");
        }

        #[test]
        fn folding_twice_is_folding_once(text in "\\PC{0,10}") {
            let once = PathCase::Insensitive.fold_text(&text).into_owned();
            prop_assert_eq!(PathCase::Insensitive.fold_text(&once), once.as_str());
        }
    }
}
