//! How far an analysis is, for whoever waits for it.

use std::fmt;

/// The tool or statement that is being looked at, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'p> {
    /// The tool or statement.
    pub subject: Subject<'p>,
    /// Its number, from 1.
    pub at: usize,
    /// How many there are.
    pub of: usize,
    /// The place of the question that it is looked at for, and how many there are, if there are several.
    pub part_of: Option<&'p Progress<'p>>,
}

/// One of the things that an analysis looks at in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject<'p> {
    /// A tool.
    Tool {
        /// Its server.
        server: &'p str,
        /// Its name.
        name: &'p str,
    },
    /// A rule, by its name.
    Rule(&'p str),
    /// A statement about all calls, by its name or its place.
    Statement(&'p str),
}

/// Is told of everything before it is looked at.
pub type Watcher<'w> = &'w dyn Fn(&Progress<'_>);

/// As a person reads it: `tool 3 of 213: filesystem/read_text_file`.
impl fmt::Display for Progress<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(whole) = self.part_of {
            write!(formatter, "{whole}, ")?;
        }
        let Self { subject, at, of, .. } = self;
        match subject {
            Subject::Tool { server, name } => write!(formatter, "tool {at} of {of}: {server}/{name}"),
            Subject::Rule(name) => write!(formatter, "rule {at} of {of}: {name}"),
            Subject::Statement(name) => write!(formatter, "statement {at} of {of}: {name}"),
        }
    }
}
