//! `if.args`: conditions of rules on arguments of the call, whatever their roles.

use super::Case;
use super::conditions::Match;
use super::json;
use super::reason::{Reason, Why};
use crate::bind::{PointerToken, Siblings};
use crate::model::{Condition, ConditionArgument, Effect, SchemaType, Seen};
use crate::program::{Compatibility, Rule, Tool};

impl<'p> Case<'p, '_, '_> {
    /// Whether the call's arguments meet a rule's conditions on them. What cannot be read meets a restriction, in part, and
    /// no grant.
    pub(super) fn meets_arguments<'r>(&mut self, rule: &'r Rule, why: &mut Reason<'r>) -> Match {
        let Some(tool) = self.tool.filter(|_| !rule.arguments.is_empty()) else {
            return Match::All;
        };
        let mut matched = Match::All;
        for condition in &rule.arguments {
            self.canonicalizer.facts.take_steps(condition.test.cost());
            matched = matched.min(self.meets_argument(tool, condition, rule.effect));
            if matched == Match::Nothing {
                *why = Some(("args", Why::Argument(&condition.argument)));
                break;
            }
        }
        matched
    }

    pub(super) fn meets_argument(&mut self, tool: &'p Tool, condition: &Condition, effect: Effect) -> Match {
        let given = self.meets_as_given(tool, condition, effect);
        let sent = self.meets_as_sent(condition, effect);
        match effect {
            Effect::Allow => given.min(sent.unwrap_or(given)),
            Effect::Escalate | Effect::Deny => given.max(sent.unwrap_or(given)),
        }
    }

    fn meets_as_given(&mut self, tool: &'p Tool, condition: &Condition, effect: Effect) -> Match {
        let seen = self.seen_as_given(tool, &condition.argument);
        meets(condition, seen, effect)
    }

    /// What a condition sees of an argument.
    pub(super) fn seen_as_given<'s>(
        &'s mut self,
        tool: &'p Tool,
        argument: &'s ConditionArgument,
    ) -> Seen<'s> {
        let is_careful = self.program.compatibility == Compatibility::Careful;
        let names = tool.conditioned.iter().map(|name| &**name);
        let (call, limits) = (self.call, &self.program.limits);
        let siblings = self
            .siblings
            .get_or_insert_with(|| Siblings::named(names, &call.arguments, limits));
        let untyped = SchemaType::default();
        let schema = argument.first().map(|name| &tool.member(name).schema);
        let schema = schema.filter(|_| is_careful).unwrap_or(&untyped);
        let seen = siblings.see_typed(argument, schema);
        match seen {
            Seen::Text(text) if is_careful && json::compound(text).is_some() => Seen::Unreadable,
            seen => seen,
        }
    }

    /// The same for what is judged and sent in place of a value that names a resource: its canonical forms. A condition on
    /// the text alone would be met, or not, by another spelling of it.
    fn meets_as_sent(&mut self, condition: &Condition, effect: Effect) -> Option<Match> {
        if !self.sent.contains_key(&condition.argument) {
            let texts = self.sent_for(&condition.argument);
            self.sent.insert(condition.argument.clone(), texts);
        }
        let texts = self.sent.get(&condition.argument)?;
        let each = texts
            .iter()
            .map(|text| meets(condition, Seen::Text(text), effect));
        each.max()
    }

    fn sent_for(&mut self, argument: &ConditionArgument) -> Vec<String> {
        let rest = match argument {
            ConditionArgument::Top(_) => &[][..],
            ConditionArgument::Pointer(names) => names.get(1..).unwrap_or_default(),
        };
        let is_there = |token: &PointerToken, name: &str| match token {
            PointerToken::Item(item) => item.to_string() == name,
            PointerToken::Member(member) => member == name,
        };
        let mut texts = Vec::new();
        self.canonicalizer.facts.take_steps(self.operands.len());
        for operand in &self.operands {
            let place = &operand.bound.place;
            let is_meant = operand.bound.argument.is_some()
                && argument.first() == Some(self.name_of(operand.bound.argument))
                && place.len() == rest.len()
                && place.iter().zip(rest).all(|(token, name)| is_there(token, name));
            if is_meant && let Some(replaced) = self.canonicalizer.replacement(operand, false) {
                texts.extend(replaced.transport.into_iter().chain(replaced.policy));
            }
        }
        texts
    }
}

fn meets(condition: &Condition, seen: Seen<'_>, effect: Effect) -> Match {
    match effect {
        _ if condition.test.surely_holds(seen) => Match::All,
        Effect::Escalate | Effect::Deny if condition.test.may_hold(seen) => Match::Partial,
        Effect::Allow | Effect::Escalate | Effect::Deny => Match::Nothing,
    }
}
