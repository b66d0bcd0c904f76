//! The place in the text that is read next.

use super::tree::{Part, Word};
use crate::fault::{Construct, NotUnderstood, Place};

/// A here-document whose body begins on the next line.
pub(crate) struct Pending {
    pub(crate) delimiter: String,
    pub(crate) is_quoted: bool,
    pub(crate) strips_tabs: bool,
    /// Its number.
    pub(crate) number: usize,
    pub(crate) place: Place,
}

/// Reads a text from its beginning.
pub(crate) struct Parser<'t> {
    text: &'t str,
    pub(crate) at: usize,
    end: usize,
    pub(crate) depth: usize,
    pub(crate) pending: Vec<Pending>,
    pub(crate) documents: Vec<Word>,
    /// Within `` ` ``, where here-documents are not read.
    pub(crate) is_backquoted: bool,
    /// Within a substitution, before which a here-document began.
    pub(crate) has_outer_document: bool,
}

pub(crate) type Read<T> = Result<T, NotUnderstood>;

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            depth: 0,
            pending: Vec::new(),
            documents: Vec::new(),
            is_backquoted: false,
            has_outer_document: false,
        }
    }

    /// Reads up to `end` instead. Returns the end until now.
    pub(crate) fn limit(&mut self, end: usize) -> usize {
        std::mem::replace(&mut self.end, end)
    }

    /// What is left to read.
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    pub(crate) fn between(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character after the next one.
    pub(crate) fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let one = self.peek()?;
        self.at += one.len_utf8();
        Some(one)
    }

    /// Reads the text if it is next.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Reads characters while they are such. Returns them.
    pub(crate) fn take_while(&mut self, is_such: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|one| !is_such(one)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// The fault from `start` to here.
    pub(crate) fn fault(&self, start: usize, construct: Construct) -> NotUnderstood {
        NotUnderstood {
            place: Place::new(start, self.at.max(start)),
            construct,
        }
    }

    /// The token that is next does not belong here.
    pub(crate) fn unexpected(&mut self) -> NotUnderstood {
        let start = self.at;
        let token = self.take_while(|one| !is_delimiter(one));
        let token = if token.is_empty() {
            self.bump().map_or_else(|| "the end".to_owned(), String::from)
        } else {
            token.to_owned()
        };
        self.fault(
            start,
            Construct::Unexpected(token.replace('\n', "the end of the line")),
        )
    }

    /// Skips blanks and comments. A backslash at the end of a line counts as a blank only after one.
    pub(crate) fn skip_blanks(&mut self) -> Read<()> {
        let start = self.at;
        loop {
            self.take_while(|one| matches!(one, ' ' | '\t'));
            if !self.rest().starts_with("\\\n") {
                break;
            }
            let before = self.between(0, self.at).chars().next_back();
            if !matches!(before, None | Some(' ' | '\t' | '\n')) {
                self.at += 2;
                return Err(self.fault(
                    start,
                    Construct::ShellsDiffer("a line that goes on within a token"),
                ));
            }
            self.at += 2;
        }
        if self.peek() == Some('#') {
            if self.is_backquoted {
                return Err(self.fault(start, Construct::ShellsDiffer("a comment in a substitution")));
            }
            self.take_while(|one| one != '\n');
        }
        Ok(())
    }

    /// The keyword that is next, without reading it: letters, `{`, `}`, `!` or brackets, and then the end of a token.
    pub(crate) fn keyword(&self) -> Option<&'t str> {
        let rest = self.rest();
        let length = rest.find(is_delimiter).unwrap_or(rest.len());
        let word = rest.get(..length)?;
        let is_plain = word
            .bytes()
            .all(|one| one.is_ascii_lowercase() || b"{}![]".contains(&one));
        (is_plain && !word.is_empty()).then_some(word)
    }
}

/// A character that ends a word.
pub(crate) fn is_delimiter(one: char) -> bool {
    matches!(one, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

pub(crate) fn is_name_start(one: char) -> bool {
    one.is_ascii_alphabetic() || one == '_'
}

pub(crate) fn is_in_name(one: char) -> bool {
    one.is_ascii_alphanumeric() || one == '_'
}

/// The name before `=`, and what is after it, where a word begins with an assignment.
pub(crate) fn split_assignment(word: Word) -> Result<(String, Word), Word> {
    let Some(Part::Bare(text)) = word.parts.first() else {
        return Err(word);
    };
    let Some((name, value)) = text.split_once('=') else {
        return Err(word);
    };
    if !name.starts_with(is_name_start) || !name.chars().all(is_in_name) {
        return Err(word);
    }
    let (name, value) = (name.to_owned(), value.to_owned());
    let place = word.place;
    let rest = word.parts.into_iter().skip(1);
    let first = (!value.is_empty()).then_some(Part::Bare(value));
    Ok((
        name,
        Word {
            parts: first.into_iter().chain(rest).collect(),
            place,
        },
    ))
}
