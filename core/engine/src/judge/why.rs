//! Why a rule does not hold, for explanations.

use std::fmt;

use crate::model::ConditionArgument;

/// Why a condition does not hold, for an explanation.
pub(super) type Reason<'r> = Option<(&'static str, Why<'r>)>;

/// Why a condition does not hold; only an explanation spells it out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Why<'r> {
    Text(&'static str),
    /// This argument does not meet its condition.
    Argument(&'r ConditionArgument),
}

impl fmt::Display for Why<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Argument(argument) => {
                write!(formatter, "the argument `{argument}` does not meet its condition")
            }
        }
    }
}
