//! Suggestions for misspelled names.

/// Help for a [`Diagnostic`](crate::Diagnostic): `did you mean …?`, if a known name is similar enough to `word`.
pub fn did_you_mean<'n>(word: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    nearest(word, known).map(|name| format!("did you mean `{name}`?"))
}

/// The names in backticks, separated by commas.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
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
