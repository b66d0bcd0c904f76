//! One pass over a call's arguments: which values bear which roles, and what cannot be judged.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::call::{Arguments, Call};
use super::shape::ShapeError;
use super::siblings::{Siblings, descend};
use super::value::{Place, Unreadable, Value};
use crate::limits::Limits;
use crate::model::Roles;
use crate::net::{Location, UrlKind};
use crate::path::CanonicalPath;
use crate::program::{Program, ResolvedRoles, Tool};
use crate::role::{RoleId, RoleSet};
use crate::world::{Located, Refused};

/// One string under at least one role, and its canonical forms as far as they were needed.
pub(crate) struct Operand<'p, 'c> {
    /// The member of the arguments that holds it; `None` for what the engine filled in.
    pub(crate) argument: Option<usize>,
    /// Where it is within that member.
    pub(crate) place: Vec<Place>,
    /// The string; `None` when it is not well-formed Unicode.
    pub(crate) text: Option<Cow<'c, str>>,
    /// The roles it bears, in the annotation's order.
    pub(crate) roles: &'p [RoleId],
    /// The same as a set.
    pub(crate) role_set: RoleSet,
    pub(crate) path_text: Option<String>,
    pub(crate) path: Option<CanonicalPath>,
    pub(crate) entry: Option<CanonicalPath>,
    pub(crate) locations: Vec<(UrlKind, Vec<Location>)>,
    pub(crate) texts: Vec<(RoleId, String)>,
    pub(crate) seen: Option<Box<Result<Located, Refused>>>,
    /// Whether the place may be given to the tool's server.
    pub(crate) is_cleared: bool,
}

impl<'p, 'c> Operand<'p, 'c> {
    pub(crate) fn new(
        argument: Option<usize>,
        place: Vec<Place>,
        text: Option<Cow<'c, str>>,
        roles: &'p [RoleId],
    ) -> Self {
        Self {
            argument,
            place,
            text,
            roles,
            role_set: roles.iter().copied().collect(),
            path_text: None,
            path: None,
            entry: None,
            locations: Vec::new(),
            texts: Vec::new(),
            seen: None,
            is_cleared: false,
        }
    }

    /// The string as given, for messages; a placeholder where it is not well-formed.
    pub(crate) fn raw(&self) -> &str {
        self.text.as_deref().unwrap_or("\u{fffd}")
    }

    /// The canonical path, once [`Forms::resolve`](crate::judge::Forms::resolve) has succeeded.
    pub(crate) fn path(&self) -> Option<&CanonicalPath> {
        self.path.as_ref()
    }

    /// The place that an address names, or why there is none, once [`Forms::see`](crate::judge::Forms::see) was asked.
    pub(crate) fn seen(&self) -> Option<&Result<Located, Refused>> {
        self.seen.as_deref()
    }

    /// The place that an address names, once it is known.
    pub(crate) fn located(&self) -> Option<&Located> {
        self.seen().and_then(|seen| seen.as_ref().ok())
    }

    /// The place of the link itself, where the path is a link.
    pub(crate) fn entry(&self) -> Option<&CanonicalPath> {
        self.entry.as_ref()
    }
}

/// Why a call cannot be judged at all; each is a `deny` with a rule of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The arguments do not have the shape that the annotation describes.
    Shape(ShapeError),
    /// The arguments, or a value under a resource role, are not of a form that an annotation describes.
    Unreadable(String),
    /// A bound is exceeded.
    Limit(String),
}

/// What one pass over the arguments found.
pub(crate) struct Reading<'p, 'c> {
    /// Every string under a role, in the order of the arguments.
    pub(crate) operands: Vec<Operand<'p, 'c>>,
    /// The first thing that cannot be judged.
    pub(crate) refusal: Option<Refusal>,
    /// The first argument that neither the annotation nor the schema names.
    pub(crate) unknown: Option<usize>,
    /// Roles under which an array or object stands where strings belong, so that no list can hold everything.
    pub(crate) unlistable: RoleSet,
    /// Strings that look like paths and bear no path role.
    pub(crate) path_like: Vec<(usize, Cow<'c, str>)>,
    /// The roles of each of the tool's arguments, conditions resolved, in the annotation's order.
    pub(crate) resolved: ResolvedRoles<'p>,
}

impl<'p, 'c> Reading<'p, 'c> {
    /// Reads the call against what its tool's annotation says; an unknown tool has none.
    ///
    /// A call of the wrong shape is not read any further.
    pub(crate) fn new(
        program: &'p Program,
        tool: Option<&'p Tool>,
        call: &'c Call<'c>,
        misshapen: Option<ShapeError>,
    ) -> Self {
        let members = call.arguments.members();
        let mut reading = Self {
            operands: Vec::new(),
            refusal: misshapen.map(Refusal::Shape),
            unknown: None,
            unlistable: RoleSet::default(),
            path_like: Vec::new(),
            resolved: resolve(tool, call, &program.limits),
        };
        if reading.refusal.is_some() {
            return reading;
        }
        if let Arguments::Unreadable(why) = &call.arguments {
            reading.refuse(Refusal::Unreadable(why.clone()));
        }
        for (at, (name, value)) in members.iter().enumerate() {
            let mut is_path = false;
            if let Some(tool) = tool {
                let member = tool.member(name);
                let is_strange = !member.is_known || (!member.is_annotated && pollutes(name, value));
                if reading.unknown.is_none() && is_strange {
                    reading.unknown = Some(at);
                }
                for index in member.arguments.iter().copied() {
                    is_path |= reading.collect(program, tool, index, at, name, value);
                }
            }
            if program.heuristic_paths && !is_path {
                reading.collect_path_like(program, at, value);
            }
        }
        if tool.is_some() {
            reading.check_counts(program);
        }
        reading
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.refusal.get_or_insert(refusal);
    }

    /// Collects what one member holds for one of the tool's arguments; whether all of it bears a path role.
    fn collect(
        &mut self,
        program: &'p Program,
        tool: &'p Tool,
        index: usize,
        at: usize,
        name: &str,
        value: &'c Value<'c>,
    ) -> bool {
        let Some((argument, roles)) = tool.arguments.get(index).zip(self.resolved.get(index)) else {
            return false;
        };
        let wanted: RoleSet = roles.iter().copied().collect();
        // An address is no path to anybody but the world.
        let places = program.path_roles.union(program.address_roles);
        let is_path = wanted.intersects(places) && argument.segments().is_empty();
        if !wanted.intersects(program.valued_roles) {
            return is_path;
        }
        let bearer = Bearer {
            at,
            name,
            roles,
            resource: wanted.intersects(program.resource_roles),
        };
        match value.read(program.limits.depth) {
            Ok(read) if argument.segments().is_empty() => {
                self.collect_value(program, &bearer, Vec::new(), read.into_owned());
            }
            Ok(read) => {
                let mut found = Vec::new();
                descend(
                    &read,
                    argument.segments(),
                    &mut Vec::new(),
                    &mut |place, value| {
                        found.push((place, value.clone()));
                    },
                );
                for (place, value) in found {
                    self.collect_value(program, &bearer, place, value);
                }
            }
            Err(unreadable) if bearer.resource => self.refuse(describe_unreadable(name, unreadable)),
            Err(_) => self.unlistable = self.unlistable.union(wanted),
        }
        is_path
    }

    fn collect_value(
        &mut self,
        program: &Program,
        bearer: &Bearer<'_, 'p>,
        place: Vec<Place>,
        value: Value<'c>,
    ) {
        match value {
            Value::Text(text) => self.push(program, bearer, place, Some(text)),
            Value::IllFormed => self.push(program, bearer, place, None),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::Array(items) => {
                for (item, value) in items.into_iter().enumerate() {
                    let mut place = place.clone();
                    place.push(Place::Item(item));
                    match value {
                        Value::Text(text) => self.push(program, bearer, place, Some(text)),
                        Value::IllFormed => self.push(program, bearer, place, None),
                        Value::Null | Value::Bool(_) | Value::Number(_) => {}
                        Value::Array(_) | Value::Object(_) | Value::Raw(_) | Value::Unread => {
                            self.unreadable(
                                bearer,
                                "holds an array or object inside its array, expected strings",
                            );
                        }
                    }
                }
            }
            Value::Object(_) | Value::Raw(_) | Value::Unread => {
                self.unreadable(bearer, "is an object, expected a string or an array of strings");
            }
        }
    }

    fn unreadable(&mut self, bearer: &Bearer<'_, 'p>, why: &str) {
        self.unlistable = self.unlistable.union(bearer.roles.iter().copied().collect());
        if bearer.resource {
            self.refuse(Refusal::Unreadable(format!("argument `{}` {why}", bearer.name)));
        }
    }

    fn push(
        &mut self,
        program: &Program,
        bearer: &Bearer<'_, 'p>,
        place: Vec<Place>,
        text: Option<Cow<'c, str>>,
    ) {
        let bytes = text.as_deref().map_or(0, str::len);
        if bearer.resource && bytes > program.limits.value_bytes {
            self.refuse(Refusal::Limit(format!(
                "argument `{}` holds a value of {bytes} bytes, more than value_bytes = {} bytes",
                bearer.name, program.limits.value_bytes
            )));
            return;
        }
        self.operands
            .push(Operand::new(Some(bearer.at), place, text, bearer.roles));
    }

    /// Strings, and items of arrays, that start like a path: the heuristic of SPEC §8.3.2. What else an array holds
    /// is not looked into, and cannot hide them.
    fn collect_path_like(&mut self, program: &Program, at: usize, value: &'c Value<'c>) {
        match value {
            Value::Raw(raw) if raw.get().starts_with('[') => {
                let items = serde_json::from_str::<Vec<&RawValue>>(raw.get());
                for text in items.unwrap_or_default().into_iter().filter_map(path_like_raw) {
                    self.push_path_like(program, at, text);
                }
            }
            Value::Array(items) => {
                for text in items.iter().filter_map(path_like_string) {
                    self.push_path_like(program, at, text);
                }
            }
            one => {
                if let Some(text) = path_like_string(one) {
                    self.push_path_like(program, at, text);
                }
            }
        }
    }

    fn push_path_like(&mut self, program: &Program, at: usize, text: Cow<'c, str>) {
        if !text.starts_with(['/', '.', '~']) || text.len() > program.limits.value_bytes {
            return;
        }
        if self.path_like.len() == program.limits.values_per_role {
            self.refuse(Refusal::Limit(format!(
                "more than values_per_role = {} values that look like paths",
                program.limits.values_per_role
            )));
            return;
        }
        self.path_like.push((at, text));
    }

    fn check_counts(&mut self, program: &Program) {
        let limit = program.limits.values_per_role;
        if self.operands.len() <= limit {
            return;
        }
        for (role, definition) in program.registry.iter() {
            let count = self
                .operands
                .iter()
                .filter(|operand| operand.role_set.contains(role))
                .count();
            if definition.is_resource_identifier() && count > limit {
                self.refuse(Refusal::Limit(format!(
                    "{count} values under the role `{}`, more than values_per_role = {limit}",
                    definition.name
                )));
            }
        }
    }
}

/// The text of a string, unless it is known not to start like a path.
fn path_like_string<'c>(value: &'c Value<'c>) -> Option<Cow<'c, str>> {
    match value {
        Value::Text(text) => Some(Cow::Borrowed(text)),
        Value::Raw(raw) => path_like_raw(raw),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::IllFormed
        | Value::Array(_)
        | Value::Object(_)
        | Value::Unread => None,
    }
}

/// The same of JSON text, in which an escape may stand for any character.
fn path_like_raw(raw: &RawValue) -> Option<Cow<'_, str>> {
    let [b'"', b'/' | b'.' | b'~' | b'\\', ..] = raw.get().as_bytes() else {
        return None;
    };
    match Value::Raw(raw).read(0).ok()?.into_owned() {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// A member with what it bears.
struct Bearer<'n, 'p> {
    at: usize,
    name: &'n str,
    roles: &'p [RoleId],
    resource: bool,
}

/// Whether the member could become the prototype of the arguments in a server written in JavaScript.
fn pollutes(name: &str, value: &Value<'_>) -> bool {
    let is_object = match value {
        Value::Object(_) => true,
        Value::Raw(raw) => raw.get().starts_with('{'),
        _ => false,
    };
    name == "__proto__" && is_object
}

fn describe_unreadable(name: &str, unreadable: Unreadable) -> Refusal {
    match unreadable {
        Unreadable::Ambiguous(why) => Refusal::Unreadable(format!("argument `{name}`: {why}")),
        Unreadable::TooDeep(limit) => Refusal::Limit(format!(
            "argument `{name}` is nested deeper than depth = {limit} levels"
        )),
    }
}

/// The roles of each argument of the tool, its conditions held against the call once.
fn resolve<'p>(tool: Option<&'p Tool>, call: &Call<'_>, limits: &Limits) -> ResolvedRoles<'p> {
    let arguments = tool.map_or(&[][..], |tool| &tool.arguments);
    if arguments
        .iter()
        .all(|argument| matches!(argument.roles, Roles::Fixed(_)))
    {
        return ResolvedRoles::Fixed(arguments);
    }
    let siblings = Siblings::new(
        arguments.iter().map(|argument| &argument.roles),
        &call.arguments,
        limits,
    );
    let resolved = arguments
        .iter()
        .map(|argument| argument.roles.resolve(|wanted| siblings.see(wanted)));
    ResolvedRoles::Chosen(resolved.collect())
}
