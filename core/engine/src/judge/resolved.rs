//! A call before it is judged: the canonical forms of its values, and the values that conditions see.

use super::answers::text_of;
use super::arguments::{given_meets, meets_argument};
use super::asking::Asking;
use super::inputs::Inputs;
use super::locations::{addresses_of, locations_of};
use super::operands::resolvable_values;
use super::protected;
use super::world::{PlaceSeen, place_seen};
use crate::model::Effect;
use crate::net::Location;
use crate::program::{Rule, RuleId, Tool};
use crate::role::{RoleId, RoleSet};

/// One value in its canonical forms.
#[derive(Clone, Debug)]
pub struct ResolvedValue {
    /// The tool's argument that it stands under.
    pub argument: usize,
    /// `true` if it is the item of an array.
    pub is_item: bool,
    /// The canonical path, and where the link itself is that a call removes.
    pub paths: Vec<String>,
    /// The patterns of protected paths that match it, by their place in the program.
    pub patterns: Vec<usize>,
    /// The place that an address of the world names, and how the world answers to it.
    pub place: Option<ResolvedPlace>,
    /// The value under each of its roles.
    pub roles: Vec<ResolvedRole>,
}

/// A place in the world.
#[derive(Clone, Debug)]
pub struct ResolvedPlace {
    /// The root or the mod that the address begins with, and the path; `None` for what the mode does not see.
    pub at: Option<(String, String)>,
    /// How the world answers.
    pub seen: PlaceSeen,
}

/// A value under one role.
#[derive(Clone, Debug)]
pub struct ResolvedRole {
    /// The text that lists are compared with.
    pub text: String,
    /// The addresses that a mail program may read from it.
    pub addresses: Vec<String>,
    /// The places that it names as a URL or a host, with the text that each was read from; only if asked for.
    pub locations: Vec<Location>,
}

/// A call with the canonical forms of its values.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The roles of each argument, conditions resolved.
    pub roles: Vec<Vec<RoleId>>,
    /// How the call meets each condition of the tool's rules on arguments, as a grant and as a restriction.
    pub conditions: Vec<u8>,
    /// `true` if there is an argument that nobody names.
    pub has_unknown: bool,
    /// `true` if a text without the role of a path looks like a protected one.
    pub looks_protected: bool,
    /// The values that were given, in order.
    pub values: Vec<ResolvedValue>,
}

/// The things to look for in values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The roles under which hosts are read.
    pub hosts: RoleSet,
    /// Those under which addresses are read.
    pub emails: RoleSet,
}

/// Resolves the call; `None` for a call of an unknown tool, and for one that is refused for its form.
pub(super) fn resolved(inputs: &mut Inputs, asking: &mut Asking, wanted: Wanted) -> Option<Resolved> {
    let tool = inputs.tool?;
    if inputs.arguments.refusal.is_some() {
        return None;
    }
    if resolvable_values(inputs, asking).is_some() {
        return None;
    }
    let looks_protected = protected::touched(inputs, asking).is_text;
    let conditions = each_condition(inputs, asking, tool);
    let values = (0..inputs.operands.len()).filter_map(|at| resolved_value(inputs, asking, at, wanted));
    let values = values.collect();
    (!asking.has_failed()).then(|| Resolved {
        roles: inputs.arguments.resolved.iter().map(<[RoleId]>::to_vec).collect(),
        conditions,
        has_unknown: inputs.arguments.unknown.is_some(),
        looks_protected,
        values,
    })
}

/// The first byte says if roles of arguments are unsure in the call, the others how it meets each condition of the tool's rules on
/// arguments, whether or not it is refused for its form.
pub(super) fn conditions_met(inputs: &mut Inputs, asking: &mut Asking) -> Option<Vec<u8>> {
    let tool = inputs.tool?;
    // Conditions are held against what is sent as well.
    resolvable_values(inputs, asking);
    Some(each_condition(inputs, asking, tool))
}

fn each_condition(inputs: &Inputs, asking: &mut Asking, tool: &Tool) -> Vec<u8> {
    let rules: Vec<(RuleId, &Rule)> = inputs.program.rules_of(tool).collect();
    let mut conditions = vec![u8::from(inputs.arguments.has_unsure_roles)];
    for (_, rule) in rules {
        for (at, condition) in rule.arguments.iter().enumerate() {
            let met = meets_argument(inputs, asking, tool, rule, at) as u8;
            let (surely, may) = given_meets(inputs, asking, tool, condition, Effect::Deny);
            conditions.push(met | u8::from(surely) << 2 | u8::from(may) << 3);
        }
    }
    conditions
}

/// `None` for a value that the engine filled in.
fn resolved_value(inputs: &Inputs, asking: &mut Asking, at: usize, wanted: Wanted) -> Option<ResolvedValue> {
    let patterns = protected::patterns_of(inputs, asking, at);
    let seen = place_seen(inputs, asking, at);
    let operand = inputs.operands.get(at)?;
    let argument = inputs.argument_of(operand)?;
    let roles = operand.bound.roles;
    let is_item = !operand.bound.place.is_empty();
    let named = operand
        .located()
        .map(|located| (located.base().to_owned(), located.path.as_str().to_owned()));
    let place = seen.map(|seen| ResolvedPlace { at: named, seen });
    let paths = operand.paths().map(|path| path.as_str().to_owned()).collect();
    let mut found = Vec::with_capacity(roles.len());
    for role in roles {
        let locations = match wanted.hosts.contains(*role) {
            true => locations_of(inputs, asking, at, *role).to_vec(),
            false => Vec::new(),
        };
        let addresses = match wanted.emails.contains(*role) {
            true => addresses_of(inputs, asking, at, *role).to_vec(),
            false => Vec::new(),
        };
        found.push(ResolvedRole {
            text: text_of(inputs, asking, at, *role).to_owned(),
            addresses,
            locations,
        });
    }
    Some(ResolvedValue {
        argument,
        is_item,
        paths,
        patterns,
        place,
        roles: found,
    })
}
