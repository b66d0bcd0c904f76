//! Changing a JSON text without touching what does not change: its order, its spaces and its comments.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::comments::without_comments;
use crate::place::replace;
use crate::spans::{Part, Span, spans};

/// The most columns of a line that holds more than one value.
const COLUMNS: usize = 100;

/// The indentation of one level, where the text does not tell.
const STEP: &str = "  ";

/// Parts of the text, and what replaces them.
type Edits = Vec<(Range<usize>, String)>;

/// The text with what differs in `new`. Members and items are added at the end, or taken away; what cannot be changed so is
/// written anew.
///
/// `None` if the text is not JSON, which may have comments, or where a repeated name leaves open what is meant.
pub fn rewrite(text: &str, new: &Value) -> Option<String> {
    let read = |text: &str| serde_json::from_str::<Value>(&without_comments(text)).ok();
    let old = read(text)?;
    let writer = Writer {
        text,
        step: step_of(text),
    };
    let mut edits = Edits::new();
    writer.change(&spans(text)?, &old, new, &mut edits)?;
    replace(text, edits)
}

/// The text of a value, which begins after `indent`. What fits on a line is on one.
pub fn render(value: &Value, indent: &str) -> String {
    render_by(value, indent, STEP)
}

fn render_by(value: &Value, indent: &str, step: &str) -> String {
    let mut text = String::new();
    add_lines(&mut text, value, indent, step);
    text
}

/// Writes the value on as many lines as it needs.
fn add_lines(text: &mut String, value: &Value, indent: &str, step: &str) {
    let from = text.len();
    let room = COLUMNS.saturating_sub(indent.len());
    if add_to_line(text, value, from.saturating_add(room)) {
        return;
    }
    text.truncate(from);
    let inner = format!("{indent}{step}");
    let mut is_first = true;
    let mut part = |text: &mut String, key: Option<&String>, value: &Value| {
        text.push_str(if std::mem::take(&mut is_first) {
            "\n"
        } else {
            ",\n"
        });
        text.push_str(&inner);
        if let Some(key) = key {
            add_key(text, key);
        }
        add_lines(text, value, &inner, step);
    };
    let close = match value {
        Value::Object(members) => {
            text.push('{');
            members
                .iter()
                .for_each(|(key, value)| part(text, Some(key), value));
            '}'
        }
        Value::Array(items) => {
            text.push('[');
            items.iter().for_each(|item| part(text, None, item));
            ']'
        }
        scalar => return text.push_str(&scalar.to_string()),
    };
    text.push('\n');
    text.push_str(indent);
    text.push(close);
}

fn add_key(text: &mut String, key: &str) {
    text.push_str(&Value::from(key).to_string());
    text.push_str(": ");
}

/// The value on one line.
fn on_one_line(value: &Value) -> String {
    let mut line = String::new();
    add_to_line(&mut line, value, usize::MAX);
    line
}

/// Writes the value at the end of the text, and no more once the text is longer than `room`. Returns whether it was not.
fn add_to_line(line: &mut String, value: &Value, room: usize) -> bool {
    let mut is_first = true;
    let mut part = |line: &mut String, key: Option<&String>, value: &Value| {
        if !std::mem::take(&mut is_first) {
            line.push_str(", ");
        }
        if let Some(key) = key {
            add_key(line, key);
        }
        add_to_line(line, value, room)
    };
    let (close, is_whole) = match value {
        Value::Object(members) => {
            line.push('{');
            (
                "}",
                members.iter().all(|(key, value)| part(line, Some(key), value)),
            )
        }
        Value::Array(items) => {
            line.push('[');
            ("]", items.iter().all(|item| part(line, None, item)))
        }
        scalar => {
            line.push_str(&scalar.to_string());
            ("", true)
        }
    };
    line.push_str(close);
    is_whole && line.len() <= room
}

/// A value that is added to an object, under its key, or to an array.
type Added<'v> = (Option<&'v str>, &'v Value);

/// Writes values into a text as it is written elsewhere.
struct Writer<'t> {
    text: &'t str,
    step: &'t str,
}

impl Writer<'_> {
    fn change(&self, span: &Span, old: &Value, new: &Value, edits: &mut Edits) -> Option<()> {
        if old == new {
            return Some(());
        }
        match (old, new) {
            (Value::Object(before), Value::Object(after)) => self.change_object(span, before, after, edits),
            (Value::Array(before), Value::Array(after)) => self.change_array(span, before, after, edits),
            _ => self.replace(span, new, edits),
        }
    }

    fn replace(&self, span: &Span, new: &Value, edits: &mut Edits) -> Option<()> {
        let text = render_by(new, self.indent_at(span.from)?, self.step);
        edits.push((span.from..span.to, text));
        Some(())
    }

    fn change_object(
        &self,
        span: &Span,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        edits: &mut Edits,
    ) -> Option<()> {
        let is_kept = |key: &&String| before.contains_key(*key);
        let kept = before.keys().filter(|key| after.contains_key(*key));
        let is_in_order = kept.eq(after.keys().take_while(is_kept));
        let has_more_kept = after.keys().skip_while(is_kept).any(|key| is_kept(&key));
        if span.parts.len() != before.len() {
            return None;
        }
        if !is_in_order || has_more_kept {
            return self.replace(span, &Value::Object(after.clone()), edits);
        }
        let mut are_kept = Vec::with_capacity(before.len());
        for (part, (key, value)) in span.parts.iter().zip(before) {
            if let Some(new) = after.get(key) {
                self.change(&part.value, value, new, edits)?;
            }
            are_kept.push(after.contains_key(key));
        }
        let added = after.iter().filter(|(key, _)| !is_kept(key));
        let added: Vec<Added<'_>> = added.map(|(key, value)| (Some(key.as_str()), value)).collect();
        if !added.is_empty() && !before.is_empty() && !are_kept.contains(&true) {
            return self.replace(span, &Value::Object(after.clone()), edits);
        }
        self.change_parts(span, &are_kept, &added, edits)
    }

    fn change_array(&self, span: &Span, before: &[Value], after: &[Value], edits: &mut Edits) -> Option<()> {
        let mut are_kept = vec![true; before.len()];
        if before.len() <= after.len() {
            for ((part, before), after) in span.parts.iter().zip(before).zip(after) {
                self.change(&part.value, before, after, edits)?;
            }
        } else {
            let mut rest = after.iter().peekable();
            for (item, is_kept) in before.iter().zip(&mut are_kept) {
                *is_kept = rest.next_if_eq(&item).is_some();
            }
            if rest.peek().is_some() {
                return self.replace(span, &Value::Array(after.to_vec()), edits);
            }
        }
        let added: Vec<Added<'_>> = after.iter().skip(before.len()).map(|item| (None, item)).collect();
        self.change_parts(span, &are_kept, &added, edits)
    }

    /// Takes parts of an object or an array away, and adds others at its end.
    fn change_parts(
        &self,
        span: &Span,
        are_kept: &[bool],
        added: &[Added<'_>],
        edits: &mut Edits,
    ) -> Option<()> {
        let kept = span.parts.iter().zip(are_kept).filter(|(_, is_kept)| **is_kept);
        let last = kept.map(|(part, _)| part).next_back();
        self.take_away(span, are_kept, last, edits)?;
        let is_split = match span.parts.first() {
            Some(first) => self.text.get(span.from..first.from)?.contains('\n'),
            None => false,
        };
        let indent = match span.parts.first() {
            Some(first) if is_split => self.indent_at(first.from)?,
            _ => self.indent_at(span.from)?,
        };
        // An object on one line stays on one.
        let added = added.iter().map(|(key, value)| {
            let stays = !is_split && last.is_some();
            let mut text = String::new();
            if let Some(key) = key {
                add_key(&mut text, key);
            }
            text.push_str(&match stays {
                true => on_one_line(value),
                false => render_by(value, indent, self.step),
            });
            text
        });
        let added: Vec<String> = added.collect();
        if added.is_empty() {
            return Some(());
        }
        match last {
            Some(last) => self.append(span, last, is_split.then_some(indent), &added, edits),
            None => self.fill(span, indent, &added, edits),
        }
    }

    /// Takes parts away, each with the comma that separates it from a part that stays.
    fn take_away(
        &self,
        span: &Span,
        are_kept: &[bool],
        last: Option<&Part>,
        edits: &mut Edits,
    ) -> Option<()> {
        let (Some(first), Some(end)) = (span.parts.first(), span.parts.last()) else {
            return Some(());
        };
        let Some(last) = last else {
            let to = span.last_comma.unwrap_or(end.value.to);
            let (inside, outside) = (span.from + 1, span.to - 1);
            let around = [self.text.get(inside..first.from)?, self.text.get(to..outside)?];
            // White space alone goes too, a comment stays.
            let is_bare = around.iter().all(|text| text.trim().is_empty());
            let place = if is_bare { inside..outside } else { first.from..to };
            edits.push((place, String::new()));
            return Some(());
        };
        let mut parts = span.parts.iter().zip(are_kept).peekable();
        while let Some((part, is_kept)) = parts.next() {
            if let (false, Some((next, _))) = (*is_kept || part.from > last.from, parts.peek()) {
                edits.push((part.from..next.from, String::new()));
            }
        }
        // Those after the last that stays go together, with the comma before them.
        if end.from > last.from {
            edits.push((last.value.to..end.value.to, String::new()));
        }
        Some(())
    }

    /// Adds parts after the last one, each on a line with this indentation, or all on one.
    fn append(
        &self,
        span: &Span,
        last: &Part,
        indent: Option<&str>,
        added: &[String],
        edits: &mut Edits,
    ) -> Option<()> {
        if span.last_comma.is_none() {
            edits.push((last.value.to..last.value.to, ",".to_owned()));
        }
        let (at, before, between) = match indent {
            Some(indent) => (span.filled_to, format!("\n{indent}"), format!(",\n{indent}")),
            // A comment may end with the line, and would swallow what comes after it.
            None => (
                span.last_comma.unwrap_or(last.value.to),
                " ".to_owned(),
                ", ".to_owned(),
            ),
        };
        edits.push((at..at, before + &added.join(&between)));
        Some(())
    }

    /// Adds parts to what is empty. A comment in it stays.
    fn fill(&self, span: &Span, indent: &str, added: &[String], edits: &mut Edits) -> Option<()> {
        let (inside, end) = (span.from + 1, span.to - 1);
        let is_bare = self.text.get(inside..end)?.trim().is_empty();
        let line = added.join(", ");
        let fits = is_bare && indent.len() + line.len() + 2 <= COLUMNS && !line.contains('\n');
        let text = match fits {
            true => line,
            false => {
                let inner = format!("{indent}{}", self.step);
                // Those were written for the indentation of the object.
                let added: Vec<String> = added
                    .iter()
                    .map(|part| part.replace('\n', &format!("\n{}", self.step)))
                    .collect();
                format!("\n{inner}{}\n{indent}", added.join(&format!(",\n{inner}")))
            }
        };
        let place = if is_bare {
            inside..end
        } else {
            self.comment_end(inside, end)?..end
        };
        edits.push((place, text));
        Some(())
    }

    /// Where what is not white space ends.
    fn comment_end(&self, from: usize, to: usize) -> Option<usize> {
        Some(from + self.text.get(from..to)?.trim_end().len())
    }

    /// The spaces that begin the line of a place.
    fn indent_at(&self, at: usize) -> Option<&str> {
        let before = self.text.get(..at)?;
        let line = self.text.get(before.rfind('\n').map_or(0, |end| end + 1)..)?;
        let length = line.len() - line.trim_start_matches([' ', '\t']).len();
        line.get(..length)
    }
}

/// The indentation of one level, as the text has it.
fn step_of(text: &str) -> &str {
    let indents = text.lines().map(|line| {
        let words = line.trim_start_matches([' ', '\t']);
        line.get(..line.len() - words.len()).unwrap_or_default()
    });
    let indents = indents.filter(|indent| !indent.is_empty());
    indents.min_by_key(|indent| indent.len()).unwrap_or(STEP)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, new: Value, expected: &str) {
        assert_eq!(rewrite(text, &new).as_deref(), Some(expected));
    }

    #[test]
    fn only_what_differs_is_written() {
        check(
            "{\n\t\"a\" : [ 1,2 ] , // one\n\t\"b\": {\"c\": \"}\\\"\"} // two\n}\n",
            json!({"a": [1, 2, 3], "b": {"c": "}\"", "d": true}, "e": null}),
            "{\n\t\"a\" : [ 1,2, 3 ] , // one\n\t\"b\": {\"c\": \"}\\\"\", \"d\": true}, // two\n\t\"e\": null\n}\n",
        );
    }

    #[test]
    fn a_comma_at_the_end_is_not_doubled() {
        check(
            "[\n  1, /* one */\n  // last\n]",
            json!([1, {"x": []}]),
            "[\n  1, /* one */\n  // last\n  {\"x\": []}\n]",
        );
        check("[1,]", json!([1, 2]), "[1, 2]");
        check("[1, // one\n]", json!([1, 2]), "[1, 2 // one\n]");
        check("[1 // one\n]", json!([1, 2]), "[1, 2 // one\n]");
        let long = "x".repeat(120);
        let expected = format!("[1, {{\"a\": \"{long}\"}}]");
        check("[1]", json!([1, {"a": long}]), &expected);
    }

    #[test]
    fn a_comment_in_what_was_empty_stays() {
        check("[ // one\n]", json!([1]), "[ // one\n  1\n]");
        check(
            "  { /* none */ }",
            json!({"a": 1}),
            "  { /* none */\n    \"a\": 1\n  }",
        );
    }

    #[test]
    fn what_goes_takes_its_comma_along() {
        check("[1, 2, 3]", json!([1, 3]), "[1, 3]");
        check("[1, 2, 3]", json!([2, 3]), "[2, 3]");
        check("[1, 2, 3]", json!([1]), "[1]");
        check("[1, 2, 3,]", json!([1, 2]), "[1, 2,]");
        check("[1, /* x */]", json!([]), "[ /* x */]");
        check("[1, 2]", json!([]), "[]");
        check("{\n  \"a\": 1,\n}", json!({}), "{}");
        check("[1, // one\n 2, // two\n]", json!([2]), "[2, // two\n]");
        check(
            "{\n  \"a\": 1,\n  \"b\": 2, // b\n  \"c\": 3\n}",
            json!({"a": 1, "c": 3, "d": 4}),
            "{\n  \"a\": 1,\n  \"c\": 3,\n  \"d\": 4\n}",
        );
        check(
            "{\n  \"a\": 1,\n  \"b\": 2\n}",
            json!({"a": 1, "d": 4}),
            "{\n  \"a\": 1,\n  \"d\": 4\n}",
        );
    }

    #[test]
    fn what_is_written_follows_the_indentation_of_the_text() {
        let long = "x".repeat(98);
        check(
            "{\n\t\"a\": {}\n}",
            json!({"a": {"b": {"c": long}}}),
            &format!("{{\n\t\"a\": {{\n\t\t\"b\": {{\n\t\t\t\"c\": \"{long}\"\n\t\t}}\n\t}}\n}}"),
        );
    }

    #[test]
    fn what_was_empty_stays_on_its_line_while_it_fits() {
        for (count, is_one_line) in [(60, true), (94, true), (95, false)] {
            let text = "x".repeat(count);
            let expected = match is_one_line {
                true => format!("{{\n  \"a\": [\"{text}\"]\n}}"),
                false => format!("{{\n  \"a\": [\n    \"{text}\"\n  ]\n}}"),
            };
            check("{\n  \"a\": []\n}", json!({"a": [text]}), &expected);
        }
    }

    #[test]
    fn members_in_another_order_are_written_anew() {
        check(
            r#"{"a": 1, "b": 2}"#,
            json!({"b": 3, "a": 1}),
            r#"{"b": 3, "a": 1}"#,
        );
    }

    #[test]
    fn a_repeated_name_is_not_changed() {
        assert_eq!(rewrite(r#"{"a": 1, "a": 2}"#, &json!({"a": 3})), None);
    }

    #[test]
    fn what_loses_something_is_written_anew() {
        check(
            "{\n  \"a\": {\"x\": 1, \"y\": 2},\n  \"b\": 1\n}",
            json!({"a": {"y": 2}, "b": [2]}),
            "{\n  \"a\": {\"y\": 2},\n  \"b\": [2]\n}",
        );
        check("{}", json!({"a": 1}), "{\"a\": 1}");
        check("{\"a\": 1}", json!({"b": 2}), "{\"b\": 2}");
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
            assert_eq!(rewrite(text, &json!({"a": 1})), None, "{text}");
        }
    }
}
