//! How many calls were decided in which way.

use std::sync::atomic::{AtomicU64, Ordering};

use callgate_engine::judge::Decision;

/// Counts of decisions since the guard began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that were allowed.
    pub allow: u64,
    /// Calls that a person has to approve.
    pub escalate: u64,
    /// Calls that were denied.
    pub deny: u64,
}

impl std::ops::Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            allow: self.allow + other.allow,
            escalate: self.escalate + other.escalate,
            deny: self.deny + other.deny,
        }
    }
}

#[derive(Default)]
pub(super) struct Counter {
    allow: AtomicU64,
    escalate: AtomicU64,
    deny: AtomicU64,
}

impl Counter {
    pub(super) fn count(&self, decision: &Decision<'_>) {
        let counter = match decision {
            Decision::Allow => &self.allow,
            Decision::Escalate(_) => &self.escalate,
            Decision::Deny => &self.deny,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn tally(&self) -> Tally {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Tally {
            allow: read(&self.allow),
            escalate: read(&self.escalate),
            deny: read(&self.deny),
        }
    }
}
