//! The arguments that an approval lists (SPEC §9): flags, and what conditions of the rules that ask look at.

use std::borrow::Cow;

use super::arguments::{is_prose, listed_argument, roles_of_argument};
use super::inputs::Inputs;
use crate::approval::ArgumentConstraint;
use crate::bind::{FlagSearch, Value, argument_name, listed};
use crate::model::{ConditionArgument, JsonType, SchemaDefault};
use crate::program::{Rule, Tool};
use crate::role::{Category, RoleId, Step};

/// Adds the arguments that the rule's conditions look at. Returns `false` if one of them cannot be listed.
pub(super) fn list_conditions(inputs: &Inputs, rule: &Rule, args: &mut Vec<ArgumentConstraint>) -> bool {
    let Some(tool) = inputs.tool.filter(|_| inputs.program.defaults.approves_arguments) else {
        return false;
    };
    for condition in &rule.arguments {
        let is_secret = condition
            .argument
            .first()
            .is_none_or(|name| is_secret(inputs, tool, name));
        match listed_argument(inputs, tool, condition) {
            Some(one) if !is_secret => add(args, one),
            _ => return false,
        }
    }
    args.len() <= inputs.program.limits.approval_constraints
}

/// Adds what is listed of every call, of all its arguments or those that `roles` and flags are about. Returns `false` if
/// something cannot be listed.
pub(super) fn list_arguments(
    inputs: &Inputs,
    is_whole: bool,
    roles: &[RoleId],
    args: &mut Vec<ArgumentConstraint>,
    steps: &mut usize,
) -> bool {
    match is_whole {
        true => list_all(inputs, args),
        false => list_bearers(inputs, roles, args) && list_flags(inputs, args, steps),
    }
}

/// Adds the arguments that bear one of the roles together with others: of two branches it matters which is which. Values of
/// paths are places, any of which is approved. Returns `false` if one of them cannot be listed.
fn list_bearers(inputs: &Inputs, roles: &[RoleId], args: &mut Vec<ArgumentConstraint>) -> bool {
    let Some(tool) = inputs.tool else { return false };
    let limits = &inputs.program.limits;
    let is_place = |role: &RoleId| inputs.program.registry.get(*role).category == Category::Path;
    for role in roles.iter().filter(|role| !is_place(role)) {
        let bears = |at: &usize| inputs.arguments.resolved.set_of(*at).contains(*role);
        let bearers: Vec<usize> = (0..tool.arguments.len()).filter(bears).collect();
        if bearers.len() < 2 {
            continue;
        }
        for bearer in bearers.iter().filter_map(|at| tool.arguments.get(*at)) {
            let Some(name) = bearer.name.first() else {
                return false;
            };
            let mut members = inputs.call.arguments.members().iter();
            let given = members.find(|(known, _)| known == name);
            let value = given.map_or(Ok(Cow::Owned(Value::Null)), |(_, value)| value.read(limits.depth));
            let one = value
                .ok()
                .and_then(|value| listed(argument_name(name), &value, limits.value_bytes));
            match one {
                Some(one) if !is_secret(inputs, tool, name) => add(args, one),
                _ => return false,
            }
        }
    }
    args.len() <= limits.approval_constraints
}

/// Adds every argument of the call as it is. Returns `false` if one of them cannot be listed.
fn list_all(inputs: &Inputs, args: &mut Vec<ArgumentConstraint>) -> bool {
    let Some(tool) = inputs.tool else { return false };
    let limits = &inputs.program.limits;
    for (name, value) in inputs.call.arguments.members() {
        let Ok(value) = value.read(limits.depth) else {
            return false;
        };
        match listed(argument_name(name), &value, limits.value_bytes) {
            _ if value.is_null() => {}
            Some(one) if !is_secret(inputs, tool, name) => add(args, one),
            _ => return false,
        }
    }
    args.len() <= limits.approval_constraints
}

/// Adds the call's flags but for those that the schema's default stands for. Returns `false` if nobody can tell them.
fn list_flags(inputs: &Inputs, args: &mut Vec<ArgumentConstraint>, steps: &mut usize) -> bool {
    let Some(tool) = inputs.tool else { return false };
    let limits = &inputs.program.limits;
    for (name, value) in inputs.call.arguments.members() {
        let schema = &tool.member(name).schema;
        if is_default(value, schema.default.as_ref()) || is_secret(inputs, tool, name) {
            continue;
        }
        let is_prose = is_prose(inputs, tool, &ConditionArgument::Top((&**name).into()));
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
fn is_secret(inputs: &Inputs, tool: &Tool, name: &str) -> bool {
    let registry = &inputs.program.registry;
    roles_of_argument(inputs, tool, name).iter().any(|role| {
        let definition = registry.get(role);
        [Some(definition.canonicalize), definition.extract_policy_value].contains(&Some(Step::Redact))
    })
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
