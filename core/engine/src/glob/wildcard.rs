//! Patterns in which only `*` has a meaning, for the names of servers and tools and for protected paths.
//!
//! `*` stands for any text without a `/`, and `**` as a whole component for any number of components. Every other
//! character, `?`, `[`, `]`, `{` and `}` included, stands for itself.

use crate::cost::NAME_PATTERN_BYTES;

/// A pattern with at least one `*`. Matching takes time proportional to the length of the text, times the number of
/// components between two `**`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wildcard {
    text: Box<str>,
    components: Box<[Component]>,
}

/// The rest of a pattern below a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// `true` if a match may lie at any depth.
    pub is_deep: bool,
    /// The parts of it that may come next, each to be found directly in the directory.
    pub rests: Vec<Rest>,
}

/// The last components of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The names up to the first component with a `*`; empty if that comes first.
    pub names: String,
    /// `true` if no component has a `*`.
    pub is_whole: bool,
    /// `true` if the name of the directory itself is one of the pattern's, without a `*`.
    pub is_named: bool,
}

/// A pattern for one component of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    pub fn parse(text: &str) -> Option<Self> {
        text.contains('*').then(|| Self {
            text: text.into(),
            components: text.split('/').map(Component::parse).collect(),
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns `true` if the pattern matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        let parts: Vec<&str> = text.split('/').collect();
        matches(&self.components, &parts)
    }

    /// Returns `true` if the pattern matches a relative path, or a directory above it, and the match has more than `depth`
    /// components. The empty path has none.
    pub fn covers(&self, names: &str, depth: usize) -> bool {
        let parts: Vec<&str> = components(names).collect();
        let mut groups = self.components.split(|component| *component == Component::Any);
        let first = groups.next().unwrap_or_default();
        let last = groups.next_back();
        let Some((head, mut left)) = parts.split_at_checked(first.len()) else {
            return false;
        };
        if !holds(first, head) {
            return false;
        }
        let Some(last) = last else {
            return first.len() > depth;
        };
        for group in groups {
            let Some(rest) = after(group, left) else {
                return false;
            };
            left = rest;
        }
        let before = parts.len() - left.len();
        let may_end = |end: usize| before + end > depth;
        if last.is_empty() {
            return may_end(left.len());
        }
        let mut windows = left.windows(last.len()).enumerate();
        windows.any(|(at, parts)| may_end(at + last.len()) && holds(last, parts))
    }

    /// The rest of the pattern below a relative path, which its first components match.
    pub fn below(&self, names: &str) -> Below {
        let last = self.components.len();
        // The components that may be the next ones.
        let mut next = vec![false; last + 1];
        let enter = |next: &mut Vec<bool>, at: usize| {
            // A `**` may stand for nothing.
            let more = self.components.iter().skip(at);
            let through = more.take_while(|one| **one == Component::Any).count();
            let entered = next.iter_mut().skip(at).take(through + 1);
            entered.for_each(|one| *one = true);
        };
        enter(&mut next, 0);
        for name in components(names) {
            let before = next;
            next = vec![false; last + 1];
            for (at, component) in self.components.iter().enumerate() {
                if before.get(at) == Some(&true) && component.matches(name) {
                    match component {
                        Component::Any => enter(&mut next, at),
                        Component::Exact(_) | Component::Pieces(_) => enter(&mut next, at + 1),
                    }
                }
            }
        }
        let mut below = Below::default();
        for (at, component) in self.components.iter().enumerate() {
            match component {
                _ if next.get(at) != Some(&true) => {}
                Component::Any => below.is_deep = true,
                Component::Exact(_) | Component::Pieces(_) => below.rests.push(self.rest(at)),
            }
        }
        below
    }

    /// The components from this one on.
    fn rest(&self, at: usize) -> Rest {
        let rest = self.components.get(at..).unwrap_or_default();
        let names = rest.iter().map_while(Component::name);
        let names: Vec<&str> = names.collect();
        let before = at.checked_sub(1).and_then(|at| self.components.get(at));
        Rest {
            is_whole: names.len() == rest.len(),
            is_named: before.is_none_or(|before| before.name().is_some()),
            names: names.join("/"),
        }
    }

    /// How many steps it takes to find what is left of the pattern below a path of this length.
    pub fn cost_below(&self, bytes: usize) -> usize {
        1 + bytes / NAME_PATTERN_BYTES * self.components.len()
    }

    /// How many steps it takes to hold the pattern against a text of this length.
    pub fn cost(&self, bytes: usize) -> usize {
        let groups = self.components.split(|component| *component == Component::Any);
        let longest = groups.skip(1).map(<[Component]>::len).max();
        1 + bytes / NAME_PATTERN_BYTES * longest.unwrap_or(1).max(1)
    }
}

/// The components of a relative path; the empty one has none.
fn components(names: &str) -> impl Iterator<Item = &str> {
    names.split('/').filter(move |_| !names.is_empty())
}

impl Component {
    fn parse(text: &str) -> Self {
        match text {
            "**" => Self::Any,
            _ if text.contains('*') => Self::Pieces(text.split('*').map(Box::from).collect()),
            _ => Self::Exact(text.into()),
        }
    }

    /// The name that it stands for, if it is one.
    fn name(&self) -> Option<&str> {
        match self {
            Self::Exact(name) => Some(name),
            Self::Any | Self::Pieces(_) => None,
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

/// Returns `true` if the text begins with the first piece, ends with the last, and has the others between them in
/// order. The first place of a piece leaves the most room for those after it, so no other place is tried.
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

/// Returns `true` if the components match all of the parts. As with pieces, only the first place of the components
/// between two `**` is tried.
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

/// Returns `true` if each component matches the part in its place.
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

    #[test]
    fn a_pattern_of_paths_covers_what_lies_below_a_match() {
        for (pattern, holds, fails) in [
            (
                "**/.env",
                &[".env", "a/.env", "a/.env/b", ".env/.env"][..],
                &["", "a", "a.env"][..],
            ),
            (
                "*/secret",
                &["a/secret", "a/secret/x/y"],
                &["", "a", "secret", "a/b/secret"],
            ),
            (
                "a/**/b*/c",
                &["a/b/c", "a/x/b1/c/d", "a/b1/x/b2/c"],
                &["a/b", "a/b/x", "b/c"],
            ),
            ("**/a/**/b", &["a/b", "x/a/y/b/z"], &["b/a", "a"]),
        ] {
            let wildcard = Wildcard::parse(pattern).unwrap();
            for names in holds {
                assert!(wildcard.covers(names, 0), "{pattern:?} {names:?}");
            }
            for names in fails {
                assert!(!wildcard.covers(names, 0), "{pattern:?} {names:?}");
            }
        }
        for (pattern, names, depth, expected) in [
            ("**/x", "a/x/b", 1, true),
            ("**/x", "a/x/b", 2, false),
            ("**/x", "a/x/b/x", 2, true),
            ("*/x", "a/x/b/x", 2, false),
            ("**/a/**/x", "a/x/x", 2, true),
        ] {
            assert_eq!(
                Wildcard::parse(pattern).unwrap().covers(names, depth),
                expected,
                "{pattern} {names} {depth}"
            );
        }
    }

    #[test]
    fn a_pattern_goes_on_below_what_its_first_names_match() {
        let rest = |names: &str, is_whole: bool, is_named: bool| Rest {
            names: names.to_owned(),
            is_whole,
            is_named,
        };
        for (pattern, names, is_deep, rests) in [
            ("*/secret", "", false, vec![rest("", false, true)]),
            ("*/secret", "a", false, vec![rest("secret", true, false)]),
            ("*/secret", "a/b", false, vec![]),
            ("*/secret", "a/secret", false, vec![]),
            ("**/.env", "", true, vec![rest(".env", true, false)]),
            ("**/.env", "a/b", true, vec![rest(".env", true, false)]),
            ("**/*.pem", "a", true, vec![rest("", false, false)]),
            (
                "**/.aws/credentials",
                "x/.aws",
                true,
                vec![
                    rest(".aws/credentials", true, false),
                    rest("credentials", true, true),
                ],
            ),
            ("a*/**/x", "ab/c", true, vec![rest("x", true, false)]),
            ("a*/**/x", "b", false, vec![]),
            ("a*/k/*.key", "ab", false, vec![rest("k", false, false)]),
            ("a*/k/*.key", "ab/k", false, vec![rest("", false, true)]),
        ] {
            let found = Wildcard::parse(pattern).unwrap().below(names);
            assert_eq!(found, Below { is_deep, rests }, "{pattern} {names}");
        }
    }

    proptest! {
        #[test]
        fn covering_is_matching_a_directory_above(
            pattern in "(a|b|\\*|\\*\\*|x)(/(a|b|\\*|\\*\\*|b\\*)){0,4}/\\*(/(a|\\*\\*|b)){0,2}", names in "[abx](/[abx]{1,2}){0,5}",
            depth in 0_usize..4,
        ) {
            let wildcard = Wildcard::parse(&pattern).unwrap();
            let ends = names.match_indices('/').map(|(at, _)| at).chain([names.len()]);
            let mut above = ends.enumerate().filter(|(count, _)| *count + 1 > depth);
            let expected = above.any(|(_, end)| wildcard.matches(names.split_at(end).0));
            prop_assert_eq!(wildcard.covers(&names, depth), expected);
        }

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
