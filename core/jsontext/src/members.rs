//! A JSON object as it is written.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object in order, repeated names included. Values stay text.
#[derive(Debug)]
pub struct Members<'t>(pub Vec<(String, &'t RawValue)>);

impl<'t> Members<'t> {
    /// The members of the object that the text is.
    ///
    /// # Errors
    /// The text is not JSON, or not an object.
    pub fn read(text: &'t str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The first value of a name.
    pub fn get(&self, name: &str) -> Option<&'t RawValue> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    }

    /// The first name that stands there again. Readers differ about which of the two values counts.
    pub fn repeated(&self) -> Option<&str> {
        let mut seen = BTreeSet::new();
        let names = self.0.iter().map(|(name, _)| name.as_str());
        names.into_iter().find(|name| !seen.insert(*name))
    }

    /// Writes the object, without white space between its members.
    pub fn write(&self, into: &mut String) {
        into.push('{');
        for (at, (name, value)) in self.0.iter().enumerate() {
            if at > 0 {
                into.push(',');
            }
            push_string(into, name);
            into.push(':');
            into.push_str(value.get());
        }
        into.push('}');
    }
}

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Writes a string of JSON.
pub fn push_string(into: &mut String, string: &str) {
    let is_escaped = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    if string.bytes().any(is_escaped) {
        into.push_str(&serde_json::Value::from(string).to_string());
    } else {
        into.push('"');
        into.push_str(string);
        into.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_where_they_have_to_be() {
        for (string, expected) in [
            ("é /", "\"é /\""),
            ("\"\\\n\u{1}", r#""\"\\\n\u0001""#),
            ("a\"", r#""a\"""#),
            ("a\\", r#""a\\""#),
            ("a\n", r#""a\n""#),
        ] {
            let mut written = String::new();
            push_string(&mut written, string);
            assert_eq!(written, expected);
        }
    }

    #[test]
    fn members_stay_as_they_are_written() {
        let members = Members::read(r#"{"b": 1e2, "a": [ ], "b": 3, "a": 4}"#).unwrap();
        let shown: Vec<String> = members
            .0
            .iter()
            .map(|(name, value)| format!("{name}={}", value.get()))
            .collect();
        assert_eq!(shown, ["b=1e2", "a=[ ]", "b=3", "a=4"]);
        assert_eq!(members.get("b").map(RawValue::get), Some("1e2"));
        assert!(members.get("c").is_none());
        assert_eq!(members.repeated(), Some("b"));
        assert_eq!(Members::read(r#"{"a": 1, "b": 1}"#).unwrap().repeated(), None);
        assert!(Members::read("[]").is_err());
        let mut written = String::new();
        members.write(&mut written);
        assert_eq!(written, r#"{"b":1e2,"a":[ ],"b":3,"a":4}"#);
    }
}
