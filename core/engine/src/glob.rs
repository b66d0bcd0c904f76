//! Glob patterns: `*`, `**`, `?`, `[…]`, `{…,…}` and `\`, matched against a whole string.
//!
//! `*` and `?` do not match a `/`; only `**` as a whole component does. A pattern that starts with `!` is refused: it
//! would match everything except what it names, and a grant must name what it grants.
//!
//! Rules and protected paths have a simpler kind of pattern, in which only `*` has a meaning: `Wildcard`.

mod name;
mod wildcard;

use std::fmt;

use serde::Serialize;

use crate::limits::Limits;

pub use name::NamePattern;
pub use wildcard::{Below, Rest, Wildcard};

/// A well-formed pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Glob(Box<str>);

/// Why a string is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadGlob {
    /// It starts with `!`.
    Negated,
    /// The limit of this name is exceeded: the value found, and the bound.
    Limit(&'static str, usize, usize),
    /// A brace or bracket is not closed, too many are open, or the pattern ends in `\`.
    Malformed(String),
}

impl fmt::Display for BadGlob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Negated => {
                formatter.write_str("a pattern that starts with `!`, expected one that says what it matches")
            }
            Self::Limit(name, found, most) => {
                write!(formatter, "`{found}`, expected at most {most} (limit `{name}`)")
            }
            Self::Malformed(why) => write!(formatter, "a malformed pattern, {why}, expected a glob"),
        }
    }
}

impl Glob {
    /// Parses a pattern.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, BadGlob> {
        if text.starts_with('!') {
            return Err(BadGlob::Negated);
        }
        if text.len() > limits.glob_bytes {
            return Err(BadGlob::Limit("glob_bytes", text.len(), limits.glob_bytes));
        }
        fast_glob::validate(text).map_err(|error| BadGlob::Malformed(error.to_string()))?;
        let alternatives = alternatives(text);
        if alternatives > limits.glob_alternatives {
            let most = limits.glob_alternatives;
            return Err(BadGlob::Limit("glob_alternatives", alternatives, most));
        }
        Ok(Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The rest of the pattern after `prefix`, which never negates.
    pub fn strip_prefix(&self, prefix: &str) -> Option<Self> {
        self.0.strip_prefix(prefix).map(|rest| Self(rest.into()))
    }

    /// Returns `true` if the pattern matches the whole text. For each way to read the braces, the number of steps is
    /// at most the product of the two lengths in bytes.
    pub fn matches(&self, text: &str) -> bool {
        matches(&self.0, text)
    }

    /// Returns `true` if the pattern matches the whole text, treating `/` like any other character.
    pub fn matches_across(&self, text: &str) -> bool {
        const LIKE_ANY_OTHER: &str = "\u{1}";
        matches(
            &self.0.replace('/', LIKE_ANY_OTHER),
            &text.replace('/', LIKE_ANY_OTHER),
        )
    }

    /// Matches the pattern without `prefix` against the text; `None` if the pattern does not start with `prefix`.
    pub fn matches_after(&self, prefix: &str, text: &str) -> Option<bool> {
        let rest = self.0.strip_prefix(prefix)?;
        Some(matches(rest, text))
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    // Without its prefix a pattern may start with `!`, which must not negate it.
    !pattern.starts_with('!') && fast_glob::glob_match(pattern, text)
}

/// An upper bound for the ways to read a well-formed pattern's braces.
fn alternatives(pattern: &str) -> usize {
    let mut open: Vec<usize> = Vec::new();
    let mut readings = 1_usize;
    let mut bytes = pattern.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'[' => skip_class(&mut bytes),
            b'{' => open.push(1),
            b',' => {
                if let Some(group) = open.last_mut() {
                    *group += 1;
                }
            }
            b'}' => readings = readings.saturating_mul(open.pop().unwrap_or(1)),
            _ => {}
        }
    }
    readings
}

/// Skips the rest of a character class. Its first character never closes it.
fn skip_class(bytes: &mut std::iter::Peekable<std::str::Bytes<'_>>) {
    bytes.next_if(|byte| matches!(byte, b'^' | b'!'));
    let mut first = true;
    while let Some(byte) = bytes.next() {
        match byte {
            b']' if !first => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn glob(text: &str) -> Glob {
        Glob::parse(text, &Limits::default()).unwrap()
    }

    #[test]
    fn patterns_match_whole_texts_and_stop_at_slashes() {
        for (pattern, holds, fails) in [
            (
                "src/*",
                &["src/a.rs", "src/.env", "src/*"][..],
                &["src", "src/a/b", "xsrc/a", "src/a/"][..],
            ),
            (
                "src/**",
                &["src/a", "src/a/b/c", "src/.x/y"],
                &["srcs/a", "a/src/b"],
            ),
            ("**/*.md", &["a.md", "x/y/a.md"], &["a.md/b", "amd"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb"]),
            ("*", &["a", "", ".x"], &["a/b", "/"]),
            ("**", &["a", "a/b", "/a/b"], &[]),
            ("git *", &["git status", "git log -1"], &["git log a/b", "gitk"]),
            ("?.txt", &["a.txt"], &["ab.txt", "/.txt", ".txt"]),
            ("[a-c]x", &["ax", "cx"], &["dx", "/x"]),
            ("[!a]x", &["bx"], &["ax", "/x"]),
            ("{src,test}/*", &["src/a", "test/b"], &["lib/a"]),
            ("\\*", &["*"], &["a"]),
            ("", &[""], &["a", "/"]),
            ("a", &["a"], &["A", "a ", "a\n", "a\0"]),
        ] {
            for text in holds {
                assert!(glob(pattern).matches(text), "{pattern:?} {text:?}");
            }
            for text in fails {
                assert!(!glob(pattern).matches(text), "{pattern:?} {text:?}");
            }
        }
        assert!(glob("*").matches_across("a/b") && glob("s/*").matches_across("s/a/b"));
        assert!(!glob("s/*").matches_across("t/a"));
        assert_eq!(glob("/box/src/*").matches_after("/box/", "src/a"), Some(true));
        assert_eq!(glob("/box/src/*").matches_after("/bo/", "src/a"), None);
        assert_eq!(glob("/box/!a").matches_after("/box/", "b"), Some(false));
    }

    #[test]
    fn what_is_not_a_pattern_is_refused() {
        let limits = Limits::default();
        for (text, expected) in [
            ("!src/**".to_owned(), "a pattern that starts with `!`"),
            (
                "a".repeat(1_025),
                "`1025`, expected at most 1024 (limit `glob_bytes`)",
            ),
            ("{a".to_owned(), "a malformed pattern, unclosed brace"),
            ("[a".to_owned(), "a malformed pattern, unclosed character class"),
            ("a\\".to_owned(), "a malformed pattern, trailing backslash"),
            (
                "{a,b,c}".repeat(6),
                "`729`, expected at most 64 (limit `glob_alternatives`)",
            ),
            ("{[}],b,{c,d}}".repeat(5), "`7776`"),
        ] {
            let error = Glob::parse(&text, &limits).expect_err(&text).to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(pattern in "[a/*?\\[\\]{},!\\\\é-]{0,12}", text in "[a/!é,-]{0,12}") {
            if let Ok(glob) = Glob::parse(&pattern, &Limits::default()) {
                let _ = glob.matches(&text);
                let _ = glob.matches_after("a", &text);
            }
        }

        #[test]
        fn a_star_never_matches_a_slash(text in "[a/]{0,8}") {
            prop_assert_eq!(glob("*").matches(&text), !text.contains('/'));
            prop_assert_eq!(glob("a/*").matches(&text), text.strip_prefix("a/").is_some_and(|rest| !rest.contains('/')));
        }
    }
}
