//! The things that judging can tell apart in a call: two calls in which it sees the same are judged alike. An
//! analysis looks at few values in several at once by it, and tests hold the regions against it.

use super::arguments::meets_argument;
use super::asking::Asking;
use super::changes::changes;
use super::conditions::hit_of;
use super::directory::lies_within;
use super::hits::Condition;
use super::inputs::Inputs;
use super::locations::{is_ungrantable, locations_of};
use super::operand::{Form, Operand};
use super::operands::resolvable_values;
use super::touch::may_concern;
use super::world::place_seen;
use super::{ceiling, git, protected};
use crate::model::{Effect, ServerKind};
use crate::net::{Location, domain_matches_allowlist};
use crate::program::{Rule, RuleId};
use crate::role::RoleId;

/// One value as judging sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueSight {
    /// The tool's argument that it stands under; `None` for a value that the engine filled in.
    pub argument: Option<usize>,
    /// The text as given.
    pub text: String,
    /// `true` if it is what its role expects, such as one URL that every program reads alike. Otherwise it can look
    /// like several things at once.
    pub is_clear: bool,
    /// How it meets each condition that may look at it, each directory and each list of the engine.
    pub seen: Vec<u8>,
}

/// A call as judging sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// The roles of each argument, conditions resolved.
    pub roles: Vec<Vec<RoleId>>,
    /// `true` if there is an argument that nobody names.
    pub has_unknown: bool,
    /// `true` if a text without the role of a path looks like a protected one.
    pub looks_protected: bool,
    /// How the call meets the conditions of rules on its arguments.
    pub arguments: Vec<u8>,
    /// `true` if the capability ceiling refuses it.
    pub is_above: bool,
    /// Its values, in order.
    pub values: Vec<ValueSight>,
}

/// The call as judging sees it; `None` for a call of an unknown tool, of a trusted server, and for one that is
/// refused for its form.
pub(super) fn sight(inputs: &mut Inputs, asking: &mut Asking) -> Option<Sight> {
    let tool = inputs.tool?;
    if inputs.arguments.refusal.is_some() || inputs.settings.is_trusted {
        return None;
    }
    if resolvable_values(inputs, asking).is_some() {
        return None;
    }
    let protected = protected::touched(inputs, asking);
    let is_above = ceiling::check(inputs, asking).is_some();
    git::fill_in(inputs, asking);
    let rules: Vec<(RuleId, &Rule)> = inputs.program.rules_of(tool).collect();
    let mut values = Vec::with_capacity(inputs.operands.len());
    for at in 0..inputs.operands.len() {
        let seen = seen_of(inputs, asking, &rules, at, &protected);
        values.extend(inputs.operands.get(at).map(|operand| ValueSight {
            argument: inputs.argument_of(operand),
            text: operand.given().to_owned(),
            is_clear: is_clear(asking, at, operand),
            seen,
        }));
    }
    let mut arguments = Vec::new();
    for (_, rule) in &rules {
        for at in 0..rule.arguments.len() {
            arguments.push(meets_argument(inputs, asking, tool, rule, at) as u8);
        }
    }
    if asking.has_failed() {
        return None;
    }
    Some(Sight {
        roles: inputs.arguments.resolved.iter().map(<[RoleId]>::to_vec).collect(),
        has_unknown: inputs.arguments.unknown.is_some(),
        looks_protected: protected.is_text,
        arguments,
        is_above,
        values,
    })
}

fn is_clear(asking: &Asking, at: usize, operand: &Operand<'_, '_>) -> bool {
    !operand.bound.is_filled_in() && asking.lookups.each_location(at).all(Location::is_grantable)
}

/// How one value meets everything that it is held against.
fn seen_of(
    inputs: &Inputs,
    asking: &mut Asking,
    rules: &[(RuleId, &Rule)],
    at: usize,
    protected: &protected::Touched,
) -> Vec<u8> {
    let roles = inputs
        .operands
        .get(at)
        .map(|operand| operand.bound.role_set)
        .unwrap_or_default();
    // A protected path is denied, whatever else is seen of it.
    if protected.certain.contains(&at) {
        return vec![1];
    }
    let mut seen = vec![0, u8::from(protected.possible.contains(&at))];
    let changes = changes(inputs, asking);
    for (id, rule) in rules {
        if let Some((of, directory)) = rule.paths.filter(|(of, _)| of.intersects(roles)) {
            let directory = asking.directories.rule(&mut asking.canonicalizer, directory);
            let Some(operand) = inputs.operands.get(at) else {
                continue;
            };
            let grants = lies_within(operand, directory, Effect::Allow);
            let restricts = lies_within(operand, directory, Effect::Deny);
            let concerns = may_concern(operand, changes.get(at), directory, of);
            seen.push(u8::from(grants) | u8::from(restricts) << 1 | u8::from(concerns) << 2);
        }
        if let Some((of, set)) = &rule.domains {
            for role in of.intersection(roles).iter() {
                seen.push(hit_of(inputs, asking, Condition::domains(rule, *id, set), at, role) as u8);
            }
        }
        for (place, list) in rule.lists.iter().enumerate() {
            for role in list.roles.intersection(roles).iter() {
                let condition = Condition::list(rule, *id, place, &list.matcher);
                seen.push(hit_of(inputs, asking, condition, at, role) as u8);
            }
        }
    }
    let operand = inputs.operands.get(at);
    if inputs.settings.is_sandboxed && roles.intersects(inputs.program.sandbox_roles) {
        let sandbox = asking.directories.sandbox(&mut asking.canonicalizer);
        seen.push(u8::from(operand.is_some_and(|operand| sandbox.holds(operand))));
    }
    // The existing runtime looks up no remote of a repository outside the sandbox.
    if let Some(path) = operand.and_then(Operand::path)
        && inputs.settings.kind == Some(ServerKind::Git)
        && !inputs.program.defaults.asks_all_repositories
    {
        let sandbox = asking.directories.sandbox(&mut asking.canonicalizer);
        seen.push(u8::from(sandbox.grants(path)));
    }
    seen.push(match operand.map(|operand| &operand.form) {
        Some(Form::Unknown) => 1,
        Some(Form::Path { .. } | Form::Address(_) | Form::Text | Form::Unresolvable(_)) | None => 0,
    });
    if let Some(place) = place_seen(inputs, asking, at) {
        let answers = [place.is_visible, place.is_allowed, place.is_removed];
        seen.extend(answers.map(u8::from));
    }
    let program = inputs.program;
    if program.defaults.grants_clear_urls {
        for role in program.url_roles.intersection(roles).iter() {
            seen.push(u8::from(is_ungrantable(inputs, asking, at, role)));
        }
    }
    if let Some((allowlist, patterns)) = &inputs.settings.allowlist {
        for role in program.url_roles.intersection(roles).iter() {
            let locations = locations_of(inputs, asking, at, role);
            let outside = locations.iter().find(|one| allowlist.grants(one).is_none());
            seen.push(outside.map_or(0, |one| {
                1 + u8::from(domain_matches_allowlist(one.display_domain(), patterns))
            }));
        }
    }
    seen
}
