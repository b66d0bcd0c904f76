//! JSON text that every parser reads alike.
//!
//! A call may have 20 MiB, most of it one string. So the text is read where it stands: strings that are not names
//! are not copied.
//!
//! For a program in C a NUL ends a name, and other control characters are trimmed or dropped by some. So no
//! two programs are certain to read a name with one of them alike.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

/// How deep objects and arrays may be nested.
const DEPTH: usize = 127;

/// Checks a whole text.
///
/// Parsers differ about a name that an object holds twice, some about names that differ in case alone, about an escaped
/// half of a surrogate pair, and about a number that a double cannot hold.
///
/// # Errors
/// The text is not JSON, or two parsers could read it differently.
pub(super) fn check(text: &str) -> Result<(), String> {
    walk(text, Names::Unlike)
}

/// Checks a whole text as [`check`] does, and that no name in it has a control character.
///
/// # Errors
/// Those of [`check`], or a name has a control character.
pub(super) fn check_plain(text: &str) -> Result<(), String> {
    walk(text, Names::Plain)
}

/// Checks a whole text whose digest is compared. As [`check`] does, but names may differ in case alone, since the arguments `-a` and
/// `-A` of a tool are two, and an integer must have 64 bits at most: beyond that two integers may be one double.
///
/// # Errors
/// Those of [`check`], less names that differ in case alone, or an integer has more than 64 bits.
pub(super) fn check_exact(text: &str) -> Result<(), String> {
    walk(text, Names::Exact)
}

/// Which names an object may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// No name twice.
    Exact,
    /// Nor two that differ in case alone.
    Unlike,
    /// Nor one with a control character.
    Plain,
}

fn walk(text: &str, expected: Names) -> Result<(), String> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut walk = Walk {
        text: raw.get(),
        at: 0,
        open: Vec::new(),
        is_name: false,
        expected,
    };
    while let Some(byte) = walk.byte() {
        walk.step(byte)?;
    }
    Ok(())
}

/// # Errors
/// The name has a control character.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    match name.contains(char::is_control) {
        true => Err(format!("the name {name:?} has a control character")),
        false => Ok(()),
    }
}

/// A name as a parser that ignores case compares it, with the letters that Unicode folds to ASCII ones (`ſ`, `K`).
pub(super) fn folded(name: &str) -> String {
    name.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Through text that is known to be JSON.
struct Walk<'t> {
    text: &'t str,
    at: usize,
    /// The names of each object that is open; `None` for an array.
    open: Vec<Option<BTreeSet<String>>>,
    /// The next string is a name.
    is_name: bool,
    expected: Names,
}

impl<'t> Walk<'t> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn step(&mut self, byte: u8) -> Result<(), String> {
        match byte {
            b'{' | b'[' if self.open.len() >= DEPTH => {
                return Err("recursion limit exceeded".to_owned());
            }
            b'{' => self.open.push(Some(BTreeSet::new())),
            b'[' => self.open.push(None),
            b'}' | b']' => {
                self.open.pop();
            }
            b'"' => {
                let string = self.string()?;
                return match self.is_name {
                    true => self.name(string),
                    false => Ok(()),
                };
            }
            b'-' | b'0'..=b'9' => return self.number(),
            // Between them, and `true`, `false` and `null`.
            _ => {}
        }
        if matches!(byte, b'{' | b'[' | b'}' | b']' | b',') {
            self.is_name = matches!(byte, b'{' | b',') && matches!(self.open.last(), Some(Some(_)));
        }
        self.at += 1;
        Ok(())
    }

    fn name(&mut self, string: &str) -> Result<(), String> {
        let name: String = serde_json::from_str(string).map_err(|error| error.to_string())?;
        let compared = match self.expected {
            Names::Exact => name.clone(),
            Names::Unlike => folded(&name),
            Names::Plain => {
                check_name(&name)?;
                folded(&name)
            }
        };
        let names = self.open.last_mut().and_then(Option::as_mut);
        if names.is_some_and(|names| !names.insert(compared)) {
            return Err(format!(
                "the name `{name}` occurs twice in an object, or in two spellings that differ in case alone"
            ));
        }
        self.is_name = false;
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_part = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(|byte| is_part(*byte)).count();
        self.at += length;
        let number = rest.get(..length).unwrap_or_default();
        let read: Result<f64, _> = serde_json::from_str(number);
        read.map_err(|error| error.to_string())?;
        let is_integer = !number.contains(['.', 'e', 'E']);
        let is_exact = number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
        if self.expected == Names::Exact && is_integer && !is_exact {
            return Err(format!("the integer `{number}` has more than 64 bits"));
        }
        Ok(())
    }

    /// The string that begins here, as it is written.
    fn string(&mut self) -> Result<&'t str, String> {
        let begin = self.at;
        // The first half of a pair that is still to be completed.
        let mut is_half = false;
        self.at += 1;
        loop {
            match self.byte() {
                Some(b'\\') => {
                    let kind = self.text.as_bytes().get(self.at + 1);
                    let digits = self.text.get(self.at + 2..self.at + 6);
                    let unit = digits.filter(|_| kind == Some(&b'u'));
                    let unit = unit.and_then(|digits| u16::from_str_radix(digits, 16).ok());
                    self.at += if unit.is_some() { 6 } else { 2 };
                    match (is_half, unit) {
                        (false, Some(0xd800..=0xdbff)) => is_half = true,
                        (true, Some(0xdc00..=0xdfff)) => is_half = false,
                        (true, _) | (false, Some(0xdc00..=0xdfff)) => return Err(lone()),
                        (false, _) => {}
                    }
                }
                Some(_) if is_half => return Err(lone()),
                Some(b'"') => break,
                Some(_) => self.at += 1,
                None => return Err("EOF in a string".to_owned()),
            }
        }
        self.at += 1;
        Ok(self.text.get(begin..self.at).unwrap_or_default())
    }
}

fn lone() -> String {
    "a lone surrogate in a hex escape".to_owned()
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use proptest::prelude::*;
    use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

    use super::*;

    #[test]
    fn what_parsers_read_alike_passes() {
        for text in [
            "null",
            r#"{"a": [1, -2.5e3, true, "x", "\ud83d\ude00"], "b": {"a": {}}}"#,
            r#"[{"a": 1}, {"a": 2}, 9007199254740993, 18446744073709551616]"#,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_they_read_differently_does_not() {
        for (text, expected) in [
            (r#"{"a": 1, "a": 2}"#, "the name `a` occurs twice"),
            (r#"{"a": 1, "\u0061": 2}"#, "the name `a` occurs twice"),
            (
                r#"[{"x": {"path": 1, "Path": 2}}]"#,
                "the name `Path` occurs twice",
            ),
            (r#"{"server": 1, "ſerver": 2}"#, "the name `ſerver` occurs twice"),
            (r#"{"token": 1, "to\u212aen": 2}"#, "occurs twice"),
            (r#""\ud800""#, "hex escape"),
            (r#"{"\udc00": 1}"#, "surrogate"),
            ("1e999", "number"),
            ("NaN", "expected"),
            ("{} {}", "trailing"),
            ("", "EOF"),
        ] {
            let error = check(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!(check(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn a_control_character_is_part_of_no_name() {
        for text in [
            r#"{"a\u0000": 1}"#,
            r#"[{"x": {"\n": 1}}]"#,
            r#"{"a": {"\u007f": 1}}"#,
            r#"{"\u0085a": 1}"#,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
            assert!(
                check_plain(text).unwrap_err().contains("control character"),
                "{text}"
            );
        }
        assert_eq!(check_plain(r#"{"a b": "\u0000\n"}"#), Ok(()));
    }

    #[test]
    fn names_that_differ_in_case_are_two_where_that_is_asked() {
        assert_eq!(check_exact(r#"{"-a": 1, "-A": {"x": 1, "X": 2}}"#), Ok(()));
        for text in [r#"{"a": 1, "a": 2}"#, r#"{"x": "\ud800"}"#, "[1e400]"] {
            assert!(check_exact(text).is_err(), "{text}");
        }
    }

    /// The same, by a parser that reads every string.
    fn read(text: &str) -> Result<(), String> {
        let mut reader = serde_json::Deserializer::from_str(text);
        Unambiguous
            .deserialize(&mut reader)
            .and_then(|()| reader.end())
            .map_err(|error| error.to_string())
    }

    /// Pieces that make JSON, and what is nearly JSON.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"A\"",
            "\"b\":",
            "\"a\":",
            "\"\\u0061\":",
            "1",
            "-0.5e3",
            "1e999",
            "true",
            "null",
            " ",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83dx\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\\\ud83d\"",
            "\"é\\n\\\"\"",
            "\"\\ud83d\\n\"",
            "\"\\uD83D\\uD83D\"",
            "\"\\u00e9\"",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    /// JSON of a few members, some of which are alike.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "1",
            "\"x\"",
            "\"{\"",
            "\"\\\"a\\\":\"",
            "\"\\ud83d\"",
            "\"\\ud83d\\ude00\"",
            "\"\\\\\"",
            "null",
            "1e400",
            "-1.5",
        ])
        .prop_map(str::to_owned);
        leaf.prop_recursive(4, 32, 5, |inner| {
            let name = prop::sample::select(vec!["a", "A", "b", "\\u0061", "ſ", "s", "\\udc00", "c"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5)
                    .prop_map(|items| format!("[{}]", items.join(" , "))),
                prop::collection::vec((name, inner), 0..4).prop_map(|members| {
                    let members: Vec<String> = members
                        .iter()
                        .map(|(name, value)| format!("\"{name}\" : {value}"))
                        .collect();
                    format!("{{ {} }}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn nothing_is_overlooked(text in prop_oneof![pieces(), json()]) {
            prop_assert_eq!(check(&text).is_ok(), read(&text).is_ok(), "{}", text);
        }
    }

    struct Unambiguous;

    impl<'de> DeserializeSeed<'de> for Unambiguous {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_any(self)
        }
    }

    impl<'de> Visitor<'de> for Unambiguous {
        type Value = ();

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("JSON")
        }

        fn visit_unit<E: Error>(self) -> Result<(), E> {
            Ok(())
        }

        fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
            Ok(())
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
            Ok(())
        }

        fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
            Ok(())
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
            Ok(())
        }

        fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
            Ok(())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
            while items.next_element_seed(Unambiguous)?.is_some() {}
            Ok(())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
            let mut names = BTreeSet::new();
            while let Some(name) = members.next_key::<String>()? {
                if !names.insert(folded(&name)) {
                    return Err(A::Error::custom(format_args!(
                        "the name `{name}` occurs twice in an object, or in two spellings that differ in case alone"
                    )));
                }
                members.next_value_seed(Unambiguous)?;
            }
            Ok(())
        }
    }
}
