//! The keys under which patterns and values find each other.

use std::borrow::Cow;

/// The text that a [`Key`] is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Everything.
    Star,
    /// A whole host.
    Host,
    /// A host or one of its parents.
    Suffix,
    /// `host/owner/repo`, exactly.
    Exact,
    /// `host/owner/repo` in lower case, without escapes, dot segments and `.git`.
    Folded,
    /// The host of a `host/owner/repo`, for values whose repository is unclear.
    Within,
    /// Everything that a `host/owner/repo` lies below, exactly.
    Below,
    /// The same in the form of [`Folded`](Self::Folded).
    FoldedBelow,
}

/// A set of scopes: most sets of patterns have keys of one or two, and nothing is looked up in the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scopes(u8);

impl Scopes {
    pub(crate) const ALL: Self = Self(u8::MAX);

    pub(crate) fn insert(&mut self, scope: Scope) {
        self.0 |= 1 << scope as u8;
    }

    pub(crate) fn contains(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        let mut set = Self::default();
        scopes.into_iter().for_each(|scope| set.insert(scope));
        set
    }
}

/// A pattern can only match a value with which it shares a key, whether it grants or restricts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key<'a> {
    pub scope: Scope,
    pub text: Cow<'a, str>,
}

impl<'a> Key<'a> {
    pub(super) fn new(scope: Scope, text: &'a str) -> Self {
        Self {
            scope,
            text: Cow::Borrowed(text),
        }
    }

    /// The key with its own copy of the text.
    pub fn into_owned(self) -> Key<'static> {
        Key {
            scope: self.scope,
            text: Cow::Owned(self.text.into_owned()),
        }
    }
}
