//! The parts of the guard that permission hooks use: its log, its queue of questions, and its care in reading JSON.

use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use callgate_core::Offer;
use jiff::Timestamp;
use serde_json::Value;

use serde_json::value::RawValue;

use super::audit::Audit;
use super::queue::{Answer, Answerer, Question, Queue};
use super::record::Judged;
use super::{digest_of_documents, session, strict};
use crate::backend::Response;
use crate::gate::Gate;

/// The log of a process that judges one call.
pub(crate) struct Journal(Audit);

/// A call that was judged.
pub(crate) struct JournalEntry<'e> {
    pub(crate) server: &'e str,
    pub(crate) tool: &'e str,
    /// The arguments that were judged.
    pub(crate) arguments: Option<&'e RawValue>,
    /// With an explanation, for its values.
    pub(crate) response: &'e Response,
    /// The arguments that the call may be made with.
    pub(crate) sent: Option<&'e str>,
    pub(crate) gate: &'e Gate,
    /// Who was asked and answered.
    pub(crate) answered_by: Option<Answerer>,
    pub(crate) took: Duration,
}

impl Journal {
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        Audit::open(path, false).map(Self)
    }

    pub(crate) fn write(&self, entry: &JournalEntry<'_>) -> io::Result<()> {
        let (id, policy) = (session(), digest_of_documents(entry.gate));
        let judged = Judged {
            id: &id,
            tool: entry.tool,
            verdict: &entry.response.verdict,
            arguments: entry.arguments,
            explanation: entry.response.explanation.as_ref(),
            sent: entry.sent,
            policy: &policy,
            answered_by: entry.answered_by,
            took: entry.took,
        };
        self.0.write(entry.server, &judged.record())
    }
}

/// A call that a person is to decide about.
pub(crate) struct JournalQuestion<'q> {
    pub(crate) server: &'q str,
    pub(crate) tool: &'q str,
    pub(crate) rule: &'q str,
    pub(crate) reason: &'q str,
    /// Shown of the call, as [`touched`](super::asking::touched) gives it.
    pub(crate) values: Value,
    pub(crate) offer: Option<Offer>,
}

/// How often an answer is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Puts a question and waits for the answer, and for who gives it. No answer in time, and one that cannot be read, is a denial.
///
/// # Errors
/// The question cannot be put.
pub(crate) fn ask(
    queue: &Queue,
    question: JournalQuestion<'_>,
    patience: Duration,
) -> io::Result<(Answer, Option<Answerer>)> {
    let (id, asked) = (session(), Timestamp::now());
    queue.ask(&Question {
        id: id.clone(),
        server: question.server.to_owned(),
        tool: question.tool.to_owned(),
        rule: question.rule.to_owned(),
        reason: question.reason.to_owned(),
        values: question.values,
        offer: question.offer,
        // A process that judges one call has no session.
        has_session: false,
        asked,
        until: asked.saturating_add(patience).map_err(io::Error::other)?,
    })?;
    let deadline = Instant::now() + patience;
    let answer = loop {
        match queue.answer_to(&id) {
            Ok(None) if Instant::now() < deadline => thread::sleep(LOOK),
            Ok(Some((answer, by))) if Instant::now() < deadline => break (answer, Some(by)),
            Ok(_) | Err(_) => break (Answer::Deny, None),
        }
    };
    queue.withdraw(&id);
    Ok(answer)
}

/// Checks that every parser reads the text alike.
///
/// # Errors
/// The text is not JSON, or two parsers could read it differently.
pub(crate) fn check_unambiguous(text: &str) -> Result<(), String> {
    strict::check(text)
}
