//! Conditions of rules on counts (SPEC §8.4, *Counts*): how many calls there were before, as the host says it.

use super::asking::Asking;
use super::inputs::Inputs;
use crate::model::Effect;
use crate::program::Rule;

/// Returns `true` if no count that is said keeps the rule from holding.
pub(super) fn may_meet_counts(inputs: &Inputs, asking: &mut Asking, rule: &Rule) -> bool {
    asking.take_steps(rule.counts.len());
    let mut bounds = rule.counts.iter();
    bounds.all(|(counter, bound)| {
        let count = inputs.call.context().count(counter);
        count.is_none_or(|count| match rule.effect {
            Effect::Allow => count <= *bound,
            Effect::Escalate | Effect::Deny => count >= *bound,
        })
    })
}

/// The effect of a rule whose other conditions hold: where nobody says a count at which it looks, a person is asked.
pub(super) fn effect_of(inputs: &Inputs, asking: &mut Asking, rule: &Rule) -> Effect {
    match unsaid_count(inputs, rule) {
        None => rule.effect,
        Some(_) => {
            asking.lacks_counts = true;
            Effect::Escalate
        }
    }
}

/// The first count at which the rule looks and that nobody says.
pub(super) fn unsaid_count<'r>(inputs: &Inputs, rule: &'r Rule) -> Option<&'r str> {
    let mut counters = rule.counts.iter().map(|(counter, _)| &**counter);
    counters.find(|counter| inputs.call.context().count(counter).is_none())
}
