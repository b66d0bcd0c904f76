//! Where the values of a call stand: one slot for each argument of a tool, and for each argument that a condition looks at.

use serde_json::{Map, Value};

use super::choice::Choice;
use super::label::Label;
use callgate_engine::bind::{self, BoundArguments, Call};
use callgate_engine::model::{
    Absent, Argument, ArgumentName, Condition, ConditionArgument, JsonType, Roles, SchemaType, Segment, Test,
};
use callgate_engine::program::{Program, Tool};
use callgate_engine::role::RoleId;

/// A member of an object of which every member is looked at.
const SOME_MEMBER: &str = "some-member";

/// Items of an array of which one is looked at by its number.
const MOST_ITEMS: usize = 64;

/// The name under which the context of a call is shown.
pub(super) const CONTEXT: &str = "the context";

/// Where a value stands. The slot of a call's context stands nowhere in the arguments.
pub(super) struct Slot<'p> {
    /// The tool's argument; `None` for one that only conditions name.
    pub(super) argument: Option<usize>,
    /// The argument of the tool in the program that this one is compared with.
    pub(super) other: Option<usize>,
    way: Vec<Segment>,
    /// The tests that look at it.
    pub(super) tests: Vec<&'p Test>,
    /// Those of them that decide about roles.
    pub(super) clauses: Vec<&'p Test>,
    /// The types that the schema gives it.
    pub(super) accepts: Accepts,
    /// `true` if a call without it is refused.
    pub(super) is_required: bool,
    /// Values that name nothing, where a call without the argument is refused.
    pub(super) empty: Vec<Choice>,
    /// `true` if the member that it stands within is an array and not an object.
    is_listed: bool,
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

/// Which strings the member of the arguments may hold. The existing runtime looks at no type.
pub(super) fn accepts(program: &Program, tool: &Tool, name: &str) -> Accepts {
    match program.defaults.reads_values {
        true => Accepts::new(&tool.member(name).schema),
        false => Accepts::Either,
    }
}

/// The slots of a tool's calls.
pub(super) fn slots<'p>(program: &'p Program, tool: &'p Tool) -> Vec<Slot<'p>> {
    let mut slots: Vec<Slot<'p>> = Vec::new();
    for (at, argument) in tool.arguments.iter().enumerate() {
        let is_top = argument.name.rest().is_empty();
        let member = argument.name.first().map(|name| tool.member(name));
        // The existing runtime looks at no type.
        let is_careful = program.defaults.reads_values;
        let schema = member.map(|member| &member.schema);
        let schema = schema.filter(|_| is_top && is_careful);
        let required = argument.name.first().filter(|_| is_top);
        let is_required = required.is_some_and(|name| is_required(program, tool, name));
        slots.push(Slot {
            argument: Some(at),
            accepts: schema.map_or(Accepts::Either, Accepts::new),
            is_required,
            empty: match is_required {
                true => empty(schema.unwrap_or(&SchemaType::default())),
                false => Vec::new(),
            },
            ..Slot::new(tool, way(&argument.name))
        });
    }
    add_tests(&mut slots, program, tool);
    slots
}

/// Values that the schema accepts and that name nothing.
fn empty(schema: &SchemaType) -> Vec<Choice> {
    let accepts = |one: JsonType| one.is_among(&schema.own);
    let array = accepts(JsonType::Array).then(|| (Value::Array(Vec::new()), "an empty array"));
    let scalar = match (accepts(JsonType::Integer), accepts(JsonType::Boolean)) {
        (true, _) => Some((Value::from(1), "a number")),
        (false, true) => Some((Value::Bool(true), "`true` or `false`")),
        (false, false) => None,
    };
    let all = array.into_iter().chain(scalar);
    all.map(|(value, words)| Choice::value(value, Label::Words(words)))
        .collect()
}

/// Adds what another program knows of the tool.
pub(super) fn add<'p>(slots: &mut Vec<Slot<'p>>, program: &'p Program, tool: &'p Tool) {
    for (at, argument) in tool.arguments.iter().enumerate() {
        if let Some(slot) = slot_at(slots, tool, way(&argument.name)) {
            slot.other = Some(at);
        }
    }
    add_tests(slots, program, tool);
}

/// The slot at the place, made where there is none.
fn slot_at<'s, 'p>(slots: &'s mut Vec<Slot<'p>>, tool: &Tool, way: Vec<Segment>) -> Option<&'s mut Slot<'p>> {
    let at = match slots.iter().position(|slot| slot.way == way) {
        Some(at) => at,
        None => {
            let is_required = match way.as_slice() {
                [Segment::Key(name)] => is_required_shape(tool, name),
                _ => false,
            };
            slots.push(Slot {
                is_required,
                ..Slot::new(tool, way)
            });
            slots.len() - 1
        }
    };
    slots.get_mut(at)
}

/// The condition of an argument that has no part in calls without it.
const ABSENT: &Test = &Test::Absent;

/// Adds the conditions on arguments: those of annotated roles, and those of the tool's rules.
pub(super) fn add_tests<'p>(slots: &mut Vec<Slot<'p>>, program: &'p Program, tool: &'p Tool) {
    for argument in &tool.arguments {
        // Its roles depend on whether it is there.
        if argument.absent == Some(Absent::Nothing)
            && let Some(slot) = slot_at(slots, tool, way(&argument.name))
        {
            slot.tests.push(ABSENT);
            slot.clauses.push(ABSENT);
        }
        let Roles::Conditional { when, .. } = &argument.roles else {
            continue;
        };
        for condition in when.iter().map(|clause| &clause.condition) {
            if let Some(slot) = slot_at(slots, tool, way_of(&condition.argument)) {
                slot.tests.push(&condition.test);
                slot.clauses.push(&condition.test);
            }
        }
    }
    let conditions: Vec<&'p Condition> = program
        .rules_of(tool)
        .flat_map(|(_, rule)| &rule.arguments)
        .collect();
    for condition in conditions {
        if let Some(slot) = slot_at(slots, tool, way_of(&condition.argument)) {
            slot.tests.push(&condition.test);
        }
    }
}

/// Returns `true` if a call without the argument is refused: its shape wants it, or its schema does and it is judged in every call.
fn is_required(program: &Program, tool: &Tool, name: &str) -> bool {
    let judged = program.resource_roles.union(program.ruled_roles);
    let own = tool.arguments.iter().filter(|one| one.name.first() == Some(name));
    let is_judged = |roles: &[RoleId]| roles.iter().any(|role| judged.contains(*role));
    let are_judged = |argument: &Argument| match &argument.roles {
        Roles::Fixed(roles) => is_judged(roles),
        Roles::Conditional { default, when } => {
            is_judged(default) && when.iter().all(|clause| is_judged(&clause.roles))
        }
    };
    let by_schema = program.defaults.reads_values
        && tool.required.iter().any(|key| **key == *name)
        && own.into_iter().any(are_judged);
    by_schema || is_required_shape(tool, name)
}

fn is_required_shape(tool: &Tool, name: &str) -> bool {
    let mut required = tool.semantics.arg_schema.required.iter();
    required.any(|key| **key == *name)
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

impl<'p> Slot<'p> {
    fn new(tool: &Tool, way: Vec<Segment>) -> Self {
        let member = match way.first() {
            Some(Segment::Key(name)) => Some(tool.member(name)),
            Some(Segment::Every) | None => None,
        };
        let accepts = |one: JsonType| member.is_none_or(|member| one.is_among(&member.schema.own));
        Self {
            argument: None,
            other: None,
            is_listed: accepts(JsonType::Array) && !accepts(JsonType::Object),
            way,
            tests: Vec::new(),
            clauses: Vec::new(),
            accepts: Accepts::Either,
            is_required: false,
            empty: Vec::new(),
        }
    }

    /// The slot of the context that a host gives with a call.
    pub(super) fn of_context() -> Self {
        Self {
            argument: None,
            other: None,
            way: Vec::new(),
            tests: Vec::new(),
            clauses: Vec::new(),
            accepts: Accepts::Nothing,
            is_required: false,
            empty: Vec::new(),
            is_listed: false,
        }
    }

    /// The argument's name, or a JSON Pointer.
    pub(super) fn name(&self) -> String {
        match self.way.as_slice() {
            [] => CONTEXT.to_owned(),
            [Segment::Key(name)] => name.to_string(),
            way => ArgumentName::Pointer(way.to_vec()).to_string(),
        }
    }

    /// Returns `true` if the schema accepts the type of the value.
    pub(super) fn is_typed(&self, tool: &Tool, value: Option<&Value>) -> bool {
        let (Some(value), [Segment::Key(name)]) = (value, self.way.as_slice()) else {
            return true;
        };
        let found = match value {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => {
                JsonType::Number
            }
            Value::Number(_) => JsonType::Integer,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        };
        tool.member(name).schema.accepts(found)
    }

    /// Returns `true` if it is the member of the arguments with this name, or stands within it.
    pub(super) fn begins_at(&self, name: &str) -> bool {
        matches!(self.way.first(), Some(Segment::Key(first)) if **first == *name)
    }

    /// The roles that a value there may have.
    pub(super) fn possible_roles(&self, tool: &Tool) -> impl Iterator<Item = RoleId> {
        let argument = self.argument.and_then(|at| tool.arguments.get(at));
        argument
            .into_iter()
            .flat_map(|argument| argument.roles.possible())
    }

    /// Returns `true` if it is a member of the arguments.
    pub(super) fn is_top(&self) -> bool {
        matches!(self.way.as_slice(), [Segment::Key(_)])
    }

    /// Returns `true` if a call may have it without being refused for an argument that nobody names.
    pub(super) fn is_known(&self, tool: &Tool) -> bool {
        match self.way.first() {
            Some(Segment::Key(name)) => tool.member(name).is_known,
            Some(Segment::Every) | None => true,
        }
    }

    /// The kind of value there in a call in which it names nothing.
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
        for (depth, segment) in self.way.iter().enumerate() {
            let item = match segment {
                Segment::Key(name) if depth == 1 && self.is_listed => {
                    name.parse::<usize>().ok().filter(|item| *item < MOST_ITEMS)
                }
                Segment::Key(_) | Segment::Every => None,
            };
            if place.is_null() {
                *place = match (segment, item) {
                    (Segment::Key(_), Some(item)) => Value::Array(vec![Value::Null; item + 1]),
                    (Segment::Key(_), None) => Value::Object(Map::new()),
                    (Segment::Every, _) => Value::Array(vec![Value::Null]),
                };
            }
            place = match (place, segment) {
                (Value::Array(items), Segment::Key(_)) => match item.and_then(|item| items.get_mut(item)) {
                    Some(item) => item,
                    None => return false,
                },
                (Value::Object(members), Segment::Key(name)) => {
                    members.entry(name.to_string()).or_insert(Value::Null)
                }
                (Value::Object(members), Segment::Every) => {
                    members.entry(SOME_MEMBER.to_owned()).or_insert(Value::Null)
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

/// A value that stands where a name could be.
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
    program: &Program,
    tool: &Tool,
    slots: &[Slot<'_>],
    values: impl Iterator<Item = Option<&'v Value>>,
) -> (Value, bool) {
    let mut arguments = Value::Object(Map::with_capacity(slots.len()));
    let mut fits = true;
    for (slot, value) in slots.iter().zip(values) {
        if let Some(value) = value {
            fits &= slot.put(&mut arguments, as_accepted(slot.accepts, value));
        }
    }
    if let Value::Object(members) = &mut arguments {
        let shape = tool.semantics.arg_schema.required.iter();
        // What the schema requires and does not know is refused, and is not asked for. The existing runtime requires nothing by it.
        let is_careful = program.defaults.reads_values;
        let is_asked_for = |key: &str| is_careful && tool.member(key).is_known;
        let required = tool.required.iter().filter(|key| is_asked_for(key));
        for key in required.chain(shape) {
            let is_there = members.get(&**key).is_some_and(|value| !value.is_null());
            // What conditions look at is absent where it was left out.
            let is_looked_at = |slot: &Slot<'_>| !slot.tests.is_empty() && slot.begins_at(key);
            if !is_there && !slots.iter().any(is_looked_at) {
                members.insert(key.to_string(), typed(&tool.member(key).schema));
            }
        }
    }
    (arguments, fits)
}

/// The value, a text in an array where the schema wants one.
pub(super) fn as_accepted(accepts: Accepts, value: &Value) -> Value {
    match (accepts, value) {
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
