//! `if.args`: conditions of rules on arguments of the call, whatever their roles.
//!
//! A place is looked at once, however many conditions are about it.

use std::collections::BTreeMap;

use super::Case;
use super::hits::{Hit, Match};
use super::reason::{Reason, Why};
use crate::approval::ArgumentConstraint;
use crate::bind::{Looked, PointerToken, Siblings, Value, json_in_text, listed};
use crate::cost::TEXT_BYTES;
use crate::host::Facts;
use crate::model::refs::Ref;
use crate::model::{ComparedValue, Condition, ConditionArgument, ConditionValue, Effect, Separator, Test};
use crate::path::PathCase;
use crate::program::{ListMatcher, Rule, Tool};
use crate::role::{RoleId, RoleSet};
use crate::sort;

/// The values that conditions see at one place in the arguments.
#[derive(Default)]
pub(super) struct Look {
    /// `true` if nobody can tell what a server reads there: a value of another shape, or JSON in a text.
    is_unreadable: bool,
    /// The number that servers may convert the value to.
    number: Option<f64>,
    /// The texts that are judged and sent in place of the value: its canonical forms. A condition on the text alone would be
    /// met, or not, by another spelling of it.
    sent: Vec<String>,
    /// The same in place of the items of an array.
    sent_items: Vec<String>,
    /// The values there, of which `has_items` says that some are items of an array or of a text.
    operands: Vec<usize>,
    has_items: bool,
    /// The names by which a condition may mean the branch that git takes the text for; a restriction alone looks at them.
    branches: Vec<String>,
    /// `true` if git takes the text for a ref that cannot be told, which meets every restriction that compares.
    is_unknown_ref: bool,
}

impl Look {
    /// Returns `true` if the test compares, and may mean the branch that git takes the value for.
    fn names_branch(&self, test: &Test, case: PathCase, facts: &mut Facts<'_>) -> bool {
        let mut may_mean = |branch: &String| {
            test.may_hold(ConditionValue::Text(branch)) || may_be_confused(test, branch, case, facts)
        };
        matches!(test, Test::Equals(_) | Test::In(_))
            && (self.is_unknown_ref || self.branches.iter().any(&mut may_mean))
    }

    /// Adds what git takes a text under the role of a branch for.
    fn add_ref(&mut self, text: &str) {
        let names = match Ref::read(text) {
            Ref::Branch(name) => vec![name],
            Ref::Either(one, other) => vec![one, other],
            Ref::Current | Ref::Unknown => {
                self.is_unknown_ref = true;
                Vec::new()
            }
        };
        for name in names.iter().filter_map(|at| text.get(*at..)) {
            let spellings = ["", "heads/", "refs/heads/"].iter();
            self.branches
                .extend(spellings.map(|start| format!("{start}{name}")));
        }
    }
}

impl<'p> Case<'p, '_, '_> {
    /// Matches the call's arguments against a rule's conditions on them. A value that cannot be read meets a
    /// restriction, in part, and no grant.
    pub(super) fn meets_arguments<'r>(&mut self, rule: &'r Rule, why: &mut Reason<'r>) -> Match {
        let Some(tool) = self.tool.filter(|_| !rule.arguments.is_empty()) else {
            return Match::All;
        };
        let mut matched = Match::All;
        for (at, condition) in rule.arguments.iter().enumerate() {
            matched = matched.min(self.meets_argument(tool, rule, at));
            if matched == Match::Nothing {
                *why = Some(("args", Why::Argument(&condition.argument)));
                break;
            }
        }
        matched
    }

    /// Matches the condition of the rule at this place.
    pub(super) fn meets_argument(&mut self, tool: &'p Tool, rule: &Rule, at: usize) -> Match {
        let Some(condition) = rule.arguments.get(at) else {
            return Match::Nothing;
        };
        let effect = rule.effect;
        let lists = rule.argument_lists.get(at).map_or(&[][..], |lists| lists);
        let (surely, may) = self.given_meets(tool, condition, effect);
        let given = by_effect(effect, surely, || may);
        let Some(look) = self.look(tool, condition) else {
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
                Match::All if self.pushes_meet(condition) => Match::All,
                _ if self.is_granted_in_form(tool, condition, lists) => Match::All,
                _ => Match::Nothing,
            },
            Effect::Escalate | Effect::Deny => {
                let met = given.max(sent.unwrap_or(given));
                let is_met = met != Match::Nothing;
                match is_met
                    || !(self.names_branch(tool, condition)
                        || self.sent_items_meet(tool, condition)
                        || self.is_restricted_in_form(tool, condition, lists))
                {
                    true => met,
                    false => Match::Partial,
                }
            }
        }
    }

    /// Returns `true` if the one value there is listed in the form of each of its roles, as a list of them compares.
    fn is_granted_in_form(&mut self, tool: &'p Tool, condition: &Condition, lists: &[ListMatcher]) -> bool {
        let Some(look) = self.look(tool, condition) else {
            return false;
        };
        let &[at] = &*look.operands else { return false };
        if look.is_unreadable || look.has_items {
            return false;
        }
        let Some(roles) = self.operands.get(at).map(|operand| operand.bound.role_set) else {
            return false;
        };
        let mut hits = roles.iter().map(|role| {
            let mut hits = lists
                .iter()
                .filter_map(|list| self.form_hit(list, Effect::Allow, at, role));
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
        &mut self,
        tool: &'p Tool,
        condition: &Condition,
        lists: &[ListMatcher],
    ) -> bool {
        let Some(look) = self.look(tool, condition).filter(|_| !lists.is_empty()) else {
            return false;
        };
        let operands = look.operands.clone();
        operands.into_iter().any(|at| {
            let roles = self.operands.get(at).map(|operand| operand.bound.role_set);
            roles.unwrap_or_default().iter().any(|role| {
                let mut hits = lists
                    .iter()
                    .filter_map(|list| self.form_hit(list, Effect::Deny, at, role));
                hits.any(|hit| hit != Hit::Miss)
            })
        })
    }

    /// How a value meets the texts of a condition in the form of a role; `None` if the role has no form of its own.
    fn form_hit(&mut self, list: &ListMatcher, effect: Effect, at: usize, role: RoleId) -> Option<Hit> {
        let is_form = match list {
            ListMatcher::Emails(_) => role == RoleId::EMAIL_ADDRESS,
            ListMatcher::Domains(_) => false,
            ListMatcher::Identifiers(names) => {
                let step = self.program.registry.get(role).canonicalize;
                names.sets.iter().any(|(known, _)| *known == step)
            }
        };
        let bytes = self.operands.get(at)?.given().len();
        self.canonicalizer.facts.take_steps(list.cost(bytes));
        (is_form && !self.canonicalizer.facts.has_failed()).then(|| self.list_hit(list, effect, at, role))
    }

    /// Tests a value against a condition, as a grant and, if asked, as a restriction. An array may meet it where one of
    /// its items does, since many servers take both.
    pub(super) fn given_meets(
        &mut self,
        tool: &'p Tool,
        condition: &Condition,
        effect: Effect,
    ) -> (bool, bool) {
        let test = &condition.test;
        self.canonicalizer.facts.take_steps(test.cost());
        let place = tool.conditioned.number(&condition.argument);
        self.look(tool, condition);
        let look = place.and_then(|place| self.looked(place));
        let (is_unreadable, number) = look.map_or((false, None), |look| (look.is_unreadable, look.number));
        let siblings = self.lookups.siblings.as_ref();
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
            may = an_item_may_meet(&mut self.canonicalizer.facts, items, test);
        }
        (surely, may)
    }

    /// The values at the place of this condition; `None` if nothing stands there.
    fn look(&mut self, tool: &'p Tool, condition: &Condition) -> Option<&Look> {
        let place = tool.conditioned.number(&condition.argument)?;
        if self.looked(place).is_none() {
            let may_hold_json =
                !self.is_prose(tool, &condition.argument) && !is_list(tool, &condition.argument);
            let look = self.new_look(tool, place, may_hold_json);
            self.lookups.looks.insert(place, look);
        }
        self.looked(place)
    }

    fn looked(&self, place: usize) -> Option<&Look> {
        self.lookups.looks.get(&place)
    }

    /// Returns `true` if the annotation calls the argument a text, so that JSON in it is no more than that.
    pub(super) fn is_prose(&self, tool: &Tool, argument: &ConditionArgument) -> bool {
        let ConditionArgument::Top(name) = argument else {
            return false;
        };
        let roles = self.roles_of_argument(tool, name);
        roles.intersects(RoleSet::PROSE) && !roles.intersects(self.program.resource_roles)
    }

    /// The roles of an argument as a whole.
    pub(super) fn roles_of_argument(&self, tool: &Tool, name: &str) -> RoleSet {
        let member = tool.member(name);
        let ends = member.pointers.ends.iter();
        let indices = ends.filter_map(|rank| member.arguments.get(*rank));
        indices.fold(RoleSet::default(), |roles, index| {
            roles.union(self.arguments.resolved.set_of(*index))
        })
    }

    /// The value that a condition sees, for an approval to list; `None` if nobody can tell what it is.
    pub(super) fn listed(&mut self, tool: &'p Tool, condition: &Condition) -> Option<ArgumentConstraint> {
        self.look(tool, condition);
        let place = tool.conditioned.number(&condition.argument)?;
        let siblings = self.lookups.siblings.as_ref()?;
        let value = match siblings.look(place) {
            Looked::Absent => &Value::Null,
            Looked::Value(value) => value,
            Looked::Unreadable => return None,
        };
        listed(
            condition.argument.to_string(),
            value,
            self.program.limits.value_bytes,
        )
    }

    fn new_look(&mut self, tool: &'p Tool, place: usize, may_hold_json: bool) -> Look {
        let is_careful = self.program.defaults.reads_values;
        let (call, limits) = (self.call, &self.program.limits);
        let lookups = &mut self.lookups;
        let siblings = lookups.siblings.get_or_insert_with(|| {
            let schema = |name: &str| is_careful.then(|| &tool.member(name).schema);
            Siblings::new(&tool.conditioned, &call.arguments, limits, schema)
        });
        let mut look = Look::default();
        match siblings.look(place) {
            Looked::Absent => return look,
            Looked::Unreadable => look.is_unreadable = true,
            Looked::Value(value) => {
                let facts = &mut self.canonicalizer.facts;
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
            self.add_sent(&mut look, member, &way);
        }
        look
    }

    /// Adds what is sent in place of the values there.
    fn add_sent(&mut self, look: &mut Look, member: usize, way: &[PointerToken]) {
        let operands = &self.operands;
        let lookups = &mut self.lookups;
        let order = lookups.by_place.get_or_insert_with(|| {
            let place = |at: &usize| {
                operands
                    .get(*at)
                    .map(|one| (one.bound.argument, &one.bound.place))
            };
            let mut order: Vec<usize> = (0..operands.len()).collect();
            sort::sort_by(&mut order, |one, other| place(one).cmp(&place(other)));
            order
        });
        let place = |at: &usize| {
            let bound = operands.get(*at).map(|operand| &operand.bound);
            bound.map(|bound| (bound.argument, &*bound.place))
        };
        let start = order.partition_point(|at| place(at) < Some((Some(member), way)));
        let there = order.get(start..).unwrap_or_default().iter();
        let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (at, operand) in there.filter_map(|at| Some((*at, operands.get(*at)?))) {
            let is_there = operand.bound.argument == Some(member);
            let Some(below) = operand.bound.place.strip_prefix(way).filter(|_| is_there) else {
                break;
            };
            self.canonicalizer.facts.take_steps(1);
            if self.canonicalizer.facts.has_failed() {
                break;
            }
            let is_item = |token: &PointerToken| matches!(token, PointerToken::Item(_));
            if below.iter().all(is_item) && !operand.bound.is_filled_in() {
                look.operands.push(at);
                look.has_items |= !below.is_empty();
            }
            if operand.bound.role_set.contains(RoleId::BRANCH_NAME)
                && self.program.defaults.reads_refs
                && below.iter().all(is_item)
            {
                let text = operand.given();
                self.canonicalizer.facts.take_steps(1 + text.len() / TEXT_BYTES);
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
            if let Some(replaced) = self.canonicalizer.replacement(operand, false) {
                texts.extend(replaced.transport.into_iter().chain(replaced.policy));
            }
            // What is sent of a place is a path of the host, which no condition names.
            texts.extend(operand.located().map(|located| located.address.clone()));
        }
        for parts in parts.values() {
            if let Some(replaced) = self.canonicalizer.replacement_of_parts(parts, false) {
                look.sent
                    .extend(replaced.transport.into_iter().chain(replaced.policy));
            }
        }
    }

    /// Returns `true` if the condition may mean the branch that git takes the value for.
    fn names_branch(&mut self, tool: &'p Tool, condition: &Condition) -> bool {
        let place = tool.conditioned.number(&condition.argument);
        let look = place.and_then(|place| self.lookups.looks.get(&place));
        let case = self.program.path_case;
        let facts = &mut self.canonicalizer.facts;
        look.is_some_and(|look| look.names_branch(&condition.test, case, facts))
    }

    fn sent_items_meet(&mut self, tool: &'p Tool, condition: &Condition) -> bool {
        let place = tool.conditioned.number(&condition.argument);
        let Some(look) = place.and_then(|place| self.lookups.looks.get(&place)) else {
            return false;
        };
        let facts = &mut self.canonicalizer.facts;
        look.sent_items.iter().any(|text| {
            facts.take_steps(1 + text.len() / TEXT_BYTES);
            facts.has_failed() || condition.test.may_hold(ConditionValue::Text(text))
        })
    }
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

/// Returns `true` if the test compares with a spelling of the branch that is the same file where paths ignore case.
fn may_be_confused(test: &Test, branch: &str, case: PathCase, facts: &mut Facts<'_>) -> bool {
    case == PathCase::Insensitive
        && test.texts().any(|text| {
            facts.take_steps(1 + (text.len() + branch.len()) / TEXT_BYTES);
            facts.has_failed() || case.confuses(text, branch)
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
