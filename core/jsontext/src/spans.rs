//! Where the values of a text stand.

/// Where the values of a text stand that is JSON, with comments between its tokens; `None` where it is not JSON.
pub(crate) fn spans(text: &str) -> Option<Span> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip();
    scanner.value()
}

/// A value in the text.
pub(crate) struct Span {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Those of the members or items, in order.
    pub(crate) parts: Vec<Part>,
    /// Where the last part ends, or the comma or the comment after it.
    pub(crate) filled_to: usize,
    /// Where the comma after the last part ends, if it has one.
    pub(crate) last_comma: Option<usize>,
}

pub(crate) struct Part {
    /// Where it begins: at its key, if it has one.
    pub(crate) from: usize,
    pub(crate) value: Span,
}

/// Finds the places of values. The text was read before, so it is JSON; comments may stand between its tokens.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, token: char) -> bool {
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.at += token.len_utf8();
        }
        is_next
    }

    /// Skips spaces and comments, and returns where the last comment ends, if there is one.
    fn skip(&mut self) -> Option<usize> {
        let mut comment = None;
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return comment;
            };
            self.at += length;
            comment = Some(self.at);
        }
    }

    fn value(&mut self) -> Option<Span> {
        let from = self.at;
        if self.take('{') {
            self.parts(from, '}', true)
        } else if self.take('[') {
            self.parts(from, ']', false)
        } else {
            self.scalar()?;
            Some(Span {
                from,
                to: self.at,
                parts: Vec::new(),
                filled_to: self.at,
                last_comma: None,
            })
        }
    }

    fn parts(&mut self, from: usize, close: char, has_keys: bool) -> Option<Span> {
        let mut parts = Vec::new();
        let mut filled_to = self.at;
        let mut last_comma = None;
        loop {
            filled_to = self.skip().unwrap_or(filled_to);
            if self.take(close) {
                return Some(Span {
                    from,
                    to: self.at,
                    parts,
                    filled_to,
                    last_comma,
                });
            }
            let begin = self.at;
            if has_keys {
                self.scalar()?;
                self.skip();
                self.take(':').then_some(())?;
                self.skip();
            }
            let value = self.value()?;
            filled_to = self.at;
            parts.push(Part { from: begin, value });
            filled_to = self.skip().unwrap_or(filled_to);
            last_comma = self.take(',').then_some(self.at);
            filled_to = last_comma.unwrap_or(filled_to);
        }
    }

    /// A string, a number or a word.
    fn scalar(&mut self) -> Option<()> {
        let rest = self.rest();
        let length = if rest.starts_with('"') {
            let mut is_escaped = false;
            let end = rest.bytes().skip(1).position(|byte| {
                let ends = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                ends
            });
            end? + 2
        } else {
            rest.find(|one: char| !one.is_alphanumeric() && !matches!(one, '+' | '-' | '.'))
                .unwrap_or(rest.len())
        };
        self.at += length;
        (length > 0).then_some(())
    }
}
