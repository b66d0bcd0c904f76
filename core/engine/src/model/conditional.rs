//! Annotated arguments, whose roles may depend on a sibling argument.

use std::fmt;
use std::iter;

use super::argument_name::ArgumentName;
use super::scalars::{ComparedValue, ConditionValue, Scalar, Scalars};
use crate::cost::TEXT_TEST;
use crate::named::named;
use crate::role::RoleId;
use crate::text::{escape_token, is_line_break};

/// One annotated argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Where its values are found.
    pub name: ArgumentName,
    /// The roles of its values.
    pub roles: Roles,
    /// The argument whose path its relative paths start from.
    pub relative_to: Option<Box<str>>,
    /// How far the tool changes what its paths name; `None` where nobody says.
    pub reach: Option<Reach>,
    /// `true` if its texts are URIs, each judged under the role of what it names.
    pub is_uri: bool,
    /// The scheme of a URL that is given without one; `None` where nobody says.
    pub scheme: Option<Scheme>,
    /// The separator of the values in one text; `None` where a text is one value.
    pub separator: Option<Separator>,
    /// The meaning of a call that does not give it; `None` where nobody says.
    pub absent: Option<Absent>,
}

impl Argument {
    /// Returns `true` if the roles of its values depend on what they are.
    pub fn is_narrowed(&self) -> bool {
        self.is_uri || self.scheme.is_some()
    }
}

named! {
    /// The scheme of a URL that is given without one.
    pub enum Scheme {
        /// As browsers read what is typed: a host, and what follows it.
        Http = "http",
    }
}

/// The meaning of an argument that a call does not give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It has no part in the call.
    Nothing,
    /// The server takes this value.
    Value(Box<str>),
}

impl Absent {
    /// The word for [`Absent::Nothing`].
    pub const NOTHING: &str = "nothing";
}

named! {
    /// How far a tool changes what a path names.
    pub enum Reach {
        /// The entry alone: one file, one link, one empty directory.
        Entry = "entry",
        /// Everything below it as well.
        Tree = "tree",
    }
}

named! {
    /// The separator of the values that one text holds.
    pub enum Separator {
        /// A comma.
        Comma = ",",
        /// A semicolon.
        Semicolon = ";",
        /// A line break.
        Line = "\n",
        /// The text is a JSON array of strings.
        Json = "json",
    }
}

impl Separator {
    /// The text between two values.
    pub fn text(self) -> &'static str {
        match self {
            Self::Comma | Self::Json => ",",
            Self::Semicolon => ";",
            Self::Line => "\n",
        }
    }

    /// Returns `true` if a text with this value in it may be read as more values, or as others, than it has.
    ///
    /// Readers of lists also know quotes, and a `\` before what does not separate.
    pub fn is_in(self, value: &str) -> bool {
        match self {
            Self::Comma | Self::Semicolon => {
                value.contains(self.text()) || value.contains('"') || value.ends_with('\\')
            }
            Self::Line => value.contains(is_line_break),
            Self::Json => false,
        }
    }
}

/// The roles of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Roles {
    /// The same in every call.
    Fixed(Vec<RoleId>),
    /// The roles of the first clause whose condition holds, otherwise the default.
    Conditional {
        /// The roles when no condition holds.
        default: Vec<RoleId>,
        /// The clauses, in the order they are tried.
        when: Vec<Clause>,
    },
}

/// One clause of a conditional.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// When the clause applies.
    pub condition: Condition,
    /// Empty if the argument is not judged.
    pub roles: Vec<RoleId>,
}

/// A test of one argument of the call.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub argument: ConditionArgument,
    pub test: Test,
}

/// The place of one value in the arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionArgument {
    /// The own property with this name.
    Top(Box<str>),
    /// The keys or indices that lead to the value.
    Pointer(Vec<Box<str>>),
}

impl fmt::Display for ConditionArgument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top(name) => formatter.write_str(name),
            Self::Pointer(names) => names
                .iter()
                .try_for_each(|name| write!(formatter, "/{}", escape_token(name))),
        }
    }
}

impl ConditionArgument {
    /// The argument that it names or leads into.
    pub fn first(&self) -> Option<&str> {
        match self {
            Self::Top(name) => Some(name),
            Self::Pointer(names) => names.first().map(|name| &**name),
        }
    }
}

/// A test of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It has this type and value.
    Equals(Scalar),
    /// It is one of these values.
    In(Scalars),
    /// It exists and is not null.
    Present,
    /// It is missing or null.
    Absent,
    /// It is truthy in JavaScript.
    Truthy,
    /// It is falsy in JavaScript, or missing.
    Falsy,
}

impl Roles {
    /// Every role that the argument can have in some call.
    pub fn possible(&self) -> impl Iterator<Item = RoleId> {
        self.lists().flatten().copied()
    }

    /// The roles that it has in some call, by default first.
    pub fn lists(&self) -> impl Iterator<Item = &[RoleId]> {
        let clauses = self.clauses().iter().map(|clause| clause.roles.as_slice());
        iter::once(self.by_default()).chain(clauses)
    }

    /// The same, to be changed.
    pub fn lists_mut(&mut self) -> impl Iterator<Item = &mut Vec<RoleId>> {
        let (first, when) = match self {
            Self::Fixed(roles) => (roles, Default::default()),
            Self::Conditional { default, when } => (default, when.iter_mut()),
        };
        iter::once(first).chain(when.map(|clause| &mut clause.roles))
    }

    /// Returns `true` if the roles depend on the call.
    pub fn is_conditional(&self) -> bool {
        matches!(self, Self::Conditional { .. })
    }

    /// The clauses, in the order they are tried.
    pub fn clauses(&self) -> &[Clause] {
        match self {
            Self::Fixed(_) => &[],
            Self::Conditional { when, .. } => when,
        }
    }

    /// The conditions that they depend on.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.clauses().iter().map(|clause| &clause.condition)
    }

    /// The roles where no condition holds.
    pub fn by_default(&self) -> &[RoleId] {
        match self {
            Self::Fixed(roles) | Self::Conditional { default: roles, .. } => roles,
        }
    }

    /// The roles in a call; `look` finds its arguments.
    pub fn resolve<'a>(&self, look: impl Fn(&ConditionArgument) -> ConditionValue<'a>) -> &[RoleId] {
        match self {
            Roles::Fixed(roles) => roles,
            Roles::Conditional { default, when } => when
                .iter()
                .find(|clause| clause.condition.test.holds(look(&clause.condition.argument)))
                .map_or(default, |clause| &clause.roles),
        }
    }
}

impl Test {
    /// Returns `true` if the test holds, and holds for servers that take a word or a number for a boolean as well: what a
    /// grant needs. Programs do not agree about integers beyond those that a double holds exactly: as values to compare
    /// with, no grant takes them for equal.
    pub fn surely_holds<'v>(&self, value: impl Into<ComparedValue<'v>>) -> bool {
        let value = value.into();
        let is_unsure = match self {
            Test::Equals(_) | Test::In(_) => !value.is_exact(),
            Test::Truthy => value.is_doubtfully_true(),
            Test::Present | Test::Absent | Test::Falsy => false,
        };
        value.condition_value() != ConditionValue::Unreadable
            && self.holds(value.condition_value())
            && !is_unsure
    }

    /// Returns `true` if the test holds, or may for servers that convert what they get to the type that they expect
    /// (`"true"` and `1` to `true`), or if the argument cannot be read: what a restriction needs.
    pub fn may_hold<'v>(&self, value: impl Into<ComparedValue<'v>>) -> bool {
        let value = value.into();
        // For a program in C a text ends at its first NUL.
        if let ConditionValue::Text(text) = value.condition_value()
            && let Some((before, _)) = text.split_once('\0')
            && self.may_hold(ConditionValue::Text(before))
        {
            return true;
        }
        let converted = match self {
            Test::Equals(scalar) => scalar.may_become(&value),
            Test::In(scalars) => scalars.may_become(&value),
            Test::Falsy => value.is_doubtfully_true(),
            Test::Present | Test::Absent | Test::Truthy => false,
        };
        value.condition_value() == ConditionValue::Unreadable
            || converted
            || self.holds(value.condition_value())
    }

    /// The texts that it compares with.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (one, several) = match self {
            Test::Equals(Scalar::Text(text)) => (Some(&**text), &[][..]),
            Test::In(scalars) => (None, scalars.texts()),
            Test::Equals(_) | Test::Present | Test::Absent | Test::Truthy | Test::Falsy => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().map(|text| &**text))
    }

    /// How many steps it takes to hold the test against a value.
    pub fn cost(&self) -> usize {
        match self {
            Test::In(_) | Test::Equals(Scalar::Text(_)) => TEXT_TEST,
            Test::Equals(_) | Test::Present | Test::Absent | Test::Truthy | Test::Falsy => 1,
        }
    }

    fn holds(&self, given: ConditionValue<'_>) -> bool {
        match self {
            Test::Equals(scalar) => scalar.is(given),
            Test::In(scalars) => scalars.contain(given),
            Test::Present => !is_missing(given),
            Test::Absent => is_missing(given),
            Test::Truthy => is_truthy(given),
            Test::Falsy => !is_truthy(given),
        }
    }
}

fn is_missing(given: ConditionValue<'_>) -> bool {
    matches!(given, ConditionValue::Absent | ConditionValue::Null)
}

/// [ToBoolean](https://tc39.es/ecma262/#sec-toboolean) of an argument; a missing one is falsy.
fn is_truthy(given: ConditionValue<'_>) -> bool {
    match given {
        ConditionValue::Absent | ConditionValue::Null => false,
        ConditionValue::Bool(value) => value,
        ConditionValue::Number(value) => value != 0.0 && !value.is_nan(),
        ConditionValue::Text(text) => !text.is_empty(),
        ConditionValue::Compound | ConditionValue::Empty | ConditionValue::Unreadable => true,
    }
}

#[cfg(test)]
mod tests;
