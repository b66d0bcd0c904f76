//! The arguments that an approval lists (SPEC §9): flags, and what conditions of the rules that ask look at.

use super::Case;
use crate::approval::ArgumentConstraint;
use crate::bind::{FlagSearch, Value, argument_name, listed};
use crate::model::{ConditionArgument, JsonType, SchemaDefault};
use crate::program::{Compatibility, Rule, Tool};
use crate::role::Step;

impl<'p> Case<'p, '_, '_> {
    /// Adds the arguments that the rule's conditions look at. Returns `false` if one of them cannot be listed.
    pub(super) fn list_conditions(&mut self, rule: &'p Rule, args: &mut Vec<ArgumentConstraint>) -> bool {
        let Some(tool) = self
            .tool
            .filter(|_| self.program.compatibility == Compatibility::Careful)
        else {
            return false;
        };
        for condition in &rule.arguments {
            let is_secret = condition
                .argument
                .first()
                .is_none_or(|name| self.is_secret(tool, name));
            match self.listed(tool, condition) {
                Some(one) if !is_secret => add(args, one),
                _ => return false,
            }
        }
        args.len() <= self.program.limits.approval_constraints
    }

    /// Adds every argument of the call as it is. Returns `false` if one of them cannot be listed.
    pub(super) fn list_all(&self, args: &mut Vec<ArgumentConstraint>) -> bool {
        let Some(tool) = self.tool else { return false };
        let limits = &self.program.limits;
        for (name, value) in self.call.arguments.members() {
            let Ok(value) = value.read(limits.depth) else {
                return false;
            };
            match listed(argument_name(name), &value, limits.value_bytes) {
                _ if value.is_null() => {}
                Some(one) if !self.is_secret(tool, name) => add(args, one),
                _ => return false,
            }
        }
        args.len() <= limits.approval_constraints
    }

    /// Adds the call's flags but for those that the schema's default stands for. Returns `false` if nobody can tell them.
    pub(super) fn list_flags(&mut self, args: &mut Vec<ArgumentConstraint>, steps: &mut usize) -> bool {
        let Some(tool) = self.tool else { return false };
        let limits = &self.program.limits;
        for (name, value) in self.call.arguments.members() {
            let schema = &tool.member(name).schema;
            if is_default(value, schema.default.as_ref()) || self.is_secret(tool, name) {
                continue;
            }
            let is_prose = self.is_prose(tool, &ConditionArgument::Top((&**name).into()));
            let takes = |kind: JsonType| kind.is_among(&schema.own);
            let mut search = FlagSearch {
                found: args,
                most: limits.approval_constraints,
                steps,
                depth: limits.depth,
                bytes: limits.value_bytes,
                is_prose,
                unpacks: !is_prose && (takes(JsonType::Array) || takes(JsonType::Object)),
            };
            if search.search(name, value).is_none() {
                return false;
            }
        }
        true
    }

    /// Returns `true` if nobody is to see what the argument holds.
    fn is_secret(&self, tool: &Tool, name: &str) -> bool {
        let registry = &self.program.registry;
        self.roles_of_argument(tool, name).iter().any(|role| {
            let definition = registry.get(role);
            [Some(definition.canonicalize), definition.extract_policy_value].contains(&Some(Step::Redact))
        })
    }
}

fn add(args: &mut Vec<ArgumentConstraint>, one: ArgumentConstraint) {
    if !args.contains(&one) {
        args.push(one);
    }
}

/// Returns `true` for the value that the server takes where none is given.
fn is_default(value: &Value<'_>, default: Option<&SchemaDefault>) -> bool {
    let Some(default) = default else { return false };
    match (value.read(0).as_deref(), default) {
        (Ok(Value::Bool(value)), SchemaDefault::Bool(default)) => value == default,
        (Ok(Value::Number(value)), SchemaDefault::Integer(default)) => *value == *default as f64,
        (Ok(Value::Text(text)), SchemaDefault::Text(default)) => **text == **default,
        _ => false,
    }
}
