//! The place of a value in a document: its JSON path.

use std::fmt;

/// The JSON path of a value: a chain from the value up to the document's name.
#[derive(Clone, Copy, Debug)]
pub enum JsonPath<'p> {
    /// The root, by the document's name.
    Document(&'p str),
    Key(&'p JsonPath<'p>, &'p str),
    Index(&'p JsonPath<'p>, usize),
}

impl fmt::Display for JsonPath<'_> {
    /// `policy.rules[3].if.roles[0]`; a key that is not an identifier is quoted in brackets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonPath::Document(name) => formatter.write_str(name),
            JsonPath::Key(parent, key) if is_identifier(key) => write!(formatter, "{parent}.{key}"),
            JsonPath::Key(parent, key) => write!(formatter, "{parent}[{}]", serde_json::Value::from(*key)),
            JsonPath::Index(parent, index) => write!(formatter, "{parent}[{index}]"),
        }
    }
}

fn is_identifier(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_not_identifiers_are_quoted() {
        let document = JsonPath::Document("annotations");
        for (key, expected) in [
            ("servers", "annotations.servers[2]"),
            ("__proto__", "annotations.__proto__[2]"),
            ("google-workspace", "annotations[\"google-workspace\"][2]"),
            ("2nd", "annotations[\"2nd\"][2]"),
            ("", "annotations[\"\"][2]"),
            ("a\"\n", "annotations[\"a\\\"\\n\"][2]"),
        ] {
            let place = JsonPath::Key(&document, key);
            assert_eq!(JsonPath::Index(&place, 2).to_string(), expected);
        }
    }
}
