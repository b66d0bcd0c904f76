//! One pass over a call's arguments: which values bear which roles, and what cannot be judged.

mod collect;

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::absent::presences;
use super::call::{Arguments, Call};
use super::faults::{Refusal, describe_unreadable, mismatch, misspelt, schema_fault};
use super::json::json_in_text;
use super::names;
use super::order::changed_order;
use super::parts::{self, Part};
use super::path_like::{self, PathLike};
use super::shape::ShapeError;
use super::siblings::Siblings;
use super::spelling::{misspelt_argument, misspelt_member};
use super::uris::{self, ReadUri};
use super::value::{MOST_MEMBERS, PointerToken, Value};
use super::walk::{Met, walk};
use crate::model::{Argument, ConditionArgument, Reach, SchemaType, ServerKind};
use crate::program::{Program, ResolvedRoles, Tool, ToolMember};
use crate::role::{RoleId, RoleSet};
use crate::sort;
use collect::{AnnotatedArgument, NOT_A_LIST};

/// An annotated argument: the member that it names, or in which its pointer leads, and its rank among those of that member.
pub type Origin = (Option<usize>, usize);

/// One string under at least one role.
pub struct BoundValue<'p, 'c> {
    /// The member of the arguments that holds it; `None` for a value that the engine filled in.
    pub argument: Option<usize>,
    /// Where it is within that member.
    pub place: Box<[PointerToken]>,
    /// The string; `None` when it is not well-formed Unicode.
    pub text: Option<Cow<'c, str>>,
    /// Its roles, in the annotation's order.
    pub roles: &'p [RoleId],
    pub(crate) role_set: RoleSet,
    /// The argument whose path it is relative to, where it is a relative path.
    pub relative_to: Option<&'p str>,
    /// How far the tool changes what it names, where the annotation says so.
    pub reach: Option<Reach>,
    /// How it stood in a text of several values, if it did; its place is then that of an item in the text.
    pub part: Option<Part>,
    /// The way in which it is read, where its text is not simply the value.
    pub uri: Option<ReadUri<'c>>,
    /// The argument that the call does not give and for which the server takes this value.
    pub absent: Option<&'p Argument>,
    /// The position of the annotated argument under which it was found, among those that name that member or something inside
    /// it.
    rank: usize,
}

impl<'p, 'c> BoundValue<'p, 'c> {
    pub fn new(
        argument: Option<usize>,
        place: Box<[PointerToken]>,
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
            reach: None,
            part: None,
            uri: None,
            absent: None,
            rank: 0,
        }
    }

    /// Returns `true` for a value that the engine asked the host for.
    pub fn is_filled_in(&self) -> bool {
        self.argument.is_none() && self.absent.is_none()
    }

    /// The annotated argument that the value is one of.
    pub fn origin(&self) -> Origin {
        (self.argument, self.rank)
    }

    /// The string as given, for messages; a placeholder where it is not well-formed.
    pub fn raw(&self) -> &str {
        match &self.uri {
            Some(uri) => &uri.given,
            None => self.text.as_deref().unwrap_or("\u{fffd}"),
        }
    }
}

/// The result of one pass over the arguments.
#[derive(Default)]
pub struct BoundArguments<'p, 'c> {
    /// Every string under a role, in the order of the arguments.
    pub values: Vec<BoundValue<'p, 'c>>,
    /// The fault of a name, of the call or of anything in its arguments.
    pub name_fault: Option<String>,
    /// The first thing that cannot be judged.
    pub refusal: Option<Refusal>,
    /// The rank of the argument that was refused, if that is one of the member that is being read.
    refused_by: Option<usize>,
    /// The first argument that neither the annotation nor the schema names.
    pub unknown: Option<usize>,
    /// Roles under which an array or object stands in place of strings, so that no list can hold every value.
    pub opaque_list_roles: RoleSet,
    /// Strings that look like paths and bear no path role.
    pub path_like: Vec<PathLike<'c>>,
    /// The roles of each of the tool's arguments, conditions resolved, in the annotation's order.
    pub resolved: ResolvedRoles<'p>,
    /// The arguments that are not given, where nobody says what that means.
    pub open: Vec<&'p Argument>,
    /// The arguments that are not given, by their places, and the values that the server takes for them.
    taken: Vec<(usize, &'p str)>,
    /// The roles that remain to arguments whose values decide about them, by the arguments' places.
    narrowed: BTreeMap<usize, RoleSet>,
    /// Programs read a value differently on which the roles of an argument depend.
    pub has_unsure_roles: bool,
    /// Values were left out because the steps of the call are not enough for so many.
    pub are_left_out: bool,
    /// How many values each role has, once there are so many that one may have too many.
    counts: Vec<(RoleId, usize)>,
}

impl<'p, 'c> BoundArguments<'p, 'c> {
    /// Reads a call of the wrong shape no further.
    pub fn refuse_shape(
        &mut self,
        program: &Program,
        tool: Option<&'p Tool>,
        call: &Call<'_>,
        error: &ShapeError,
    ) {
        self.resolve(program, tool, call);
        self.refusal = Some(Refusal::Shape(error.clone()));
    }

    /// Reads the call against what its tool's annotation says; an unknown tool has none.
    pub fn read(&mut self, program: &'p Program, tool: Option<&'p Tool>, call: &'c Call<'c>) {
        let members = call.arguments.members();
        self.resolve(program, tool, call);
        if program.defaults.reads_names {
            self.name_fault = names::fault(call);
        }
        if members.len() > MOST_MEMBERS {
            let why = format!("`arguments`: more than {MOST_MEMBERS} members");
            self.refuse(Refusal::Unreadable(why));
            return;
        }
        if let Arguments::Unreadable(why) = &call.arguments {
            self.refuse(Refusal::Unreadable(why.clone()));
        }
        let mut known = Vec::new();
        if let Some(tool) = tool {
            for (name, _) in members {
                known.push(tool.member(name));
            }
            if program.defaults.reads_names
                && let Some((name, other)) = misspelt_argument(tool, members, program.limits.depth)
            {
                self.refuse(misspelt(&name, &other));
            }
        }
        let order = changed_order(program, &known, members);
        let looked_at = order.as_ref().map_or(members.len(), Vec::len);
        for place in 0..looked_at {
            let at = order.as_ref().and_then(|order| order.get(place)).copied();
            let at = at.unwrap_or(place);
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
                is_path = self.collect(program, tool, member, (at, name), value);
            }
            if !is_path {
                let Self {
                    resolved, path_like, ..
                } = self;
                let role = |rank: usize| {
                    let index = member.and_then(|member| member.arguments.get(rank));
                    index.map_or(RoleSet::default(), |index| resolved.set_of(*index))
                };
                let pointers = member.map(|member| &member.pointers);
                let unnamed = tool.zip(member).filter(|(_, member)| !member.is_annotated);
                let unnamed = unnamed.map_or(RoleSet::default(), |(tool, _)| tool.unnamed_roles);
                let read = path_like::collect(program, (at, pointers, unnamed), value, &role, path_like);
                if let Err(unreadable) = read {
                    self.refuse(describe_unreadable(name, unreadable));
                }
            }
        }
        if let Some(tool) = tool {
            self.take_values(program, tool);
            self.narrow();
            if tool.has_bases {
                self.check_bases(program, tool, members);
                self.bases_first();
            }
            if program.defaults.reads_values {
                self.check_required(program, tool, &known, members);
            }
            self.check_counts(program);
        }
    }

    /// Finds the roles of each argument of the tool. Its conditions are held against the call once.
    fn resolve(&mut self, program: &Program, tool: Option<&'p Tool>, call: &Call<'_>) {
        let Some(tool) = tool else { return };
        let is_careful = program.defaults.reads_values;
        let judged = program.judged_roles;
        let mut unsure = None;
        let presences = match is_careful {
            true => presences(tool, call.arguments.members(), program.limits.depth),
            false => Vec::new(),
        };
        // An absent remote is the one that git takes (SPEC §8.3.7).
        let is_git = program.server(&tool.server).kind == Some(ServerKind::Git);
        let is_remote = |roles: &[RoleId]| is_git && roles.contains(&RoleId::GIT_REMOTE_URL);
        self.resolved.set(tool, |arguments| {
            let siblings = Siblings::new(&tool.siblings, &call.arguments, &program.limits, |_| None);
            let see = |wanted: &ConditionArgument| siblings.condition_value(tool.siblings.number(wanted));
            let is_judged = |argument: &Argument| argument.roles.possible().any(|role| judged.contains(role));
            let careful = arguments
                .iter()
                .filter(|argument| is_careful && is_judged(argument));
            let mut read = BTreeMap::new();
            unsure = careful
                .into_iter()
                .find_map(|argument| siblings.unsure(&tool.siblings, argument, &mut read));
            let roles = arguments.iter().map(|argument| argument.roles.resolve(see));
            let mut roles: Vec<&[RoleId]> = roles.collect();
            for ((roles, argument), presence) in roles.iter_mut().zip(arguments).zip(&presences) {
                if presence.has_no_part(argument) && !is_remote(roles) {
                    *roles = &[];
                }
            }
            roles
        });
        for ((at, argument), presence) in tool.arguments.iter().enumerate().zip(&presences) {
            if self.resolved.get(at).is_some_and(is_remote) {
                continue;
            }
            self.taken
                .extend(presence.value(argument).map(|value| (at, value)));
            self.open.extend(presence.is_open(argument).then_some(argument));
        }
        if let Some(why) = unsure {
            self.has_unsure_roles = true;
            self.refuse(Refusal::Unreadable(why));
        }
    }

    /// Adds the values that the server takes for arguments that are not given.
    fn take_values(&mut self, program: &Program, tool: &'p Tool) {
        for (at, text) in std::mem::take(&mut self.taken) {
            let (Some(argument), Some(roles)) = (tool.arguments.get(at), self.resolved.get(at)) else {
                continue;
            };
            let role_set = self.resolved.set_of(at);
            if !role_set.intersects(program.valued_roles) {
                continue;
            }
            let is_path = role_set.intersects(program.path_roles);
            let read = |text: Cow<'c, str>, part: Option<Part>| BoundValue {
                relative_to: argument.relative_to.as_deref().filter(|_| is_path),
                reach: argument.reach,
                part,
                absent: Some(argument),
                rank: at,
                ..BoundValue::new(None, Box::default(), Some(text), roles)
            };
            let text: Cow<'c, str> = Cow::Owned(text.to_owned());
            let values = match argument.separator {
                None => vec![read(text, None)],
                Some(separator) => match parts::of(separator, text) {
                    Some((texts, part)) => texts.into_iter().map(|text| read(text, Some(part))).collect(),
                    None => {
                        self.refuse(Refusal::Unreadable(format!(
                            "argument `{}` is absent, and what its annotation has for that {NOT_A_LIST}",
                            argument.name
                        )));
                        continue;
                    }
                },
            };
            for mut value in values {
                if program.defaults.reads_values {
                    self.read_uri(&mut value, argument, at);
                }
                self.values.push(value);
            }
        }
    }

    /// Leaves to arguments that take URIs the roles of what the call names.
    fn narrow(&mut self) {
        let narrowed = std::mem::take(&mut self.narrowed);
        if !narrowed.is_empty() {
            let narrowed = narrowed.into_iter();
            self.resolved
                .narrow(narrowed.map(|(at, roles)| (at, uris::roles(roles))));
        }
    }

    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.refusal.get_or_insert(refusal);
    }

    /// Collects what one member holds for the tool's arguments that name it or something inside it; whether all of it bears a
    /// path role.
    fn collect(
        &mut self,
        program: &'p Program,
        tool: &'p Tool,
        member: &'p ToolMember,
        (at, name): (usize, &str),
        value: &'c Value<'c>,
    ) -> bool {
        // An address is not a path to anybody but the world.
        let places = program.path_roles.union(program.address_roles);
        let (mut is_path, mut roles) = (false, RoleSet::default());
        for index in member.arguments.iter().copied() {
            let wanted = self.resolved.set_of(index);
            roles = roles.union(wanted);
            is_path |= wanted.intersects(places)
                && tool
                    .arguments
                    .get(index)
                    .is_some_and(|argument| argument.name.rest().is_empty());
        }
        if !roles.intersects(program.valued_roles) {
            return is_path;
        }
        let is_careful = program.defaults.reads_values;
        if is_careful && value.is_absent(&member.schema) {
            return is_path;
        }
        let is_judged = roles.intersects(program.judged_roles);
        let read = value.read(program.limits.depth);
        if let Ok(read) = &read
            && is_judged
            && is_careful
        {
            self.check_type(name, &member.schema, read);
            if let Some((name, other)) = misspelt_member(read, &[&member.pointers]) {
                self.refuse(misspelt(&name, &other));
            }
        }
        let given = (at, name);
        match read {
            Ok(Cow::Borrowed(Value::Text(text)))
                if member.pointers.is_leaf() && member.arguments.len() == 1 =>
            {
                if let Some(annotated) = self.annotated(program, tool, member, given, 0) {
                    self.push_text(program, &annotated, Box::default(), Cow::Borrowed(text));
                }
            }
            Ok(Cow::Borrowed(read)) => {
                self.collect_read(program, tool, member, given, read, |text| Cow::Borrowed(text));
            }
            Ok(Cow::Owned(read)) => self.collect_read(program, tool, member, given, &read, Cow::clone),
            Err(unreadable) if is_judged => self.refuse(describe_unreadable(name, unreadable)),
            Err(_) => self.opaque_list_roles = self.opaque_list_roles.union(roles),
        }
        is_path
    }

    /// One of the tool's arguments that name the member or something inside it; `None` if nothing asks for its values.
    fn annotated<'n>(
        &self,
        program: &Program,
        tool: &'p Tool,
        member: &ToolMember,
        (at, name): (usize, &'n str),
        rank: usize,
    ) -> Option<AnnotatedArgument<'n, 'p>> {
        let index = *member.arguments.get(rank)?;
        let role_set = self.resolved.set_of(index);
        if !role_set.intersects(program.valued_roles) {
            return None;
        }
        let argument = tool.arguments.get(index)?;
        let relative_to = argument.relative_to.as_deref();
        Some(AnnotatedArgument {
            argument,
            index,
            rank,
            at,
            name,
            roles: self.resolved.get(index)?,
            role_set,
            relative_to: relative_to.filter(|_| role_set.intersects(program.path_roles)),
            reach: argument.reach,
            separator: argument.separator,
            is_resource: role_set.intersects(program.resource_roles),
            is_judged: role_set.intersects(program.judged_roles),
            is_careful: program.defaults.reads_values,
        })
    }

    /// Collects what is in an argument, in one pass, however many of the tool's arguments lead into it; `text` keeps a string
    /// of it.
    fn collect_read<'v>(
        &mut self,
        program: &'p Program,
        tool: &'p Tool,
        member: &ToolMember,
        given: (usize, &str),
        value: &'v Value<'c>,
        text: impl Fn(&'v Cow<'c, str>) -> Cow<'c, str>,
    ) {
        self.refused_by = None;
        let start = self.values.len();
        walk(value, &member.pointers, |way, rank, met| {
            let Some(annotated) = self.annotated(program, tool, member, given, rank) else {
                return;
            };
            match met {
                Met::Value(value) => self.collect_value(program, &annotated, way, value, &text),
                Met::Mismatch { found, .. } if way.is_empty() && self.is_plain_text(tool, member, found) => {}
                Met::Mismatch { found, expected } => {
                    self.unreadable(&annotated, || mismatch(way, found, expected));
                }
            }
        });
        // One argument after the other, as the annotation has them.
        let rank = |value: &BoundValue<'p, 'c>| value.rank;
        let collected = self.values.get(start..).unwrap_or_default();
        if !collected.is_sorted_by_key(rank) {
            let mut collected = self.values.split_off(start);
            sort::sort_by(&mut collected, |one, other| rank(one).cmp(&rank(other)));
            self.values.append(&mut collected);
        }
    }

    /// Returns `true` for a text in place of what pointers lead into, where the argument itself bears the role `text`. JSON in it
    /// may be unpacked.
    fn is_plain_text(&self, tool: &Tool, member: &ToolMember, found: &Value<'_>) -> bool {
        let is_said = |index: &usize| {
            let argument = tool.arguments.get(*index);
            argument.is_some_and(|argument| argument.name.rest().is_empty())
                && self.resolved.set_of(*index).contains(RoleId::TEXT)
        };
        let Value::Text(text) = found else {
            return false;
        };
        member.arguments.iter().any(is_said) && json_in_text(text).is_none()
    }

    /// Refuses a value, or an item of an array, of another type than the schema gives it.
    fn check_type(&mut self, name: &str, schema: &SchemaType, value: &Value<'_>) {
        if let Some(why) = schema_fault(value, schema) {
            self.refuse(Refusal::Unreadable(format!("argument `{name}` {why}")));
        }
    }
}

/// Returns `true` if the member could become the prototype of the arguments in a server written in JavaScript.
fn is_prototype_setter(name: &str, value: &Value<'_>) -> bool {
    name == "__proto__" && value.is_object()
}
