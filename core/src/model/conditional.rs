//! Annotated arguments, whose roles may depend on a sibling argument.

use std::fmt;

use super::argument_name::ArgumentName;
use crate::role::RoleId;
use crate::text::{decimal, escape_token};

/// One annotated argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    /// Where its values are found.
    pub(crate) name: ArgumentName,
    /// What its values mean.
    pub(crate) roles: Roles,
    /// The argument whose path its relative paths start from.
    pub(crate) relative_to: Option<Box<str>>,
}

/// The roles of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Roles {
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
pub(crate) struct Clause {
    /// When the clause applies.
    pub(crate) condition: Condition,
    /// Empty if the argument is not judged.
    pub(crate) roles: Vec<RoleId>,
}

/// A test of one argument of the call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) argument: ConditionArgument,
    pub(crate) test: Test,
}

/// The place of one value in the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ConditionArgument {
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
    pub(crate) fn first(&self) -> Option<&str> {
        match self {
            Self::Top(name) => Some(name),
            Self::Pointer(names) => names.first().map(|name| &**name),
        }
    }
}

/// A test of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// It has this type and value.
    Equals(Scalar),
    /// It is one of these values.
    In(Vec<Scalar>),
    /// It exists and is not null.
    Present,
    /// It is missing or null.
    Absent,
    /// It is truthy in JavaScript.
    Truthy,
    /// It is falsy in JavaScript, or missing.
    Falsy,
}

/// A value that is not an array or object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as in JavaScript.
    Number(f64),
    /// A string.
    Text(Box<str>),
}

/// As much of an argument's value as a condition can distinguish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Seen<'a> {
    /// There is no value.
    Absent,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(&'a str),
    /// An array or an object.
    Compound,
    /// Something that cannot be read: it is there, and equals nothing.
    Unreadable,
}

impl Roles {
    /// Every role that the argument can have in some call.
    pub(crate) fn possible(&self) -> impl Iterator<Item = RoleId> {
        let (first, when) = match self {
            Roles::Fixed(roles) => (roles, [].as_slice()),
            Roles::Conditional { default, when } => (default, when.as_slice()),
        };
        first
            .iter()
            .chain(when.iter().flat_map(|clause| &clause.roles))
            .copied()
    }

    /// Returns `true` if the roles depend on the call.
    pub(crate) fn is_conditional(&self) -> bool {
        matches!(self, Self::Conditional { .. })
    }

    /// The roles where no condition holds.
    pub(crate) fn by_default(&self) -> &[RoleId] {
        match self {
            Self::Fixed(roles) | Self::Conditional { default: roles, .. } => roles,
        }
    }

    /// The roles in a call; `look` finds its arguments.
    pub(crate) fn resolve<'a>(&self, look: impl Fn(&ConditionArgument) -> Seen<'a>) -> &[RoleId] {
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
    /// grant needs.
    pub(crate) fn surely_holds(&self, seen: Seen<'_>) -> bool {
        let is_false_word = matches!(self, Test::Truthy) && word(seen) == Some(false);
        seen != Seen::Unreadable && self.holds(seen) && !is_false_word
    }

    /// Returns `true` if the test holds, or may for servers that convert what they get to the type that they expect
    /// (`"true"` and `1` to `true`), or if the argument cannot be read: what a restriction needs.
    pub(crate) fn may_hold(&self, seen: Seen<'_>) -> bool {
        let converted = match self {
            Test::Equals(value) => value.may_become(seen),
            Test::In(values) => values.iter().any(|value| value.may_become(seen)),
            Test::Falsy => word(seen) == Some(false),
            Test::Present | Test::Absent | Test::Truthy => false,
        };
        seen == Seen::Unreadable || converted || self.holds(seen)
    }

    /// How many steps it takes to hold the test against a value.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Test::In(values) => 1 + values.len(),
            Test::Equals(_) | Test::Present | Test::Absent | Test::Truthy | Test::Falsy => 1,
        }
    }

    fn holds(&self, seen: Seen<'_>) -> bool {
        match self {
            Test::Equals(value) => value.is(seen),
            Test::In(values) => values.iter().any(|value| value.is(seen)),
            Test::Present => !is_missing(seen),
            Test::Absent => is_missing(seen),
            Test::Truthy => is_truthy(seen),
            Test::Falsy => !is_truthy(seen),
        }
    }
}

impl Scalar {
    /// What a condition would see of it.
    fn seen(&self) -> Seen<'_> {
        match self {
            Scalar::Null => Seen::Null,
            Scalar::Bool(value) => Seen::Bool(*value),
            Scalar::Number(value) => Seen::Number(*value),
            Scalar::Text(text) => Seen::Text(text),
        }
    }

    /// Whether a server may convert one of the two values to the other, which is of another type.
    fn may_become(&self, seen: Seen<'_>) -> bool {
        let is_same_type = matches!(
            (self, seen),
            (Scalar::Bool(_), Seen::Bool(_))
                | (Scalar::Number(_), Seen::Number(_))
                | (Scalar::Text(_), Seen::Text(_))
        );
        let number = number(seen);
        !is_same_type && number.is_some() && number == self::number(self.seen())
    }

    fn is(&self, seen: Seen<'_>) -> bool {
        match self {
            Scalar::Null => seen == Seen::Null,
            Scalar::Bool(value) => seen == Seen::Bool(*value),
            Scalar::Number(value) => seen == Seen::Number(*value),
            Scalar::Text(value) => seen == Seen::Text(value),
        }
    }
}

fn is_missing(seen: Seen<'_>) -> bool {
    matches!(seen, Seen::Absent | Seen::Null)
}

/// The boolean that the word stands for in YAML and in lenient readers of JSON.
fn word(seen: Seen<'_>) -> Option<bool> {
    let Seen::Text(text) = seen else { return None };
    let text = text.trim();
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(&["true", "t", "yes", "y", "on", "1"]) {
        Some(true)
    } else {
        is_one_of(&["false", "f", "no", "n", "off", "0"]).then_some(false)
    }
}

/// The number that a boolean, a number or a text may be converted to.
fn number(seen: Seen<'_>) -> Option<f64> {
    match seen {
        Seen::Bool(value) => Some(f64::from(u8::from(value))),
        Seen::Number(value) => Some(value),
        Seen::Text(text) => match word(seen) {
            Some(value) => Some(f64::from(u8::from(value))),
            None => decimal(text.trim()),
        },
        Seen::Absent | Seen::Null | Seen::Compound | Seen::Unreadable => None,
    }
}

/// [ToBoolean](https://tc39.es/ecma262/#sec-toboolean) of an argument; a missing one is falsy.
fn is_truthy(seen: Seen<'_>) -> bool {
    match seen {
        Seen::Absent | Seen::Null => false,
        Seen::Bool(value) => value,
        Seen::Number(value) => value != 0.0 && !value.is_nan(),
        Seen::Text(text) => !text.is_empty(),
        Seen::Compound | Seen::Unreadable => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_hold_as_in_javascript() {
        let text = |text: &str| Scalar::Text(text.into());
        let seen = [
            Seen::Absent,
            Seen::Null,
            Seen::Bool(false),
            Seen::Bool(true),
            Seen::Number(0.0),
            Seen::Number(-0.0),
            Seen::Number(2.5),
            Seen::Number(f64::NAN),
            Seen::Text(""),
            Seen::Text("0"),
            Seen::Compound,
        ];
        // One digit for each of `seen`.
        for (test, expected) in [
            (Test::Present, "00111111111"),
            (Test::Absent, "11000000000"),
            (Test::Truthy, "00010010011"),
            (Test::Falsy, "11101101100"),
            (Test::Equals(Scalar::Null), "01000000000"),
            (Test::Equals(Scalar::Bool(true)), "00010000000"),
            (Test::Equals(Scalar::Number(0.0)), "00001100000"),
            (Test::Equals(text("0")), "00000000010"),
            (Test::In(vec![]), "00000000000"),
            (Test::In(vec![text(""), Scalar::Number(2.5)]), "00000010100"),
        ] {
            let found: String = seen
                .iter()
                .map(|seen| if test.holds(*seen) { '1' } else { '0' })
                .collect();
            assert_eq!(found, expected, "{test:?}");
        }
    }

    #[test]
    fn a_restriction_holds_for_what_servers_convert_and_a_grant_does_not() {
        let text = |text: &str| Scalar::Text(text.into());
        for (test, seen, surely, may) in [
            (Test::Equals(Scalar::Bool(true)), Seen::Bool(true), true, true),
            (Test::Equals(Scalar::Bool(true)), Seen::Text("true"), false, true),
            (Test::Equals(Scalar::Bool(true)), Seen::Text(" YES "), false, true),
            (Test::Equals(Scalar::Bool(true)), Seen::Number(1.0), false, true),
            (
                Test::Equals(Scalar::Bool(true)),
                Seen::Text("false"),
                false,
                false,
            ),
            (Test::Equals(Scalar::Number(10.0)), Seen::Text("1e1"), false, true),
            (Test::Equals(text("10")), Seen::Number(10.0), false, true),
            // Texts are compared as they stand.
            (Test::Equals(text("main")), Seen::Text("Main"), false, false),
            (Test::Equals(text("1")), Seen::Text("true"), false, false),
            (
                Test::In(vec![text("x"), Scalar::Number(0.0)]),
                Seen::Bool(false),
                false,
                true,
            ),
            (Test::Equals(Scalar::Null), Seen::Absent, false, false),
            (Test::Truthy, Seen::Text("false"), false, true),
            (Test::Truthy, Seen::Text("main"), true, true),
            (Test::Falsy, Seen::Text("off"), false, true),
            (Test::Falsy, Seen::Text("on"), false, false),
            (Test::Falsy, Seen::Absent, true, true),
            (Test::Present, Seen::Text("null"), true, true),
            (Test::Present, Seen::Unreadable, false, true),
            (Test::Absent, Seen::Unreadable, false, true),
            (Test::Equals(text("x")), Seen::Unreadable, false, true),
            (Test::Equals(text("x")), Seen::Compound, false, false),
        ] {
            assert_eq!(test.surely_holds(seen), surely, "{test:?} {seen:?}");
            assert_eq!(test.may_hold(seen), may, "{test:?} {seen:?}");
        }
    }

    #[test]
    fn the_first_clause_that_holds_decides() {
        let clause = |name: &str, test, roles: &[RoleId]| Clause {
            condition: Condition {
                argument: ConditionArgument::Top(name.into()),
                test,
            },
            roles: roles.to_vec(),
        };
        let roles = Roles::Conditional {
            default: vec![RoleId::WRITE_PATH, RoleId::DELETE_PATH],
            when: vec![
                clause("toString", Test::Present, &[RoleId::NONE]),
                clause(
                    "mode",
                    Test::Equals(Scalar::Text("list".into())),
                    &[RoleId::READ_PATH],
                ),
                clause("dry", Test::Truthy, &[]),
            ],
        };
        for (mode, dry, expected) in [
            (
                Seen::Absent,
                Seen::Absent,
                vec![RoleId::WRITE_PATH, RoleId::DELETE_PATH],
            ),
            (Seen::Text("list"), Seen::Bool(true), vec![RoleId::READ_PATH]),
            (Seen::Compound, Seen::Number(1.0), vec![]),
        ] {
            let look = |argument: &ConditionArgument| match argument {
                ConditionArgument::Top(name) if **name == *"mode" => mode,
                ConditionArgument::Top(name) if **name == *"dry" => dry,
                ConditionArgument::Top(_) | ConditionArgument::Pointer(_) => Seen::Absent,
            };
            assert_eq!(roles.resolve(look), expected);
        }
        let possible: Vec<RoleId> = roles.possible().collect();
        assert_eq!(
            possible,
            [
                RoleId::WRITE_PATH,
                RoleId::DELETE_PATH,
                RoleId::NONE,
                RoleId::READ_PATH
            ]
        );
    }
}
