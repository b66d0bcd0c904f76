//! What permission hooks have of the guard: its log, and its care in reading JSON.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::value::RawValue;

use super::audit::Audit;
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
    pub(crate) took: Duration,
}

impl Journal {
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        Audit::open(path).map(Self)
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
            answered_by: None,
            observed: false,
            took: entry.took,
        };
        self.0.write(entry.server, &judged.record())
    }
}

/// Checks that every parser reads the text alike.
///
/// # Errors
/// What they would read differently, or why the text is not JSON.
pub(crate) fn check_unambiguous(text: &str) -> Result<(), String> {
    strict::check(text)
}
