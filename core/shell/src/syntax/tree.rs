//! The commands of a text as they are written, before anything is expanded.

use crate::fault::Place;

/// The commands of a text, and its here-documents.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) list: List,
    /// The bodies that [`Target::Document`] counts.
    pub(crate) documents: Vec<Word>,
}

/// Commands that stand after each other.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<AndOr>,
}

/// Pipelines joined with `&&` and `||`.
#[derive(Debug)]
pub(crate) struct AndOr {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Condition, Pipeline)>,
    pub(crate) is_background: bool,
}

/// The join of two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    And,
    Or,
}

/// Commands of which each reads what the one before writes.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) is_negated: bool,
    pub(crate) stages: Vec<Node>,
}

/// A command.
#[derive(Debug)]
pub(crate) enum Node {
    Simple(Simple),
    /// What stands between `[[` and `]]`, up to `&&` or `||`.
    Test(Vec<Word>, Place),
    Compound(Compound, Vec<Redirect>, Place),
}

/// A command that has others in it.
#[derive(Debug)]
pub(crate) enum Compound {
    Subshell(List),
    Group(List),
    /// Each condition with what follows if it holds, and what follows if none does.
    If(Vec<(List, List)>, Option<List>),
    For(String, Option<Vec<Word>>, List),
    /// `while` and `until`.
    Loop(List, List),
    Case(Word, Vec<(Vec<Word>, List)>),
}

/// A program with its arguments, or assignments.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assign>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) place: Place,
}

/// `name=value`.
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: String,
    pub(crate) value: Word,
}

/// A redirection.
#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) descriptor: Option<u8>,
    pub(crate) operator: Operator,
    pub(crate) target: Target,
    pub(crate) place: Place,
}

/// The operators of redirections to files and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `<`
    Read,
    /// `>` and `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `&>` and `&>>`: bash writes both outputs, and dash runs the command in the background.
    Both,
    /// `<<`, `<<-` and `<<<`
    Text,
    /// `<&` and `>&` with a descriptor or `-`
    Duplicate,
}

#[derive(Debug)]
pub(crate) enum Target {
    File(Word),
    Text(Word),
    /// A here-document, by its number.
    Document(usize),
    Descriptor,
}

/// A word before expansion.
#[derive(Debug, Default)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) enum Part {
    /// Text without quotes.
    Bare(String),
    /// Text in quotes, or after a backslash.
    Quoted(String),
    /// `~` where shells may take it for the home directory.
    Tilde,
    /// `*`, `?` or `[` without quotes.
    Glob(char),
    /// `{` without quotes.
    Open,
    /// `,` without quotes.
    Comma,
    /// `}` without quotes.
    Close,
    /// `$name` and `${name}`
    Variable { name: String, is_quoted: bool },
    /// `$((…))`, with the variables that it reads.
    Arithmetic { names: Vec<String>, is_quoted: bool },
    /// `$?`, `$#`, `${#name}`: digits, or nothing.
    Number { is_quoted: bool },
    /// `$(…)`
    Substitution { list: List, is_quoted: bool },
    /// `<(…)` and `>(…)`
    Process(List),
    /// `$'…'`: as bash and zsh read it, and as dash does.
    Escaped { decoded: String, raw: String },
    /// Any value; `is_many` if it may be several words even in quotes.
    Unknown { is_quoted: bool, is_many: bool },
}

impl Word {
    /// The text, if the word is text without quotes only.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns `true` if it has text for certain, so that what follows is not its beginning.
    pub(crate) fn has_text(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Bare(text) | Part::Quoted(text) => !text.is_empty(),
            Part::Glob(_) | Part::Open | Part::Comma | Part::Close => true,
            _ => false,
        })
    }

    /// Adds a character without quotes.
    pub(crate) fn push_bare(&mut self, one: char) {
        match self.parts.last_mut() {
            Some(Part::Bare(text)) => text.push(one),
            _ => self.parts.push(Part::Bare(one.into())),
        }
    }

    /// Adds text in quotes.
    pub(crate) fn push_quoted(&mut self, more: &str) {
        match self.parts.last_mut() {
            Some(Part::Quoted(text)) => text.push_str(more),
            _ => self.parts.push(Part::Quoted(more.into())),
        }
    }
}
