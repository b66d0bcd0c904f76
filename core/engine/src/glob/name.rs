//! The names of servers and tools in rules, which may be patterns.

use super::Wildcard;

/// A rule's pattern for the name of a server or a tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamePattern {
    /// It is this.
    Exact(Box<str>),
    /// It matches this.
    Wildcard(Wildcard),
}

impl NamePattern {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exact(name) => name,
            Self::Wildcard(pattern) => pattern.as_str(),
        }
    }

    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => **exact == *name,
            Self::Wildcard(pattern) => pattern.matches(name),
        }
    }

    pub(crate) fn is_wildcard(&self) -> bool {
        match self {
            Self::Exact(_) => false,
            Self::Wildcard(_) => true,
        }
    }
}

impl From<&str> for NamePattern {
    fn from(text: &str) -> Self {
        match Wildcard::parse(text) {
            Some(pattern) => Self::Wildcard(pattern),
            None => Self::Exact(text.into()),
        }
    }
}
