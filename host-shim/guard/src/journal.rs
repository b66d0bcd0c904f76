//! The parts of the guard that permission hooks use: its log, its queue of questions, and its care in reading JSON.

use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use callgate_engine::approval::Offer;
use callgate_host::{Gate, Response};
use jiff::Timestamp;
use serde_json::Value;

use serde_json::value::RawValue;

use super::audit::Audit;
use super::caller::Caller;
use super::counts::Counted;
use super::policy::digest_of_documents;
use super::queue::{Answer, Answerer, Question, Queue};
use super::record::Judged;
use super::{session, strict};

/// The log of a process that judges one call.
pub struct Journal(Audit);

/// A call that was judged.
pub struct JournalEntry<'e> {
    /// The server that has the tool.
    pub server: &'e str,
    /// The tool.
    pub tool: &'e str,
    /// The arguments that were judged.
    pub arguments: Option<&'e RawValue>,
    /// Who asks for it.
    pub caller: &'e Caller,
    /// What was counted, as the engine was told.
    pub counted: Option<&'e Counted>,
    /// With an explanation, for its values.
    pub response: &'e Response,
    /// The arguments that the call may be made with.
    pub sent: Option<&'e str>,
    /// The gate that judged it.
    pub gate: &'e Gate,
    /// Who was asked and answered.
    pub answered_by: Option<Answerer>,
    /// How long that took.
    pub took: Duration,
}

impl Journal {
    /// Opens the log, which is made where it is missing.
    ///
    /// # Errors
    /// It cannot be opened, or is something else than a log.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        Audit::open(path, false).map(Self)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// It cannot be written. The call must not be made then.
    pub fn write(&self, entry: &JournalEntry<'_>) -> io::Result<()> {
        let (id, policy) = (session(), digest_of_documents(entry.gate));
        let judged = Judged {
            id: &id,
            tool: entry.tool,
            verdict: &entry.response.verdict,
            arguments: entry.arguments,
            caller: entry.caller,
            counted: entry.counted,
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
pub struct JournalQuestion<'q> {
    /// The server that has the tool.
    pub server: &'q str,
    /// The tool.
    pub tool: &'q str,
    /// The rule that escalates.
    pub rule: &'q str,
    /// Its reason.
    pub reason: &'q str,
    /// Shown of the call, as [`touched`](crate::touched) gives it.
    pub values: Value,
    /// What an approval for longer would cover.
    pub offer: Option<Offer>,
}

/// How often an answer is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Puts a question and waits for the answer, and for who gives it. No answer in time, and one that cannot be read, is a denial.
///
/// # Errors
/// The question cannot be put.
pub fn ask(
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
        request: None,
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
pub fn check_unambiguous(text: &str) -> Result<(), String> {
    strict::check(text)
}
