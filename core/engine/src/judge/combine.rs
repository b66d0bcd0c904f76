//! Putting what was decided in parts together: the most restrictive stands, the first on a tie.

use super::Verdict;
use crate::model::Effect;
use crate::program::RuleId;
use crate::role::RoleId;

/// The decision for a role, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoleVerdict {
    /// A rule of the policy decided.
    Rule(Effect, RuleId),
    /// The sandbox holds the values, which allows them.
    Sandbox,
    /// The annotation of the tool says what happens without a rule of its own, which this call lacks.
    Unjudged(Effect, Lack),
    /// No rule decided about these values, so that they are denied.
    Default(Undecided),
}

/// What a call lacks whose arguments do not tell what it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// A rule that holds.
    Rule,
    /// The rule that allows it does not name the tool.
    Name(RuleId),
    /// The rule that allows it does not look at this argument, which no annotation names.
    Look(RuleId, usize),
}

/// The values that no rule decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecided {
    /// A call whose tool has no resource role.
    Call,
    /// The first value that was left under a role, by its place among the operands; `None` for a role without a value.
    Role(RoleId, Option<usize>),
}

impl RoleVerdict {
    pub(crate) fn effect(self) -> Effect {
        match self {
            Self::Rule(effect, _) | Self::Unjudged(effect, _) => effect,
            Self::Sandbox => Effect::Allow,
            Self::Default(_) => Effect::Deny,
        }
    }

    /// The stricter of two; on a tie the first, unless it is the sandbox and the second a rule.
    pub(crate) fn join(self, next: Self) -> Self {
        let unnamed = self == Self::Sandbox && matches!(next, Self::Rule(..));
        if next.effect() > self.effect() || (next.effect() == self.effect() && unnamed) {
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

/// The strictest of a verdict and what checks found beside it; on a tie the first of what is certain, then the verdict, then the
/// first of what is only possible.
pub(super) fn with_findings<'p>(
    decided: Verdict<'p>,
    certain: Vec<Verdict<'p>>,
    possible: Vec<Verdict<'p>>,
) -> Verdict<'p> {
    let whole = possible.into_iter().fold(decided, stricter);
    let certain = certain.into_iter();
    certain.rev().fold(whole, |whole, first| stricter(first, whole))
}

/// The stricter of two verdicts, the first on a tie.
pub(super) fn stricter<'p>(first: Verdict<'p>, second: Verdict<'p>) -> Verdict<'p> {
    if second.decision.strictness() > first.decision.strictness() {
        second
    } else {
        first
    }
}
