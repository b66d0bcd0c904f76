//! The results of the checks.

use super::{StructuralRule, Verdict};
use crate::role::RoleSet;

/// What a check finds, unless it simply holds or does not apply.
pub(super) enum Finding<'p> {
    /// The call escalates unless the rest of the judgement denies it. If a rule asks as well, the verdict names the rule.
    Escalate(Verdict<'p>),
    /// As `Escalate`, but the verdict names the check: what it asks about is certain.
    EscalateFirst(Verdict<'p>),
    /// The verdict, whatever the rest of the judgement would be. What explanations show instead of the reason, where that differs.
    Decided(Verdict<'p>, Option<String>),
    /// The roles all of whose values lie within the sandbox.
    Sandboxed(RoleSet),
    /// The paths behind addresses may be forwarded to the tool's server.
    PlacesAllowed,
}

/// A denial by a rule of the engine.
pub(super) fn deny<'p>(rule: StructuralRule, reason: String) -> Option<Finding<'p>> {
    Some(Finding::Decided(Verdict::deny(rule, reason), None))
}

/// What the checks of a call found, all together.
#[derive(Default)]
pub(super) struct Checked<'p> {
    /// The verdict of the check that decided, which leaves nothing to the rules.
    pub(super) decided: Option<Verdict<'p>>,
    /// The escalations of which the verdict names the check.
    pub(super) certain: Vec<Verdict<'p>>,
    /// The others.
    pub(super) possible: Vec<Verdict<'p>>,
    /// The roles all of whose values lie within the sandbox.
    pub(super) sandboxed: RoleSet,
    /// `true` if the paths behind addresses may be forwarded to the tool's server.
    pub(super) may_forward_places: bool,
}

impl Checked<'_> {
    /// Returns `true` if the call escalates unless it is denied.
    pub(super) fn escalates(&self) -> bool {
        !self.certain.is_empty() || !self.possible.is_empty()
    }
}
