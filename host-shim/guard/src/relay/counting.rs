//! Calls that a policy counts: once it is certain that they are sent, and before they are.

use callgate_engine::judge::{Decision, StructuralRule, Verdict};

use super::{Judgement, Relay};
use crate::counts::{Counting, is_counted};
use crate::policy::Policy;

/// Said of a call that counts and cannot be counted.
const UNCOUNTED: &str = "The policy counts this call, and it cannot be counted";

impl Relay {
    /// What was counted, locked until the call is; `None` if that is nothing, or not known.
    pub(super) fn begin_counting(&self, policy: &Policy) -> Option<Counting> {
        let guard = &self.guard;
        let counts = guard.counts.as_ref().filter(|_| !policy.counters.is_empty())?;
        match counts.begin(&policy.counters, &self.caller, None) {
            Ok(counting) => Some(counting),
            Err(error) => {
                guard.warn(&format!("it is not known what was counted: {error}"));
                None
            }
        }
    }

    /// Counts a call that is to be sent. A person is asked about one that cannot be counted.
    pub(super) fn counted(&self, mut judgement: Judgement) -> Judgement {
        let guard = &self.guard;
        let counting = judgement.counting.take();
        let verdict = &judgement.response.verdict;
        let is_sent = guard.observes || verdict.decision == Decision::Allow;
        let explanation = judgement.response.explanation.as_ref();
        if guard.counts.is_none() || !is_sent || !is_counted(explanation) {
            return judgement;
        }
        let counting = counting.or_else(|| self.begin_counting(&guard.policy()));
        let added = counting.map(|counting| counting.add(explanation, None));
        if let Some(Err(error)) = &added {
            guard.warn(&format!("a call cannot be counted: {error}"));
        }
        let is_added = matches!(added, Some(Ok(())));
        // Who approved the call was asked because of that, or would be asked for nothing.
        if !is_added && !guard.observes && judgement.approved.is_none() {
            judgement.response.verdict = Verdict {
                decision: Decision::Escalate(Vec::new()),
                rule: StructuralRule::UnknownCount.as_str().into(),
                reason: UNCOUNTED.into(),
                approval: None,
            };
        }
        judgement
    }
}
