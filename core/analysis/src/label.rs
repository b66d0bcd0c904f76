//! Descriptions of values for a person.

use std::fmt;

/// The text between a directory and the pattern of protected paths that matches below it.
pub(super) const MATCHING: &str = ", matching ";

/// Names that are listed one by one at most.
const MOST: usize = 4;

/// The description of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    /// A path at or below a directory, and not in these below it.
    Under(String, Vec<String>),
    /// A path that holds these directories, to be removed.
    Holds(String, Vec<String>),
    /// A path that a pattern of protected paths matches.
    Matches(String, String),
    /// A path that differs from the directory by the case of its letters, in what follows another directory.
    OtherCase(String, String),
    /// Something in a few words.
    Words(&'static str),
    /// The same about a text.
    Of(&'static str, String),
    /// The context that a host gives with the call.
    Context(String),
    /// The argument is not there.
    Absent,
    /// Exactly this.
    Is(String),
    /// Two values at once.
    Both(Box<Label>, Box<Label>),
    /// The value alone, in an array.
    InArray(Box<Label>),
}

impl Label {
    /// The directory of which a path's label says something.
    pub(super) fn directory(&self) -> Option<&str> {
        match self {
            Self::Under(directory, _)
            | Self::Holds(directory, _)
            | Self::Matches(directory, _)
            | Self::OtherCase(directory, _) => Some(&**directory).filter(|path| path.starts_with(['/', '~'])),
            Self::Words(_)
            | Self::Context(_)
            | Self::Of(_, _)
            | Self::Absent
            | Self::Is(_)
            | Self::Both(_, _)
            | Self::InArray(_) => None,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Under(directory, except) => {
                match &**directory {
                    "/" if !except.is_empty() => formatter.write_str("elsewhere: ")?,
                    "/" => return formatter.write_str("anywhere"),
                    _ => write!(formatter, "under {directory}")?,
                }
                match (&**directory, except.is_empty()) {
                    (_, true) => Ok(()),
                    ("/", false) => write!(formatter, "not under {}", listed(except, " or ")),
                    (_, false) => write!(formatter, " but not {}", listed(except, " or ")),
                }
            }
            Self::Holds(directory, held) => {
                write!(
                    formatter,
                    "{directory} itself, which holds {}",
                    listed(held, ", ")
                )
            }
            Self::Matches(directory, pattern) => write!(formatter, "under {directory}{MATCHING}`{pattern}`"),
            Self::OtherCase(directory, above) => {
                write!(formatter, "under {directory} in other letters")?;
                match &**above {
                    "/" => Ok(()),
                    above => write!(formatter, " after {above}"),
                }
            }
            Self::Words(words) => formatter.write_str(words),
            Self::Context(text) => formatter.write_str(text),
            Self::Of(words, text) => write!(formatter, "{words} {text}"),
            Self::Absent => formatter.write_str("absent"),
            Self::Is(text) => write!(formatter, "`{text}`"),
            Self::Both(one, other) => write!(formatter, "both {one} and {other}"),
            Self::InArray(one) => write!(formatter, "{one}, in an array"),
        }
    }
}

/// The first few of the names, and how many others there are.
pub(crate) fn listed(names: &[String], between: &str) -> String {
    match names.split_at_checked(MOST) {
        Some((first, rest)) if rest.len() > 1 => {
            format!("{} and {} more", first.join(", "), rest.len())
        }
        _ => names.join(between),
    }
}
