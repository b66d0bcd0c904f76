//! Annotated arguments, whose roles may depend on a sibling argument.

use super::argument_name::ArgumentName;
use crate::role::RoleId;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConditionArgument {
    /// The own property with this name.
    Top(Box<str>),
    /// The keys or indices that lead to the value.
    Pointer(Vec<Box<str>>),
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

/// [ToBoolean](https://tc39.es/ecma262/#sec-toboolean) of an argument; a missing one is falsy.
fn is_truthy(seen: Seen<'_>) -> bool {
    match seen {
        Seen::Absent | Seen::Null => false,
        Seen::Bool(value) => value,
        Seen::Number(value) => value != 0.0 && !value.is_nan(),
        Seen::Text(text) => !text.is_empty(),
        Seen::Compound => true,
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
