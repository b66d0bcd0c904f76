//! The result of a structural check.

use super::Verdict;

/// The result of a check that applies: it holds, or it decides.
pub(super) enum Check<'p> {
    /// It holds, for this reason.
    Holds(&'static str),
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
pub(super) fn deny<'p>(rule: &'static str, reason: String) -> Option<Check<'p>> {
    Some(Check::Deny(Verdict::deny(rule, reason), None))
}
