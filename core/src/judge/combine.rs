//! Putting what was decided in parts together: the most restrictive stands, the first on a tie.

use super::Verdict;
use crate::model::Effect;
use crate::program::RuleId;

/// Who decided about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// The sandbox holds the value.
    Sandbox,
    /// A rule of the policy.
    Rule(RuleId),
    /// No rule did.
    Default,
}

/// What was decided and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub(crate) effect: Effect,
    pub(crate) author: Author,
}

impl Ruling {
    pub(crate) const DEFAULT_DENY: Ruling = Ruling {
        effect: Effect::Deny,
        author: Author::Default,
    };

    /// The stricter of two; on a tie the first, unless it is the sandbox and the second a rule.
    pub(crate) fn join(self, next: Ruling) -> Ruling {
        let unnamed = self.author == Author::Sandbox && matches!(next.author, Author::Rule(_));
        if next.effect > self.effect || (next.effect == self.effect && unnamed) {
            next
        } else {
            self
        }
    }
}

/// The stricter of two, where there are two.
pub(crate) fn join(current: Option<Ruling>, next: Ruling) -> Option<Ruling> {
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
