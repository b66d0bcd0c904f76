//! Messages about faults of an argument.

use super::shape::ShapeError;
use super::value::{MOST_ITEMS, Unreadable, Value};
use super::walk::WayStep;
use crate::model::{JsonType, SchemaType};
use crate::text::escape_token;

/// Why a call cannot be judged at all; each is a `deny` with a rule of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The arguments do not have the shape that the annotation describes.
    Shape(ShapeError),
    /// The arguments, or a value under a resource role, are not of a form that an annotation describes.
    Unreadable(String),
    /// A bound is exceeded.
    Limit(String),
}

/// The message for a value of another type than a pointer expects on its way.
pub(super) fn mismatch(way: &[WayStep<'_>], found: &Value<'_>, expected: &str) -> String {
    let found = found.json_type().map_or("something", JsonType::described);
    if way.is_empty() {
        return format!("is {found}, expected {expected}");
    }
    let within = way.iter().fold(String::new(), |pointer, step| match step.name {
        None => format!("{pointer}/{}", step.at),
        Some(name) => format!("{pointer}/{}", escape_token(name)),
    });
    format!("holds {found} at `{within}`, expected {expected}")
}

/// The refusal of a name that some programs take for another one.
pub(super) fn misspelt(name: &str, other: &str) -> Refusal {
    Refusal::Unreadable(format!(
        "the name {name:?} is {other:?} for programs that compare names without case"
    ))
}

/// Returns `true` if the value's type is among these, and if no type is named.
fn is_of_type(value: &Value<'_>, types: &[JsonType]) -> bool {
    value.json_type().is_none_or(|found| found.is_among(types))
}

/// The message for a value whose type is not among these; `None` if it is, or if no type is named.
fn type_fault(value: &Value<'_>, types: &[JsonType]) -> Option<String> {
    let found = value.json_type().filter(|found| !found.is_among(types))?;
    let expected: Vec<&str> = types.iter().map(|one| one.described()).collect();
    Some(format!(
        "is {}, expected {}",
        found.described(),
        expected.join(" or ")
    ))
}

/// The message for a value that is not of the schema's type, or that holds an item which is not.
pub(super) fn schema_fault(value: &Value<'_>, schema: &SchemaType) -> Option<String> {
    if value.json_type().is_some_and(|found| !schema.accepts(found)) {
        return type_fault(value, &schema.own);
    }
    let Value::Array(items) = value else { return None };
    let item = items.iter().find(|item| !is_of_type(item, &schema.items))?;
    let fault = type_fault(item, &schema.items)?;
    Some(format!("holds an item that {fault}"))
}

/// Why an argument that cannot be read refuses the call.
pub(super) fn describe_unreadable(name: &str, unreadable: Unreadable) -> Refusal {
    match unreadable {
        Unreadable::Ambiguous(why) => Refusal::Unreadable(format!("argument `{name}`: {why}")),
        Unreadable::TooDeep(limit) => Refusal::Limit(format!(
            "argument `{name}` is nested deeper than depth = {limit} levels"
        )),
        Unreadable::TooMany => Refusal::Limit(format!(
            "argument `{name}` holds more than {MOST_ITEMS} items and members"
        )),
    }
}
