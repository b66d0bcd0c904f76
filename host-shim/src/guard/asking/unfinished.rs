//! Calls that a person approved once, and for which the server then asked its client for more, as revision 2026-07-28 has it.
//!
//! The client sends the same call once more with what the server wanted. It is the call that was approved, so nobody is asked again.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many such calls are remembered; the oldest goes first, and is asked about again.
const REMEMBERED: usize = 64;

/// An approved call, and which it is: a code of its server, tool, judged arguments and policy.
#[derive(Clone, Debug)]
pub(crate) struct Approved {
    pub(super) call: String,
    /// The id of the question that a person answered.
    pub(crate) question: String,
}

/// What the server gave the client to send back with the call, and until when it may.
struct Unfinished {
    approved: Approved,
    state: Option<String>,
    until: Instant,
}

#[derive(Default)]
pub(super) struct UnfinishedCalls(Mutex<VecDeque<Unfinished>>);

impl UnfinishedCalls {
    /// The server wants more for a call before it goes on.
    pub(super) fn remember(&self, approved: Approved, state: Option<String>, patience: Duration) {
        let mut calls = self.calls();
        if calls.len() >= REMEMBERED {
            calls.pop_front();
        }
        calls.push_back(Unfinished {
            approved,
            state,
            until: Instant::now() + patience,
        });
    }

    /// The approval of a call that comes again with the state that its server gave: once.
    pub(super) fn take(&self, call: &str, state: Option<&str>) -> Option<Approved> {
        let mut calls = self.calls();
        let now = Instant::now();
        calls.retain(|unfinished| now < unfinished.until);
        let is_it = |unfinished: &Unfinished| {
            unfinished.approved.call == call && unfinished.state.as_deref() == state
        };
        let at = calls.iter().position(is_it)?;
        calls.remove(at).map(|unfinished| unfinished.approved)
    }

    fn calls(&self) -> MutexGuard<'_, VecDeque<Unfinished>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
