//! The name of an argument: a key of the arguments, or a JSON Pointer into them.

use std::fmt;

use crate::text::{escape_token, unescape_token};

/// Where the values of an annotated argument are found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArgumentName {
    /// The own property with this name.
    Top(Box<str>),
    /// A JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)) in which `*` stands for every item or
    /// member. A member called `*` cannot be named.
    Pointer(Vec<Segment>),
}

/// One reference token of a pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// The member with this name, or the item at this index.
    Key(Box<str>),
    /// Every item or member.
    Every,
}

/// A token that is a name, or `None` for every item or member.
type Key<'n> = Option<&'n str>;

/// A `~` in a pointer that is neither `~0` nor `~1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEscape;

impl BadEscape {
    /// The message about the pointer in a document.
    pub fn message(self, pointer: &str) -> String {
        format!("found the pointer `{pointer}`, expected `~0` for `~` and `~1` for `/` in it")
    }
}

impl ArgumentName {
    /// Returns `true` if a value that one of the two names may lie at or within one that the other names.
    pub fn may_meet(&self, other: &Self) -> bool {
        let meets = |one: &Key<'_>, other: &Key<'_>| one.is_none() || other.is_none() || one == other;
        self.keys()
            .zip(other.keys())
            .all(|(one, other)| meets(&one, &other))
    }

    /// Its tokens; `None` for those that stand for every item or member.
    fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        let (top, tokens) = match self {
            Self::Top(name) => (Some(Some(&**name)), [].as_slice()),
            Self::Pointer(tokens) => (None, tokens.as_slice()),
        };
        let tokens = tokens.iter().map(|token| match token {
            Segment::Key(name) => Some(&**name),
            Segment::Every => None,
        });
        top.into_iter().chain(tokens)
    }

    /// Parses a pointer if the name starts with `/`, otherwise the name of a property.
    pub fn parse(text: &str) -> Result<Self, BadEscape> {
        match text.strip_prefix('/') {
            None => Ok(Self::Top(text.into())),
            Some(tokens) => tokens
                .split('/')
                .map(|token| match token {
                    "*" => Ok(Segment::Every),
                    _ => unescape_token(token)
                        .map(|name| Segment::Key(name.into()))
                        .ok_or(BadEscape),
                })
                .collect::<Result<_, _>>()
                .map(Self::Pointer),
        }
    }
}

impl ArgumentName {
    /// The argument that it names or leads into; `None` if that is every argument.
    pub fn first(&self) -> Option<&str> {
        match self {
            Self::Top(name) => Some(name),
            Self::Pointer(segments) => match segments.first() {
                Some(Segment::Key(name)) => Some(name),
                Some(Segment::Every) | None => None,
            },
        }
    }

    /// The segments from that argument to the value.
    pub fn rest(&self) -> &[Segment] {
        match self {
            Self::Top(_) => &[],
            Self::Pointer(segments) => segments.get(1..).unwrap_or_default(),
        }
    }
}

impl fmt::Display for ArgumentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top(name) => formatter.write_str(name),
            Self::Pointer(segments) => segments.iter().try_for_each(|segment| match segment {
                Segment::Every => formatter.write_str("/*"),
                Segment::Key(key) => write!(formatter, "/{}", escape_token(key)),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(tokens: &[&str]) -> Result<ArgumentName, BadEscape> {
        let segment = |token: &&str| match *token {
            "*" => Segment::Every,
            key => Segment::Key(key.into()),
        };
        Ok(ArgumentName::Pointer(tokens.iter().map(segment).collect()))
    }

    #[test]
    fn pointers_are_those_of_rfc_6901() {
        for (text, expected) in [
            ("path", Ok(ArgumentName::Top("path".into()))),
            ("", Ok(ArgumentName::Top("".into()))),
            ("a/b~c", Ok(ArgumentName::Top("a/b~c".into()))),
            ("/", pointer(&[""])),
            ("/edits/*/path", pointer(&["edits", "*", "path"])),
            ("/a~1b/m~0n/~01/0", pointer(&["a/b", "m~n", "~1", "0"])),
            ("/__proto__//", pointer(&["__proto__", "", ""])),
            ("/a~", Err(BadEscape)),
            ("/a~2", Err(BadEscape)),
        ] {
            let parsed = ArgumentName::parse(text);
            assert_eq!(parsed, expected, "{text}");
            if let Ok(name) = parsed {
                assert_eq!(name.to_string(), text);
            }
        }
    }
}
