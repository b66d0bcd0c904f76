//! Looking into arguments: what a condition sees of them, and where a JSON Pointer leads.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::call::Arguments;
use super::faults::{mismatch, schema_fault};
use super::json::json_in_text;
use super::value::{PointerToken, Value};
use super::walk::{Met, walk};
use crate::limits::Limits;
use crate::model::{
    Argument, Clause, ComparedValue, ConditionArgument, ConditionValue, JsonType, PointerTree, SchemaType,
    Segment, Test, item_index,
};
use crate::sort;

/// The arguments that conditions look at, read as far as that needs, and the places in them that the conditions are about.
pub struct Siblings<'v> {
    read: Vec<Sibling<'v>>,
    /// How each place is reached, by its number in the tree.
    found: BTreeMap<usize, Found>,
}

/// One argument.
struct Sibling<'v> {
    /// Its place in the call.
    member: usize,
    /// `None` if it cannot be read.
    value: Option<Cow<'v, Value<'v>>>,
}

/// Where one place is.
struct Found {
    /// The argument, by its place in [`Siblings::read`].
    sibling: usize,
    way: Way,
}

/// How a place is reached.
#[derive(Clone)]
enum Way {
    /// By the values at these places.
    To(Vec<usize>),
    /// Not at all, since one of the values is not of the type that the way expects, or that the schema gives: what it is, and
    /// what was expected.
    InvalidShape(Box<str>),
    /// Not at all, since one of the values cannot be read.
    Unreadable,
}

/// The thing that stands at a place, as the condition of a rule sees it.
#[derive(Clone, Copy)]
pub enum Looked<'s, 'v> {
    /// Nothing.
    Absent,
    /// A value.
    Value(&'s Value<'v>),
    /// Something that cannot be read, or that is of another type than the schema gives, or than the pointer expects on its
    /// way.
    Unreadable,
}

impl<'v> Siblings<'v> {
    /// Looks at every place of the tree, in one pass over the arguments; `schema` has the types of each.
    pub fn new<'s>(
        tree: &PointerTree,
        arguments: &'v Arguments<'v>,
        limits: &Limits,
        schema: impl Fn(&str) -> Option<&'s SchemaType>,
    ) -> Self {
        let (mut read, mut found) = (Vec::new(), BTreeMap::new());
        if tree.is_leaf() {
            return Self { read, found };
        }
        for (member, (name, value)) in arguments.members().iter().enumerate() {
            let Some(below) = tree.key(name) else { continue };
            let (value, sibling) = (value.read(limits.depth).ok(), read.len());
            let mut refuse = |way: Way| {
                let numbers = below.numbers().into_iter();
                found.extend(numbers.map(|number| {
                    (
                        number,
                        Found {
                            sibling,
                            way: way.clone(),
                        },
                    )
                }));
            };
            let fault = value
                .as_deref()
                .zip(schema(name))
                .and_then(|(value, schema)| schema_fault(value, schema));
            match (&value, fault) {
                (None, _) => refuse(Way::Unreadable),
                (Some(_), Some(fault)) => refuse(Way::InvalidShape(fault.into())),
                (Some(value), None) => walk(value, below, |way, number, met| {
                    let way = match met {
                        Met::Value(_) => Way::To(way.iter().map(|step| step.at).collect()),
                        // Nothing is in `null`.
                        Met::Mismatch {
                            found: Value::Null, ..
                        } => return,
                        Met::Mismatch { found, .. }
                            if found.condition_value() == ConditionValue::Unreadable =>
                        {
                            Way::Unreadable
                        }
                        Met::Mismatch { found, expected } => {
                            Way::InvalidShape(mismatch(way, found, expected).into())
                        }
                    };
                    found.insert(number, Found { sibling, way });
                }),
            }
            read.push(Sibling { member, value });
        }
        Self { read, found }
    }

    /// The value that the condition of a role sees; absent if one above it is of another type than expected.
    pub fn condition_value(&self, place: Option<usize>) -> ConditionValue<'_> {
        let Some(found) = place.and_then(|place| self.found.get(&place)) else {
            return ConditionValue::Absent;
        };
        match &found.way {
            Way::Unreadable => ConditionValue::Unreadable,
            Way::InvalidShape(_) => ConditionValue::Absent,
            Way::To(way) => self
                .go(found.sibling, way)
                .map_or(ConditionValue::Absent, Value::condition_value),
        }
    }

    /// The value that the condition of a rule sees.
    pub fn look(&self, place: usize) -> Looked<'_, 'v> {
        match self.found.get(&place).map(|found| (found.sibling, &found.way)) {
            None => Looked::Absent,
            Some((_, Way::InvalidShape(_) | Way::Unreadable)) => Looked::Unreadable,
            Some((sibling, Way::To(way))) => self.go(sibling, way).map_or(Looked::Absent, Looked::Value),
        }
    }

    /// Why it is not sure which roles an argument has: programs read a value differently on which they depend.
    /// `read` keeps what is read of the values for other arguments.
    pub(super) fn unsure(
        &self,
        tree: &PointerTree,
        argument: &Argument,
        read: &mut BTreeMap<usize, ReadValue>,
    ) -> Option<String> {
        for Clause { condition, .. } in argument.roles.clauses() {
            let place = tree.number(&condition.argument)?;
            let fault = match self.look(place) {
                Looked::Absent if condition.test.surely_holds(ConditionValue::Absent) => return None,
                Looked::Absent => None,
                Looked::Unreadable => Some(match self.fault(place) {
                    Some(fault) => fault.to_owned(),
                    None => "cannot be read".to_owned(),
                }),
                Looked::Value(value) => match read
                    .entry(place)
                    .or_insert_with(|| ReadValue::of(value))
                    .meets(value, &condition.test)
                {
                    Ok(true) => return None,
                    Ok(false) => None,
                    Err(what) => Some(match &condition.argument {
                        ConditionArgument::Top(_) => format!("is {what}"),
                        ConditionArgument::Pointer(_) => {
                            format!("holds, at `{}`, {what}", condition.argument)
                        }
                    }),
                },
            };
            if let Some(fault) = fault {
                let (first, name) = (condition.argument.first().unwrap_or_default(), &argument.name);
                return Some(format!(
                    "argument `{first}` {fault}, and the roles of `{name}` depend on it"
                ));
            }
        }
        None
    }

    /// The message for a value on the way to a place that is of another shape than the way expects.
    pub fn fault(&self, place: usize) -> Option<&str> {
        match &self.found.get(&place)?.way {
            Way::InvalidShape(fault) => Some(fault),
            Way::To(_) | Way::Unreadable => None,
        }
    }

    /// The value at the end of a way.
    fn go(&self, sibling: usize, way: &[usize]) -> Option<&Value<'v>> {
        let value = self.read.get(sibling)?.value.as_deref()?;
        way.iter().try_fold(value, |value, at| match value {
            Value::Array(items) => items.get(*at),
            Value::Object(members) => members.get(*at).map(|(_, member)| member),
            _ => None,
        })
    }

    /// The argument in which the place is, and the way from there, if something stands there.
    pub fn place(&self, place: usize) -> Option<(usize, Vec<PointerToken>)> {
        let found = self.found.get(&place)?;
        let sibling = self.read.get(found.sibling)?;
        let mut value = sibling.value.as_deref()?;
        let mut tokens = Vec::new();
        let Way::To(way) = &found.way else { return None };
        for at in way {
            let (token, next) = match value {
                Value::Array(items) => (PointerToken::Item(*at), items.get(*at)?),
                Value::Object(members) => {
                    let (name, member) = members.get(*at)?;
                    (PointerToken::Member(name.to_string()), member)
                }
                _ => return None,
            };
            tokens.push(token);
            value = next;
        }
        Some((sibling.member, tokens))
    }
}

/// The readings of a value by lenient programs, found once for all conditions on it.
pub(super) struct ReadValue {
    /// Its type as JSON, if it is a text that holds some.
    json: Option<&'static str>,
    number: Option<f64>,
}

impl ReadValue {
    fn of(value: &Value<'_>) -> Self {
        let json = match value {
            Value::Text(text) => json_in_text(text),
            _ => None,
        };
        let number = ComparedValue::from(value.condition_value()).number();
        Self { json, number }
    }

    /// Returns `true` if the test holds for the value; an error, with what the value is, if programs do not agree.
    fn meets(&self, value: &Value<'_>, test: &Test) -> Result<bool, String> {
        if let Some(found) = self.json {
            return Err(format!("{found} in a string, which servers unpack"));
        }
        let reading = ComparedValue::with_number(value.condition_value(), self.number);
        match (test.surely_holds(reading), test.may_hold(reading)) {
            (true, _) => Ok(true),
            (false, false) => Ok(false),
            (false, true) => {
                let found = value.json_type().map_or("something", JsonType::described);
                Err(format!("{found} that programs read differently"))
            }
        }
    }
}

/// Where a JSON Pointer leads.
pub enum Reached<'v, 'a> {
    /// To this value.
    Value(&'v Value<'a>),
    /// Not further than this value, which is not of the expected type.
    Mismatch { found: &'v Value<'a> },
}

/// Calls `visit` for everything that the segments of a JSON Pointer lead to, `*` standing for each item or member, these
/// in the order of their names.
///
/// A member or item that is not there leads nowhere.
pub fn descend<'v, 'a>(
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
        (Value::Array(items), Segment::Key(name)) if item_index(name).is_some() => {
            if let Some((at, item)) = item_index(name).and_then(|at| Some((at, items.get(at)?))) {
                step(PointerToken::Item(at), item);
            }
        }
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
        (found, Segment::Every | Segment::Key(_)) => visit(place.clone(), Reached::Mismatch { found }),
    }
}
