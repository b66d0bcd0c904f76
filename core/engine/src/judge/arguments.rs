//! `if.args`: conditions of rules on arguments of the call, whatever their roles.
//!
//! A place is looked at once, however many conditions are about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::asking::Asking;
use super::hits::{Hit, Match};
use super::inputs::Inputs;
use super::lists::list_hit;
use super::look::Look;
use super::refs::pushes_meet;
use super::why::{Reason, Why};
use crate::approval::ArgumentConstraint;
use crate::bind::{Looked, PointerToken, Value, json_in_text, listed};
use crate::cost::TEXT_BYTES;
use crate::host::Facts;
use crate::model::{ComparedValue, Condition, ConditionArgument, ConditionValue, Effect, Separator, Test};
use crate::program::{ListMatcher, Rule, Tool};
use crate::role::{RoleId, RoleSet};

/// Matches the call's arguments against a rule's conditions on them. A value that cannot be read meets a
/// restriction, in part, and no grant.
pub(super) fn meets_arguments<'r>(
    inputs: &Inputs,
    asking: &mut Asking,
    rule: &'r Rule,
    why: &mut Reason<'r>,
) -> Match {
    let Some(tool) = inputs.tool.filter(|_| !rule.arguments.is_empty()) else {
        return Match::All;
    };
    let mut matched = Match::All;
    for (at, condition) in rule.arguments.iter().enumerate() {
        matched = matched.min(meets_argument(inputs, asking, tool, rule, at));
        if matched == Match::Nothing {
            *why = Some(("args", Why::Argument(&condition.argument)));
            break;
        }
    }
    matched
}

/// Matches the condition of the rule at this place.
pub(super) fn meets_argument(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    rule: &Rule,
    at: usize,
) -> Match {
    let Some(condition) = rule.arguments.get(at) else {
        return Match::Nothing;
    };
    let effect = rule.effect;
    let lists = rule.argument_lists.get(at).map_or(&[][..], |lists| lists);
    let (surely, may) = given_meets(inputs, asking, tool, condition, effect);
    let given = by_effect(effect, surely, || may);
    let Some(look) = look(inputs, asking, tool, condition) else {
        return given;
    };
    let sent = look.sent.iter().map(|text| {
        let text = ConditionValue::Text(text);
        by_effect(effect, condition.test.surely_holds(text), || {
            condition.test.may_hold(text)
        })
    });
    let sent = sent.max();
    match effect {
        Effect::Allow => match given.min(sent.unwrap_or(given)) {
            Match::All if pushes_meet(inputs, asking, condition) => Match::All,
            _ if is_granted_in_form(inputs, asking, tool, condition, lists) => Match::All,
            _ => Match::Nothing,
        },
        Effect::Escalate | Effect::Deny => {
            let met = given.max(sent.unwrap_or(given));
            let is_met = met != Match::Nothing;
            match is_met
                || !(names_branch(inputs, asking, tool, condition)
                    || sent_items_meet(asking, tool, condition)
                    || is_restricted_in_form(inputs, asking, tool, condition, lists))
            {
                true => met,
                false => Match::Partial,
            }
        }
    }
}

/// Returns `true` if the one value there is listed in the form of each of its roles, as a list of them compares.
fn is_granted_in_form(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    condition: &Condition,
    lists: &[ListMatcher],
) -> bool {
    let Some(look) = look(inputs, asking, tool, condition) else {
        return false;
    };
    let &[at] = &*look.operands else { return false };
    if look.is_unreadable || look.has_items {
        return false;
    }
    let Some(roles) = inputs.operands.get(at).map(|operand| operand.bound.role_set) else {
        return false;
    };
    let mut hits = roles.iter().map(|role| {
        let mut hits = lists
            .iter()
            .filter_map(|list| form_hit(inputs, asking, list, Effect::Allow, at, role));
        hits.next()
    });
    let mut is_granted = false;
    let is_listed = hits.all(|hit| {
        is_granted |= hit.is_some();
        hit.is_none_or(|hit| hit == Hit::Exact)
    });
    is_granted && is_listed
}

/// Returns `true` if a value there may be listed in the form of one of its roles.
fn is_restricted_in_form(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    condition: &Condition,
    lists: &[ListMatcher],
) -> bool {
    let Some(look) = look(inputs, asking, tool, condition).filter(|_| !lists.is_empty()) else {
        return false;
    };
    let operands = look.operands.clone();
    operands.into_iter().any(|at| {
        let roles = inputs.operands.get(at).map(|operand| operand.bound.role_set);
        roles.unwrap_or_default().iter().any(|role| {
            let mut hits = lists
                .iter()
                .filter_map(|list| form_hit(inputs, asking, list, Effect::Deny, at, role));
            hits.any(|hit| hit != Hit::Miss)
        })
    })
}

/// How a value meets the texts of a condition in the form of a role; `None` if the role has no form of its own.
fn form_hit(
    inputs: &Inputs,
    asking: &mut Asking,
    list: &ListMatcher,
    effect: Effect,
    at: usize,
    role: RoleId,
) -> Option<Hit> {
    let is_form = match list {
        ListMatcher::Emails(_) => role == RoleId::EMAIL_ADDRESS,
        ListMatcher::Domains(_) => false,
        ListMatcher::Identifiers(names) => {
            let step = inputs.program.registry.get(role).canonicalize;
            names.sets.iter().any(|(known, _)| *known == step)
        }
    };
    let bytes = inputs.operands.get(at)?.given().len();
    asking.take_steps(list.cost(bytes));
    (is_form && !asking.has_failed()).then(|| list_hit(inputs, asking, list, effect, at, role))
}

/// Tests a value against a condition, as a grant and, if asked, as a restriction. An array may meet it where one of
/// its items does, since many servers take both.
pub(super) fn given_meets(
    inputs: &Inputs,
    asking: &mut Asking,
    tool: &Tool,
    condition: &Condition,
    effect: Effect,
) -> (bool, bool) {
    let test = &condition.test;
    asking.take_steps(test.cost());
    let place = tool.conditioned.number(&condition.argument);
    let look = look(inputs, asking, tool, condition);
    let (is_unreadable, number) = look.map_or((false, None), |look| (look.is_unreadable, look.number));
    let siblings = inputs.siblings.as_ref();
    let looked = siblings.zip(place).map(|(siblings, place)| siblings.look(place));
    let value = match looked {
        _ if is_unreadable => return (false, true),
        None | Some(Looked::Absent) => ComparedValue::with_number(ConditionValue::Absent, None),
        Some(Looked::Unreadable) => return (false, true),
        Some(Looked::Value(value)) => ComparedValue::with_number(value.condition_value(), number),
    };
    let (surely, mut may) = (test.surely_holds(value), test.may_hold(value));
    if effect != Effect::Allow
        && !may
        && let Some(Looked::Value(Value::Array(items))) = looked
    {
        may = an_item_may_meet(&mut asking.canonicalizer.facts, items, test);
    }
    (surely, may)
}

/// The values at the place of this condition; `None` if nothing stands there.
fn look<'a>(inputs: &Inputs, asking: &'a mut Asking, tool: &Tool, condition: &Condition) -> Option<&'a Look> {
    let place = tool.conditioned.number(&condition.argument)?;
    if !asking.lookups.looks.contains_key(&place) {
        let may_hold_json =
            !is_prose(inputs, tool, &condition.argument) && !is_list(tool, &condition.argument);
        let look = new_look(inputs, asking, place, may_hold_json);
        asking.lookups.looks.insert(place, look);
    }
    asking.lookups.looks.get(&place)
}

/// Returns `true` if the annotation calls the argument a text, so that JSON in it is no more than that.
pub(super) fn is_prose(inputs: &Inputs, tool: &Tool, argument: &ConditionArgument) -> bool {
    let ConditionArgument::Top(name) = argument else {
        return false;
    };
    let roles = roles_of_argument(inputs, tool, name);
    roles.intersects(RoleSet::PROSE) && !roles.intersects(inputs.program.resource_roles)
}

/// The roles of an argument as a whole.
pub(super) fn roles_of_argument(inputs: &Inputs, tool: &Tool, name: &str) -> RoleSet {
    let member = tool.member(name);
    let ends = member.pointers.ends.iter();
    let indices = ends.filter_map(|rank| member.arguments.get(*rank));
    indices.fold(RoleSet::default(), |roles, index| {
        roles.union(inputs.arguments.resolved.set_of(*index))
    })
}

/// The value that a condition sees, for an approval to list; `None` if nobody can tell what it is.
pub(super) fn listed_argument(
    inputs: &Inputs,
    tool: &Tool,
    condition: &Condition,
) -> Option<ArgumentConstraint> {
    let place = tool.conditioned.number(&condition.argument)?;
    let value = match inputs.siblings.as_ref()?.look(place) {
        Looked::Absent => &Value::Null,
        Looked::Value(value) => value,
        Looked::Unreadable => return None,
    };
    listed(
        condition.argument.to_string(),
        value,
        inputs.program.limits.value_bytes,
    )
}

fn new_look(inputs: &Inputs, asking: &mut Asking, place: usize, may_hold_json: bool) -> Look {
    let is_careful = inputs.program.defaults.reads_values;
    let mut look = Look::default();
    let Some(siblings) = &inputs.siblings else {
        return look;
    };
    match siblings.look(place) {
        Looked::Absent => return look,
        Looked::Unreadable => look.is_unreadable = true,
        Looked::Value(value) => {
            let facts = &mut asking.canonicalizer.facts;
            if let Value::Text(text) = value {
                facts.take_steps(text.len() / TEXT_BYTES);
            }
            if !facts.has_failed() {
                let json = match value {
                    Value::Text(text) if is_careful && may_hold_json => json_in_text(text),
                    _ => None,
                };
                look.is_unreadable = json.is_some();
                look.number = ComparedValue::from(value.condition_value()).number();
            }
        }
    }
    if let Some((member, way)) = siblings.place(place) {
        add_sent(inputs, asking, &mut look, member, &way);
    }
    look
}

/// Adds what is sent in place of the values there.
fn add_sent(inputs: &Inputs, asking: &mut Asking, look: &mut Look, member: usize, way: &[PointerToken]) {
    let known = asking.lookups.by_place.clone();
    let order = known.unwrap_or_else(|| inputs.operands_by_place().into());
    asking.lookups.by_place = Some(Arc::clone(&order));
    let start = order.partition_point(|at| inputs.place_of(*at) < Some((Some(member), way)));
    let there = order.get(start..).unwrap_or_default().iter();
    let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (at, operand) in there.filter_map(|at| Some((*at, inputs.operands.get(*at)?))) {
        let is_there = operand.bound.argument == Some(member);
        let Some(below) = operand.bound.place.strip_prefix(way).filter(|_| is_there) else {
            break;
        };
        asking.take_steps(1);
        if asking.has_failed() {
            break;
        }
        let is_item = |token: &PointerToken| matches!(token, PointerToken::Item(_));
        if below.iter().all(is_item) && !operand.bound.is_filled_in() {
            look.operands.push(at);
            look.has_items |= !below.is_empty();
        }
        if operand.bound.role_set.contains(RoleId::BRANCH_NAME)
            && inputs.program.defaults.reads_refs
            && below.iter().all(is_item)
        {
            let text = operand.given();
            asking.take_steps(1 + text.len() / TEXT_BYTES);
            look.add_ref(text);
        }
        if let Some((text, _)) = operand.text_of_parts() {
            look.sent_items.push(operand.bound.raw().to_owned());
            if below.len() == 1 {
                parts.entry(text).or_default().push(operand);
            }
        }
        let texts = match below {
            [] => &mut look.sent,
            below if below.iter().all(is_item) => &mut look.sent_items,
            _ => continue,
        };
        if let Some(replaced) = asking.canonicalizer.replacement(operand, false) {
            texts.extend(replaced.transport.into_iter().chain(replaced.policy));
        }
        // What is sent of a place is a path of the host, which no condition names.
        texts.extend(operand.located().map(|located| located.address.clone()));
    }
    for parts in parts.values() {
        if let Some(replaced) = asking.canonicalizer.replacement_of_parts(parts, false) {
            look.sent
                .extend(replaced.transport.into_iter().chain(replaced.policy));
        }
    }
}

/// Returns `true` if the condition may mean the branch that git takes the value for.
fn names_branch(inputs: &Inputs, asking: &mut Asking, tool: &Tool, condition: &Condition) -> bool {
    let place = tool.conditioned.number(&condition.argument);
    let look = place.and_then(|place| asking.lookups.looks.get(&place));
    let case = inputs.program.path_case;
    let facts = &mut asking.canonicalizer.facts;
    look.is_some_and(|look| look.names_branch(&condition.test, case, facts))
}

fn sent_items_meet(asking: &mut Asking, tool: &Tool, condition: &Condition) -> bool {
    let place = tool.conditioned.number(&condition.argument);
    let Some(look) = place.and_then(|place| asking.lookups.looks.get(&place)) else {
        return false;
    };
    let facts = &mut asking.canonicalizer.facts;
    look.sent_items.iter().any(|text| {
        facts.take_steps(1 + text.len() / TEXT_BYTES);
        facts.has_failed() || condition.test.may_hold(ConditionValue::Text(text))
    })
}

/// Returns `true` if the annotation says that the argument is a JSON array in a text, of which each item is judged.
fn is_list(tool: &Tool, argument: &ConditionArgument) -> bool {
    let ConditionArgument::Top(name) = argument else {
        return false;
    };
    let member = tool.member(name);
    let ends = member.pointers.ends.iter();
    let indices = ends.filter_map(|rank| member.arguments.get(*rank));
    let mut own = indices.filter_map(|index| tool.arguments.get(*index));
    own.any(|argument| argument.separator == Some(Separator::Json))
}

/// Returns `true` if one of the items, or one of an array among them, may meet a restriction. Where the steps run out,
/// the call is denied in any case.
fn an_item_may_meet(facts: &mut Facts<'_>, items: &[Value<'_>], test: &Test) -> bool {
    items.iter().any(|item| {
        let bytes = match item {
            Value::Text(text) => text.len(),
            _ => 0,
        };
        facts.take_steps(1 + bytes / TEXT_BYTES);
        if facts.has_failed() {
            return true;
        }
        match item {
            Value::Array(items) if !items.is_empty() => an_item_may_meet(facts, items, test),
            item => test.may_hold(item.condition_value()),
        }
    })
}

fn by_effect(effect: Effect, surely: bool, may: impl FnOnce() -> bool) -> Match {
    if surely {
        Match::All
    } else if effect != Effect::Allow && may() {
        Match::Partial
    } else {
        Match::Nothing
    }
}
