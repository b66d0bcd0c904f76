//! The explanation of a verdict: what was kept while it was made, and the values with their forms.

use super::Verdict;
use super::asking::Asking;
use super::combine::RoleVerdict;
use super::counted::counter_steps;
use super::hits::Subject;
use super::inputs::Inputs;
use super::lookups::Lookups;
use super::operand::Operand;
use super::reason::verdict_of;
use super::trace::{Explanation, ValueStep};
use super::why::Reason;
use crate::host::Recording;
use crate::net::Location;
use crate::program::{DirectoryId, RuleId};
use crate::role::{Category, REDACTED, RoleDefinition, RoleId, Step};

/// The verdict with everything that led to it.
pub(super) fn explain(inputs: &Inputs, asking: &mut Asking, verdict: Verdict<'_>) -> Explanation {
    let (home, current) = (&inputs.program.home, &inputs.program.current);
    let recording = asking.canonicalizer.facts.take_recording(home, current);
    Explanation {
        recording,
        ..explain_steps(inputs, asking, verdict)
    }
}

/// The same without what the host was asked.
pub(super) fn explain_steps(inputs: &Inputs, asking: &mut Asking, verdict: Verdict<'_>) -> Explanation {
    let (server_name, tool_name) = (inputs.call.server().to_owned(), inputs.call.tool().to_owned());
    let (values, values_left_out) = explain_values(inputs, &asking.lookups);
    let (checks, roles, commands, left_out) = asking
        .trace
        .take()
        .map(|trace| (trace.checks, trace.roles, trace.commands, trace.left_out))
        .unwrap_or_default();
    Explanation {
        verdict: verdict.into_owned(),
        server_name,
        tool_name,
        values,
        checks,
        roles,
        commands,
        counters: counter_steps(inputs, asking),
        steps_left_out: left_out.saturating_add(values_left_out),
        values_left_out,
        recording: Recording::default(),
    }
}

/// The values that the explanation shows, and how many more there are.
fn explain_values(inputs: &Inputs, lookups: &Lookups) -> (Vec<ValueStep>, usize) {
    let judged = inputs.operands.iter().enumerate();
    let judged = judged.map(|(at, operand)| (&operand.bound, Some((at, operand))));
    let pending = inputs.pending.as_slice().iter().map(|bound| (bound, None));
    let mut each_role = judged
        .chain(pending)
        .flat_map(|(bound, operand)| bound.roles.iter().map(move |role| (bound, operand, *role)));
    let values = each_role
        .by_ref()
        .take(inputs.program.limits.explanation_steps)
        .map(|(bound, operand, role)| {
            let definition = inputs.program.registry.get(role);
            // One role that redacts a value hides it under the others as well.
            let is_redacted = definition.extract_policy_value == Some(Step::Redact)
                || inputs.redacts(inputs.name_of_value(bound));
            let shown = |text: &str| if is_redacted { REDACTED } else { text }.to_owned();
            let canonical = match is_redacted {
                true => Some(REDACTED.to_owned()),
                false => {
                    operand.and_then(|(at, operand)| canonical_form(lookups, operand, at, role, definition))
                }
            };
            ValueStep {
                argument: inputs.pointer(bound),
                role: definition.name.to_string(),
                raw: shown(bound.raw()),
                canonical,
                relative_to: bound.relative_to.map(str::to_owned),
                absent: bound.absent.is_some(),
            }
        })
        .collect();
    (values, each_role.count())
}

/// The canonical form under a role, as far as the judgement made it.
fn canonical_form(
    lookups: &Lookups,
    operand: &Operand<'_, '_>,
    at: usize,
    role: RoleId,
    definition: &RoleDefinition,
) -> Option<String> {
    match definition.category {
        Category::Path => operand.path().map(|path| path.as_str().to_owned()),
        Category::Url => {
            let locations = lookups.locations(at, role)?.iter();
            let domains: Vec<&str> = locations.map(Location::display_domain).collect();
            (!domains.is_empty()).then(|| domains.join(", "))
        }
        Category::Command => Some(operand.given().to_owned()),
        Category::Identifier | Category::Opaque => lookups.text(operand, at, role).map(str::to_owned),
        Category::Address => operand.located().map(|located| located.address.clone()),
    }
}

pub(super) fn begin_walk(
    inputs: &Inputs,
    asking: &mut Asking,
    subject: &Subject,
    concern: impl FnOnce() -> Vec<RuleId>,
) {
    let isolated = subject.isolated.filter(|_| asking.trace.is_some());
    let isolated = isolated.and_then(|(_, at)| inputs.operands.get(at));
    let isolated = isolated.map(
        |operand| match inputs.redacts(inputs.name_of_value(&operand.bound)) {
            true => REDACTED.to_owned(),
            false => operand.bound.raw().to_owned(),
        },
    );
    if let Some(trace) = &mut asking.trace {
        trace.begin_walk(isolated, concern());
    }
}

pub(super) fn end_walk(
    inputs: &Inputs,
    asking: &mut Asking,
    went_through_all: bool,
    decided: RoleVerdict,
) -> RoleVerdict {
    if asking.trace.is_some() {
        let verdict = verdict_of(inputs, asking, decided, Vec::new());
        if let Some(trace) = &mut asking.trace {
            let decision = verdict.decision.as_str();
            trace.end_walk(inputs.program, went_through_all, decision, &verdict.rule);
        }
    }
    decided
}

pub(super) fn considered(
    inputs: &Inputs,
    asking: &mut Asking,
    id: RuleId,
    holds: bool,
    outcome: &'static str,
    why: Reason<'_>,
) {
    if holds && let Some(held) = &mut asking.held {
        held.insert(id);
    }
    if let Some(trace) = &mut asking.trace {
        let why = why.map(|(condition, detail)| (condition, detail.to_string()));
        trace.rule(inputs.program, id, holds, outcome, why);
    }
}

pub(super) fn considered_directory(inputs: &Inputs, asking: &mut Asking, id: RuleId, directory: DirectoryId) {
    if let Some(trace) = &mut asking.trace {
        let directory = asking.directories.rule(&mut asking.canonicalizer, directory);
        let detail = format!("no value left lies within {}", directory.as_str());
        trace.rule(inputs.program, id, false, "", Some(("paths", detail)));
    }
}
