//! What is read of a text: its simple commands in order.

use crate::fault::{NotUnderstood, Place};

/// The simple commands of a text, and what was not understood of it.
///
/// Whoever allows a text on its reading has to look at [`not_understood`](Reading::not_understood) first: the commands are all that
/// may run only if it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// In the order of the text. A command that a loop repeats over words stands there once for each word.
    pub commands: Vec<Command>,
    /// What was not understood, in the order in which it was found.
    pub not_understood: Vec<NotUnderstood>,
}

impl Reading {
    /// Returns `true` if nothing runs that is not among the commands.
    #[must_use]
    pub fn is_understood(&self) -> bool {
        self.not_understood.is_empty()
    }
}

/// A simple command: a program with its arguments, assignments, or the redirections of a compound command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Where it stands.
    pub place: Place,
    /// How it is joined to the command before.
    pub joiner: Joiner,
    /// What it stands in.
    pub within: Within,
    /// The shells that read it so.
    pub shells: Shells,
    /// The working directories that it may run in, absolute and without links resolved; `None` if they are not known.
    pub directories: Option<Vec<String>>,
    /// Variables that it gets or sets.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments; empty for assignments and for the redirections of a compound command.
    pub words: Vec<Word>,
    /// Its redirections.
    pub redirections: Vec<Redirection>,
}

/// How a command is joined to the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joiner {
    /// `;`, a new line, or nothing before it.
    #[default]
    Sequence,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `&`
    Background,
}

/// What a command stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Within {
    /// A subshell.
    pub subshell: bool,
    /// A pipeline of several commands.
    pub pipeline: bool,
    /// What runs in the background.
    pub background: bool,
    /// What runs only if something else succeeds, fails or matches.
    pub conditional: bool,
    /// A loop.
    pub repeated: bool,
    /// A substitution.
    pub substitution: bool,
    /// Its input is what another command writes.
    pub input: bool,
}

/// The shells that read a command in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shells {
    /// dash, bash and zsh.
    #[default]
    All,
    /// bash and zsh, which know braces and `$'…'`.
    Bash,
    /// dash.
    Dash,
}

/// A variable and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
    /// Whether programs see it whatever was set before.
    pub is_exported: bool,
}

/// A word after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where the word is written from which it comes.
    pub place: Place,
    /// Its value.
    pub value: Value,
}

impl Word {
    /// The value, if the text tells it.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        self.value.exact()
    }
}

/// The value of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// This text.
    Exact(String),
    /// Names that match a pattern, or the pattern itself where none does.
    Pattern {
        /// What each begins with.
        before: String,
        /// The whole pattern; what is no pattern in it has a backslash before it.
        pattern: String,
        /// Whether it stands for several words.
        is_many: bool,
    },
    /// A pipe to or from other commands of the text.
    Pipe,
    /// A value that the text does not tell.
    Unknown {
        /// What it begins with.
        before: String,
        /// Whether it may be several words, or none.
        is_many: bool,
        /// Whether it is a number.
        is_number: bool,
    },
}

impl Value {
    /// The value, if the text tells it.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        match self {
            Self::Exact(text) => Some(text),
            Self::Pattern { .. } | Self::Pipe | Self::Unknown { .. } => None,
        }
    }
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// Where it stands.
    pub place: Place,
    /// The file descriptor; `&>` is for 1 and 2, and stands as 1.
    pub descriptor: u8,
    /// What it does.
    pub kind: RedirectionKind,
    /// The file, or the text of a here-document. `None` for another descriptor.
    pub target: Option<Value>,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectionKind {
    /// Opens a file to read.
    Read,
    /// Opens a file to write, and empties it.
    Write,
    /// Opens a file to write at its end.
    Append,
    /// Opens a file to read and to write.
    ReadWrite,
    /// Gives a text.
    Text,
    /// Another descriptor, or none.
    Duplicate,
}
