//! Words: quotes, and what is expanded in them.

use super::cursor::{Parser, Read, is_delimiter, is_in_name, is_name_start};
use super::tree::{Part, Word};
use crate::fault::{Construct, Place};

impl Parser<'_> {
    /// Reads a word, if one is next.
    pub(crate) fn word(&mut self) -> Read<Option<Word>> {
        let start = self.at;
        let mut word = Word::default();
        if self.rest().starts_with("<(") || self.rest().starts_with(">(") {
            self.at += 2;
            let list = self.substituted(start)?;
            word.parts.push(Part::Process(list));
            if self.peek().is_some_and(|one| !is_delimiter(one) || one == '(') {
                return Err(self.unexpected());
            }
        }
        while let Some(one) = self.peek() {
            if is_delimiter(one) {
                let is_process = self.at > start && matches!(one, '<' | '>') && self.second() == Some('(');
                if is_process {
                    return Err(self.unexpected());
                }
                break;
            }
            self.word_part(one, &mut word, start)?;
        }
        if self.at == start {
            return Ok(None);
        }
        word.place = Place::new(start, self.at);
        Ok(Some(word))
    }

    fn word_part(&mut self, one: char, word: &mut Word, start: usize) -> Read<()> {
        let at = self.at;
        match one {
            '\'' => {
                self.at += 1;
                let text = self.take_while(|one| one != '\'');
                if self.bump().is_none() {
                    return Err(self.fault(at, Construct::Unfinished("a quote")));
                }
                word.push_quoted(text);
            }
            '"' => {
                self.at += 1;
                word.push_quoted("");
                self.quoted_parts(word, Some('"'))?;
                if self.bump().is_none() {
                    return Err(self.fault(at, Construct::Unfinished("a quote")));
                }
            }
            '\\' => {
                self.at += 1;
                match self.bump() {
                    Some('\n') => {
                        return Err(
                            self.fault(at, Construct::ShellsDiffer("a line that goes on within a token"))
                        );
                    }
                    Some(one) => word.push_quoted(one.encode_utf8(&mut [0; 4])),
                    None => return Err(self.fault(at, Construct::Unfinished("a backslash"))),
                }
            }
            '$' => self.dollar(word, false)?,
            '`' => self.backquoted(word, false)?,
            '~' => self.tilde(word, start)?,
            // The program `[` is no pattern.
            '[' if at == start && self.second().is_none_or(is_delimiter) => {
                self.push(word, Part::Bare("[".to_owned()))
            }
            '=' if at > start && !word.has_text() => {
                return Err(self.fault(start, Construct::ShellsDiffer("`=` after nothing")));
            }
            '*' | '?' | '[' => self.push(word, Part::Glob(one)),
            '{' => self.push(word, Part::Open),
            ',' => self.push(word, Part::Comma),
            '}' => self.push(word, Part::Close),
            _ => {
                self.bump();
                word.push_bare(one);
            }
        }
        Ok(())
    }

    fn push(&mut self, word: &mut Word, part: Part) {
        self.bump();
        word.parts.push(part);
    }

    /// `~` at the beginning of a word, and after `=` and `:` in assignments, may be the home directory.
    fn tilde(&mut self, word: &mut Word, start: usize) -> Read<()> {
        let at = self.at;
        self.at += 1;
        let is_first = at == start;
        let is_after = matches!(word.parts.last(), Some(Part::Bare(text)) if text.ends_with(['=', ':']));
        let ends = self.peek().is_none_or(is_delimiter);
        let is_operator = word.bare() == Some("=") && ends;
        let has_text = word.has_text();
        // bash expands braces before it.
        let is_in_braces = matches!(word.parts.last(), Some(Part::Open | Part::Comma));
        if is_in_braces || !is_first && !has_text {
            return Err(self.fault(at, Construct::ShellsDiffer("`~` after nothing")));
        }
        if is_operator || !is_first && !is_after {
            word.push_bare('~');
        } else if ends || matches!(self.peek(), Some('/')) || is_after && self.peek() == Some(':') {
            word.parts.push(Part::Tilde);
        } else {
            return Err(self.fault(at, Construct::ShellsDiffer("`~` before a name")));
        }
        Ok(())
    }

    /// Reads what is expanded in double quotes, up to `closing` or the end.
    pub(crate) fn quoted_parts(&mut self, word: &mut Word, closing: Option<char>) -> Read<()> {
        while let Some(one) = self.peek() {
            if Some(one) == closing {
                break;
            }
            match one {
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') => self.at += 1,
                        Some(next) if matches!(next, '$' | '`' | '\\') || Some(next) == closing => {
                            self.bump();
                            word.push_quoted(next.encode_utf8(&mut [0; 4]));
                        }
                        _ => word.push_quoted("\\"),
                    }
                }
                '$' => self.dollar(word, true)?,
                '`' => self.backquoted(word, true)?,
                _ => {
                    let text =
                        self.take_while(|one| !matches!(one, '\\' | '$' | '`') && Some(one) != closing);
                    word.push_quoted(text);
                }
            }
        }
        Ok(())
    }

    /// Reads what begins with `$`.
    fn dollar(&mut self, word: &mut Word, is_quoted: bool) -> Read<()> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some('(') if self.second() == Some('(') => {
                let names = self.arithmetic(start)?;
                word.parts.push(Part::Arithmetic { names, is_quoted });
            }
            Some('(') => {
                self.at += 1;
                let list = self.substituted(start)?;
                word.parts.push(Part::Substitution { list, is_quoted });
            }
            Some('{') => self.parameter(word, start, is_quoted)?,
            Some('\'') if !is_quoted => self.escaped(word, start)?,
            Some(one) if is_name_start(one) => {
                let name = self.take_while(is_in_name).to_owned();
                self.after_parameter(start)?;
                word.parts.push(Part::Variable { name, is_quoted });
            }
            Some(one @ ('?' | '$' | '#' | '!')) => {
                self.at += 1;
                self.after_special(start)?;
                // `$!` is nothing before anything ran in the background.
                word.parts.push(if one == '!' {
                    Part::Unknown {
                        is_quoted,
                        is_many: false,
                    }
                } else {
                    Part::Number { is_quoted }
                });
            }
            Some(one @ ('@' | '*' | '-' | '0'..='9')) => {
                self.at += 1;
                self.after_special(start)?;
                word.parts.push(Part::Unknown {
                    is_quoted,
                    is_many: one == '@',
                });
            }
            next if is_alone(next, is_quoted) => word.push_quoted("$"),
            _ => return Err(self.fault(start, Construct::Parameter)),
        }
        Ok(())
    }

    /// In zsh, a subscript or a modifier may follow a name.
    fn after_parameter(&self, start: usize) -> Read<()> {
        let is_modified = self.peek() == Some(':')
            && self.second().is_some_and(|one| {
                !matches!(
                    one,
                    '/' | '$' | ' ' | '"' | '\'' | '.' | '0'..='9' | '\n' | '@' | ',' | '}' | '\\'
                )
            });
        if self.peek() == Some('[') || is_modified {
            return Err(self.fault(
                start,
                Construct::ShellsDiffer("what follows the name of a parameter"),
            ));
        }
        Ok(())
    }

    fn after_special(&self, start: usize) -> Read<()> {
        if self
            .peek()
            .is_some_and(|one| is_in_name(one) || matches!(one, '{' | '[' | '#'))
        {
            return Err(self.fault(
                start,
                Construct::ShellsDiffer("what follows the name of a parameter"),
            ));
        }
        self.after_parameter(start)
    }

    /// Reads `{name}`, and operators that only choose or shorten a value.
    fn parameter(&mut self, word: &mut Word, start: usize, is_quoted: bool) -> Read<()> {
        self.at += 1;
        let is_length = self.peek() == Some('#') && self.second() != Some('}');
        if is_length {
            self.at += 1;
        }
        let name = self.take_while(is_in_name).to_owned();
        let is_many = name.is_empty() && matches!(self.peek(), Some('@' | '*'));
        if name.is_empty()
            && self
                .bump()
                .is_none_or(|one| !matches!(one, '@' | '*' | '?' | '#' | '$' | '-'))
        {
            return Err(self.fault(start, Construct::Parameter));
        }
        let operator = self.take_while(|one| matches!(one, ':' | '-' | '+' | '?' | '%' | '#' | '/' | '^'));
        let operand = self.take_while(|one| one.is_ascii_alphanumeric() || "_./:-*,+=?@% ".contains(one));
        if !self.take("}") {
            return Err(self.fault(start, Construct::Parameter));
        }
        let is_plain = operator.is_empty() && operand.is_empty();
        let is_name = name.starts_with(is_name_start);
        let is_harmless = match operator {
            "" => operand.is_empty(),
            ":-" | "-" | ":+" | "+" | ":?" | "?" | "%" | "%%" | "#" | "##" | "/" | "//" => !is_length,
            "^" | "^^" => operand.is_empty() && !is_length,
            _ => false,
        };
        if !is_harmless {
            return Err(self.fault(start, Construct::Parameter));
        }
        word.parts.push(if is_length {
            Part::Number { is_quoted }
        } else if is_plain && is_name {
            Part::Variable { name, is_quoted }
        } else {
            Part::Unknown { is_quoted, is_many }
        });
        Ok(())
    }

    /// Reads `((…))` of numbers, names and operators that assign nothing. Returns the names.
    fn arithmetic(&mut self, start: usize) -> Read<Vec<String>> {
        self.at += 2;
        let mut names = Vec::new();
        let mut depth = 0_usize;
        let mut last = ' ';
        while let Some(one) = self.peek() {
            if one == ')' && depth == 0 {
                break;
            }
            if is_name_start(one) {
                names.push(self.take_while(is_in_name).to_owned());
                last = 'a';
                continue;
            }
            if one.is_ascii_digit() {
                self.take_while(is_in_name);
                last = '0';
                continue;
            }
            self.at += one.len_utf8();
            let next = self.peek();
            match one {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                '=' if next == Some('=') || matches!(last, '=' | '!' | '<' | '>') => {}
                '+' | '-' if next == Some(one) => return Err(self.fault(start, Construct::Arithmetic)),
                '$' if next.is_some_and(is_name_start) => {}
                ' ' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '!' | '&' | '|' | '?' | ':' => {}
                _ => return Err(self.fault(start, Construct::Arithmetic)),
            }
            // `<<=` and `>>=` assign.
            if one == '='
                && matches!(
                    self.between(start, self.at - 1).as_bytes(),
                    [.., b'<', b'<'] | [.., b'>', b'>']
                )
            {
                return Err(self.fault(start, Construct::Arithmetic));
            }
            last = one;
        }
        if !self.take("))") {
            return Err(self.fault(start, Construct::Arithmetic));
        }
        Ok(names)
    }

    /// Reads `'…'` after `$`, with the escapes that are known.
    fn escaped(&mut self, word: &mut Word, start: usize) -> Read<()> {
        self.at += 1;
        let mut decoded = String::new();
        while let Some(one) = self.bump() {
            if one == '\'' {
                let raw = self.between(start + 2, self.at - 1);
                word.parts.push(Part::Escaped {
                    decoded,
                    raw: format!("${raw}"),
                });
                return Ok(());
            }
            if one != '\\' {
                decoded.push(one);
                continue;
            }
            decoded.push(match self.bump() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('\\') => '\\',
                Some('"') => '"',
                _ => return Err(self.fault(start, Construct::ShellsDiffer("an escape in `$'…'`"))),
            });
        }
        Err(self.fault(start, Construct::Unfinished("a quote")))
    }

    /// Reads the commands of a substitution, and `)`.
    fn substituted(&mut self, start: usize) -> Read<super::tree::List> {
        let outer = std::mem::take(&mut self.pending);
        let had_outer = self.has_outer_document;
        self.has_outer_document |= !outer.is_empty();
        let list = self.nested(start, |parser| parser.list(&[]))?;
        if !self.take(")") {
            return Err(if self.peek().is_none() {
                self.fault(start, Construct::Unfinished("a substitution"))
            } else {
                self.unexpected()
            });
        }
        if !self.pending.is_empty() {
            return Err(self.fault(start, Construct::Unfinished("a here-document")));
        }
        self.pending = outer;
        self.has_outer_document = had_outer;
        Ok(list)
    }

    fn backquoted(&mut self, word: &mut Word, is_quoted: bool) -> Read<()> {
        let start = self.at;
        self.at += 1;
        let inner = self.at;
        let content = self.take_while(|one| one != '`');
        let (end, is_odd) = (
            self.at,
            content.contains('\\') || is_quoted && content.contains('"'),
        );
        if self.bump().is_none() {
            return Err(self.fault(start, Construct::Unfinished("a substitution")));
        }
        if is_odd {
            return Err(self.fault(start, Construct::ShellsDiffer("quotes in a substitution")));
        }
        let after = std::mem::replace(&mut self.at, inner);
        let limit = self.limit(end);
        let was = std::mem::replace(&mut self.is_backquoted, true);
        let list = self.nested(start, |parser| parser.list(&[]))?;
        if self.peek().is_some() {
            return Err(self.unexpected());
        }
        self.is_backquoted = was;
        self.limit(limit);
        self.at = after;
        word.parts.push(Part::Substitution { list, is_quoted });
        Ok(())
    }
}

/// Returns `true` if `$` before this is only itself.
fn is_alone(next: Option<char>, is_quoted: bool) -> bool {
    match next {
        None => true,
        Some(one) if is_quoted => matches!(one, '"' | ' ' | ')' | '|' | '/' | '.' | ',' | ';' | '%' | '\n'),
        Some(one) => is_delimiter(one) && one != '(',
    }
}
