//! The explanation of a verdict: what was kept while it was made, and the values with their forms.

use super::trace::{Explanation, ValueStep};
use super::{Case, Verdict};
use crate::role::{REDACTED, Step};

impl Case<'_, '_, '_> {
    /// The verdict with everything that led to it.
    pub fn explain(&mut self, verdict: Verdict<'_>) -> Explanation {
        let (server_name, tool_name) = (self.call.server().to_owned(), self.call.tool().to_owned());
        let (values, values_left_out) = self.explain_values();
        let (checks, roles, left_out) = self
            .trace
            .take()
            .map(|trace| (trace.checks, trace.roles, trace.left_out))
            .unwrap_or_default();
        let facts = &mut self.canonicalizer.facts;
        Explanation {
            verdict: verdict.into_owned(),
            server_name,
            tool_name,
            values,
            checks,
            roles,
            steps_left_out: left_out.saturating_add(values_left_out),
            values_left_out,
            recording: facts.take_recording(&self.program.home, &self.program.current),
        }
    }

    /// The values that the explanation shows, and how many more there are.
    fn explain_values(&self) -> (Vec<ValueStep>, usize) {
        let judged = self
            .operands
            .iter()
            .map(|operand| (&operand.bound, Some(operand)));
        let pending = self.pending.as_slice().iter().map(|bound| (bound, None));
        let mut each_role = judged
            .chain(pending)
            .flat_map(|(bound, operand)| bound.roles.iter().map(move |role| (bound, operand, *role)));
        let values = each_role
            .by_ref()
            .take(self.program.limits.explanation_steps)
            .map(|(bound, operand, role)| {
                let definition = self.program.registry.get(role);
                // One role that redacts a value hides it under the others as well.
                let is_redacted = definition.extract_policy_value == Some(Step::Redact)
                    || self.redacts(self.name_of_value(bound));
                let shown = |text: &str| if is_redacted { REDACTED } else { text }.to_owned();
                let canonical = match is_redacted {
                    true => Some(REDACTED.to_owned()),
                    false => operand.and_then(|operand| operand.shown(role, definition)),
                };
                ValueStep {
                    argument: self.pointer(bound),
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
}
