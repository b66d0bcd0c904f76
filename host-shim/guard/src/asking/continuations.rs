//! Calls that a person approved once, and for which the server then asked its client for more, as revision 2026-07-28 has it.
//!
//! The client sends the same call once more with what the server wanted. It is the call that was approved, so nobody is asked
//! again. Whoever has the state that the guard gives out in place of the server's may go on, once: other clients of the guard do
//! not know it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::CallBinding;
use callgate_host::Instant;

/// How many such calls are remembered; the oldest goes first, and is denied when it goes on.
const REMEMBERED: usize = 64;

/// A call that a person approved.
#[derive(Clone, Debug)]
pub(crate) struct Approved {
    /// The id of the question that was answered.
    pub(crate) question: String,
    tool: String,
    arguments: String,
    policy: String,
}

/// An approved call that goes on, and the state that its server gave, as JSON text.
pub(crate) struct Continuation {
    pub(crate) approved: Approved,
    pub(crate) state: Option<String>,
}

struct Unfinished {
    id: String,
    continuation: Continuation,
    until: Instant,
}

#[derive(Default)]
pub(super) struct UnfinishedCalls {
    calls: Mutex<VecDeque<Unfinished>>,
    count: AtomicU64,
}

impl Approved {
    pub(crate) fn new(bound: CallBinding<'_>, question: &str) -> Self {
        Self {
            question: question.to_owned(),
            tool: bound.tool.to_owned(),
            arguments: bound.arguments.to_owned(),
            policy: bound.policy.to_owned(),
        }
    }

    pub(super) fn bound<'a>(&'a self, server: &'a str) -> CallBinding<'a> {
        CallBinding {
            server,
            tool: &self.tool,
            arguments: &self.arguments,
            policy: &self.policy,
        }
    }
}

impl UnfinishedCalls {
    /// The server wants more for a call before it goes on. Gives a name for it.
    pub(super) fn remember(&self, continuation: Continuation, patience: Duration) -> String {
        let id = format!("more-{}", self.count.fetch_add(1, Ordering::Relaxed) + 1);
        let mut calls = self.calls();
        if calls.len() >= REMEMBERED {
            calls.pop_front();
        }
        calls.push_back(Unfinished {
            id: id.clone(),
            continuation,
            until: Instant::now() + patience,
        });
        id
    }

    /// The call of a name: once, and while there is time.
    pub(super) fn take(&self, id: &str) -> Option<Continuation> {
        let mut calls = self.calls();
        let now = Instant::now();
        calls.retain(|unfinished| now < unfinished.until);
        let at = calls.iter().position(|unfinished| unfinished.id == id)?;
        calls.remove(at).map(|unfinished| unfinished.continuation)
    }

    /// Forgets all of them.
    pub(super) fn forget(&self) {
        self.calls().clear();
    }

    fn calls(&self) -> MutexGuard<'_, VecDeque<Unfinished>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
