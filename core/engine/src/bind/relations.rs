//! Requirements on the arguments of a call beside their values: a base that is one path, and the schema's required
//! members.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::absent::unsaid;
use super::arguments::BoundArguments;
use super::faults::Refusal;
use super::value::Value;
use crate::model::{Argument, ArgumentName};
use crate::program::{Program, Tool, ToolMember};
use crate::sort;

impl BoundArguments<'_, '_> {
    /// Refuses paths that are relative to an argument that is not one path.
    pub(super) fn check_bases(
        &mut self,
        program: &Program,
        tool: &Tool,
        members: &[(Cow<'_, str>, Value<'_>)],
    ) {
        // The first value that is relative to each base, in the order of the annotation's arguments.
        let mut relative: BTreeMap<&str, (Option<usize>, Option<&Argument>)> = BTreeMap::new();
        for value in &self.values {
            if let Some(base) = value.relative_to {
                relative.entry(base).or_insert((value.argument, value.absent));
            }
        }
        if relative.is_empty() {
            return;
        }
        let texts = members.iter().filter(|(name, _)| relative.contains_key(&**name));
        let texts = texts.filter_map(|(name, value)| {
            let read = value.read(program.limits.depth).ok()?;
            matches!(*read, Value::Text(_)).then_some(&**name)
        });
        let taken = self.values.iter().filter_map(|value| value.absent?.name.first());
        let texts = sort::set(texts.chain(taken));
        // Per base, whether the annotation says that it is a path, and whether it is relative itself.
        let mut named: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
        for (argument, roles) in tool.arguments.iter().zip(self.resolved.iter()) {
            if let ArgumentName::Top(name) = &argument.name
                && relative.contains_key(&**name)
            {
                let (is_path, is_relative) = named.entry(name).or_default();
                *is_relative |= argument.relative_to.is_some();
                *is_path |= argument.relative_to.is_none()
                    && roles.iter().any(|role| program.path_roles.contains(*role));
            }
        }
        let bases = tool.arguments.iter().filter_map(|one| one.relative_to.as_deref());
        for (base, (argument, absent)) in bases.filter_map(|base| Some((base, relative.get(base)?))) {
            let is_base = named.get(base) == Some(&(true, false)) && texts.contains(base);
            if !is_base {
                let name = argument.and_then(|at| members.get(at));
                let absent = absent
                    .and_then(|argument| argument.name.first())
                    .unwrap_or_default();
                let name = name.map_or(absent, |(name, _)| name);
                let mut why = format!("argument `{name}` is relative to `{base}`, expected one path there");
                if self.open.iter().any(|open| open.name.first() == Some(base)) {
                    why.push_str(&unsaid(base));
                }
                self.refuse(Refusal::Unreadable(why));
                return;
            }
        }
    }

    /// Puts the values that others may be relative to before these.
    pub(super) fn bases_first(&mut self) {
        if self.values.iter().any(|value| value.relative_to.is_some()) {
            let values = std::mem::take(&mut self.values).into_iter();
            let (relative, mut ordered): (Vec<_>, Vec<_>) =
                values.partition(|value| value.relative_to.is_some());
            ordered.extend(relative);
            self.values = ordered;
        }
    }

    /// Refuses a call without an argument that the schema requires and that is judged; `known` has what the tool says about
    /// each member.
    pub(super) fn check_required(
        &mut self,
        program: &Program,
        tool: &Tool,
        known: &[&ToolMember],
        members: &[(Cow<'_, str>, Value<'_>)],
    ) {
        // The arguments have each name once.
        let given = known.iter().zip(members);
        let given = given.filter(|(member, (_, value))| member.required.is_some() && !value.is_null());
        if given.count() < tool.required.len() {
            self.check_each_required(program, tool, known, members);
        }
    }

    fn check_each_required(
        &mut self,
        program: &Program,
        tool: &Tool,
        known: &[&ToolMember],
        members: &[(Cow<'_, str>, Value<'_>)],
    ) {
        let mut faults = vec![Some("missing"); tool.required.len()];
        for (member, (_, value)) in known.iter().zip(members) {
            if let Some(fault) = member.required.and_then(|at| faults.get_mut(at)) {
                *fault = value.is_null().then_some("null");
            }
        }
        for (at, (key, fault)) in tool.required.iter().zip(faults).enumerate() {
            let Some(fault) = fault else { continue };
            let member = tool.member(key);
            // A name that the schema has twice counts once.
            if member.required != Some(at) {
                continue;
            }
            let mut roles = member.arguments.iter().filter_map(|argument| {
                let is_named = tool.arguments.get(*argument)?.name.first() == Some(key);
                self.resolved.get(*argument).filter(|_| is_named)
            });
            if roles.any(|roles| roles.iter().any(|role| program.judged_roles.contains(*role))) {
                self.refuse(Refusal::Unreadable(format!(
                    "argument `{key}` is {fault}, expected a value, since the tool requires it"
                )));
                return;
            }
        }
    }
}
