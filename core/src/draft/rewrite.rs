//! Changing a JSON text without touching what does not change: its order, its spaces and its comments.

use serde_json::{Map, Value};

/// The most columns of a line that holds more than one value.
const COLUMNS: usize = 100;

/// The indentation of one level, where the text does not tell.
const STEP: &str = "  ";

/// The text of `old` with what differs in `new`. Members and items are added at the end; what cannot be added so is written
/// anew. `None` if the text is not that of a JSON value.
pub(super) fn rewrite(text: &str, old: &Value, new: &Value) -> Option<String> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip();
    let root = scanner.value()?;
    let mut edits = Vec::new();
    change(text, &root, old, new, &mut edits)?;
    edits.sort_by_key(|edit: &Edit| edit.from);
    let mut written = String::with_capacity(text.len());
    let mut at = 0;
    for edit in &edits {
        written += text.get(at..edit.from)?;
        written += &edit.text;
        at = edit.to;
    }
    Some(written + text.get(at..)?)
}

/// The text of a value, which begins after `indent`. What fits on a line is on one.
pub(super) fn render(value: &Value, indent: &str) -> String {
    let line = on_one_line(value);
    if indent.len() + line.len() <= COLUMNS {
        return line;
    }
    let inner = format!("{indent}{STEP}");
    let (open, close, parts): (_, _, Vec<String>) = match value {
        Value::Object(members) => (
            '{',
            '}',
            members
                .iter()
                .map(|(key, value)| member(key, &render(value, &inner)))
                .collect(),
        ),
        Value::Array(items) => ('[', ']', items.iter().map(|item| render(item, &inner)).collect()),
        _ => return line,
    };
    let parts = parts.join(&format!(",\n{inner}"));
    format!("{open}\n{inner}{parts}\n{indent}{close}")
}

fn member(key: &str, value: &str) -> String {
    format!("{}: {value}", Value::from(key))
}

fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| member(key, &on_one_line(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(on_one_line).collect::<Vec<_>>().join(", ")
        ),
        scalar => scalar.to_string(),
    }
}

/// A piece of text that replaces what stands between two places.
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

/// A value in the text.
struct Span {
    from: usize,
    to: usize,
    /// Those of the members or items, in order.
    parts: Vec<Part>,
    /// Where the last part ends, or the comma or the comment after it.
    filled_to: usize,
    has_last_comma: bool,
}

struct Part {
    /// Where it begins: at its key, if it has one.
    from: usize,
    value: Span,
}

fn change(text: &str, span: &Span, old: &Value, new: &Value, edits: &mut Vec<Edit>) -> Option<()> {
    if old == new {
        return Some(());
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) if keeps(before, after) => {
            for (part, (key, value)) in span.parts.iter().zip(before) {
                change(text, &part.value, value, after.get(key)?, edits)?;
            }
            let added: Vec<_> = after
                .iter()
                .filter(|(key, _)| !before.contains_key(*key))
                .collect();
            append(text, span, new, edits, |write| {
                let members = added.iter().map(|(key, value)| member(key, &write(value)));
                members.collect()
            })
        }
        (Value::Array(before), Value::Array(after)) if before.len() <= after.len() => {
            for ((part, before), after) in span.parts.iter().zip(before).zip(after) {
                change(text, &part.value, before, after, edits)?;
            }
            let added = after.iter().skip(before.len());
            append(text, span, new, edits, |write| added.clone().map(write).collect())
        }
        _ => {
            edits.push(Edit {
                from: span.from,
                to: span.to,
                text: render(new, indent_at(text, span.from)?),
            });
            Some(())
        }
    }
}

/// Returns `true` if every member of `before` is in `after`, in the same order.
fn keeps(before: &Map<String, Value>, after: &Map<String, Value>) -> bool {
    before.keys().zip(after.keys()).all(|(one, other)| one == other) && before.len() <= after.len()
}

/// Adds parts at the end of an object or an array, `new` as a whole.
fn append(
    text: &str,
    span: &Span,
    new: &Value,
    edits: &mut Vec<Edit>,
    render_all: impl Fn(&dyn Fn(&Value) -> String) -> Vec<String>,
) -> Option<()> {
    let (Some(first), Some(last)) = (span.parts.first(), span.parts.last()) else {
        let indent = indent_at(text, span.from)?;
        let mut filled = render(new, indent);
        // A comment in what was empty stays.
        let comment = text.get(span.from + 1..span.to - 1)?.trim_end();
        if !comment.is_empty() {
            let line_end = if filled.get(1..2) == Some("\n") {
                String::new()
            } else {
                format!("\n{indent}")
            };
            filled.insert_str(1, &format!("{comment}{line_end}"));
        }
        edits.push(Edit {
            from: span.from,
            to: span.to,
            text: filled,
        });
        return Some(());
    };
    let is_split = text.get(span.from..first.from)?.contains('\n');
    let indent = if is_split {
        indent_at(text, first.from)?
    } else {
        ""
    };
    // An object on one line stays on one.
    let added = render_all(&|value| {
        if is_split {
            render(value, indent)
        } else {
            on_one_line(value)
        }
    });
    if added.is_empty() {
        return Some(());
    }
    if !span.has_last_comma {
        edits.push(Edit {
            from: last.value.to,
            to: last.value.to,
            text: ",".to_owned(),
        });
    }
    let (before, between) = if is_split {
        (format!("\n{indent}"), format!(",\n{indent}"))
    } else {
        (" ".to_owned(), ", ".to_owned())
    };
    edits.push(Edit {
        from: span.filled_to,
        to: span.filled_to,
        text: before + &added.join(&between),
    });
    Some(())
}

/// The spaces that begin the line of a place.
fn indent_at(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let line = text.get(before.rfind('\n').map_or(0, |end| end + 1)..)?;
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..length)
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
                has_last_comma: false,
            })
        }
    }

    fn parts(&mut self, from: usize, close: char, has_keys: bool) -> Option<Span> {
        let mut parts = Vec::new();
        let mut filled_to = self.at;
        let mut has_last_comma = false;
        loop {
            filled_to = self.skip().unwrap_or(filled_to);
            if self.take(close) {
                return Some(Span {
                    from,
                    to: self.at,
                    parts,
                    filled_to,
                    has_last_comma,
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
            has_last_comma = self.take(',');
            if has_last_comma {
                filled_to = self.at;
            }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, old: Value, new: Value, expected: &str) {
        assert_eq!(rewrite(text, &old, &new).as_deref(), Some(expected));
    }

    #[test]
    fn only_what_differs_is_written() {
        check(
            "{\n\t\"a\" : [ 1,2 ] , // one\n\t\"b\": {\"c\": \"}\\\"\"} // two\n}\n",
            json!({"a": [1, 2], "b": {"c": "}\""}}),
            json!({"a": [1, 2, 3], "b": {"c": "}\"", "d": true}, "e": null}),
            "{\n\t\"a\" : [ 1,2, 3 ] , // one\n\t\"b\": {\"c\": \"}\\\"\", \"d\": true}, // two\n\t\"e\": null\n}\n",
        );
    }

    #[test]
    fn a_comma_at_the_end_is_not_doubled() {
        check(
            "[\n  1, /* one */\n  // last\n]",
            json!([1]),
            json!([1, {"x": []}]),
            "[\n  1, /* one */\n  // last\n  {\"x\": []}\n]",
        );
        check("[1,]", json!([1]), json!([1, 2]), "[1, 2]");
        let long = "x".repeat(120);
        let expected = format!("[1, {{\"a\": \"{long}\"}}]");
        check("[1]", json!([1]), json!([1, {"a": long}]), &expected);
    }

    #[test]
    fn a_comment_in_what_was_empty_stays() {
        check("[ // one\n]", json!([]), json!([1]), "[ // one\n1]");
        check(
            "  { /* none */ }",
            json!({}),
            json!({"a": 1}),
            "  { /* none */\n  \"a\": 1}",
        );
    }

    #[test]
    fn what_loses_something_is_written_anew() {
        check(
            "{\n  \"a\": {\"x\": 1, \"y\": 2},\n  \"b\": 1\n}",
            json!({"a": {"x": 1, "y": 2}, "b": 1}),
            json!({"a": {"y": 2}, "b": [2]}),
            "{\n  \"a\": {\"y\": 2},\n  \"b\": [2]\n}",
        );
        check("{}", json!({}), json!({"a": 1}), "{\"a\": 1}");
    }

    #[test]
    fn long_values_have_a_line_for_each_part() {
        let long = "x".repeat(98);
        let value = json!({"a": [long, 1], "b": {"c": []}});
        let expected = format!("{{\n  \"a\": [\n    \"{long}\",\n    1\n  ],\n  \"b\": {{\"c\": []}}\n}}");
        assert_eq!(render(&value, ""), expected);
    }

    #[test]
    fn a_text_that_is_not_json_is_not_changed() {
        for text in ["", "{", "{\"a\"", "[1", "\"", "{1}", "[,]"] {
            assert_eq!(rewrite(text, &json!({}), &json!({"a": 1})), None, "{text}");
        }
    }
}
