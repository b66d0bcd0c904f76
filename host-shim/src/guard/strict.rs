//! JSON text that every parser reads alike.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Checks a whole text.
///
/// Parsers differ about a name that an object holds twice, some about names that differ in case alone, about an escaped
/// half of a surrogate pair, and about a number that a double cannot hold.
///
/// # Errors
/// What they would read differently, or why the text is not JSON.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    Unambiguous
        .deserialize(&mut reader)
        .and_then(|()| reader.end())
        .map_err(|error| error.to_string())
}

/// A name as a parser has it that passes over case, with the letters that Unicode folds to ASCII ones (`ſ`, `K`).
pub(super) fn folded(name: &str) -> String {
    name.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
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
                    "the name `{name}` occurs twice in an object, or twice but for its case"
                )));
            }
            members.next_value_seed(Unambiguous)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::check;

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
}
