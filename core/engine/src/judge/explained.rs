//! The explanation of a verdict: what was kept while it was made, and the values with their forms.

use super::combine::RoleVerdict;
use super::hits::Subject;
use super::reason::Reason;
use super::trace::{Explanation, ValueStep};
use super::{Case, Verdict};
use crate::program::{DirectoryId, RuleId};
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

    pub(super) fn begin_walk(&mut self, subject: &Subject, concern: impl FnOnce() -> Vec<RuleId>) {
        let isolated = subject.isolated.filter(|_| self.trace.is_some());
        let isolated = isolated.and_then(|(_, at)| self.operands.get(at));
        let isolated = isolated.map(|operand| match self.redacts(self.name_of_value(&operand.bound)) {
            true => REDACTED.to_owned(),
            false => operand.bound.raw().to_owned(),
        });
        if let Some(trace) = &mut self.trace {
            trace.begin_walk(isolated, concern());
        }
    }

    pub(super) fn end_walk(&mut self, went_through_all: bool, decided: RoleVerdict) -> RoleVerdict {
        if self.trace.is_some() {
            self.explain_walk(went_through_all, decided);
        }
        decided
    }

    fn explain_walk(&mut self, went_through_all: bool, decided: RoleVerdict) {
        let verdict = self.verdict(decided, Vec::new());
        if let Some(trace) = &mut self.trace {
            let decision = verdict.decision.as_str();
            trace.end_walk(self.program, went_through_all, decision, &verdict.rule);
        }
    }

    pub(super) fn considered(&mut self, id: RuleId, holds: bool, outcome: &'static str, why: Reason<'_>) {
        if holds {
            self.note_rule(id);
        }
        if self.trace.is_some() {
            self.explain_rule(id, holds, outcome, why);
        }
    }

    fn explain_rule(&mut self, id: RuleId, holds: bool, outcome: &'static str, why: Reason<'_>) {
        if let Some(trace) = &mut self.trace {
            let why = why.map(|(condition, detail)| (condition, detail.to_string()));
            trace.rule(self.program, id, holds, outcome, why);
        }
    }

    pub(super) fn considered_directory(&mut self, id: RuleId, directory: DirectoryId) {
        if let Some(trace) = &mut self.trace {
            let directory = self.directories.rule(&mut self.canonicalizer, directory);
            let detail = format!("no value left lies within {}", directory.as_str());
            trace.rule(self.program, id, false, "", Some(("paths", detail)));
        }
    }
}
