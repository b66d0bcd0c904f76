//! JSON that no two programs read differently.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A structure that is written as an object: serde reads an array as well.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData))
    }
}

struct Members<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
    type Value = Object<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

/// Reads an object. An error names the line, the column, what was found and what was expected.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice::<Object<T>>(text).map(|Object(read)| read)
}

/// Writes an object on one line.
pub(crate) fn write<T: Serialize>(value: &T) -> String {
    // Structures of texts and numbers are always JSON.
    serde_json::to_string(value).unwrap_or_default()
}
