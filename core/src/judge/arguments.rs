//! `if.args`: conditions of rules on arguments of the call, whatever their roles.

use super::Case;
use super::conditions::{Match, Reason};
use super::json;
use crate::bind::Siblings;
use crate::model::{Condition, Effect, SchemaType, Seen};
use crate::program::{Compatibility, Rule, Tool};

impl<'p> Case<'p, '_, '_> {
    /// Whether the call's arguments meet a rule's conditions on them. What cannot be read meets a restriction, in part, and
    /// no grant.
    pub(super) fn meets_arguments(&mut self, rule: &Rule, why: &mut Reason) -> Match {
        let Some(tool) = self.tool.filter(|_| !rule.arguments.is_empty()) else {
            return Match::All;
        };
        let mut matched = Match::All;
        for condition in &rule.arguments {
            self.canonicalizer.facts.take_steps(condition.test.cost());
            matched = matched.min(self.meets_argument(tool, condition, rule.effect));
            if matched == Match::Nothing {
                *why = Some((
                    "args",
                    format!(
                        "the argument `{}` does not meet its condition",
                        condition.argument
                    )
                    .into(),
                ));
                break;
            }
        }
        matched
    }

    fn meets_argument(&mut self, tool: &'p Tool, condition: &Condition, effect: Effect) -> Match {
        let is_careful = self.program.compatibility == Compatibility::Careful;
        let names = tool.conditioned.iter().map(|name| &**name);
        let (call, limits) = (self.call, &self.program.limits);
        let siblings = self
            .siblings
            .get_or_insert_with(|| Siblings::named(names, &call.arguments, limits));
        let untyped = SchemaType::default();
        let schema = condition.argument.first().map(|name| &tool.member(name).schema);
        let schema = schema.filter(|_| is_careful).unwrap_or(&untyped);
        let mut seen = siblings.see_typed(&condition.argument, schema);
        if let Seen::Text(text) = seen
            && is_careful
            && json::compound(text).is_some()
        {
            seen = Seen::Unreadable;
        }
        match effect {
            _ if condition.test.surely_holds(seen) => Match::All,
            Effect::Escalate | Effect::Deny if condition.test.may_hold(seen) => Match::Partial,
            Effect::Allow | Effect::Escalate | Effect::Deny => Match::Nothing,
        }
    }
}
