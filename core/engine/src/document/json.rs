//! A JSON value that borrows its texts from where it was read.
//!
//! Reading a document, of which most is text, then copies nothing.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Number, Value};

use crate::table::Table;

/// A JSON value.
#[derive(Clone, Debug)]
pub enum Json<'t> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'t, str>),
    Array(Vec<Json<'t>>),
    Object(Members<'t>),
}

impl<'t> Json<'t> {
    /// The member of an object; `None` if there is none, or this is not an object.
    pub fn get(&self, key: &str) -> Option<&Json<'t>> {
        self.as_object()?.get(key)
    }

    pub(crate) fn as_object(&self) -> Option<&Members<'t>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Json<'t>]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The same value with texts of its own.
    pub(super) fn into_owned(self) -> Json<'static> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => Json::Number(number),
            Self::String(text) => Json::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Self::Object(members) => {
                let mut owned = Members::default();
                for (key, value) in members.0 {
                    owned.push(Cow::Owned(key.into_owned()), value.into_owned());
                }
                Json::Object(owned)
            }
        }
    }
}

impl<'t> From<&'t Value> for Json<'t> {
    fn from(value: &'t Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(Cow::Borrowed(text)),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                let mut members = Members::default();
                for (key, value) in map {
                    members.push(Cow::Borrowed(key), Self::from(value));
                }
                Self::Object(members)
            }
        }
    }
}

impl From<Json<'_>> for Value {
    fn from(json: Json<'_>) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => Self::Number(number),
            Json::String(text) => Self::String(text.into_owned()),
            Json::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Json::Object(members) => {
                let entries = members.0.into_iter();
                let owned = entries.map(|(key, value)| (key.into_owned(), Self::from(value)));
                Self::Object(owned.collect())
            }
        }
    }
}

impl fmt::Display for Json<'_> {
    /// JSON text without white space.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::String(text) => write_text(text, formatter),
            Self::Array(items) => {
                let mut before = '[';
                for item in items {
                    write!(formatter, "{before}{item}")?;
                    before = ',';
                }
                formatter.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Self::Object(members) => {
                let mut before = '{';
                for (key, value) in &members.0 {
                    write!(formatter, "{before}")?;
                    write_text(key, formatter)?;
                    write!(formatter, ":{value}")?;
                    before = ',';
                }
                formatter.write_str(if members.0.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn write_text(text: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(formatter, "{}", Value::from(text))
}

/// The members of an object, in the order in which they are written.
#[derive(Clone, Debug, Default)]
pub struct Members<'t>(Table<Cow<'t, str>, Json<'t>>);

impl<'t> Members<'t> {
    pub(crate) fn get(&self, key: &str) -> Option<&Json<'t>> {
        self.0.get(key)
    }

    pub(crate) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Adds a member whose key is not there yet.
    pub(super) fn push(&mut self, key: Cow<'t, str>, value: Json<'t>) {
        self.0.insert(key, value);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|key| &**key)
    }

    pub fn values(&self) -> impl Iterator<Item = &Json<'t>> {
        self.0.values()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json<'t>)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// Takes a member away.
    pub(super) fn without(mut self, key: &str) -> Self {
        self.0.shift_remove(key);
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_written_and_owned_as_the_json_library_has_it() {
        for value in [
            json!(null),
            json!([]),
            json!({}),
            json!([1, -2.5, 18_446_744_073_709_551_615_u64, true, "é\"\n\u{1}", [[]]]),
            json!({"a": {"b\"": [null, {}]}, "": 0}),
        ] {
            let json = Json::from(&value);
            assert_eq!(json.to_string(), value.to_string());
            assert_eq!(Value::from(json.clone()), value);
            assert_eq!(Value::from(json.into_owned()), value);
        }
    }

    #[test]
    fn members_are_found_among_few_and_many() {
        let many: Value = (0..40).map(|at| (format!("k{at}"), json!(at))).collect();
        let json = Json::from(&many);
        for at in 0..40 {
            assert_eq!(json.get(&format!("k{at}")).and_then(Json::as_u64), Some(at));
        }
        assert!(json.get("k40").is_none());
        let Json::Object(members) = json else { panic!() };
        let rest = members.without("k3");
        assert_eq!(rest.len(), 39);
        assert!(!rest.contains("k3"));
        assert_eq!(rest.get("k39").and_then(Json::as_u64), Some(39));
        assert_eq!(rest.keys().nth(3), Some("k4"));
    }
}
