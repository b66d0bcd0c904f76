//! What arguments must have beside their values: a base that is one path, and what the schema requires.

use std::borrow::Cow;

use super::arguments::{BoundArguments, Refusal, judged_roles};
use super::value::Value;
use crate::model::ArgumentName;
use crate::program::{Program, Tool};

impl BoundArguments<'_, '_> {
    /// Refuses paths that are relative to an argument that is not one path.
    pub(super) fn check_bases(
        &mut self,
        program: &Program,
        tool: &Tool,
        members: &[(Cow<'_, str>, Value<'_>)],
    ) {
        for argument in &tool.arguments {
            let Some(base) = argument.relative_to.as_deref() else {
                continue;
            };
            let is_base = |name: &ArgumentName| matches!(name, ArgumentName::Top(name) if **name == *base);
            let mut given = self.values.iter().filter(|value| value.relative_to == Some(base));
            let Some(value) = given.next() else { continue };
            let name = value.argument.and_then(|at| members.get(at));
            let arguments = tool.arguments.iter().zip(self.resolved.iter());
            let mut named = arguments.filter(|(argument, _)| is_base(&argument.name));
            let is_path = named.clone().any(|(argument, roles)| {
                argument.relative_to.is_none() && roles.iter().any(|role| program.path_roles.contains(*role))
            });
            let is_relative = named.any(|(argument, _)| argument.relative_to.is_some());
            drop(named);
            let member = members.iter().find(|(name, _)| *name == base);
            let is_text = member.is_some_and(|(_, value)| {
                value
                    .read(program.limits.depth)
                    .is_ok_and(|read| matches!(*read, Value::Text(_)))
            });
            if !is_path || is_relative || !is_text {
                let name = name.map_or("", |(name, _)| name);
                let why = format!("argument `{name}` is relative to `{base}`, expected one path there");
                self.refuse(Refusal::Unreadable(why));
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

    /// Refuses a call without an argument that the schema requires and that is judged.
    pub(super) fn check_required(
        &mut self,
        program: &Program,
        tool: &Tool,
        members: &[(Cow<'_, str>, Value<'_>)],
    ) {
        let judged = judged_roles(program);
        for key in &tool.required {
            let given = members.iter().find(|(name, _)| **name == **key);
            let found = match given.map(|(_, value)| value) {
                None => "missing",
                Some(value) if value.is_null() => "null",
                Some(_) => continue,
            };
            let arguments = tool.arguments.iter().zip(self.resolved.iter());
            let mut named = arguments.filter(|(argument, _)| argument.name.first() == Some(key));
            let is_judged = named.any(|(_, roles)| roles.iter().any(|role| judged.contains(*role)));
            drop(named);
            if is_judged {
                self.refuse(Refusal::Unreadable(format!(
                    "argument `{key}` is {found}, expected a value, since the tool requires it"
                )));
            }
        }
    }
}
