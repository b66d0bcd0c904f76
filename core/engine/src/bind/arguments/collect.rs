//! The values of one argument: one text, the items of an array, or the parts of a text.

use std::borrow::Cow;

use super::super::faults::Refusal;
use super::super::parts::{self, Part};
use super::super::path_like;
use super::super::uris::{self, ReadUri, UriForm};
use super::super::value::{PointerToken, Value};
use super::super::walk::WayStep;
use super::{BoundArguments, BoundValue};
use crate::cost::FURTHER_VALUE;
use crate::model::{Argument, Reach, Separator};
use crate::program::Program;
use crate::role::{RoleId, RoleSet};

pub(super) const NOT_A_LIST: &str =
    "is not a JSON array of strings in a text, which its `separator` asks for";

impl<'p, 'c> BoundArguments<'p, 'c> {
    /// Collects a string, or the strings of an array.
    pub(super) fn collect_value<'v>(
        &mut self,
        program: &Program,
        annotated: &AnnotatedArgument<'_, 'p>,
        way: &[WayStep<'v>],
        value: &'v Value<'c>,
        text: &impl Fn(&'v Cow<'c, str>) -> Cow<'c, str>,
    ) {
        let place = || way.iter().map(WayStep::token);
        let Value::Array(items) = value else {
            let fault = "is an object, expected a string or an array of strings";
            let is_item = way.last().is_some_and(|step| step.name.is_none());
            let place = || place().collect();
            return self.collect_string(program, annotated, (place, is_item), value, text, fault);
        };
        let in_array = "holds an array or object inside its array, expected strings";
        self.values
            .reserve(items.len().min(program.limits.values_per_role));
        for (item, value) in items.iter().enumerate() {
            let place_of = || place().chain([PointerToken::Item(item)]).collect();
            if let (Some(separator), Value::Text(found)) = (annotated.separator, value) {
                // Some servers split the items as well.
                if separator.is_in(found) {
                    self.unreadable(annotated, || {
                        "holds its `separator` in an item of an array".to_owned()
                    });
                }
                self.push(program, annotated, (place_of(), None), Some(text(found)));
                continue;
            }
            self.collect_string(program, annotated, (place_of, true), value, text, in_array);
        }
    }

    /// Collects a string at a place, which may be the item of an array; what holds other values is the `fault` of the
    /// argument.
    fn collect_string<'v>(
        &mut self,
        program: &Program,
        annotated: &AnnotatedArgument<'_, 'p>,
        (place, is_item): (impl FnOnce() -> Box<[PointerToken]>, bool),
        value: &'v Value<'c>,
        text: &impl Fn(&'v Cow<'c, str>) -> Cow<'c, str>,
        fault: &str,
    ) {
        match value {
            Value::Text(found) => self.push_text(program, annotated, place(), text(found)),
            Value::IllFormed(_) => self.push(program, annotated, (place(), None), None),
            // A server may take it for a name, or for one that was left out.
            Value::Bool(_) | Value::Number(_) if annotated.git_name().is_some() => {
                let expected = annotated.git_name().unwrap_or_default();
                self.unreadable(annotated, || format!("is not a string, expected {expected}"));
            }
            Value::Null if annotated.git_name().is_some() && is_item => {
                let expected = annotated.git_name().unwrap_or_default();
                self.unreadable(annotated, || format!("holds null, expected {expected}"));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::Array(_) | Value::Object(_) | Value::Raw(_) | Value::Unread => {
                self.unreadable(annotated, || fault.to_owned());
            }
        }
    }

    pub(super) fn unreadable(&mut self, annotated: &AnnotatedArgument<'_, 'p>, why: impl FnOnce() -> String) {
        self.opaque_list_roles = self.opaque_list_roles.union(annotated.role_set);
        if annotated.is_judged {
            self.refuse_for(annotated, || {
                Refusal::Unreadable(format!("argument `{}` {}", annotated.name, why()))
            });
        }
    }

    /// Refuses the call for one of the tool's arguments, unless it is refused for an earlier one.
    fn refuse_for(&mut self, annotated: &AnnotatedArgument<'_, 'p>, refusal: impl FnOnce() -> Refusal) {
        if self.refusal.is_none() || self.refused_by.is_some_and(|rank| annotated.rank < rank) {
            self.refusal = Some(refusal());
            self.refused_by = Some(annotated.rank);
        }
    }

    /// Collects a text that is one value, or several where the annotation says what stands between them.
    pub(super) fn push_text(
        &mut self,
        program: &Program,
        annotated: &AnnotatedArgument<'_, 'p>,
        place: Box<[PointerToken]>,
        text: Cow<'c, str>,
    ) {
        let Some(separator) = annotated.separator else {
            return self.push(program, annotated, (place, None), Some(text));
        };
        let Some((parts, part)) = parts::of(separator, text) else {
            return self.unreadable(annotated, || NOT_A_LIST.to_owned());
        };
        let is_path = annotated.role_set.intersects(program.path_roles);
        for (item, text) in parts.into_iter().enumerate() {
            if !is_path {
                let given = (annotated.at, annotated.role_set);
                path_like::collect_part(program, given, &text, &mut self.path_like);
            }
            let place = place.iter().cloned().chain([PointerToken::Item(item)]).collect();
            self.push(program, annotated, (place, Some(part)), Some(text));
        }
    }

    fn push(
        &mut self,
        program: &Program,
        annotated: &AnnotatedArgument<'_, 'p>,
        (place, part): (Box<[PointerToken]>, Option<Part>),
        text: Option<Cow<'c, str>>,
    ) {
        let bytes = text.as_deref().map_or(0, str::len);
        let mut value = BoundValue {
            argument: Some(annotated.at),
            place,
            text,
            roles: annotated.roles,
            role_set: annotated.role_set,
            relative_to: annotated.relative_to,
            reach: annotated.reach,
            part,
            uri: None,
            absent: None,
            rank: annotated.rank,
        };
        if annotated.is_careful {
            self.read_uri(&mut value, annotated.argument, annotated.index);
        }
        if annotated.is_resource && !value.roles.is_empty() && bytes > program.limits.value_bytes {
            self.refuse_long(program, annotated, bytes);
            return;
        }
        if self.values.len() >= program.limits.values_per_role
            && !self.count_further(program, annotated.role_set)
        {
            return;
        }
        self.values.push(value);
    }

    fn refuse_long(&mut self, program: &Program, annotated: &AnnotatedArgument<'_, 'p>, bytes: usize) {
        self.refuse_for(annotated, || {
            Refusal::Limit(format!(
                "argument `{}` holds a value of {bytes} bytes, more than value_bytes = {} bytes",
                annotated.name, program.limits.value_bytes
            ))
        });
    }

    /// Counts a further value, and returns `true` if it is kept: unless one of its roles has too many already, or the call has more
    /// than its steps are enough for.
    fn count_further(&mut self, program: &Program, roles: RoleSet) -> bool {
        if self.counts.is_empty() {
            let count = |role| {
                let values = self.values.iter();
                (role, values.filter(|value| value.role_set.contains(role)).count())
            };
            self.counts = program.registry.iter().map(|(role, _)| count(role)).collect();
        }
        let limits = &program.limits;
        let most = limits
            .values_per_role
            .saturating_add(limits.steps / FURTHER_VALUE);
        let has_room = self.values.len() < most;
        self.are_left_out |= !has_room;
        let mut is_kept = has_room;
        for (role, count) in &mut self.counts {
            if roles.contains(*role) {
                *count += 1;
                is_kept &= *count <= limits.values_per_role;
            }
        }
        is_kept
    }

    pub(super) fn check_counts(&mut self, program: &Program) {
        let limit = program.limits.values_per_role;
        let mut counts = self.counts.iter();
        if let Some((role, count)) = counts.find(|(_, count)| *count > limit) {
            self.refuse(Refusal::Limit(format!(
                "{count} values under the role `{}`, more than values_per_role = {limit}",
                program.registry.name(*role)
            )));
        }
    }

    /// Reads the value as the argument's annotation says, and keeps the roles that it then has.
    pub(super) fn read_uri(&mut self, value: &mut BoundValue<'p, 'c>, argument: &Argument, at: usize) {
        let text = value.text.as_deref();
        let Some(reading) = text.and_then(|text| uris::read(text, value.role_set, argument)) else {
            return;
        };
        let narrowed = self.narrowed.entry(at).or_default();
        *narrowed = narrowed.union(reading.roles);
        value.roles = uris::roles(reading.roles);
        value.role_set = reading.roles;
        if !matches!(reading.form, Some(UriForm::Path)) {
            value.relative_to = None;
        }
        if let Some(form) = reading.form {
            let given = match reading.text {
                Some(text) => value.text.replace(text.into()),
                None => value.text.clone(),
            };
            let given = given.unwrap_or_default();
            value.uri = Some(ReadUri { given, form });
        }
    }
}

/// A member of the arguments with the roles that the annotation gives it.
pub(super) struct AnnotatedArgument<'n, 'p> {
    pub(super) argument: &'p Argument,
    /// Its place among all of the tool.
    pub(super) index: usize,
    /// Its place among those that name the member or something inside it.
    pub(super) rank: usize,
    pub(super) at: usize,
    pub(super) name: &'n str,
    pub(super) roles: &'p [RoleId],
    pub(super) role_set: RoleSet,
    pub(super) relative_to: Option<&'p str>,
    pub(super) reach: Option<Reach>,
    pub(super) separator: Option<Separator>,
    pub(super) is_resource: bool,
    /// `true` if it bears one of the [judged roles](Program::judged_roles).
    pub(super) is_judged: bool,
    pub(super) is_careful: bool,
}

impl AnnotatedArgument<'_, '_> {
    /// The thing that git takes from it; without it git takes another one.
    fn git_name(&self) -> Option<&'static str> {
        let has = |role| self.role_set.contains(role);
        let branch = self.is_careful && has(RoleId::BRANCH_NAME);
        let branch = branch.then_some("the name of a branch");
        let remote = has(RoleId::GIT_REMOTE_URL).then_some("the URL or the name of a git remote");
        remote.or(branch)
    }
}
