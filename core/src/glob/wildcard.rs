//! Patterns in which only `*` has a meaning, for the names of servers and tools and for protected paths.
//!
//! `*` stands for any text without a `/`, and `**` as a whole component for any number of components. Every other
//! character, `?`, `[`, `]`, `{` and `}` included, stands for itself.

/// A pattern with at least one `*`. Matching takes time proportional to the length of the text, times the number of
/// components between two `**`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wildcard {
    text: Box<str>,
    components: Box<[Component]>,
}

/// What one component of a text must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Component {
    /// `**`: any number of components.
    Any,
    /// Exactly this text.
    Exact(Box<str>),
    /// These texts in order: the first at the beginning, the last at the end, with anything between them.
    Pieces(Box<[Box<str>]>),
}

impl Wildcard {
    /// Parses a pattern; `None` if the text has no `*`, and so stands for itself.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.contains('*').then(|| Self {
            text: text.into(),
            components: text.split('/').map(Component::parse).collect(),
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns `true` if the pattern matches the whole text.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let parts: Vec<&str> = text.split('/').collect();
        matches(&self.components, &parts)
    }
}

impl Component {
    fn parse(text: &str) -> Self {
        match text {
            "**" => Self::Any,
            _ if text.contains('*') => Self::Pieces(text.split('*').map(Box::from).collect()),
            _ => Self::Exact(text.into()),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(exact) => **exact == *text,
            Self::Pieces(pieces) => has_pieces(pieces, text),
        }
    }
}

/// Whether the text begins with the first piece, ends with the last, and has the others between them in order. The
/// first place of a piece leaves the most room for those after it, so no other place is tried.
fn has_pieces(pieces: &[Box<str>], text: &str) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return text.is_empty();
    };
    let Some((last, middle)) = rest.split_last() else {
        return **first == *text;
    };
    let ends = text
        .strip_prefix(&**first)
        .and_then(|rest| rest.strip_suffix(&**last));
    let Some(mut left) = ends else { return false };
    for piece in middle {
        let Some(at) = left.find(&**piece) else {
            return false;
        };
        left = left.get(at + piece.len()..).unwrap_or_default();
    }
    true
}

/// Whether the components match all of the parts. As with pieces, the first place of what stands between two `**` is the
/// only one that is tried.
fn matches(components: &[Component], parts: &[&str]) -> bool {
    let mut groups = components.split(|component| *component == Component::Any);
    let first = groups.next().unwrap_or_default();
    let Some((head, mut left)) = parts.split_at_checked(first.len()) else {
        return false;
    };
    if !holds(first, head) {
        return false;
    }
    let mut groups: Vec<&[Component]> = groups.collect();
    let Some(last) = groups.pop() else {
        return left.is_empty();
    };
    for group in groups {
        let Some(rest) = after(group, left) else {
            return false;
        };
        left = rest;
    }
    let tail = left.len().checked_sub(last.len());
    tail.and_then(|at| left.get(at..))
        .is_some_and(|tail| holds(last, tail))
}

/// The parts after the first place where the components match.
fn after<'t, 's>(components: &[Component], parts: &'t [&'s str]) -> Option<&'t [&'s str]> {
    if components.is_empty() {
        return Some(parts);
    }
    let at = parts
        .windows(components.len())
        .position(|parts| holds(components, parts))?;
    parts.get(at + components.len()..)
}

/// Whether each component matches the part in its place.
fn holds(components: &[Component], parts: &[&str]) -> bool {
    components.len() == parts.len()
        && components
            .iter()
            .zip(parts)
            .all(|(component, part)| component.matches(part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::glob::Glob;
    use crate::limits::Limits;

    #[test]
    fn only_a_star_has_a_meaning() {
        for (pattern, holds, fails) in [
            ("*", &["", "a", "*", "get"][..], &["a/b", "/"][..]),
            (
                "get_*",
                &["get_", "get_a", "get_*", "get_[a]"],
                &["get", "xget_a", "get_a/b"],
            ),
            ("*_file", &["read_file", "_file"], &["read_files", "file"]),
            ("a*b*c", &["abc", "axbxc", "abcbc"], &["ab", "acb", "abcd"]),
            ("a*a", &["aa", "aba"], &["a", "ab"]),
            ("[a]*?{b}", &["[a]?{b}", "[a]x?{b}"], &["a?{b}", "[a]xx"]),
            ("**", &["", "a", "a/b", "/a/b"], &[]),
            (
                "**/.env",
                &[".env", "/a/.env", "/.env", "a/b/.env"],
                &["x.env", ".env/a"],
            ),
            (
                "/srv/*/secret",
                &["/srv/a/secret"],
                &["/srv/secret", "/srv/a/b/secret", "/srv/a/secret/x"],
            ),
            (
                "/a/**/b",
                &["/a/b", "/a/x/b", "/a/x/y/b"],
                &["/ab", "/a/xb", "/a"],
            ),
            (
                "/a/**/b/**/c",
                &["/a/b/c", "/a/b/b/c", "/a/x/b/y/c"],
                &["/a/c/b", "/a/b"],
            ),
            ("/a/**/x*/y/**", &["/a/x/x1/y", "/a/x/y/z"], &["/a/x/z/y"]),
            ("a**b", &["ab", "axb"], &["a/b"]),
            ("é*", &["é", "éa"], &["e"]),
        ] {
            let wildcard = Wildcard::parse(pattern).unwrap();
            assert_eq!(wildcard.as_str(), pattern);
            for text in holds {
                assert!(wildcard.matches(text), "{pattern:?} {text:?}");
            }
            for text in fails {
                assert!(!wildcard.matches(text), "{pattern:?} {text:?}");
            }
        }
        for text in ["", "a", "[a]", "?", "{a,b}", "a/b"] {
            assert_eq!(Wildcard::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_globs_where_both_have_a_meaning(
            pattern in "(a|b|\\*|/){0,7}\\*(a|b|\\*|/){0,4}", text in "[ab/]{0,9}"
        ) {
            // The other kind of glob takes `**` for more than one component only where it is one itself.
            prop_assume!(!pattern.contains("**"));
            let glob = Glob::parse(&pattern, &Limits::default()).unwrap();
            prop_assert_eq!(Wildcard::parse(&pattern).unwrap().matches(&text), glob.matches(&text));
        }

        #[test]
        fn two_stars_cross_slashes(before in "[ab/]{0,4}", middle in "[ab/]{0,5}", after in "[ab]{1,3}") {
            let wildcard = Wildcard::parse(&format!("{before}/**/{after}")).unwrap();
            let held = format!("{before}/{middle}/{after}");
            let joined = format!("{before}/{after}");
            prop_assert!(wildcard.matches(&held), "{}", held);
            prop_assert!(wildcard.matches(&joined), "{}", joined);
        }
    }
}
