//! Comparing and taking apart short texts.
//!
//! The standard library searches with machinery that pays off in long texts, and in WebAssembly its comparisons go byte
//! by byte. Paths and names are short and compared all the time: these loops take a fraction of the time there, and no
//! more elsewhere.

/// Whether the texts are the same.
pub(crate) fn equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let (words, rest) = one.as_chunks::<8>();
    let (other_words, other_rest) = other.as_chunks::<8>();
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    // What differs mostly differs at its end.
    match (one.last_chunk(), other.last_chunk()) {
        (Some(last), Some(other_last)) => {
            word(last) == word(other_last)
                && words
                    .iter()
                    .zip(other_words)
                    .all(|(one, other)| word(one) == word(other))
        }
        (None, _) | (_, None) => rest.iter().zip(other_rest).all(|(one, other)| one == other),
    }
}

/// `text` behind `prefix`, if it begins with that.
pub(crate) fn behind<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    equal(start, prefix).then_some(rest)
}

/// What stands between the slashes of `path`, in order.
pub(crate) fn between_slashes(path: &str) -> impl Iterator<Item = &[u8]> {
    path.as_bytes().split(|byte| *byte == b'/')
}

/// Whether nothing between the slashes of `names` is empty, `.` or `..`.
pub(crate) fn are_plain(names: &str) -> bool {
    let odd = |name: &[u8]| matches!(name, [] | [b'.'] | [b'.', b'.']);
    let begins_well = !names.starts_with(['/', '.']) && !names.is_empty() && !names.ends_with('/');
    (begins_well && !may_be_odd(names.as_bytes())) || !between_slashes(names).any(odd)
}

/// Whether a `/` or a `.` may follow a `/`; looks at eight bytes at a time, each time but the last a byte again.
fn may_be_odd(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk() else {
        return true;
    };
    let odd = |word: &[u8; 8]| {
        let slashes = among(word, b'/');
        (slashes << 8) & (slashes | among(word, b'.')) != 0
    };
    let starts = (0..text.len() - 8).step_by(7);
    odd(last) || starts.filter_map(|at| text.get(at..)?.first_chunk()).any(odd)
}

/// The high bit of each byte that is the wanted one, the first in the lowest place, and of some that follow such a byte.
fn among(word: &[u8; 8], wanted: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let differences = u64::from_le_bytes(*word) ^ (ONES * u64::from(wanted));
    differences.wrapping_sub(ONES) & !differences & (ONES << 7)
}

/// Whether a NUL is in `text`.
pub(crate) fn has_nul(text: &str) -> bool {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    words.iter().any(|word| among(word, 0) != 0) || rest.contains(&0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_are_told_from_others() {
        for (names, expected) in [
            ("a", true),
            ("a/b.c/.d/...", true),
            ("", false),
            ("a//b", false),
            ("a/", false),
            ("/a", false),
            (".", false),
            ("a/./b", false),
            ("a/..", false),
            ("é/ /\0", true),
            ("long/enough/for/words", true),
            ("long/enough//for/words", false),
            ("long/enough/for/../words", false),
            ("long/enough/for/.words", true),
            ("long/enough/for/words/..", false),
        ] {
            assert_eq!(are_plain(names), expected, "{names:?}");
        }
    }

    proptest! {
        #[test]
        fn comparing_is_that_of_the_standard_library(one in "[ab/é]{0,30}", other in "[ab/é]{0,30}", at in 0_usize..31) {
            prop_assert_eq!(equal(&one, &other), one == other);
            prop_assert_eq!(behind(&one, &other), one.strip_prefix(other.as_str()));
            let mut copy = one.clone();
            prop_assert!(equal(&one, &copy));
            if let Some(last) = copy.get(at..at + 1).map(|found| if found == "a" { "b" } else { "a" }) {
                copy.replace_range(at..=at, last);
                prop_assert_eq!(equal(&one, &copy), one == copy);
            }
            let start = one.get(..at).unwrap_or(&one);
            prop_assert_eq!(behind(&one, start), one.strip_prefix(start));
        }

        #[test]
        fn splitting_is_that_of_the_standard_library(path in "[a/.é]{0,12}", names in "([ab]{1,9}[/.0]?){0,6}[/.]{0,2}", text in "[a\0é]{0,40}") {
            let expected: Vec<&[u8]> = path.split('/').map(str::as_bytes).collect();
            prop_assert_eq!(between_slashes(&path).collect::<Vec<_>>(), expected);
            let odd = |name: &str| matches!(name, "" | "." | "..");
            prop_assert_eq!(are_plain(&names), !names.split('/').any(odd));
            prop_assert_eq!(has_nul(&text), text.contains('\0'));
        }
    }
}
