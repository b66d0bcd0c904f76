//! Calls that wait for a person.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use callgate_core::{Approvals, Moment, Offer};
use jiff::Timestamp;
use serde_json::Value;

use super::message::Id;
use super::queue::{Answer, Question, Queue};
use super::reply::Era;

/// How many calls of one client may wait for a person at a time.
pub(super) const WAITING: usize = 64;

/// Whom a guard asks, and for how long.
pub struct Asking {
    /// Where questions are put.
    pub queue: Queue,
    /// How long an answer may take. No answer in time is a denial.
    pub patience: Duration,
}

/// The asking of one guard.
pub(super) struct Asked {
    asking: Asking,
    /// What was approved until the guard ends.
    session: Mutex<Approvals>,
}

/// A call that waits.
pub(super) struct Pending {
    /// The question's name.
    pub(super) question: String,
    /// The whole message, which is read and judged again when there is an answer.
    pub(super) message: String,
    pub(super) id: Id,
    pub(super) era: Era,
    pub(super) rule: String,
    /// The arguments that the person was shown.
    pub(super) arguments: String,
    pub(super) offer: Option<Offer>,
    pub(super) deadline: Instant,
}

/// What is asked about.
pub(super) struct About<'a> {
    pub(super) id: &'a str,
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    pub(super) rule: &'a str,
    pub(super) reason: &'a str,
    pub(super) values: Value,
    pub(super) offer: Option<Offer>,
}

impl Asked {
    pub(super) fn new(asking: Asking) -> Self {
        let session = Mutex::default();
        Self { asking, session }
    }

    /// Puts a question. Gives until when an answer counts.
    pub(super) fn ask(&self, about: About<'_>) -> io::Result<Instant> {
        let asked = Timestamp::now();
        let until = asked
            .saturating_add(self.asking.patience)
            .map_err(io::Error::other)?;
        self.asking.queue.ask(&Question {
            id: about.id.to_owned(),
            server: about.server.to_owned(),
            tool: about.tool.to_owned(),
            rule: about.rule.to_owned(),
            reason: about.reason.to_owned(),
            values: about.values,
            offer: about.offer,
            asked,
            until,
        })?;
        Ok(Instant::now() + self.asking.patience)
    }

    /// What became of a question: `None` while it waits.
    pub(super) fn answer_to(&self, pending: &Pending) -> Option<Answer> {
        match self.asking.queue.answer_to(&pending.question) {
            Ok(None) if Instant::now() < pending.deadline => None,
            // An answer that comes too late, or cannot be read, allows nothing.
            Ok(Some(answer)) if Instant::now() < pending.deadline => Some(answer),
            Ok(_) | Err(_) => Some(Answer::Deny),
        }
    }

    pub(super) fn withdraw(&self, question: &str) {
        self.asking.queue.withdraw(question);
    }

    /// Remembers what a person approved until the guard ends.
    pub(super) fn approve(&self, offer: &Offer) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        // What cannot be added is asked about again.
        let _ = session.add(offer);
    }

    /// What was approved, until the guard ends and for good.
    ///
    /// # Errors
    /// The approvals cannot be read.
    pub(super) fn approvals(&self) -> io::Result<[Approvals; 2]> {
        let session = self
            .session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        Ok([session, self.asking.queue.approvals()?])
    }
}

/// The time, for approvals that end.
pub(super) fn now() -> Moment {
    Moment::from_millis(Timestamp::now().as_millisecond())
}
