//! Looking into arguments: what a condition sees of them, and where a JSON Pointer leads.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::call::Arguments;
use super::value::{PointerToken, Value};
use crate::limits::Limits;
use crate::model::{ConditionArgument, Roles, Seen, Segment};
use crate::sort;

/// The arguments that conditions look at, read as far as that needs.
pub(crate) struct Siblings<'v>(BTreeMap<&'v str, Cow<'v, Value<'v>>>);

impl<'v> Siblings<'v> {
    pub(crate) fn new<'r>(
        roles: impl Iterator<Item = &'r Roles>,
        arguments: &'v Arguments<'v>,
        limits: &Limits,
    ) -> Self {
        let mut read = BTreeMap::new();
        for roles in roles {
            let Roles::Conditional { when, .. } = roles else {
                continue;
            };
            for wanted in when.iter().filter_map(|clause| clause.condition.argument.first()) {
                let member = arguments.members().iter().find(|(name, _)| name == wanted);
                if let Some((name, value)) = member
                    && !read.contains_key(&**name)
                {
                    // What cannot be read is there, and equals nothing that a condition can name.
                    let value = value
                        .read(limits.depth)
                        .unwrap_or(Cow::Owned(Value::Array(Vec::new())));
                    read.insert(&**name, value);
                }
            }
        }
        Self(read)
    }

    pub(crate) fn see(&self, wanted: &ConditionArgument) -> Seen<'_> {
        let (name, mut way) = match wanted {
            ConditionArgument::Top(name) => (name, [].iter()),
            ConditionArgument::Pointer(names) => match names.split_first() {
                Some((first, rest)) => (first, rest.iter()),
                None => return Seen::Absent,
            },
        };
        let mut value = self.0.get(&**name).map(Cow::as_ref);
        for name in way.by_ref() {
            value = value.and_then(|value| child(value, name));
        }
        match value {
            None => Seen::Absent,
            Some(Value::Null) => Seen::Null,
            Some(Value::Bool(value)) => Seen::Bool(*value),
            Some(Value::Number(value)) => Seen::Number(*value),
            Some(Value::Text(text)) => Seen::Text(text),
            Some(Value::IllFormed | Value::Array(_) | Value::Object(_)) => Seen::Compound,
            Some(Value::Raw(_) | Value::Unread) => Seen::Compound,
        }
    }
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
