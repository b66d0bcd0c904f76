//! One argument value, read no further than the judgement needs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::model::{ConditionValue, JsonType, SchemaDefault, SchemaType};
use crate::text::decimal;

/// An argument value as the caller gave it.
///
/// A value that no role and no condition names may stay [`Value::Unread`] or [`Value::Raw`]: its cost is then
/// that of its name. Numbers are JavaScript's; the transport view never re-writes them.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// JSON's `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// A string that is not well-formed Unicode: what it holds beside its lone surrogates.
    IllFormed(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object: its own members, in order, each name once.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
    /// JSON text that has not been looked into.
    Raw(&'a RawValue),
    /// Something that the caller keeps to itself, because no role and no condition names it.
    Unread,
}

/// Why JSON text under a role cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// An object holds one member twice, or a member's name is not well-formed Unicode.
    Ambiguous(String),
    /// It is nested deeper than the limit.
    TooDeep(usize),
    /// It holds more than [`MOST_ITEMS`].
    TooMany,
}

/// Items and members in one argument that is read: each takes memory, however short its text is. No role may have that
/// many values.
pub(crate) const MOST_ITEMS: usize = 262_144;

/// Members of one object: each takes memory before anything is known about it.
pub(crate) const MOST_MEMBERS: usize = 65_536;

/// One step from an argument to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointerToken {
    /// The item of an array, from 0.
    Item(usize),
    /// The member of an object.
    Member(String),
}

impl<'a> From<&'a RawValue> for Value<'a> {
    fn from(raw: &'a RawValue) -> Self {
        Self::Raw(raw)
    }
}

impl<'a> From<&'a serde_json::Value> for Value<'a> {
    /// The value of a parsed document, with everything in it.
    fn from(json: &'a serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            serde_json::Value::String(text) => Self::Text(Cow::Borrowed(text)),
            serde_json::Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => {
                let read = |(name, value): (&'a String, &'a serde_json::Value)| {
                    (Cow::Borrowed(name.as_str()), Self::from(value))
                };
                Self::Object(members.iter().map(read).collect())
            }
        }
    }
}

impl<'a> Value<'a> {
    /// The value with everything in it read, down to `depth` levels.
    pub fn read(&self, depth: usize) -> Result<Cow<'_, Value<'a>>, Unreadable> {
        match self {
            Value::Raw(raw) => Budget::new(depth).read(raw, depth).map(Cow::Owned),
            Value::Array(_) | Value::Object(_) => {
                Budget::new(depth).check(self, depth)?;
                Ok(Cow::Borrowed(self))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::IllFormed(_)
            | Value::Unread => Ok(Cow::Borrowed(self)),
        }
    }

    /// Returns `true` if it names nothing: null, or an empty text or list that is the default, where the schema does not
    /// require the argument.
    pub(super) fn is_absent(&self, schema: &SchemaType) -> bool {
        let is_default = || match (self, &schema.default) {
            (Self::Text(text), Some(SchemaDefault::EmptyText)) => text.is_empty(),
            (Self::Raw(raw), Some(SchemaDefault::EmptyText)) => raw.get() == "\"\"",
            (Self::Array(items), Some(SchemaDefault::EmptyList)) => items.is_empty(),
            (Self::Raw(raw), Some(SchemaDefault::EmptyList)) => {
                let inner = raw
                    .get()
                    .strip_prefix('[')
                    .and_then(|rest| rest.strip_suffix(']'));
                inner.is_some_and(|inner| inner.trim_ascii().is_empty())
            }
            _ => false,
        };
        schema.is_optional && (self.is_null() || is_default())
    }

    /// Returns `true` if the server surely takes it for an argument that is not given. A null that the schema does not allow may
    /// become a text.
    pub(super) fn is_surely_absent(&self, schema: &SchemaType) -> bool {
        let allows_null = JsonType::Null.is_among(&schema.own) || schema.default == Some(SchemaDefault::Null);
        self.is_absent(schema) && (allows_null || !self.is_null())
    }

    /// Returns `true` for `null`, read or not.
    pub fn is_null(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Raw(raw) => raw.get() == "null",
            _ => false,
        }
    }

    /// Returns `true` for an object, read or not.
    pub fn is_object(&self) -> bool {
        match self {
            Value::Object(_) => true,
            Value::Raw(raw) => raw.get().starts_with('{'),
            _ => false,
        }
    }

    /// Its type; `None` where the value has not been read.
    pub fn json_type(&self) -> Option<JsonType> {
        Some(match self {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(number) if number.fract() == 0.0 => JsonType::Integer,
            Value::Number(_) => JsonType::Number,
            Value::Text(_) | Value::IllFormed(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
            Value::Raw(_) | Value::Unread => return None,
        })
    }

    /// The value as a condition sees it.
    pub fn condition_value(&self) -> ConditionValue<'_> {
        match self {
            Value::Null => ConditionValue::Null,
            Value::Bool(value) => ConditionValue::Bool(*value),
            Value::Number(value) => ConditionValue::Number(*value),
            Value::Text(text) => ConditionValue::Text(text),
            Value::Array(items) if items.is_empty() => ConditionValue::Empty,
            Value::Object(members) if members.is_empty() => ConditionValue::Empty,
            Value::Array(_) | Value::Object(_) => ConditionValue::Compound,
            Value::IllFormed(_) | Value::Raw(_) | Value::Unread => ConditionValue::Unreadable,
        }
    }

    /// The string that the value is, or those in the array that it is, each with its place.
    pub fn strings(&self, depth: usize) -> Vec<(Vec<PointerToken>, String)> {
        let text = |value: &Value<'_>, place| match value {
            Value::Text(text) => Some((place, text.to_string())),
            _ => None,
        };
        match self.read(depth).as_deref() {
            Ok(Value::Array(items)) => {
                let items = items.iter().enumerate();
                let texts = items.filter_map(|(at, item)| text(item, vec![PointerToken::Item(at)]));
                texts.collect()
            }
            Ok(value) => text(value, Vec::new()).into_iter().collect(),
            Err(_) => Vec::new(),
        }
    }
}

/// The budget for reading one argument.
struct Budget {
    /// The levels that it may have.
    depth: usize,
    /// The items and members that it may still have.
    items: usize,
}

impl Budget {
    fn new(depth: usize) -> Self {
        let items = MOST_ITEMS;
        Self { depth, items }
    }

    fn take(&mut self, items: usize) -> Result<(), Unreadable> {
        self.items = self.items.checked_sub(items).ok_or(Unreadable::TooMany)?;
        Ok(())
    }

    fn below(&self, depth: usize) -> Result<usize, Unreadable> {
        depth.checked_sub(1).ok_or(Unreadable::TooDeep(self.depth))
    }

    /// Checks a value that has been read, with `depth` levels left.
    fn check(&mut self, value: &Value<'_>, depth: usize) -> Result<(), Unreadable> {
        match value {
            Value::Array(items) => {
                let depth = self.below(depth)?;
                self.take(items.len())?;
                items.iter().try_for_each(|item| self.check(item, depth))
            }
            Value::Object(members) => {
                let depth = self.below(depth)?;
                self.take(members.len())?;
                members
                    .iter()
                    .try_for_each(|(_, member)| self.check(member, depth))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::IllFormed(_)
            | Value::Raw(_)
            | Value::Unread => Ok(()),
        }
    }

    /// Reads JSON text, with `depth` levels left.
    fn read<'a>(&mut self, raw: &'a RawValue, depth: usize) -> Result<Value<'a>, Unreadable> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'n') => Value::Null,
            Some(b't') => Value::Bool(true),
            Some(b'f') => Value::Bool(false),
            // Text that is not well-formed Unicode is the only text that cannot be read.
            Some(b'"') => match serde_json::from_str(text) {
                Ok(Text(text)) => Value::Text(text),
                Err(_) => Value::IllFormed(without_lone_surrogates(text).into()),
            },
            Some(b'[') => {
                let depth = self.below(depth)?;
                let mut items = Vec::new();
                each_item(text, |item| {
                    self.take(1)?;
                    items.push(self.read(item, depth)?);
                    Ok(())
                })?;
                Value::Array(items)
            }
            Some(b'{') => {
                let depth = self.below(depth)?;
                let members = serde_json::from_str(text);
                let Members::<&RawValue>(members) =
                    members.map_err(|error| Unreadable::Ambiguous(error.to_string()))?;
                self.take(members.len())?;
                let read = |(name, value)| Ok((name, self.read(value, depth)?));
                Value::Object(members.into_iter().map(read).collect::<Result<_, _>>()?)
            }
            // Only numbers are left; one too large for JavaScript is infinite there as well.
            _ => Value::Number(decimal(text).unwrap_or(f64::NAN)),
        })
    }
}

/// The text of a JSON string without its lone surrogates.
fn without_lone_surrogates(json: &str) -> String {
    struct Bytes(String);

    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_bytes(BytesVisitor)
        }
    }

    struct BytesVisitor;

    impl Visitor<'_> for BytesVisitor {
        type Value = Bytes;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a string")
        }

        // As bytes, a string is read with its lone surrogates, each as the three bytes that UTF-8 does not have for it.
        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
            Ok(Bytes(bytes.utf8_chunks().map(|chunk| chunk.valid()).collect()))
        }
    }

    serde_json::from_str(json).map_or_else(|_| String::new(), |Bytes(text)| text)
}

/// Calls `visit` for each item of a JSON array as it is found, so that a long array takes no more memory than what
/// `visit` keeps. Ends with the first fault.
pub(super) fn each_item<'a>(
    array: &'a str,
    visit: impl FnMut(&'a RawValue) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    struct Items<'f, F> {
        visit: F,
        fault: &'f mut Option<Unreadable>,
    }

    impl<'de, F: FnMut(&'de RawValue) -> Result<(), Unreadable>> Visitor<'de> for Items<'_, F> {
        type Value = ();

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
            while let Some(item) = items.next_element()? {
                if let Err(fault) = (self.visit)(item) {
                    *self.fault = Some(fault);
                    return Err(A::Error::custom("the rest is not read"));
                }
            }
            Ok(())
        }
    }

    let mut fault = None;
    let visitor = Items {
        visit,
        fault: &mut fault,
    };
    let read = serde_json::Deserializer::from_str(array).deserialize_seq(visitor);
    match fault {
        Some(fault) => Err(fault),
        None => read.map_err(|error| Unreadable::Ambiguous(error.to_string())),
    }
}

/// The members of a JSON object, in order, each name once, not too many; the values stay text.
pub struct Members<'a, V>(pub Vec<(Cow<'a, str>, V)>);

impl<'de, V: From<&'de RawValue>> Deserialize<'de> for Members<'de, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor<V>(PhantomData<V>);

        impl<'de, V: From<&'de RawValue>> Visitor<'de> for MembersVisitor<V> {
            type Value = Members<'de, V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(Cow<'de, str>, V)> = Vec::new();
                let mut seen = BTreeSet::new();
                while let Some(Text(name)) = map.next_key()? {
                    if members.len() == MOST_MEMBERS {
                        return Err(A::Error::custom(format_args!("more than {MOST_MEMBERS} members")));
                    }
                    if !seen.insert(name.clone()) {
                        return Err(A::Error::custom(format_args!("the name {name:?} occurs twice")));
                    }
                    members.push((name, map.next_value::<&RawValue>()?.into()));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

/// A string, borrowed from the text where it holds no escape.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_readable: bool) {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        assert_eq!(Value::Raw(raw).read(64).is_ok(), is_readable);
        let whole: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(Value::from(&whole).read(64).is_ok(), is_readable);
    }

    #[test]
    fn a_string_with_lone_surrogates_keeps_the_rest() {
        let check = |json: &str, expected: &str| {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            let read = Value::Raw(raw).read(0).unwrap().into_owned();
            assert!(
                matches!(&read, Value::IllFormed(rest) if rest == expected),
                "{json}: {read:?}"
            );
        };
        check(r#""\ud800""#, "");
        check(r#""\udfff/\u0061\ud83d\ude00\ud83d""#, "/a\u{1f600}");
        check(r#""\ud800\ud83d\ude00é""#, "\u{1f600}é");
    }

    #[test]
    fn an_argument_holds_a_bounded_number_of_items() {
        let items = |count: usize| vec!["1"; count].join(",");
        check(&format!("[{}]", items(MOST_ITEMS)), true);
        check(&format!("[{}]", items(MOST_ITEMS + 1)), false);
        let half = format!("[{}]", items(MOST_ITEMS / 2));
        check(&format!("[{half},{half}]"), false);
        check(&format!("{{\"a\": {half}}}"), true);
    }

    #[test]
    fn an_object_has_a_bounded_number_of_members() {
        let object = |count: usize| {
            let members: Vec<String> = (0..count).map(|at| format!("\"{at}\":1")).collect();
            format!("{{{}}}", members.join(","))
        };
        let read = |text: &str| serde_json::from_str::<Members<'_, &RawValue>>(text).map(|read| read.0.len());
        assert_eq!(read(&object(MOST_MEMBERS)).ok(), Some(MOST_MEMBERS));
        let error = read(&object(MOST_MEMBERS + 1)).unwrap_err().to_string();
        assert!(error.starts_with("more than 65536 members"), "{error}");
    }
}
