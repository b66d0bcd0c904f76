//! From the JSON path of a fault to its line and column.

use crate::diagnostic::{Code, Diagnostic, Position};
use crate::sort;

use callgate_jsontext::{comment_end, string_end};

/// Gives the diagnostics about the document `name` their positions in its text.
///
/// A path that the text does not have is about the deepest place above it that the text has. The time is linear in the
/// text up to the last of these places, and nothing is done without diagnostics.
pub fn locate(diagnostics: &mut [Diagnostic], name: &str, text: &str) {
    let mut wanted: Vec<Wanted<'_>> = Vec::new();
    for diagnostic in diagnostics {
        if diagnostic.position.is_some() {
            continue;
        }
        let Some(steps) = diagnostic.path.strip_prefix(name).and_then(steps) else {
            continue;
        };
        let repeated = diagnostic.code == Code::DuplicateKey;
        let earlier = wanted
            .iter()
            .filter(|one| one.repeated && one.steps == steps)
            .count();
        wanted.push(Wanted {
            steps,
            repeated,
            is_about_key: repeated || diagnostic.code == Code::UnknownKey,
            left: if repeated { earlier + 1 } else { 0 },
            at: 0,
            is_done: false,
            diagnostic,
        });
    }
    if wanted.is_empty() {
        return;
    }
    let mut walk = Walk::new(text);
    walk.skip_space();
    let all = (0..wanted.len()).collect::<Vec<_>>();
    for one in &mut wanted {
        one.at = walk.at;
        walk.open += usize::from(!one.steps.is_empty());
    }
    walk.value(&mut wanted, &all, 0);
    sort::sort_by(&mut wanted, |one, other| one.at.cmp(&other.at));
    let mut lines = Lines::new(text);
    for one in wanted {
        one.diagnostic.position = Some(lines.position(one.at));
    }
}

/// The position of a byte, where `line` and `column` count lines and bytes from 1.
pub(super) fn position_of_byte(text: &str, line: usize, column: usize) -> Position {
    let start = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let before = start
        .as_bytes()
        .get(..column.saturating_sub(1))
        .unwrap_or(start.as_bytes());
    Position {
        line: line.max(1),
        column: 1 + before
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count())
            .sum::<usize>(),
    }
}

/// A diagnostic whose place is looked for.
struct Wanted<'d> {
    steps: Vec<Step>,
    repeated: bool,
    is_about_key: bool,
    /// How many times the key is passed over.
    left: usize,
    /// The deepest place that was found, in bytes.
    at: usize,
    /// `true` if it is the position of the whole path.
    is_done: bool,
    diagnostic: &'d mut Diagnostic,
}

#[derive(PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The steps behind the document's name in a path, as [`JsonPath`](super::JsonPath) writes it.
fn steps(mut path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    while !path.is_empty() {
        if let Some(rest) = path.strip_prefix('.') {
            let (key, rest) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            steps.push(Step::Key(key.to_owned()));
            path = rest;
            continue;
        }
        let inner = path.strip_prefix('[')?;
        let rest = if inner.starts_with('"') {
            let (key, rest) = inner.split_at_checked(string_end(inner.as_bytes(), 0))?;
            steps.push(Step::Key(serde_json::from_str(key).ok()?));
            rest
        } else {
            let (index, rest) = inner.split_at(inner.find(']')?);
            steps.push(Step::Index(index.parse().ok()?));
            rest
        };
        path = rest.strip_prefix(']')?;
    }
    Some(steps)
}

/// A place in a document's text, which was read before.
pub(super) struct Walk<'t> {
    json: &'t str,
    text: &'t [u8],
    at: usize,
    /// How many places are still looked for.
    open: usize,
}

impl<'t> Walk<'t> {
    pub(super) fn new(json: &'t str) -> Self {
        let text = json.as_bytes();
        Self {
            json,
            text,
            at: 0,
            open: 0,
        }
    }

    /// The next byte's place.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Passes over space and comments.
    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            self.at = match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at + 1,
                b'/' => match comment_end(self.text, self.at) {
                    Some(end) => end,
                    None => return,
                },
                _ => return,
            };
        }
    }

    /// Takes a byte and the space around it. Returns `true` if it was there.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        self.skip_space();
        found
    }

    /// Walks over the value here. `active` are those whose first `depth` steps lead to it.
    fn value(&mut self, wanted: &mut [Wanted<'_>], active: &[usize], depth: usize) {
        match self.peek() {
            Some(b'[') if !active.is_empty() => self.array(wanted, active, depth),
            Some(b'{') if !active.is_empty() => self.object(wanted, active, depth),
            _ => self.skip_value(),
        }
    }

    fn array(&mut self, wanted: &mut [Wanted<'_>], active: &[usize], depth: usize) {
        self.take(b'[');
        let mut index = 0;
        while self.open > 0 && !matches!(self.peek(), None | Some(b']')) {
            let at = self.at;
            let mut below = Vec::new();
            for one in active {
                if let Some(found) = wanted.get_mut(*one)
                    && !found.is_done
                    && found.steps.get(depth) == Some(&Step::Index(index))
                {
                    found.at = at;
                    if found.steps.len() == depth + 1 {
                        self.finish(found);
                    } else {
                        below.push(*one);
                    }
                }
            }
            self.value(wanted, &below, depth + 1);
            index += 1;
            if !self.take(b',') {
                break;
            }
        }
        self.take(b']');
    }

    fn object(&mut self, wanted: &mut [Wanted<'_>], active: &[usize], depth: usize) {
        self.take(b'{');
        while self.open > 0 && self.peek() == Some(b'"') {
            let key_at = self.at;
            let key = self.key();
            let mut below = Vec::new();
            for one in active {
                let Some(found) = wanted.get_mut(*one) else {
                    continue;
                };
                let is_step = matches!(found.steps.get(depth), Some(Step::Key(step)) if *step == key);
                if found.is_done || !is_step {
                    continue;
                }
                let is_last = found.steps.len() == depth + 1;
                if is_last && found.left > 0 {
                    found.left -= 1;
                    continue;
                }
                found.at = if is_last && found.is_about_key {
                    key_at
                } else {
                    self.at
                };
                if is_last {
                    self.finish(found);
                } else {
                    below.push(*one);
                }
            }
            self.value(wanted, &below, depth + 1);
            if !self.take(b',') {
                break;
            }
        }
        self.take(b'}');
    }

    /// Stops looking for a place: what is there once more has a diagnostic of its own.
    fn finish(&mut self, found: &mut Wanted<'_>) {
        found.is_done = true;
        self.open -= 1;
    }

    /// Takes a key with its colon.
    pub(super) fn key(&mut self) -> String {
        let start = self.at;
        self.at = string_end(self.text, start);
        let raw = self.json.get(start..self.at).unwrap_or_default();
        self.take(b':');
        serde_json::from_str(raw).unwrap_or_default()
    }

    /// Passes over so many bytes.
    pub(super) fn pass(&mut self, length: usize) {
        self.at += length;
    }

    /// Passes over a value and what is nested in it, without recursion.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at = string_end(self.text, self.at);
                    if depth == 0 {
                        return;
                    }
                    continue;
                }
                b'/' => {
                    self.at = comment_end(self.text, self.at).unwrap_or(self.at + 1);
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth == 0 => return,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return;
                    }
                }
                b',' if depth == 0 => return,
                _ => {}
            }
            self.at += 1;
        }
    }
}

/// Counts lines and characters on the way through a text.
pub(super) struct Lines<'t> {
    text: &'t str,
    /// The number of bytes that are counted already, and their position.
    at: usize,
    position: Position,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            position: Position::START,
        }
    }

    /// The position of a byte that is not before the one asked for last.
    pub(super) fn position(&mut self, at: usize) -> Position {
        let passed = self.text.get(self.at..at).unwrap_or_default();
        let line = passed.rsplit('\n').next().unwrap_or_default();
        if line.len() < passed.len() {
            self.position.line += passed.bytes().filter(|byte| *byte == b'\n').count();
            self.position.column = 1;
        }
        self.position.column += line.chars().count();
        self.at = at;
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, places: &[(Code, &str, usize, usize)]) {
        let diagnostic =
            |(code, path, _, _): &(Code, &str, usize, usize)| Diagnostic::error(*code, *path, "");
        let mut diagnostics: Vec<Diagnostic> = places.iter().map(diagnostic).collect();
        locate(&mut diagnostics, "doc", text);
        for (diagnostic, (_, path, line, column)) in diagnostics.iter().zip(places) {
            let position = Position {
                line: *line,
                column: *column,
            };
            assert_eq!(diagnostic.position, Some(position), "{path}");
        }
    }

    #[test]
    fn a_path_leads_to_its_line_and_column() {
        let text = "// é {\n{\"a\": [1, {\"x-\": \"é\", \"b\": 2}, [\"]\"]], /* é */ \"c\\u0064\": true,\n  \"e\" : {},\n}";
        check(
            text,
            &[
                (Code::WrongType, "doc.a[1].b", 2, 28),
                (Code::WrongType, "doc", 2, 1),
                (Code::WrongType, "doc.a", 2, 7),
                (Code::WrongType, "doc.a[0]", 2, 8),
                (Code::WrongType, "doc.a[1][\"x-\"]", 2, 18),
                (Code::UnknownKey, "doc.a[1].b", 2, 23),
                (Code::WrongType, "doc.a[2][0]", 2, 33),
                (Code::UnknownKey, "doc.cd", 2, 48),
                (Code::WrongType, "doc.cd", 2, 59),
                (Code::MissingField, "doc.e", 3, 9),
            ],
        );
    }

    #[test]
    fn a_path_that_is_not_there_is_about_what_is_above_it() {
        check(
            "{\"a\":\n[{\"b\":1}]}",
            &[
                (Code::WrongType, "doc.a[0].c", 2, 2),
                (Code::WrongType, "doc.a[0].b[3]", 2, 7),
                (Code::WrongType, "doc.z.y", 1, 1),
            ],
        );
        check("  5", &[(Code::WrongType, "doc.a", 1, 3)]);
        check("", &[(Code::Syntax, "doc", 1, 1)]);
    }

    #[test]
    fn a_repeated_key_is_where_it_is_repeated() {
        check(
            "{\"k\": 0, \"k\": {\"j\": 1},\n\"k\": 2}",
            &[
                (Code::DuplicateKey, "doc.k", 1, 10),
                (Code::DuplicateKey, "doc.k", 2, 1),
            ],
        );
    }

    #[test]
    fn a_comment_holds_no_place() {
        check(
            "{\"x\": [ /* \"k\": [1, */ 5 // ], \n, {\"y\": \"\\\\\"} /* } */ ], // {\n \"k\" /**/ : // [\n [1, /* , */ 2,],}",
            &[
                (Code::WrongType, "doc.x[1].y", 2, 9),
                (Code::WrongType, "doc.k[1]", 4, 14),
                (Code::WrongType, "doc.k[2]", 4, 2),
            ],
        );
    }

    #[test]
    fn other_documents_have_no_position_here() {
        let mut other = [Diagnostic::error(Code::WrongType, "options.x", "")];
        locate(&mut other, "doc", "{}");
        assert_eq!(other[0].position, None);
        let mut longer = [Diagnostic::error(Code::WrongType, "document.x", "")];
        locate(&mut longer, "doc", "{}");
        assert_eq!(longer[0].position, None);
    }
}
