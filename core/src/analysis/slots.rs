//! Where the values of a call stand: one slot for each argument of a tool, and for each argument that a condition looks at.

use serde_json::{Map, Value};

use crate::bind::{self, BoundArguments, Call};
use crate::model::{ArgumentName, Condition, ConditionArgument, JsonType, Roles, SchemaType, Segment, Test};
use crate::program::{Program, Tool};
use crate::role::RoleId;

/// A member that no document names.
pub(super) const UNNAMED: &str = "some-argument";

/// Where a value stands.
pub(super) struct Slot<'p> {
    /// The tool's argument; `None` for one that only conditions name.
    pub(super) argument: Option<usize>,
    /// The argument of the tool in the program that this one is compared with.
    pub(super) other: Option<usize>,
    way: Vec<Segment>,
    /// The tests that look at it.
    pub(super) tests: Vec<&'p Test>,
    /// What the schema says of it.
    pub(super) accepts: Accepts,
    /// Whether a call without it is refused.
    pub(super) is_required: bool,
}

/// Which strings an argument may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepts {
    /// A string, or an array of them.
    Either,
    /// A string alone.
    Text,
    /// An array alone.
    Array,
    /// Neither.
    Nothing,
}

impl Accepts {
    fn new(schema: &SchemaType) -> Self {
        let own = |one: JsonType| one.is_among(&schema.own);
        let items = JsonType::String.is_among(&schema.items);
        match (own(JsonType::String), own(JsonType::Array) && items) {
            (true, true) => Self::Either,
            (true, false) => Self::Text,
            (false, true) => Self::Array,
            (false, false) => Self::Nothing,
        }
    }
}

/// The slots of a tool's calls.
pub(super) fn slots<'p>(program: &'p Program, tool: &'p Tool) -> Vec<Slot<'p>> {
    let mut slots: Vec<Slot<'p>> = Vec::new();
    for (at, argument) in tool.arguments.iter().enumerate() {
        let is_top = argument.name.rest().is_empty();
        let member = argument.name.first().map(|name| tool.member(name));
        let schema = member.map(|member| &member.schema).filter(|_| is_top);
        let required = argument.name.first().filter(|_| is_top);
        slots.push(Slot {
            argument: Some(at),
            other: None,
            way: way(&argument.name),
            tests: Vec::new(),
            accepts: schema.map_or(Accepts::Either, Accepts::new),
            is_required: required.is_some_and(|name| is_required(tool, name)),
        });
    }
    add_tests(&mut slots, program, tool);
    slots
}

/// Adds what another program knows of the tool.
pub(super) fn add<'p>(slots: &mut Vec<Slot<'p>>, program: &'p Program, tool: &'p Tool) {
    for (at, argument) in tool.arguments.iter().enumerate() {
        if let Some(slot) = slot_at(slots, way(&argument.name)) {
            slot.other = Some(at);
        }
    }
    add_tests(slots, program, tool);
}

/// The slot at the place, made where there is none.
fn slot_at<'s, 'p>(slots: &'s mut Vec<Slot<'p>>, way: Vec<Segment>) -> Option<&'s mut Slot<'p>> {
    let at = match slots.iter().position(|slot| slot.way == way) {
        Some(at) => at,
        None => {
            slots.push(Slot {
                argument: None,
                other: None,
                way,
                tests: Vec::new(),
                accepts: Accepts::Either,
                is_required: false,
            });
            slots.len() - 1
        }
    };
    slots.get_mut(at)
}

fn add_tests<'p>(slots: &mut Vec<Slot<'p>>, program: &'p Program, tool: &'p Tool) {
    for condition in conditions(program, tool) {
        if let Some(slot) = slot_at(slots, way_of(&condition.argument)) {
            slot.tests.push(&condition.test);
        }
    }
}

fn is_required(tool: &Tool, name: &str) -> bool {
    let by_schema = tool.required.iter().any(|key| **key == *name);
    by_schema
        || tool
            .semantics
            .arg_schema
            .required
            .iter()
            .any(|key| **key == *name)
}

/// The conditions on arguments: those of annotated roles, and those of the tool's rules.
fn conditions<'p>(program: &'p Program, tool: &'p Tool) -> Vec<&'p Condition> {
    let mut found = Vec::new();
    for argument in &tool.arguments {
        if let Roles::Conditional { when, .. } = &argument.roles {
            found.extend(when.iter().map(|clause| &clause.condition));
        }
    }
    for (_, rule) in program.rules_of(tool) {
        found.extend(&rule.arguments);
    }
    found
}

fn way(name: &ArgumentName) -> Vec<Segment> {
    match name {
        ArgumentName::Top(name) => vec![Segment::Key(name.clone())],
        ArgumentName::Pointer(segments) => segments.clone(),
    }
}

fn way_of(argument: &ConditionArgument) -> Vec<Segment> {
    let key = |name: &str| Segment::Key(name.into());
    match argument {
        ConditionArgument::Top(name) => vec![key(name)],
        ConditionArgument::Pointer(names) => names.iter().map(|name| key(name)).collect(),
    }
}

impl Slot<'_> {
    /// The argument's name, or a JSON Pointer.
    pub(super) fn name(&self) -> String {
        match self.way.as_slice() {
            [Segment::Key(name)] => name.to_string(),
            way => ArgumentName::Pointer(way.to_vec()).to_string(),
        }
    }

    /// Whether a call may have it without being refused for an argument that nobody names.
    pub(super) fn is_known(&self, tool: &Tool) -> bool {
        match self.way.first() {
            Some(Segment::Key(name)) => tool.member(name).is_known,
            Some(Segment::Every) | None => true,
        }
    }

    /// What stands there in a call in which it names nothing.
    pub(super) fn filler(&self, call: &Call<'_>, depth: usize) -> Filler {
        let Some((Segment::Key(name), rest)) = self.way.split_first() else {
            return Filler::Missing;
        };
        let mut members = call.arguments.members().iter();
        let value = members.find(|(known, _)| **known == **name);
        value.map_or(Filler::Missing, |(_, value)| match value.read(depth) {
            Ok(value) => filler(&value, rest),
            Err(_) => Filler::Odd,
        })
    }

    /// Puts a value into its place. Returns `false` where something else is in the way.
    fn put(&self, arguments: &mut Value, value: Value) -> bool {
        let mut place = arguments;
        for segment in &self.way {
            if place.is_null() {
                *place = match segment {
                    Segment::Key(_) => Value::Object(Map::new()),
                    Segment::Every => Value::Array(vec![Value::Null]),
                };
            }
            place = match (place, segment) {
                (Value::Object(members), Segment::Key(name)) => {
                    members.entry(name.to_string()).or_insert(Value::Null)
                }
                (Value::Object(members), Segment::Every) => {
                    members.entry(UNNAMED.to_owned()).or_insert(Value::Null)
                }
                (Value::Array(items), Segment::Every) => match items.first_mut() {
                    Some(first) => first,
                    None => return false,
                },
                _ => return false,
            };
        }
        let is_free = place.is_null();
        *place = value;
        is_free
    }
}

/// What stands where a name could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Filler {
    Missing,
    Null,
    /// An array without items.
    Empty,
    Bool,
    Number,
    /// Something else, such as an object.
    Odd,
}

/// The fullest of what stands there.
fn filler(value: &bind::Value<'_>, way: &[Segment]) -> Filler {
    let most = |found: &mut dyn Iterator<Item = Filler>| found.max().unwrap_or(Filler::Missing);
    match (value, way.split_first()) {
        (bind::Value::Array(items), Some((Segment::Every, rest))) => {
            most(&mut items.iter().map(|item| filler(item, rest)))
        }
        (bind::Value::Object(members), Some((Segment::Every, rest))) => {
            most(&mut members.iter().map(|(_, member)| filler(member, rest)))
        }
        (bind::Value::Object(members), Some((Segment::Key(name), rest))) => {
            let members = members.iter().filter(|(known, _)| **known == **name);
            most(&mut members.map(|(_, member)| filler(member, rest)))
        }
        (_, Some(_)) => Filler::Missing,
        (bind::Value::Null, None) => Filler::Null,
        (bind::Value::Array(items), None) if items.is_empty() => Filler::Empty,
        (bind::Value::Bool(_), None) => Filler::Bool,
        (bind::Value::Number(_), None) => Filler::Number,
        (_, None) => Filler::Odd,
    }
}

/// The arguments of a call in which each slot holds its value, and whether all of them found a place.
pub(super) fn arguments<'v>(
    tool: &Tool,
    slots: &[Slot<'_>],
    values: impl Iterator<Item = Option<&'v Value>>,
) -> (Value, bool) {
    let mut arguments = Value::Object(Map::with_capacity(slots.len()));
    let mut fits = true;
    for (slot, value) in slots.iter().zip(values) {
        if let Some(value) = value {
            fits &= slot.put(&mut arguments, as_accepted(slot, value));
        }
    }
    if let Value::Object(members) = &mut arguments {
        let shape = tool.semantics.arg_schema.required.iter();
        for key in tool.required.iter().chain(shape) {
            let is_there = members.get(&**key).is_some_and(|value| !value.is_null());
            if !is_there {
                members.insert(key.to_string(), typed(&tool.member(key).schema));
            }
        }
    }
    (arguments, fits)
}

/// The value, a text in an array where the schema wants one.
pub(super) fn as_accepted(slot: &Slot<'_>, value: &Value) -> Value {
    match (slot.accepts, value) {
        (Accepts::Array, Value::String(_)) => Value::Array(vec![value.clone()]),
        _ => value.clone(),
    }
}

/// A value that the schema accepts and that names nothing.
fn typed(schema: &SchemaType) -> Value {
    let accepts = |one: JsonType| one.is_among(&schema.own);
    if accepts(JsonType::Integer) {
        Value::from(1)
    } else if accepts(JsonType::Boolean) {
        Value::Bool(true)
    } else if accepts(JsonType::String) {
        Value::from("some-text")
    } else if accepts(JsonType::Array) {
        Value::Array(Vec::new())
    } else {
        Value::Object(Map::new())
    }
}

/// The roles of each of the tool's arguments in such a call.
pub(super) fn roles(program: &Program, tool: &Tool, arguments: &Value) -> Vec<Vec<RoleId>> {
    let call = Call::from_value(&tool.server, &tool.name, arguments);
    let mut bound = BoundArguments::default();
    bound.read(program, Some(tool), &call);
    bound.resolved.iter().map(<[RoleId]>::to_vec).collect()
}
