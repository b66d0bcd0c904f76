//! Commands: the grammar of <https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html#tag_18_10>,
//! without functions.

use super::cursor::{Parser, Read, split_assignment};
use super::tree::{AndOr, Assign, Compound, Condition, List, Node, Pipeline, Redirect, Script, Simple, Word};
use crate::fault::{Construct, Place};
use crate::limits::MAX_DEPTH;

/// Reads a text.
pub(crate) fn parse(text: &str) -> Read<Script> {
    let mut parser = Parser::new(text);
    let list = parser.list(&[])?;
    if parser.peek().is_some() {
        return Err(parser.unexpected());
    }
    if let Some(pending) = parser.pending.first() {
        return Err(crate::fault::NotUnderstood {
            place: pending.place,
            construct: Construct::Unfinished("a here-document"),
        });
    }
    Ok(Script {
        list,
        documents: parser.documents,
    })
}

impl Parser<'_> {
    /// Reads what stands in something else.
    pub(crate) fn nested<T>(&mut self, start: usize, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.fault(start, Construct::Limit("16 levels of commands in commands")));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Reads commands up to one of the keywords, `)`, `;;` or the end.
    pub(crate) fn list(&mut self, ends: &[&str]) -> Read<List> {
        let mut items = Vec::new();
        loop {
            self.skip_lines()?;
            if self.is_end(ends) {
                return Ok(List { items });
            }
            let mut item = self.and_or()?;
            self.skip_blanks()?;
            match self.peek() {
                Some('&') => {
                    self.at += 1;
                    if matches!(self.peek(), Some('!' | '|' | '&')) {
                        return Err(self.unexpected());
                    }
                    item.is_background = true;
                }
                Some(';') if !self.rest().starts_with(";;") => {
                    self.at += 1;
                    if matches!(self.peek(), Some('&' | '|')) {
                        return Err(self.unexpected());
                    }
                }
                Some('\n') => {}
                _ => {
                    items.push(item);
                    self.skip_blanks()?;
                    // After a compound command, a keyword may follow without a separator in some shells.
                    if self.peek().is_none() || self.peek() == Some(')') || self.rest().starts_with(";;") {
                        return Ok(List { items });
                    }
                    return Err(self.unexpected());
                }
            }
            items.push(item);
        }
    }

    fn is_end(&self, ends: &[&str]) -> bool {
        self.peek().is_none()
            || self.peek() == Some(')')
            || self.rest().starts_with(";;")
            || self.keyword().is_some_and(|word| ends.contains(&word))
    }

    /// Skips blanks and ends of lines, after which here-documents stand.
    fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks()?;
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.end_line()?;
        }
    }

    fn end_line(&mut self) -> Read<()> {
        if self.has_outer_document {
            return Err(self.fault(
                self.at,
                Construct::ShellsDiffer("a line in a substitution after a here-document"),
            ));
        }
        self.at += 1;
        self.read_documents()
    }

    fn and_or(&mut self) -> Read<AndOr> {
        let first = self.pipeline(true)?;
        let mut rest = Vec::new();
        while let Some(condition) = self.condition()? {
            rest.push((condition, self.pipeline(false)?));
        }
        Ok(AndOr {
            first,
            rest,
            is_background: false,
        })
    }

    /// Reads `&&` or `||`, if one is next.
    fn condition(&mut self) -> Read<Option<Condition>> {
        self.skip_blanks()?;
        let condition = if self.take("&&") {
            Condition::And
        } else if self.take("||") {
            Condition::Or
        } else {
            return Ok(None);
        };
        if matches!(self.peek(), Some('&' | '|')) {
            return Err(self.unexpected());
        }
        self.skip_lines()?;
        Ok(Some(condition))
    }

    fn pipeline(&mut self, is_first: bool) -> Read<Pipeline> {
        self.skip_blanks()?;
        let is_negated = self.keyword() == Some("!");
        if is_negated {
            self.at += 1;
            self.skip_blanks()?;
            if self.keyword() == Some("!") {
                return Err(self.unexpected());
            }
        }
        let is_first = is_first && !is_negated;
        let mut stages = vec![self.command(is_first)?];
        loop {
            self.skip_blanks()?;
            if self.peek() != Some('|') || self.rest().starts_with("||") {
                break;
            }
            self.at += 1;
            // `|&` also passes what is written as errors.
            let _ = self.take("&");
            if matches!(self.peek(), Some('&' | '|')) {
                return Err(self.unexpected());
            }
            self.skip_lines()?;
            stages.push(self.command(is_first)?);
        }
        Ok(Pipeline { is_negated, stages })
    }

    fn command(&mut self, is_first: bool) -> Read<Node> {
        let start = self.at;
        if self.peek() == Some('(') {
            self.at += 1;
            if self.peek() == Some('(') {
                return Err(self.unexpected());
            }
            let list = self.nested(start, |parser| parser.list(&[]))?;
            if !self.take(")") {
                return Err(self.missing(start, "a subshell"));
            }
            return self.compound(Compound::Subshell(list), start);
        }
        let Some(keyword) = self.keyword() else {
            return self.simple();
        };
        let read: fn(&mut Self) -> Read<Compound> = match keyword {
            "{" => Self::group,
            "if" => Self::conditional,
            "for" => Self::turns,
            "while" | "until" => Self::looped,
            "case" => Self::cases,
            "[[" => return self.test(is_first),
            "select" | "function" | "coproc" | "foreach" | "repeat" => {
                self.at += keyword.len();
                return Err(self.fault(start, Construct::Keyword(keyword.to_owned())));
            }
            "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "in" | "end" | "}" | "]]" => {
                return Err(self.unexpected());
            }
            _ => return self.simple(),
        };
        self.at += keyword.len();
        let read = self.nested(start, read)?;
        self.compound(read, start)
    }

    fn missing(&mut self, start: usize, what: &'static str) -> crate::fault::NotUnderstood {
        if self.peek().is_none() {
            self.fault(start, Construct::Unfinished(what))
        } else {
            self.unexpected()
        }
    }

    /// Reads the keyword.
    fn expect(&mut self, keyword: &str) -> Read<()> {
        self.skip_blanks()?;
        if self.keyword() != Some(keyword) {
            let start = self.at;
            return Err(self.missing(start, "a compound command"));
        }
        self.at += keyword.len();
        Ok(())
    }

    /// Reads at least one command, up to one of the keywords.
    fn body(&mut self, ends: &[&str]) -> Read<List> {
        let list = self.list(ends)?;
        if list.items.is_empty() {
            return Err(self.unexpected());
        }
        Ok(list)
    }

    fn compound(&mut self, compound: Compound, start: usize) -> Read<Node> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks()?;
            let Some(redirect) = self.redirect()? else {
                break;
            };
            redirects.push(redirect);
        }
        Ok(Node::Compound(compound, redirects, Place::new(start, self.at)))
    }

    fn group(&mut self) -> Read<Compound> {
        let list = self.body(&["}"])?;
        self.expect("}")?;
        Ok(Compound::Group(list))
    }

    fn conditional(&mut self) -> Read<Compound> {
        let mut branches = Vec::new();
        loop {
            let condition = self.body(&["then"])?;
            self.expect("then")?;
            branches.push((condition, self.body(&["elif", "else", "fi"])?));
            if self.keyword() != Some("elif") {
                break;
            }
            self.at += "elif".len();
        }
        let otherwise = if self.keyword() == Some("else") {
            self.at += "else".len();
            Some(self.body(&["fi"])?)
        } else {
            None
        };
        self.expect("fi")?;
        Ok(Compound::If(branches, otherwise))
    }

    fn turns(&mut self) -> Read<Compound> {
        self.skip_blanks()?;
        let start = self.at;
        let name = self.word()?;
        let name = name.as_ref().and_then(Word::bare).unwrap_or_default().to_owned();
        if !name.starts_with(super::cursor::is_name_start) || !name.chars().all(super::cursor::is_in_name) {
            return Err(self.fault(start, Construct::Unexpected("for".to_owned())));
        }
        self.skip_lines()?;
        let mut words = None;
        if self.keyword() == Some("in") {
            self.at += "in".len();
            let mut found = Vec::new();
            loop {
                self.skip_blanks()?;
                let Some(word) = self.word()? else { break };
                found.push(word);
            }
            words = Some(found);
        }
        self.skip_blanks()?;
        match self.peek() {
            Some(';') if self.second() != Some(';') => self.at += 1,
            Some('\n') => {}
            _ => return Err(self.unexpected()),
        }
        self.skip_lines()?;
        self.expect("do")?;
        let list = self.body(&["done"])?;
        self.expect("done")?;
        Ok(Compound::For(name, words, list))
    }

    fn looped(&mut self) -> Read<Compound> {
        let condition = self.body(&["do"])?;
        self.expect("do")?;
        let list = self.body(&["done"])?;
        self.expect("done")?;
        Ok(Compound::Loop(condition, list))
    }

    fn cases(&mut self) -> Read<Compound> {
        self.skip_blanks()?;
        let Some(subject) = self.word()? else {
            return Err(self.unexpected());
        };
        self.skip_lines()?;
        self.expect("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.keyword() == Some("esac") {
                break;
            }
            let _ = self.take("(");
            let mut patterns = Vec::new();
            loop {
                self.skip_blanks()?;
                let Some(pattern) = self.word()? else {
                    return Err(self.unexpected());
                };
                patterns.push(pattern);
                self.skip_blanks()?;
                if !self.take("|") {
                    break;
                }
            }
            if !self.take(")") {
                return Err(self.unexpected());
            }
            let list = self.list(&["esac"])?;
            arms.push((patterns, list));
            if self.take(";;") {
                if matches!(self.peek(), Some('&' | ';' | '|')) {
                    return Err(self.unexpected());
                }
            } else if self.keyword() != Some("esac") {
                return Err(self.unexpected());
            }
        }
        self.expect("esac")?;
        Ok(Compound::Case(subject, arms))
    }

    /// Reads `[[ … ]]` without operators that other shells take for theirs.
    ///
    /// To dash, `[[` is a program that is not there, and what follows `&&` and `||` are further commands. If the condition is what a
    /// list begins with, none of those after `&&` runs. Any other has to be an operator, which is no program either.
    fn test(&mut self, is_first: bool) -> Read<Node> {
        let start = self.at;
        self.at += "[[".len();
        let mut first = Vec::new();
        let mut rest: Vec<(Condition, Vec<Word>)> = Vec::new();
        let mut ends_in_dash = is_first;
        loop {
            self.skip_blanks()?;
            let words = rest.last_mut().map_or(&mut first, |(_, words)| words);
            if let Some(word) = self.word()? {
                // `[` and `]` are patterns to the reader of words.
                if self.between(word.place.start, word.place.end) == "]]" {
                    break;
                }
                words.push(word);
            } else {
                let is_empty = words.is_empty();
                let at = self.at;
                let condition = self.condition()?.filter(|_| !is_empty);
                let Some(condition) = condition else {
                    self.at = at;
                    return Err(self.unexpected());
                };
                ends_in_dash &= condition == Condition::And;
                if !ends_in_dash && !self.is_operator_of_test() {
                    return Err(self.fault(at, Construct::ShellsDiffer("this condition")));
                }
                rest.push((condition, Vec::new()));
            }
        }
        let place = Place::new(start, self.at);
        let node = |words: Vec<Word>| Pipeline {
            is_negated: false,
            stages: vec![Node::Test(words, place)],
        };
        let all = AndOr {
            first: node(first),
            rest: rest
                .into_iter()
                .map(|(join, words)| (join, node(words)))
                .collect(),
            is_background: false,
        };
        self.compound(Compound::Group(List { items: vec![all] }), start)
    }

    /// Returns `true` if an operator of a condition is next, such as `-f`, perhaps after `!`.
    fn is_operator_of_test(&self) -> bool {
        let rest = self.rest();
        let mut rest = rest
            .strip_prefix("! ")
            .unwrap_or(rest)
            .trim_start_matches(' ')
            .chars();
        rest.next() == Some('-') && rest.next().is_some_and(char::is_alphabetic) && rest.next() == Some(' ')
    }

    fn simple(&mut self) -> Read<Node> {
        let start = self.at;
        let mut simple = Simple::default();
        let mut end = start;
        loop {
            self.skip_blanks()?;
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
            } else if let Some(word) = self.word()? {
                // `&>` is the end of a command in dash.
                let is_over = simple.redirects.iter().any(Redirect::ends_in_dash);
                if is_over {
                    return Err(self.fault(start, Construct::ShellsDiffer("a word after `&>`")));
                }
                let text = self.between(word.place.start, word.place.end);
                // bash opens a descriptor and puts its number into the variable.
                if text.starts_with('{') && matches!(self.peek(), Some('<' | '>')) {
                    return Err(self.unexpected());
                }
                self.add_word(&mut simple, word)?;
            } else {
                break;
            }
            end = self.at;
        }
        if end == start {
            return Err(self.unexpected());
        }
        if self.peek() == Some('(') {
            return Err(self.fault(start, Construct::Parenthesis));
        }
        simple.place = Place::new(start, end);
        Ok(Node::Simple(simple))
    }

    fn add_word(&mut self, simple: &mut Simple, word: Word) -> Read<()> {
        let place = word.place;
        let text = self.between(place.start, place.end);
        let program = simple.words.first().and_then(Word::bare);
        // There zsh fails, and runs nothing.
        let is_test = text == "==" && matches!(program, Some("[" | "test"));
        // An empty group to zsh, and a program to the others.
        let is_group = text == "{}" && simple.words.is_empty();
        if is_group || matches!(text, "{" | "}") || text.starts_with('=') && text != "=" && !is_test {
            return Err(self.fault(place.start, Construct::ShellsDiffer("a word of this form")));
        }
        if !simple.words.is_empty() {
            simple.words.push(word);
            return Ok(());
        }
        match split_assignment(word) {
            Ok((name, value)) => {
                if value.parts.is_empty() && self.peek() == Some('(') {
                    return Err(self.fault(place.start, Construct::Parenthesis));
                }
                simple.assignments.push(Assign { name, value });
            }
            Err(word) => {
                let before = text.split_once('=').map(|(before, _)| before);
                if before.is_some_and(|name| name.ends_with(['+', ']'])) {
                    return Err(self.fault(place.start, Construct::Assignment));
                }
                simple.words.push(word);
            }
        }
        Ok(())
    }
}
