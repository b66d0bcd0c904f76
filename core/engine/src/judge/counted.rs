//! What a call counts for (SPEC §8.4, *Counts*), once it is made.

use super::asking::Asking;
use super::conditions::holds_across_roles;
use super::hits::Subject;
use super::inputs::Inputs;
use super::trace::CounterStep;
use crate::program::{Counter, RuleId};

/// Notes for which counters the call counts, or a program of a command. Of one that a check has decided about, names alone are known.
pub(super) fn count(inputs: &Inputs, asking: &mut Asking, is_decided: bool) {
    let counters = &inputs.program.counters;
    asking.take_steps(counters.len());
    asking.counted.resize(counters.len(), 0);
    let subject = Subject {
        judged: None,
        isolated: None,
    };
    for (at, counter) in counters.iter().enumerate() {
        let id = (inputs.program.rules.len() + at) as RuleId;
        let counts = counter.is_about(inputs.call.server(), inputs.call.tool())
            && (is_decided || holds_across_roles(inputs, asking, &counter.rule, id, &subject, &mut None));
        if let Some(counted) = asking.counted.get_mut(at).filter(|_| counts) {
            *counted += 1;
        }
    }
}

/// What an explanation says of each counter.
pub(super) fn counter_steps(inputs: &Inputs, asking: &Asking) -> Vec<CounterStep> {
    let counters = inputs.program.counters.iter().enumerate();
    let step = |(at, counter): (usize, &Counter)| CounterStep {
        counter: counter.rule.name.to_string(),
        count: inputs.call.context().count(&counter.rule.name),
        adds: asking.counted.get(at).copied().unwrap_or_default(),
    };
    counters.map(step).collect()
}
