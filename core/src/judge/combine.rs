//! Putting what was decided in parts together: the most restrictive stands, the first on a tie.

use super::Verdict;
use crate::model::Effect;
use crate::program::RuleId;
use crate::role::RoleId;

/// The source of a decision about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The sandbox holds the value.
    Sandbox,
    /// A rule of the policy.
    Rule(RuleId),
    /// No rule did.
    Default(Undecided),
}

/// The values that no rule decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecided {
    /// A call whose tool has no resource role.
    Call,
    /// A role without a value.
    Role(RoleId),
    /// The first value that was left under a role: its place among the operands.
    Value(RoleId, usize),
}

/// The decision for a role, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoleVerdict {
    pub(crate) effect: Effect,
    pub(crate) source: Source,
}

impl RoleVerdict {
    /// The default denial.
    pub(crate) fn default_deny(undecided: Undecided) -> Self {
        Self {
            effect: Effect::Deny,
            source: Source::Default(undecided),
        }
    }

    /// The stricter of two; on a tie the first, unless it is the sandbox and the second a rule.
    pub(crate) fn join(self, next: RoleVerdict) -> RoleVerdict {
        let unnamed = self.source == Source::Sandbox && matches!(next.source, Source::Rule(_));
        if next.effect > self.effect || (next.effect == self.effect && unnamed) {
            next
        } else {
            self
        }
    }
}

/// The stricter of two, where there are two.
pub(crate) fn join(current: Option<RoleVerdict>, next: RoleVerdict) -> Option<RoleVerdict> {
    Some(current.map_or(next, |current| current.join(next)))
}

/// The stricter of two verdicts, the first on a tie.
pub(crate) fn stricter<'p>(first: Verdict<'p>, second: Verdict<'p>) -> Verdict<'p> {
    if second.decision.strictness() > first.decision.strictness() {
        second
    } else {
        first
    }
}
