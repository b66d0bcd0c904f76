//! Looking into arguments: what a condition sees of them, and where a JSON Pointer leads.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::call::Arguments;
use super::value::{PointerToken, Value};
use crate::limits::Limits;
use crate::model::{ConditionArgument, JsonType, Roles, SchemaType, Seen, Segment};
use crate::sort;

/// The arguments that conditions look at, read as far as that needs; `None` for one that cannot be read.
pub(crate) struct Siblings<'v>(BTreeMap<&'v str, Option<Cow<'v, Value<'v>>>>);

impl<'v> Siblings<'v> {
    /// The arguments that the conditions of these roles look at.
    pub(crate) fn new<'r>(
        roles: impl Iterator<Item = &'r Roles>,
        arguments: &'v Arguments<'v>,
        limits: &Limits,
    ) -> Self {
        let clauses = roles.flat_map(|roles| match roles {
            Roles::Conditional { when, .. } => when.as_slice(),
            Roles::Fixed(_) => &[],
        });
        let names = clauses.filter_map(|clause| clause.condition.argument.first());
        Self::named(names, arguments, limits)
    }

    /// The arguments with these names.
    pub(crate) fn named<'r>(
        names: impl Iterator<Item = &'r str>,
        arguments: &'v Arguments<'v>,
        limits: &Limits,
    ) -> Self {
        let mut read = BTreeMap::new();
        for wanted in names {
            let member = arguments.members().iter().find(|(name, _)| name == wanted);
            if let Some((name, value)) = member
                && !read.contains_key(&**name)
            {
                read.insert(&**name, value.read(limits.depth).ok());
            }
        }
        Self(read)
    }

    /// What the condition of a role sees.
    pub(crate) fn see(&self, wanted: &ConditionArgument) -> Seen<'_> {
        self.look(wanted).unwrap_or(Seen::Absent)
    }

    /// What the condition of a rule sees. A value of another type than the schema gives it, and what stands where a pointer
    /// expects an array or an object, cannot be read.
    pub(crate) fn see_typed(&self, wanted: &ConditionArgument, schema: &SchemaType) -> Seen<'_> {
        let given = wanted.first().and_then(|name| self.0.get(name));
        let is_mistyped = |value: &Cow<'_, Value<'_>>| !is_of_type(value, schema);
        if given.and_then(Option::as_ref).is_some_and(is_mistyped) {
            return Seen::Unreadable;
        }
        self.look(wanted).unwrap_or(Seen::Unreadable)
    }

    /// What stands at the place; `None` where a pointer meets something that is neither an array nor an object.
    fn look(&self, wanted: &ConditionArgument) -> Option<Seen<'_>> {
        let (name, way) = match wanted {
            ConditionArgument::Top(name) => (name, &[][..]),
            ConditionArgument::Pointer(names) => match names.split_first() {
                Some((first, rest)) => (first, rest),
                None => return Some(Seen::Absent),
            },
        };
        let mut value = match self.0.get(&**name) {
            None => return Some(Seen::Absent),
            Some(None) => return Some(Seen::Unreadable),
            Some(Some(value)) => &**value,
        };
        for name in way {
            let next = match value {
                Value::Array(_) | Value::Object(_) => child(value, name),
                Value::Null => None,
                Value::IllFormed(_) | Value::Raw(_) | Value::Unread => return Some(Seen::Unreadable),
                Value::Bool(_) | Value::Number(_) | Value::Text(_) => return None,
            };
            match next {
                Some(next) => value = next,
                None => return Some(Seen::Absent),
            }
        }
        Some(match value {
            Value::Null => Seen::Null,
            Value::Bool(value) => Seen::Bool(*value),
            Value::Number(value) => Seen::Number(*value),
            Value::Text(text) => Seen::Text(text),
            Value::Array(_) | Value::Object(_) => Seen::Compound,
            Value::IllFormed(_) | Value::Raw(_) | Value::Unread => Seen::Unreadable,
        })
    }
}

/// Whether the schema accepts the type of the value, and those of its items.
fn is_of_type(value: &Value<'_>, schema: &SchemaType) -> bool {
    let fits =
        |value: &Value<'_>, types: &[JsonType]| value.json_type().is_none_or(|found| found.is_among(types));
    let items = match value {
        Value::Array(items) => items.as_slice(),
        _ => &[],
    };
    fits(value, &schema.own) && items.iter().all(|item| fits(item, &schema.items))
}

fn child<'v, 'a>(value: &'v Value<'a>, name: &str) -> Option<&'v Value<'a>> {
    match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        Value::Object(members) => members
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, member)| member),
        _ => None,
    }
}

/// Where a JSON Pointer leads.
pub(crate) enum Reached<'v, 'a> {
    /// To this value.
    Value(&'v Value<'a>),
    /// Not further than this value, which is not of the expected type.
    Mismatch {
        found: &'v Value<'a>,
        expected: &'static str,
    },
}

/// Calls `visit` for everything that the segments of a JSON Pointer lead to, `*` standing for each item or member, these
/// in the order of their names.
///
/// A member or item that is not there leads nowhere.
pub(crate) fn descend<'v, 'a>(
    value: &'v Value<'a>,
    segments: &[Segment],
    place: &mut Vec<PointerToken>,
    visit: &mut impl FnMut(Vec<PointerToken>, Reached<'v, 'a>),
) {
    let Some((first, rest)) = segments.split_first() else {
        visit(place.clone(), Reached::Value(value));
        return;
    };
    let mut step = |next: PointerToken, value: &'v Value<'a>| {
        place.push(next);
        descend(value, rest, place, visit);
        place.pop();
    };
    match (value, first) {
        (Value::Array(items), Segment::Every) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| step(PointerToken::Item(at), item));
        }
        (Value::Array(items), Segment::Key(name)) => match name.parse::<usize>() {
            Ok(at) => {
                if let Some(item) = items.get(at) {
                    step(PointerToken::Item(at), item);
                }
            }
            Err(_) => {
                let expected = "an object";
                visit(
                    place.clone(),
                    Reached::Mismatch {
                        found: value,
                        expected,
                    },
                );
            }
        },
        (Value::Object(members), Segment::Every) => {
            let mut members: Vec<&(Cow<'a, str>, Value<'a>)> = members.iter().collect();
            sort::sort_by(&mut members, |one, other| one.0.cmp(&other.0));
            members
                .into_iter()
                .for_each(|(name, member)| step(PointerToken::Member(name.to_string()), member));
        }
        (Value::Object(members), Segment::Key(name)) => {
            if let Some((_, member)) = members.iter().find(|(known, _)| **known == **name) {
                step(PointerToken::Member(name.to_string()), member);
            }
        }
        (_, Segment::Every) => {
            let expected = "an array or object";
            visit(
                place.clone(),
                Reached::Mismatch {
                    found: value,
                    expected,
                },
            );
        }
        (_, Segment::Key(name)) => {
            let expected = match name.parse::<usize>() {
                Ok(_) => "an array or object",
                Err(_) => "an object",
            };
            visit(
                place.clone(),
                Reached::Mismatch {
                    found: value,
                    expected,
                },
            );
        }
    }
}
