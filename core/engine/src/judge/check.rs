//! The result of a structural check.

use super::{Case, StructuralRule, Verdict};

/// What a check finds, unless it simply holds or does not apply.
pub(super) enum Finding<'p> {
    /// The call escalates unless the rest of the judgement denies it. If a rule asks as well, the verdict names the rule.
    Escalate(Verdict<'p>),
    /// As `Escalate`, but the verdict names the check: what it asks about is certain.
    EscalateFirst(Verdict<'p>),
    /// The verdict, whatever the rest of the judgement would be. What explanations show instead of the reason, where that differs.
    Decided(Verdict<'p>, Option<String>),
}

impl<'p> Finding<'p> {
    pub(super) fn into_verdict(self) -> Verdict<'p> {
        match self {
            Self::Escalate(verdict) | Self::EscalateFirst(verdict) | Self::Decided(verdict, _) => verdict,
        }
    }
}

/// A denial by a rule of the engine.
pub(super) fn deny<'p>(rule: StructuralRule, reason: String) -> Option<Finding<'p>> {
    Some(Finding::Decided(Verdict::deny(rule, reason), None))
}

impl Case<'_, '_, '_> {
    /// Records a structural check that holds, and why, for an explanation. Where the host has failed nothing is known.
    pub(super) fn note_held(&mut self, check: &'static str, why: &'static str) {
        if !self.canonicalizer.facts.has_failed() {
            self.note(check, true, || why.to_owned());
        }
    }
}
