//! Suggestions for misspelled names.

use crate::diagnostic::{Code, Diagnostic};

/// Help for a [`Diagnostic`](crate::diagnostic::Diagnostic): `did you mean …?`, if a known name is similar enough to `word`.
pub fn did_you_mean<'n>(word: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    nearest(word, known).map(|name| format!("did you mean `{name}`?"))
}

/// The names in backticks, separated by commas.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The error for a key at `path` that is not one of the `known` keys of what an engine is built from. A known key that
/// looks like it is offered.
pub fn unknown_key(path: impl Into<String>, key: &str, known: &[&str]) -> Diagnostic {
    let (message, help) = describe_unknown(key, known);
    Diagnostic {
        help,
        ..Diagnostic::error(Code::UnknownKey, path, message)
    }
}

pub(super) fn describe_unknown(key: &str, known: &[&str]) -> (String, Option<String>) {
    let names = || known.iter().copied();
    let message = format!(
        "found the key {}, expected one of {}",
        shorten(key),
        listed(names())
    );
    (message, did_you_mean(key, names()))
}

/// How many characters of a key, or bytes of a value, a message shows.
pub(super) const SHOWN: usize = 60;

pub(super) fn shorten(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("`{cut}{more}`")
}

/// Longer words are not misspelled names, and comparing them would be slow.
const LONGEST: usize = 64;

fn nearest<'n>(word: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if word.len() > LONGEST {
        return None;
    }
    known
        .into_iter()
        .map(|name| (distance(word, name), name))
        .filter(|(distance, name)| *distance <= (name.len().max(word.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein distance, ignoring ASCII case.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (1..=other.chars().count()).collect();
    let mut last = row.len();
    for (above_left, here) in one.chars().enumerate() {
        let mut diagonal = above_left;
        let mut left = above_left + 1;
        for (cell, there) in row.iter_mut().zip(other.chars()) {
            let changed = diagonal + usize::from(!here.eq_ignore_ascii_case(&there));
            diagonal = *cell;
            left = changed.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        last = left;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("Allow", "allow", 0),
            ("flaw", "lawn", 2),
            ("ключ", "клуч", 1),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn only_near_names_are_offered() {
        let known = ["read-path", "write-path", "domains", "if"];
        for (word, expected) in [
            ("read-paths", Some("read-path")),
            ("readpath", Some("read-path")),
            ("domain", Some("domains")),
            ("Domains", Some("domains")),
            ("iff", Some("if")),
            ("reader", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
        assert_eq!(nearest(&"a".repeat(65), ["a"]), None);
    }
}
