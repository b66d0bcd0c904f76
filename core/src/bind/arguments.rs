//! One pass over a call's arguments: which values bear which roles, and what cannot be judged.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::call::{Arguments, Call};
use super::order::changed_order;
use super::path_like::{self, PathLike};
use super::shape::ShapeError;
use super::siblings::{Reached, Siblings, descend};
use super::value::{MOST_ITEMS, MOST_MEMBERS, PointerToken, Unreadable, Value};
use crate::limits::Limits;
use crate::model::{JsonType, SchemaType};
use crate::program::{Compatibility, Program, ResolvedRoles, Tool, ToolMember};
use crate::role::{RoleId, RoleSet};
use crate::text::escape_token;

/// Values that there is room for at once.
const FEW: usize = 4;

/// One string under at least one role.
pub(crate) struct BoundValue<'p, 'c> {
    /// The member of the arguments that holds it; `None` for a value that the engine filled in.
    pub(crate) argument: Option<usize>,
    /// Where it is within that member.
    pub(crate) place: Vec<PointerToken>,
    /// The string; `None` when it is not well-formed Unicode.
    pub(crate) text: Option<Cow<'c, str>>,
    /// Its roles, in the annotation's order.
    pub(crate) roles: &'p [RoleId],
    pub(crate) role_set: RoleSet,
    /// The argument whose path it is relative to, where it is a relative path.
    pub(crate) relative_to: Option<&'p str>,
}

impl<'p, 'c> BoundValue<'p, 'c> {
    pub(crate) fn new(
        argument: Option<usize>,
        place: Vec<PointerToken>,
        text: Option<Cow<'c, str>>,
        roles: &'p [RoleId],
    ) -> Self {
        Self {
            argument,
            place,
            text,
            roles,
            role_set: roles.iter().copied().collect(),
            relative_to: None,
        }
    }

    /// The string as given, for messages; a placeholder where it is not well-formed.
    pub(crate) fn raw(&self) -> &str {
        self.text.as_deref().unwrap_or("\u{fffd}")
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
#[derive(Default)]
pub(crate) struct BoundArguments<'p, 'c> {
    /// Every string under a role, in the order of the arguments.
    pub(crate) values: Vec<BoundValue<'p, 'c>>,
    /// The first thing that cannot be judged.
    pub(crate) refusal: Option<Refusal>,
    /// The first argument that neither the annotation nor the schema names.
    pub(crate) unknown: Option<usize>,
    /// Roles under which an array or object stands in place of strings, so that no list can hold every value.
    pub(crate) opaque_list_roles: RoleSet,
    /// Strings that look like paths and bear no path role.
    pub(crate) path_like: Vec<PathLike<'c>>,
    /// The roles of each of the tool's arguments, conditions resolved, in the annotation's order.
    pub(crate) resolved: ResolvedRoles<'p>,
    /// How many values each role has, once there are so many that one may have too many.
    counts: Vec<(RoleId, usize)>,
}

impl<'p, 'c> BoundArguments<'p, 'c> {
    /// Reads a call of the wrong shape no further.
    pub(crate) fn misshapen(
        &mut self,
        tool: Option<&'p Tool>,
        call: &Call<'_>,
        error: &ShapeError,
        limits: &Limits,
    ) {
        self.resolve(tool, call, limits);
        self.refusal = Some(Refusal::Shape(error.clone()));
    }

    /// Reads the call against what its tool's annotation says; an unknown tool has none.
    pub(crate) fn read(&mut self, program: &'p Program, tool: Option<&'p Tool>, call: &'c Call<'c>) {
        let members = call.arguments.members();
        self.resolve(tool, call, &program.limits);
        if members.len() > MOST_MEMBERS {
            let why = format!("`arguments`: more than {MOST_MEMBERS} members");
            self.refuse(Refusal::Unreadable(why));
            return;
        }
        if let Arguments::Unreadable(why) = &call.arguments {
            self.refuse(Refusal::Unreadable(why.clone()));
        }
        let mut known = SmallVec::<[&ToolMember; 4]>::new();
        if self.resolved.all().intersects(program.valued_roles) {
            self.values = Vec::with_capacity(members.len().min(FEW));
        }
        if let Some(tool) = tool {
            for (name, _) in members {
                known.push(tool.member(name));
            }
        }
        let order = changed_order(program, &known, members);
        for place in 0..members.len() {
            let at = order.get(place).copied().unwrap_or(place);
            let Some((name, value)) = members.get(at) else {
                continue;
            };
            let member = known.get(at).copied();
            let mut is_path = false;
            if let Some((tool, member)) = tool.zip(member) {
                let is_unknown =
                    !member.is_known || (!member.is_annotated && is_prototype_setter(name, value));
                if self.unknown.is_none() && is_unknown {
                    self.unknown = Some(at);
                }
                for index in member.arguments.iter().copied() {
                    is_path |= self.collect(program, tool, member, index, (at, name), value);
                }
            }
            if !is_path {
                path_like::collect(program, at, value, &mut self.path_like);
            }
        }
        if let Some(tool) = tool {
            if tool.has_bases {
                self.check_bases(program, tool, members);
                self.bases_first();
            }
            if program.compatibility == Compatibility::Careful {
                self.check_required(program, tool, members);
            }
            self.check_counts(program);
        }
    }

    /// Finds the roles of each argument of the tool. Its conditions are held against the call once.
    fn resolve(&mut self, tool: Option<&'p Tool>, call: &Call<'_>, limits: &Limits) {
        let Some(tool) = tool else { return };
        self.resolved.set(tool, |arguments| {
            let roles = arguments.iter().map(|argument| &argument.roles);
            let siblings = Siblings::new(roles.clone(), &call.arguments, limits);
            roles
                .map(|roles| roles.resolve(|wanted| siblings.see(wanted)))
                .collect()
        });
    }

    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.refusal.get_or_insert(refusal);
    }

    /// Collects what one member holds for one of the tool's arguments; whether all of it bears a path role.
    fn collect(
        &mut self,
        program: &'p Program,
        tool: &'p Tool,
        member: &'p ToolMember,
        index: usize,
        (at, name): (usize, &str),
        value: &'c Value<'c>,
    ) -> bool {
        let Some((argument, roles)) = tool.arguments.get(index).zip(self.resolved.get(index)) else {
            return false;
        };
        let wanted: RoleSet = roles.iter().copied().collect();
        let is_judged = wanted.intersects(judged_roles(program));
        // An address is not a path to anybody but the world.
        let places = program.path_roles.union(program.address_roles);
        let is_path = wanted.intersects(places) && argument.name.rest().is_empty();
        if !wanted.intersects(program.valued_roles) {
            return is_path;
        }
        let annotated = AnnotatedArgument {
            at,
            name,
            roles,
            role_set: wanted,
            relative_to: argument
                .relative_to
                .as_deref()
                .filter(|_| wanted.intersects(program.path_roles)),
            is_resource: wanted.intersects(program.resource_roles),
            is_judged,
        };
        let read = value.read(program.limits.depth);
        if let Ok(read) = &read
            && is_judged
            && program.compatibility == Compatibility::Careful
        {
            self.check_type(name, &member.schema, read);
        }
        match read {
            Ok(Cow::Borrowed(Value::Text(text))) if argument.name.rest().is_empty() => {
                self.push_text(program, &annotated, text);
            }
            Ok(read) if argument.name.rest().is_empty() => {
                self.collect_value(program, &annotated, Vec::new(), read);
            }
            Ok(read) => {
                let mut visit = |place: Vec<PointerToken>, reached: Reached<'_, 'c>| match reached {
                    Reached::Value(value) => {
                        self.collect_value(program, &annotated, place, Cow::Owned(value.clone()));
                    }
                    Reached::Mismatch { found, expected } => {
                        self.unreadable(&annotated, &mismatch(&place, found, expected));
                    }
                };
                descend(&read, argument.name.rest(), &mut Vec::new(), &mut visit);
            }
            Err(unreadable) if is_judged => self.refuse(describe_unreadable(name, unreadable)),
            Err(_) => self.opaque_list_roles = self.opaque_list_roles.union(wanted),
        }
        is_path
    }

    /// Refuses a value, or an item of an array, of another type than the schema gives it.
    fn check_type(&mut self, name: &str, schema: &SchemaType, value: &Value<'_>) {
        if let Some(why) = type_fault(value, &schema.own) {
            self.refuse(Refusal::Unreadable(format!("argument `{name}` {why}")));
        }
        if let Value::Array(items) = value
            && let Some(why) = items.iter().find_map(|item| type_fault(item, &schema.items))
        {
            self.refuse(Refusal::Unreadable(format!(
                "argument `{name}` holds an item that {why}"
            )));
        }
    }

    fn collect_value(
        &mut self,
        program: &Program,
        annotated: &AnnotatedArgument<'_, 'p>,
        place: Vec<PointerToken>,
        value: Cow<'c, Value<'c>>,
    ) {
        let in_array = "holds an array or object inside its array, expected strings";
        let place_of = |item: usize| {
            let mut below = Vec::with_capacity(place.len() + 1);
            below.extend_from_slice(&place);
            below.push(PointerToken::Item(item));
            below
        };
        match value {
            Cow::Borrowed(Value::Array(items)) => {
                self.values
                    .reserve(items.len().min(program.limits.values_per_role));
                for (item, value) in items.iter().enumerate() {
                    self.collect_string(program, annotated, place_of(item), Cow::Borrowed(value), in_array);
                }
            }
            Cow::Owned(Value::Array(items)) => {
                self.values
                    .reserve(items.len().min(program.limits.values_per_role));
                for (item, value) in items.into_iter().enumerate() {
                    self.collect_string(program, annotated, place_of(item), Cow::Owned(value), in_array);
                }
            }
            other => {
                let fault = "is an object, expected a string or an array of strings";
                self.collect_string(program, annotated, place, other, fault);
            }
        }
    }

    /// Collects a string; what holds other values is the `fault` of the argument.
    fn collect_string(
        &mut self,
        program: &Program,
        annotated: &AnnotatedArgument<'_, 'p>,
        place: Vec<PointerToken>,
        value: Cow<'c, Value<'c>>,
        fault: &str,
    ) {
        match value {
            Cow::Borrowed(Value::Text(text)) => {
                self.push(program, annotated, place, Some(Cow::Borrowed(text)));
            }
            Cow::Owned(Value::Text(text)) => self.push(program, annotated, place, Some(text)),
            other => match *other {
                Value::IllFormed(_) => self.push(program, annotated, place, None),
                // A server may take it for a remote's name, or for a remote that was left out.
                Value::Bool(_) | Value::Number(_) if annotated.is_remote() => {
                    self.unreadable(
                        annotated,
                        "is not a string, expected the URL or the name of a git remote",
                    );
                }
                Value::Null
                    if annotated.is_remote() && matches!(place.last(), Some(PointerToken::Item(_))) =>
                {
                    self.unreadable(
                        annotated,
                        "holds null, expected the URL or the name of a git remote",
                    );
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
                Value::Array(_) | Value::Object(_) | Value::Raw(_) | Value::Unread => {
                    self.unreadable(annotated, fault);
                }
            },
        }
    }

    fn unreadable(&mut self, annotated: &AnnotatedArgument<'_, 'p>, why: &str) {
        self.opaque_list_roles = self
            .opaque_list_roles
            .union(annotated.roles.iter().copied().collect());
        if annotated.is_judged {
            self.refuse(Refusal::Unreadable(format!(
                "argument `{}` {why}",
                annotated.name
            )));
        }
    }

    fn push(
        &mut self,
        program: &Program,
        annotated: &AnnotatedArgument<'_, 'p>,
        place: Vec<PointerToken>,
        text: Option<Cow<'c, str>>,
    ) {
        let bytes = text.as_deref().map_or(0, str::len);
        if annotated.is_resource && bytes > program.limits.value_bytes {
            self.refuse_long(program, annotated, bytes);
            return;
        }
        let value = BoundValue {
            argument: Some(annotated.at),
            place,
            text,
            roles: annotated.roles,
            role_set: annotated.role_set,
            relative_to: annotated.relative_to,
        };
        if self.values.len() < program.limits.values_per_role {
            self.values.push(value);
        } else {
            self.push_counted(program, value);
        }
    }

    /// The same for an argument that is a string: nearly every one is.
    fn push_text(&mut self, program: &Program, annotated: &AnnotatedArgument<'_, 'p>, text: &'c str) {
        if self.values.len() >= program.limits.values_per_role
            || (annotated.is_resource && text.len() > program.limits.value_bytes)
        {
            self.push(program, annotated, Vec::new(), Some(Cow::Borrowed(text)));
            return;
        }
        self.values.push(BoundValue {
            argument: Some(annotated.at),
            place: Vec::new(),
            text: Some(Cow::Borrowed(text)),
            roles: annotated.roles,
            role_set: annotated.role_set,
            relative_to: annotated.relative_to,
        });
    }

    fn refuse_long(&mut self, program: &Program, annotated: &AnnotatedArgument<'_, 'p>, bytes: usize) {
        self.refuse(Refusal::Limit(format!(
            "argument `{}` holds a value of {bytes} bytes, more than value_bytes = {} bytes",
            annotated.name, program.limits.value_bytes
        )));
    }

    /// Keeps a value unless one of its roles has too many already. They are counted all the same.
    fn push_counted(&mut self, program: &Program, value: BoundValue<'p, 'c>) {
        if self.counts.is_empty() {
            let count = |role| {
                let values = self.values.iter();
                (role, values.filter(|value| value.role_set.contains(role)).count())
            };
            self.counts = program.registry.iter().map(|(role, _)| count(role)).collect();
        }
        let mut is_kept = true;
        for (role, count) in &mut self.counts {
            if value.role_set.contains(*role) {
                *count += 1;
                is_kept &= *count <= program.limits.values_per_role;
            }
        }
        if is_kept {
            self.values.push(value);
        }
    }

    fn check_counts(&mut self, program: &Program) {
        let limit = program.limits.values_per_role;
        let mut counts = self.counts.iter();
        if let Some((role, count)) = counts.find(|(_, count)| *count > limit) {
            self.refuse(Refusal::Limit(format!(
                "{count} values under the role `{}`, more than values_per_role = {limit}",
                program.registry.name(*role)
            )));
        }
    }
}

/// A member of the arguments with the roles that the annotation gives it.
struct AnnotatedArgument<'n, 'p> {
    at: usize,
    name: &'n str,
    roles: &'p [RoleId],
    role_set: RoleSet,
    relative_to: Option<&'p str>,
    is_resource: bool,
    /// Whether it bears one of the [`judged_roles`].
    is_judged: bool,
}

impl AnnotatedArgument<'_, '_> {
    fn is_remote(&self) -> bool {
        self.role_set.contains(RoleId::GIT_REMOTE_URL)
    }
}

/// Roles under which everything must be of a form that the annotation describes.
pub(super) fn judged_roles(program: &Program) -> RoleSet {
    match program.compatibility {
        Compatibility::Careful => program.resource_roles.union(program.ruled_roles),
        Compatibility::Runtime => program.resource_roles,
    }
}

/// What is wrong with a value where a pointer should have led on.
fn mismatch(place: &[PointerToken], found: &Value<'_>, expected: &str) -> String {
    let found = found.json_type().map_or("something", JsonType::described);
    if place.is_empty() {
        return format!("is {found}, expected {expected}");
    }
    let within = place.iter().fold(String::new(), |pointer, token| match token {
        PointerToken::Item(item) => format!("{pointer}/{item}"),
        PointerToken::Member(name) => format!("{pointer}/{}", escape_token(name)),
    });
    format!("holds {found} at `{within}`, expected {expected}")
}

/// What is wrong with the type of a value; nothing where no type is named.
fn type_fault(value: &Value<'_>, types: &[JsonType]) -> Option<String> {
    let found = value.json_type().filter(|found| !found.is_among(types))?;
    let expected: Vec<&str> = types.iter().map(|one| one.described()).collect();
    Some(format!(
        "is {}, expected {}",
        found.described(),
        expected.join(" or ")
    ))
}

/// Whether the member could become the prototype of the arguments in a server written in JavaScript.
fn is_prototype_setter(name: &str, value: &Value<'_>) -> bool {
    name == "__proto__" && value.is_object()
}

fn describe_unreadable(name: &str, unreadable: Unreadable) -> Refusal {
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
