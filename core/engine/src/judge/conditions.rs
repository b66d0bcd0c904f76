//! Matches a rule's domain and list conditions against the values of a call.
//!
//! A grant is strict: an allow rule's condition holds when every value matches. A restriction is broad: a look-alike
//! counts, and one matching value among several is enough for a partial match.

use super::arguments::meets_arguments;
use super::asking::Asking;
use super::changes::changes;
use super::counts::may_meet_counts;
use super::directory::lies_within;
use super::hits::{Condition, Hit, Hits, Match, Matcher, Subject};
use super::inputs::{Inputs, Values};
use super::lists::{granted_ref, list_hit, reads_refs, ref_hit};
use super::locations::{is_ungrantable, locations_of};
use super::operand::Form;
use super::touch::may_concern;
use super::why::{Reason, Why};
use crate::cost::LOOK_UP;
use crate::model::Effect;
use crate::net::{DomainSet, Location};
use crate::program::{DirectoryId, ListMatcher, Rule, RuleId};
use crate::role::{RoleId, RoleSet};

/// Collects the values of one role in this judgement.
pub(super) fn collect_values(inputs: &Inputs, role: RoleId, subject: &Subject) -> Values {
    match subject.isolated {
        Some((isolated, value)) if isolated == role => Values::from_slice(&[value]),
        _ => Values::from_slice(inputs.values_of(role)),
    }
}

/// The values of several roles, in order, each with the role under which it is looked at.
fn values_in_set(inputs: &Inputs, roles: RoleSet, subject: &Subject) -> Vec<(usize, RoleId)> {
    let is_kept = |at: usize, role: RoleId| match subject.isolated {
        Some((isolated, value)) => isolated != role || value == at,
        None => true,
    };
    let operands = inputs.operands.iter().enumerate();
    let each_role = operands.flat_map(|(at, operand)| {
        let roles = operand.bound.roles.iter();
        roles.map(move |role| (at, *role))
    });
    each_role
        .filter(|(at, role)| roles.contains(*role) && is_kept(*at, *role))
        .collect()
}

/// The domain and list conditions of a rule that is relevant to the judged role, or that is looked at where the tool
/// has no resource role.
pub(super) fn meets_conditions<'r>(
    inputs: &Inputs,
    asking: &mut Asking,
    rule: &'r Rule,
    id: RuleId,
    subject: &Subject,
    why: &mut Reason<'r>,
) -> Match {
    if !meets_roles(inputs, rule, why) {
        return Match::Nothing;
    }
    if !may_meet_counts(inputs, asking, rule) {
        *why = Some(("counts", Why::Text("a count does not meet its bound")));
        return Match::Nothing;
    }
    let mut matched = meets_context(inputs, asking, rule, why);
    if matched != Match::Nothing {
        matched = matched.min(meets_arguments(inputs, asking, rule, why));
    }
    if matched == Match::Nothing {
        return matched;
    }
    if let Some((roles, set)) = &rule.domains {
        let mut hits = Hits::default();
        if let Some(role) = subject.judged.filter(|role| roles.contains(*role)) {
            let condition = Condition::domains(rule, id, set);
            hits = role_hits(inputs, asking, condition, role, subject, true);
        }
        matched = matched.min(hits.of_all());
        if matched == Match::Nothing {
            *why = Some((
                "domains",
                Why::Text("not every value of the judged role matches `domains.allowed`"),
            ));
            return matched;
        }
    }
    for (at, condition) in rule.lists.iter().enumerate() {
        if rule.effect == Effect::Allow && condition.roles.intersects(inputs.arguments.opaque_list_roles) {
            *why = Some((
                "lists",
                Why::Text("an array or object stands where strings belong"),
            ));
            return Match::Nothing;
        }
        let (roles, needs_all) = listed_roles(condition.roles, rule.effect, subject);
        let needs_all = needs_all || rule.effect == Effect::Allow;
        let condition = Condition::list(rule, id, at, &condition.matcher);
        let hits = set_hits(inputs, asking, condition, roles, subject, needs_all);
        matched = matched.min(if needs_all { hits.of_all() } else { hits.of_any() });
        if matched == Match::Nothing {
            *why = Some(("lists", Why::Text("not every value is in `lists.allowed`")));
            return matched;
        }
    }
    if rule.effect == Effect::Allow && has_ungrantable(inputs, asking, subject) {
        *why = Some(("url", Why::Text("a value is not a URL that a rule can grant")));
        return Match::Nothing;
    }
    matched
}

/// Returns `true` if a value of the judged role should be a URL and is not one that a rule can grant.
fn has_ungrantable(inputs: &Inputs, asking: &mut Asking, subject: &Subject) -> bool {
    let is_url = |role: &RoleId| inputs.program.url_roles.contains(*role);
    let is_careful = inputs.program.defaults.grants_clear_urls;
    let Some(role) = subject.judged.filter(is_url).filter(|_| is_careful) else {
        return false;
    };
    let values = collect_values(inputs, role, subject);
    values
        .into_iter()
        .any(|at| is_ungrantable(inputs, asking, at, role))
}

/// How the values of several roles meet a condition.
fn set_hits(
    inputs: &Inputs,
    asking: &mut Asking,
    condition: Condition<'_>,
    roles: RoleSet,
    subject: &Subject,
    needs_all: bool,
) -> Hits {
    let mut hits = Hits::default();
    for role in inputs.roles.intersection(roles).iter() {
        hits = hits.add(role_hits(inputs, asking, condition, role, subject, needs_all));
        if needs_all && hits.of_all() == Match::Nothing && hits.values > 0 {
            break;
        }
    }
    hits
}

/// How the values of one role meet a condition; all of them together are compared once in a judgement.
///
/// Where every value must meet it, the first that does not ends the comparison.
fn role_hits(
    inputs: &Inputs,
    asking: &mut Asking,
    condition: Condition<'_>,
    role: RoleId,
    subject: &Subject,
    needs_all: bool,
) -> Hits {
    let mut hits = Hits::default();
    if let Some((_, at)) = subject.isolated.filter(|(isolated, _)| *isolated == role) {
        hits.count(hit_of(inputs, asking, condition, at, role));
        return hits;
    }
    // One value is compared as fast as it is looked up.
    let values = inputs.values_of(role);
    let is_kept = values.len() > 1;
    let key = (condition.rule, condition.place, role, needs_all);
    if is_kept && let Some(known) = asking.lookups.hits.get(&key) {
        return *known;
    }
    for at in values.iter().copied() {
        let hit = hit_of(inputs, asking, condition, at, role);
        hits.count(hit);
        if (needs_all && hit == Hit::Miss) || asking.has_failed() {
            break;
        }
    }
    if is_kept {
        asking.lookups.hits.insert(key, hits);
    }
    hits
}

pub(super) fn hit_of(
    inputs: &Inputs,
    asking: &mut Asking,
    condition: Condition<'_>,
    at: usize,
    role: RoleId,
) -> Hit {
    let cost = match condition.matcher {
        Matcher::Domains(_) => LOOK_UP,
        Matcher::List(matcher) => {
            let bytes = inputs.operands.get(at).map_or(0, |operand| operand.given().len());
            matcher.cost(bytes)
        }
    };
    asking.take_steps(cost);
    match condition.matcher {
        Matcher::Domains(set) => names_one_of(inputs, asking, set, condition.effect, at, role),
        Matcher::List(_) if is_unknown(inputs, at) => Hit::look_alike(condition.effect != Effect::Allow),
        Matcher::List(matcher @ ListMatcher::Identifiers(names)) if reads_refs(inputs, role) => {
            match condition.effect {
                Effect::Allow => granted_ref(inputs, asking, matcher, names, at, role),
                Effect::Escalate | Effect::Deny => ref_hit(inputs, asking, matcher, names, at, role),
            }
        }
        Matcher::List(matcher) => list_hit(inputs, asking, matcher, condition.effect, at, role),
    }
}

fn is_unknown(inputs: &Inputs, at: usize) -> bool {
    let operand = inputs.operands.get(at);
    operand.is_some_and(|operand| matches!(operand.form, Form::Unknown))
}

/// Matches the domain that the value names, or each of them, against the set, in the sense that fits the effect.
fn names_one_of(
    inputs: &Inputs,
    asking: &mut Asking,
    set: &DomainSet,
    effect: Effect,
    at: usize,
    role: RoleId,
) -> Hit {
    let cost: usize = locations_of(inputs, asking, at, role)
        .iter()
        .map(Location::cost)
        .sum();
    asking.take_steps(cost * LOOK_UP);
    let locations = locations_of(inputs, asking, at, role);
    match effect {
        Effect::Allow => Hit::exact(set.grants_all(locations).is_some()),
        Effect::Escalate | Effect::Deny if set.restricts_any(locations).is_none() => Hit::Miss,
        Effect::Escalate | Effect::Deny => {
            let is_exact = |one: &Location| set.grants(one).is_some() || set.holds_text(one.display_domain());
            match locations.iter().any(is_exact) {
                true => Hit::Exact,
                false => Hit::LookAlike,
            }
        }
    }
}

/// Returns `true` if a restricting rule that is relevant to no judged role holds all the same: each condition is
/// looked at over the values of its own roles, and one matching value suffices.
pub(super) fn holds_across_roles<'r>(
    inputs: &Inputs,
    asking: &mut Asking,
    rule: &'r Rule,
    id: RuleId,
    subject: &Subject,
    why: &mut Reason<'r>,
) -> bool {
    if !may_meet_counts(inputs, asking, rule) {
        *why = Some(("counts", Why::Text("a count does not meet its bound")));
        return false;
    }
    if !meets_roles(inputs, rule, why)
        || meets_context(inputs, asking, rule, why) == Match::Nothing
        || meets_arguments(inputs, asking, rule, why) == Match::Nothing
    {
        return false;
    }
    if let Some((roles, set)) = &rule.domains {
        let condition = Condition::domains(rule, id, set);
        let hits = set_hits(inputs, asking, condition, *roles, subject, false);
        if hits.of_any() == Match::Nothing {
            *why = Some(("domains", Why::Text("no value matches `domains.allowed`")));
            return false;
        }
    }
    for (at, list) in rule.lists.iter().enumerate() {
        let condition = Condition::list(rule, id, at, &list.matcher);
        if set_hits(inputs, asking, condition, list.roles, subject, false).of_any() == Match::Nothing {
            *why = Some(("lists", Why::Text("no value is in `lists.allowed`")));
            return false;
        }
    }
    if let Some((roles, id)) = rule.paths {
        let values = values_in_set(inputs, roles, subject);
        asking.take_steps(values.len());
        let changes = changes(inputs, asking);
        let directory = asking.directories.rule(&mut asking.canonicalizer, id);
        let mut operands = values
            .iter()
            .filter_map(|(at, _)| Some((inputs.operands.get(*at)?, changes.get(*at))));
        if !operands.any(|(operand, change)| {
            lies_within(operand, directory, rule.effect) || may_concern(operand, change, directory, roles)
        }) {
            *why = Some(("paths", Why::Text("no path value lies within `paths.within`")));
            return false;
        }
    }
    true
}

/// `if.roles`: any role of any argument of the tool.
fn meets_roles(inputs: &Inputs, rule: &Rule, why: &mut Reason<'_>) -> bool {
    let meets = rule.roles.is_none_or(|roles| roles.intersects(inputs.roles));
    if !meets {
        *why = Some(("roles", Why::Text("no argument of the tool has one of `roles`")));
    }
    meets
}

/// `if.context`: who asks. Somebody whom nothing names may be whom a restriction is about, and is nobody to whom anything is granted.
fn meets_context(inputs: &Inputs, asking: &mut Asking, rule: &Rule, why: &mut Reason<'_>) -> Match {
    asking.take_steps(rule.context.iter().map(|(_, names)| names.len()).sum());
    let met = rule
        .context
        .iter()
        .map(|(caller, names)| match inputs.call.context().caller(*caller) {
            Some(name) if names.iter().any(|one| one.matches(name)) => Match::All,
            None if rule.effect != Effect::Allow => Match::Partial,
            Some(_) | None => Match::Nothing,
        });
    let met = met.min().unwrap_or(Match::All);
    if met == Match::Nothing {
        *why = Some(("context", Why::Text("who asks is not whom `context` names")));
    }
    met
}

/// The values that do not lie within the directory of a rule for these roles, and whether a restriction on it may concern one
/// of the values all the same.
pub(super) fn outside_of(
    inputs: &Inputs,
    asking: &mut Asking,
    effect: Effect,
    (roles, id): (RoleSet, DirectoryId),
    values: &[usize],
) -> (Values, bool) {
    asking.take_steps(values.len());
    let changes = match effect {
        Effect::Allow => None,
        Effect::Escalate | Effect::Deny => Some(changes(inputs, asking)),
    };
    let change = |at: usize| changes.as_ref().and_then(|changes| changes.get(at));
    let directory = asking.directories.rule(&mut asking.canonicalizer, id);
    let operands = &inputs.operands;
    let is_outside = |at: &usize| {
        let operand = operands.get(*at);
        !operand.is_some_and(|operand| lies_within(operand, directory, effect))
    };
    let outside: Values = values.iter().copied().filter(is_outside).collect();
    let mut concerned = values
        .iter()
        .filter_map(|at| Some((operands.get(*at)?, change(*at))));
    let is_concerned = effect != Effect::Allow
        && concerned.any(|(operand, change)| may_concern(operand, change, directory, roles));
    (outside, is_concerned)
}

/// The roles whose values a list condition looks at, and whether all of them must match a restricting rule too.
///
/// A condition that names the judged role is about its values. A restricting rule that also asks about another role
/// holds in part when one value of that role matches, since that value could come by itself.
fn listed_roles(roles: RoleSet, effect: Effect, subject: &Subject) -> (RoleSet, bool) {
    let names = |role: &RoleId| roles.contains(*role);
    let isolated = subject.isolated.map(|(role, _)| role).filter(names);
    match (subject.judged.filter(names), isolated) {
        (Some(role), _) => (role.into(), true),
        (None, Some(role)) if effect != Effect::Allow => (role.into(), true),
        (None, _) => (roles, subject.judged.is_none() && subject.isolated.is_none()),
    }
}
