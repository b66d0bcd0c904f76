//! JSON in strings: SDKs unpack a text that holds an array, an object or null before the tool sees it.

/// The kind of value that a lenient reader takes the text for, with its article: an array, an object or null. `None`
/// for anything else, numbers and strings included, since these are handed on as the text that they are.
///
/// Lenient is `json.loads` of Python and more: `NaN` and `Infinity` are numbers, strings may hold control characters,
/// white space is Unicode's, and no depth is too deep. One pass, without recursion.
pub fn json_in_text(text: &str) -> Option<&'static str> {
    // Nearly every text begins as no such value does.
    if text
        .bytes()
        .next()
        .is_some_and(|first| first.is_ascii_graphic() && !matches!(first, b'[' | b'{' | b'n'))
    {
        return None;
    }
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
            let goes_on = match expected {
                Expected::Next => match holders.last() {
                    None => return self.rest.is_empty(),
                    Some(Holder::Array) if self.takes(",") => Some(Expected::Value),
                    Some(Holder::Object) if self.takes(",") => Some(Expected::Name),
                    Some(holder) => self.ends(*holder).then(|| {
                        holders.pop();
                        Expected::Next
                    }),
                },
                Expected::FirstItem if self.ends(Holder::Array) => {
                    holders.pop();
                    Some(Expected::Next)
                }
                Expected::FirstName if self.ends(Holder::Object) => {
                    holders.pop();
                    Some(Expected::Next)
                }
                Expected::FirstName | Expected::Name => self.name().then_some(Expected::Value),
                Expected::FirstItem | Expected::Value if self.takes("[") => {
                    holders.push(Holder::Array);
                    Some(Expected::FirstItem)
                }
                Expected::FirstItem | Expected::Value if self.takes("{") => {
                    holders.push(Holder::Object);
                    Some(Expected::FirstName)
                }
                Expected::FirstItem | Expected::Value => self.scalar().then_some(Expected::Next),
            };
            match goes_on {
                Some(next) => expected = next,
                None => return false,
            }
        }
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

    fn ends(&mut self, holder: Holder) -> bool {
        match holder {
            Holder::Array => self.takes("]"),
            Holder::Object => self.takes("}"),
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

    fn scalar(&mut self) -> bool {
        match self.rest.as_bytes().first() {
            Some(b'"') => self.string(),
            Some(b'n') => self.takes("null"),
            Some(b't') => self.takes("true"),
            Some(b'f') => self.takes("false"),
            Some(b'N') => self.takes("NaN"),
            Some(b'I') => self.takes("Infinity"),
            Some(_) => self.takes("-Infinity") || self.number(),
            None => false,
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
        self.takes("-");
        if !self.digits() || self.takes(".") && !self.digits() {
            return false;
        }
        if self.takes("e") || self.takes("E") {
            let _ = self.takes("+") || self.takes("-");
            return self.digits();
        }
        true
    }

    fn digits(&mut self) -> bool {
        let count = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        self.rest = self.rest.get(count..).unwrap_or_default();
        count > 0
    }
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
