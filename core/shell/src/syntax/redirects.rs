//! Redirections and here-documents.

use super::cursor::{Parser, Pending, Read, is_delimiter};
use super::tree::{Operator, Part, Redirect, Target, Word};
use crate::fault::{Construct, Place};

/// Each operator as it is written; the longer of two stands first.
const OPERATORS: &[(&str, Operator)] = &[
    ("&>>", Operator::Both),
    ("&>", Operator::Both),
    ("<<<", Operator::Text),
    ("<<-", Operator::Text),
    ("<<", Operator::Text),
    ("<>", Operator::ReadWrite),
    ("<&", Operator::Duplicate),
    ("<", Operator::Read),
    (">>", Operator::Append),
    (">|", Operator::Write),
    (">&", Operator::Duplicate),
    (">", Operator::Write),
];

impl Redirect {
    /// Returns `true` for the operators before which dash ends a command.
    pub(crate) fn ends_in_dash(&self) -> bool {
        self.operator == Operator::Both
    }
}

impl Parser<'_> {
    /// Reads a redirection, if one is next.
    pub(crate) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("<(") || rest.starts_with(">(") {
            return Ok(None);
        }
        let digits = rest.len() - rest.trim_start_matches(|one: char| one.is_ascii_digit()).len();
        let after = rest.get(digits..).unwrap_or_default();
        let found = OPERATORS.iter().find(|(written, _)| after.starts_with(written));
        let Some((written, operator)) = found else {
            return Ok(None);
        };
        // `&>` has no descriptor, and a word before `<` or `>` is none.
        if digits > 0 && *operator == Operator::Both {
            return Ok(None);
        }
        self.at += digits + written.len();
        if digits > 1 {
            return Err(self.fault(start, Construct::ShellsDiffer("a descriptor of several digits")));
        }
        let descriptor = rest.get(..digits).and_then(|text| text.parse().ok());
        if matches!(self.peek(), Some('!' | '&' | '|' | '<' | '>' | '('))
            || *written == "<" && self.peek().is_some_and(|one| one == '-' || one.is_ascii_digit())
        {
            return Err(self.unexpected());
        }
        let target = self.target(start, written, *operator)?;
        Ok(Some(Redirect {
            descriptor,
            operator: *operator,
            target,
            place: Place::new(start, self.at),
        }))
    }

    fn target(&mut self, start: usize, written: &str, operator: Operator) -> Read<Target> {
        if operator == Operator::Duplicate {
            let target = self.take_while(|one| !is_delimiter(one));
            let is_known =
                target == "-" || target.len() == 1 && target.bytes().all(|one| one.is_ascii_digit());
            return if is_known {
                Ok(Target::Descriptor)
            } else {
                Err(self.fault(
                    start,
                    Construct::Redirection("to a descriptor that is not a digit"),
                ))
            };
        }
        self.skip_blanks()?;
        let Some(word) = self.word()? else {
            return Err(self.unexpected());
        };
        let text = self.between(word.place.start, word.place.end);
        if text.starts_with(['=', '!']) || matches!(text, "{" | "}") {
            return Err(self.fault(start, Construct::ShellsDiffer("a word of this form")));
        }
        match written {
            "<<" | "<<-" => self.document(start, word, written == "<<-"),
            "<<<" => Ok(Target::Text(word)),
            _ => Ok(Target::File(word)),
        }
    }

    /// Its body begins on the next line.
    fn document(&mut self, start: usize, word: Word, strips_tabs: bool) -> Read<Target> {
        let mut delimiter = String::new();
        let mut is_quoted = false;
        for part in &word.parts {
            match part {
                Part::Bare(text) => delimiter.push_str(text),
                Part::Quoted(text) => {
                    is_quoted = true;
                    delimiter.push_str(text);
                }
                _ => {
                    return Err(self.fault(
                        start,
                        Construct::Redirection("to a here-document without a plain name"),
                    ));
                }
            }
        }
        if delimiter.is_empty() || delimiter.contains('\n') || self.is_backquoted {
            return Err(self.fault(
                start,
                Construct::Redirection("to a here-document without a plain name"),
            ));
        }
        let number = self.documents.len();
        self.documents.push(Word::default());
        self.pending.push(Pending {
            delimiter,
            is_quoted,
            strips_tabs,
            number,
            place: word.place,
        });
        Ok(Target::Document(number))
    }

    /// Reads the bodies of the here-documents that began on the line before.
    pub(crate) fn read_documents(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            let body = self.read_document(&pending)?;
            if let Some(place) = self.documents.get_mut(pending.number) {
                *place = body;
            }
        }
        Ok(())
    }

    fn read_document(&mut self, pending: &Pending) -> Read<Word> {
        let start = self.at;
        let mut text = String::new();
        let end = loop {
            let begin = self.at;
            if self.peek().is_none() {
                return Err(crate::fault::NotUnderstood {
                    place: pending.place,
                    construct: Construct::Unfinished("a here-document"),
                });
            }
            let line = self.take_while(|one| one != '\n');
            let kept = if pending.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if kept == pending.delimiter {
                break begin;
            }
            if !pending.is_quoted && line.ends_with('\\') {
                return Err(self.fault(
                    begin,
                    Construct::ShellsDiffer("a line that goes on in a here-document"),
                ));
            }
            text.push_str(kept);
            text.push('\n');
            self.bump();
        };
        let mut word = Word {
            parts: Vec::new(),
            place: Place::new(start, end),
        };
        word.push_quoted("");
        let is_plain = pending.is_quoted || !text.contains(['$', '`', '\\']);
        if is_plain {
            word.push_quoted(&text);
            return Ok(word);
        }
        // What is expanded in it is read where it stands, so that places are those of the text.
        if pending.strips_tabs && self.between(start, end).contains('\t') {
            return Err(self.fault(
                start,
                Construct::ShellsDiffer("tabs in a here-document with expansions"),
            ));
        }
        let after = std::mem::replace(&mut self.at, start);
        let limit = self.limit(end);
        self.nested(start, |parser| parser.quoted_parts(&mut word, None))?;
        self.limit(limit);
        self.at = after;
        Ok(word)
    }
}
