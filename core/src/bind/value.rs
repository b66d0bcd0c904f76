//! One argument value, read no further than the judgement needs.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::model::JsonType;

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
    /// A string that is not well-formed Unicode, such as one with a lone surrogate.
    IllFormed,
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
pub(crate) enum Unreadable {
    /// An object holds one member twice, or a member's name is not well-formed Unicode.
    Ambiguous(String),
    /// It is nested deeper than the limit.
    TooDeep(usize),
}

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
    pub(crate) fn read(&self, depth: usize) -> Result<Cow<'_, Value<'a>>, Unreadable> {
        match self {
            Value::Raw(raw) => read_raw(raw, depth, depth).map(Cow::Owned),
            other => check_depth(other, depth, depth).map(|()| Cow::Borrowed(other)),
        }
    }

    /// Whether it is `null`, read or not.
    pub(crate) fn is_null(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Raw(raw) => raw.get() == "null",
            _ => false,
        }
    }

    /// Its type; `None` where the value has not been read.
    pub(crate) fn json_type(&self) -> Option<JsonType> {
        Some(match self {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(number) if number.fract() == 0.0 => JsonType::Integer,
            Value::Number(_) => JsonType::Number,
            Value::Text(_) | Value::IllFormed => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
            Value::Raw(_) | Value::Unread => return None,
        })
    }

    /// The string that the value is, or those in the array that it is, each with its place.
    pub(crate) fn strings(&self, depth: usize) -> Vec<(Vec<PointerToken>, String)> {
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

fn check_depth(value: &Value<'_>, depth: usize, limit: usize) -> Result<(), Unreadable> {
    let below = || depth.checked_sub(1).ok_or(Unreadable::TooDeep(limit));
    match value {
        Value::Array(items) => {
            let depth = below()?;
            items.iter().try_for_each(|item| check_depth(item, depth, limit))
        }
        Value::Object(members) => {
            let depth = below()?;
            members
                .iter()
                .try_for_each(|(_, member)| check_depth(member, depth, limit))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::IllFormed
        | Value::Raw(_)
        | Value::Unread => Ok(()),
    }
}

fn read_raw(raw: &RawValue, depth: usize, limit: usize) -> Result<Value<'_>, Unreadable> {
    let text = raw.get();
    let below = || depth.checked_sub(1).ok_or(Unreadable::TooDeep(limit));
    Ok(match text.as_bytes().first() {
        Some(b'n') => Value::Null,
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        // Text that is not well-formed Unicode is the only text that cannot be read.
        Some(b'"') => serde_json::from_str(text).map_or(Value::IllFormed, |Text(text)| Value::Text(text)),
        Some(b'[') => {
            let depth = below()?;
            let items: Vec<&RawValue> = parse(text)?;
            Value::Array(
                items
                    .into_iter()
                    .map(|item| read_raw(item, depth, limit))
                    .collect::<Result<_, _>>()?,
            )
        }
        Some(b'{') => {
            let depth = below()?;
            let Members::<&RawValue>(members) = parse(text)?;
            let read = |(name, value)| Ok((name, read_raw(value, depth, limit)?));
            Value::Object(members.into_iter().map(read).collect::<Result<_, _>>()?)
        }
        // What is left of JSON are numbers; one too large for JavaScript is infinite there as well.
        _ => Value::Number(text.parse().unwrap_or(f64::NAN)),
    })
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Unreadable> {
    serde_json::from_str(text).map_err(|error| Unreadable::Ambiguous(error.to_string()))
}

/// The members of a JSON object, in order, each name once; the values stay text.
pub(crate) struct Members<'a, V>(pub(crate) Vec<(Cow<'a, str>, V)>);

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
