//! The result of a structural check.

use super::{Case, Verdict};

/// The result of a check; `None` where it holds or does not apply. Boxed, since few checks say more.
pub(super) type Checked<'p> = Option<Box<Check<'p>>>;

/// The result of a check that does not simply hold.
pub(super) enum Check<'p> {
    /// The call is allowed whatever the rules say.
    Allow(Verdict<'p>),
    /// The call is denied. What explanations show instead of the reason, where that differs.
    Deny(Verdict<'p>, Option<String>),
    /// The call escalates whatever the rules say.
    EscalateNow(Verdict<'p>),
    /// The call escalates unless the rest of the judgement denies it.
    Escalate(Verdict<'p>),
}

/// A denial by a rule of the engine.
#[cold]
pub(super) fn deny<'p>(rule: &'static str, reason: String) -> Checked<'p> {
    Some(Box::new(Check::Deny(Verdict::deny(rule, reason), None)))
}

impl Case<'_, '_, '_> {
    /// Records a structural check that holds, and why, for an explanation. Where the host has failed nothing is known.
    pub(super) fn note_held(&mut self, check: &'static str, why: &'static str) {
        if !self.canonicalizer.facts.has_failed() {
            self.note(check, true, || why.to_owned());
        }
    }
}
