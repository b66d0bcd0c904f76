//! The constructs that are not understood.

use std::fmt;

/// A part of the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl Place {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// A part of the text that is not understood, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// Where it stands.
    pub place: Place,
    /// Why it is not understood.
    pub construct: Construct,
}

/// A construct whose meaning depends on more than the text, or that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Construct {
    /// The text, or what it stands for, is larger than a limit.
    Limit(&'static str),
    /// A character that is invisible, or that terminals and shells treat differently.
    Character(char),
    /// A quote, a substitution, a here-document or a compound command that does not end.
    Unfinished(&'static str),
    /// A token that does not belong where it stands.
    Unexpected(String),
    /// A function, an array or a list in parentheses.
    Parenthesis,
    /// A command word of the shell that is not read, for example `select`.
    Keyword(String),
    /// Arithmetic that assigns, or that reads variables of unknown value.
    Arithmetic,
    /// An expansion of a parameter that may do more than give a value.
    Parameter,
    /// A text that shells read differently.
    ShellsDiffer(&'static str),
    /// A redirection that is not read, or whose target is not known.
    Redirection(&'static str),
    /// An assignment that is not read.
    Assignment,
    /// A variable that decides what runs or what is read.
    Variable(String),
    /// A command whose program is not known from the text.
    UnknownProgram,
    /// A working directory that is not known from the text.
    UnknownDirectory,
    /// A word whose value is not known from the text, where its value matters.
    UnknownWord,
    /// A program that is not in the table.
    Program(String),
    /// An option that the table does not have for its program.
    Option(String),
    /// An operand that the table does not have for its program.
    Operand(String),
    /// A word that may be taken for an option.
    MayBeOption,
    /// A pattern that may match a name that is taken for an option.
    MayMatchOption,
    /// A program that reads what it runs from its input.
    Input(String),
}

impl fmt::Display for Construct {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(what) => write!(formatter, "more than {what}"),
            Self::Character(one) => write!(formatter, "the character U+{:04X}", u32::from(*one)),
            Self::Unfinished(what) => write!(formatter, "{what} that does not end"),
            Self::Unexpected(what) => write!(formatter, "`{what}` where it is not expected"),
            Self::Parenthesis => formatter.write_str("a parenthesis after a word"),
            Self::Keyword(word) => write!(formatter, "the keyword `{word}`"),
            Self::Arithmetic => formatter.write_str("arithmetic with more than known numbers"),
            Self::Parameter => formatter.write_str("an expansion that may do more than give a value"),
            Self::ShellsDiffer(what) => write!(formatter, "{what}, which shells read differently"),
            Self::Redirection(what) => write!(formatter, "a redirection {what}"),
            Self::Assignment => formatter.write_str("an assignment that is not to a plain name"),
            Self::Variable(name) => write!(formatter, "the variable `{name}`, which may decide what runs"),
            Self::UnknownProgram => formatter.write_str("a program that the text does not name"),
            Self::UnknownDirectory => formatter.write_str("a working directory that the text does not name"),
            Self::UnknownWord => formatter.write_str("a value that the text does not tell"),
            Self::Program(name) => write!(formatter, "the program `{name}`, which is not in the table"),
            Self::Option(name) => write!(formatter, "the option `{name}`, which is not in the table"),
            Self::Operand(name) => write!(formatter, "the operand `{name}`, which is not in the table"),
            Self::MayBeOption => formatter.write_str("a word that may be taken for an option"),
            Self::MayMatchOption => formatter
                .write_str("a name that it matches may be taken for an option, unless `./` stands before it"),
            Self::Input(name) => write!(formatter, "input that `{name}` runs"),
        }
    }
}
