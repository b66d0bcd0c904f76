//! Answering calls one by one, and what all the answers together come to.

use std::collections::BTreeMap;
use std::ffi::OsString;

use callgate_core::{Call, CallError};
use callgate_host::CallText;
use clap::Args;
use serde_json::json;
use serde_json::value::RawValue;

use crate::calls::{self, Calls};
use crate::output::{Exit, Failure, Out, RED, clean, paint};
use crate::setup::Setup;

/// What is judged, and how.
#[derive(Args)]
pub(crate) struct Question {
    /// One call as JSON, a file (NAME.json holds one call, any other file one call a line), or - for standard
    /// input, answered line by line as it comes
    #[arg(value_name = "CALLS")]
    calls: OsString,
    /// Judge what a gate forwards: relative paths are relative to the sandbox
    #[arg(long)]
    pub(crate) gate: bool,
    /// The directory that the tool's container calls its workspace; paths under it are moved onto the sandbox
    #[arg(long, value_name = "DIR", requires = "gate")]
    pub(crate) container_workspace_dir: Option<String>,
    /// The context of every call, an object such as '{"mode": "dev", "command": "read"}'
    #[arg(long, value_name = "JSON", help_heading = "World")]
    context: Option<String>,
    /// Take each call's context from its member `context`; only where no agent writes the calls
    #[arg(long, conflicts_with = "context", help_heading = "World")]
    contexts: bool,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

impl Question {
    /// The text of the context that a call is judged in.
    fn context_of(&self, call: &str) -> Option<String> {
        if !self.contexts {
            return self.context.clone();
        }
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(call).ok()?;
        members.get("context").map(|context| context.get().to_owned())
    }
}

/// Why a call has no answer.
pub(crate) enum Problem {
    /// It is not a call; the next one may be.
    Call(CallError),
    /// Nothing can be answered any more.
    Failure(Failure),
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl<F: Into<Failure>> From<F> for Problem {
    fn from(failure: F) -> Self {
        Self::Failure(failure.into())
    }
}

/// Gives every call to `answer`, which writes what it finds and says what it comes to.
pub(crate) fn each(
    question: &Question,
    out: &mut Out,
    mut answer: impl FnMut(CallText<'_>, &mut Out) -> Result<Exit, Problem>,
) -> Result<Exit, Failure> {
    let mut calls = Calls::open(&question.calls)?;
    let mut worst = None;
    while let Some(calls::Line { line, text }) = calls.next()? {
        let answered = text.map(|text| {
            let context = question.context_of(&text);
            let call = CallText::from(&text);
            let call = context.as_deref().map_or(call, |context| call.within(context));
            answer(call, out)
        });
        let exit = match answered {
            Ok(Ok(exit)) => exit,
            Ok(Err(Problem::Failure(failure))) => return Err(failure),
            Ok(Err(Problem::Call(error))) => {
                let line = line + error.line.saturating_sub(1);
                refuse(out, line, Some(error.column), &error.message)?
            }
            Err(message) => refuse(out, line, None, &message)?,
        };
        worst = worst.max(Some(exit));
    }
    // An empty input must not look like an allowed call.
    worst.ok_or_else(|| Failure::Fault("found no call, expected at least one".to_owned()))
}

/// The exit code that stands for a decision.
pub(crate) fn exit_of(decision: &str) -> Exit {
    match decision {
        "allow" => Exit::Allow,
        "escalate" => Exit::Escalate,
        _ => Exit::Deny,
    }
}

/// `server/tool` of a call.
pub(crate) fn title(call: CallText<'_>) -> Result<String, CallError> {
    let call = Call::from_json(call.text())?;
    Ok(clean(&format!("{}/{}", call.server(), call.tool())).into_owned())
}

fn refuse(out: &mut Out, line: usize, column: Option<usize>, message: &str) -> Result<Exit, Failure> {
    if out.human {
        let column = column
            .map(|column| format!(", column {column}"))
            .unwrap_or_default();
        let place = format!("line {line}{column}");
        out.line(&format!("{} {place}: {}", paint(RED, "error   "), clean(message)))?;
        return Ok(Exit::Fault);
    }
    let mut error = json!({"line": line});
    if let Some(column) = column {
        error["column"] = column.into();
    }
    error["message"] = message.into();
    out.json(&json!({"error": error}))?;
    Ok(Exit::Fault)
}
