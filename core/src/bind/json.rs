//! JSON in strings: SDKs unpack a text that holds an array, an object or null before the tool sees it.

/// The kind of value that a lenient reader takes the text for, with its article: an array, an object or null. `None`
/// for anything else, numbers and strings included, since these are handed on as the text that they are.
///
/// Lenient is `json.loads` of Python and more: `NaN` and `Infinity` are numbers, strings may hold control characters,
/// white space is Unicode's, and no depth is too deep. One pass, without recursion.
pub(crate) fn json_in_text(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches(is_space);
    let found = match text.chars().next()? {
        '[' => "a JSON array",
        '{' => "a JSON object",
        'n' if text.trim_end_matches(is_space) == "null" => return Some("a JSON null"),
        _ => return None,
    };
    Reader { rest: text }.reads_all().then_some(found)
}

fn is_space(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

/// The token that must come next.
enum Expected {
    Value,
    /// A value, or the end of the array that has just begun.
    FirstItem,
    /// A member's name.
    Name,
    /// A member's name, or the end of the object that has just begun.
    FirstName,
    /// After a value: a comma, or the end of what holds it.
    Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Array,
    Object,
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    /// Returns `true` if the text is one value and nothing else.
    fn reads_all(mut self) -> bool {
        let mut holders: Vec<Holder> = Vec::new();
        let mut expected = Expected::Value;
        loop {
            self.skip_space();
            let Some(first) = self.rest.as_bytes().first().copied() else {
                return matches!(expected, Expected::Next) && holders.is_empty();
            };
            let holder = holders.last().copied();
            expected = match (expected, first, holder) {
                (Expected::Next, b',', Some(Holder::Array)) => self.after(Expected::Value),
                (Expected::Next, b',', Some(Holder::Object)) => self.after(Expected::Name),
                (Expected::Next | Expected::FirstItem, b']', Some(Holder::Array))
                | (Expected::Next | Expected::FirstName, b'}', Some(Holder::Object)) => {
                    holders.pop();
                    self.after(Expected::Next)
                }
                (Expected::FirstItem | Expected::Value, b'[', _) => {
                    holders.push(Holder::Array);
                    self.after(Expected::FirstItem)
                }
                (Expected::FirstItem | Expected::Value, b'{', _) => {
                    holders.push(Holder::Object);
                    self.after(Expected::FirstName)
                }
                (Expected::FirstItem | Expected::Value, ..) if self.scalar(first) => Expected::Next,
                (Expected::FirstName | Expected::Name, ..) if self.name() => Expected::Value,
                _ => return false,
            };
        }
    }

    /// Passes over the one byte of a token; `next` comes after it.
    fn after(&mut self, next: Expected) -> Expected {
        self.rest = self.rest.get(1..).unwrap_or_default();
        next
    }

    fn takes(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn name(&mut self) -> bool {
        if !self.string() {
            return false;
        }
        self.skip_space();
        self.takes(":")
    }

    fn skip_space(&mut self) {
        let first = self.rest.as_bytes().first();
        if first.is_some_and(|first| !first.is_ascii_graphic()) {
            self.rest = self.rest.trim_start_matches(is_space);
        }
    }

    fn scalar(&mut self, first: u8) -> bool {
        match first {
            b'"' => self.string(),
            b'n' => self.takes("null"),
            b't' => self.takes("true"),
            b'f' => self.takes("false"),
            b'N' => self.takes("NaN"),
            b'I' => self.takes("Infinity"),
            b'-' => self.takes("-Infinity") || self.number(),
            _ => self.number(),
        }
    }

    fn string(&mut self) -> bool {
        if !self.takes("\"") {
            return false;
        }
        loop {
            let mut bytes = self.rest.bytes();
            let Some(at) = bytes.position(|byte| matches!(byte, b'"' | b'\\')) else {
                return false;
            };
            let is_end = self.rest.as_bytes().get(at) == Some(&b'"');
            let mut rest = self.rest.get(at + 1..).unwrap_or_default().chars();
            if !is_end {
                // Skips the escaped character, whatever it is.
                rest.next();
            }
            self.rest = rest.as_str();
            if is_end {
                return true;
            }
        }
    }

    /// A number of [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259#section-6), with zeros before it if need be.
    fn number(&mut self) -> bool {
        let end = number_end(self.rest.as_bytes());
        let rest = end.and_then(|end| self.rest.get(end..));
        self.rest = rest.unwrap_or_default();
        rest.is_some()
    }
}

fn number_end(bytes: &[u8]) -> Option<usize> {
    let mut end = digits_end(bytes, usize::from(bytes.first() == Some(&b'-')))?;
    if bytes.get(end) == Some(&b'.') {
        end = digits_end(bytes, end + 1)?;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let is_signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = digits_end(bytes, end + 1 + usize::from(is_signed))?;
    }
    Some(end)
}

/// The end of the digits from here on, if there are any.
fn digits_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    while bytes.get(end).is_some_and(u8::is_ascii_digit) {
        end += 1;
    }
    (end > start).then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_lenient_reader_unpacks_is_found() {
        for text in [
            "[]",
            "[\"/etc/shadow\", \"/home/u/.ssh/id\"]",
            " [1, -2.5e+3, NaN, Infinity, -Infinity, true, false, null] ",
            "\u{feff}[\u{a0}\"a\"\u{2003}]\n",
            "[\"a\nb\", \"\\ud800\", \"\\\"]\", 007]",
            "[[[{}], {\"a\": [], \"a\" : {\"b\":{}}}]]",
        ] {
            assert_eq!(json_in_text(text), Some("a JSON array"), "{text}");
        }
        for text in [
            "{}",
            "{\"path\": \"/etc/shadow\"}\t",
            "{ \"\" : null , \"x\":[ ] }",
        ] {
            assert_eq!(json_in_text(text), Some("a JSON object"), "{text}");
        }
        for text in ["null", " null\n"] {
            assert_eq!(json_in_text(text), Some("a JSON null"), "{text}");
        }
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert_eq!(json_in_text(&deep), Some("a JSON array"));
        assert_eq!(json_in_text(deep.get(1..).unwrap()), None);
    }

    #[test]
    fn names_are_names() {
        for text in [
            "",
            " ",
            "[draft] notes.txt",
            "[draft]",
            "[2024-01-01]",
            "[1.2.3]",
            "[a, b]",
            "[1, 2",
            "[1 2]",
            "[,]",
            "[1,]",
            "[]]",
            "[] []",
            "{name}",
            "{a: 1}",
            "{\"a\"}",
            "{\"a\": 1,}",
            "{\"a\": 1]",
            "[\"a]",
            "nullable",
            "NULL",
            "true",
            "12",
            "\"x\"",
            "notes [1]",
        ] {
            assert_eq!(json_in_text(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn all_that_a_strict_reader_unpacks_is_found(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "[", "]", "{", "}", ",", ":", "\"a\"", "\"\\\"\"", "1", "-0.5e9", "true", "null", " ", "x", "\"\\u005d\"",
            ]), 0..9),
        ) {
            let text = pieces.concat();
            let strict: Option<serde_json::Value> = serde_json::from_str(&text).ok();
            let is_compound = strict.is_some_and(|value| value.is_array() || value.is_object() || value.is_null());
            prop_assert!(json_in_text(&text).is_some() || !is_compound, "{}", text);
        }
    }
}
