//! Answering calls one by one, and what all the answers together come to.

use std::ffi::OsString;

use callgate_authoring::lines::{Line, NotCall, read_line};
use callgate_engine::advice::help_for_unknown_tool;
use callgate_engine::bind::{Call, CallError};
use callgate_engine::world::Context;
use callgate_host::{CallText, Decision, Gate, Request, StructuralRule, Verdict};
use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::calls::{self, Calls};
use crate::setup::Setup;
use crate::tally::{Exits, Others};
use crate::terminal::{DIM, Exit, Failure, Out, RED, clean, note, paint, wrapped};

/// The calls that are judged, and how.
#[derive(Args)]
pub(crate) struct Question {
    /// One call as JSON, a file (NAME.json holds one call, any other file one call a line), or - for standard
    /// input, answered line by line as it comes [default: standard input, unless it is a terminal]
    #[arg(value_name = "CALLS")]
    calls: Option<OsString>,
    /// The server of calls that name none; a frame of MCP names none
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// The arguments were prepared elsewhere: judge them as they are, relative paths from the current directory
    #[arg(long)]
    prepared: bool,
    /// The directory that the tool's container calls its workspace; paths under it are moved onto the sandbox
    #[arg(long, value_name = "DIR", conflicts_with = "prepared")]
    container_workspace_dir: Option<String>,
    #[command(flatten)]
    contexts: Contexts,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

/// The contexts that calls are judged in, where there is a world.
#[derive(Args)]
pub(crate) struct Contexts {
    /// The context of every call, an object such as '{"mode": "dev", "command": "read"}'
    #[arg(long, value_name = "JSON", help_heading = "World")]
    context: Option<String>,
    /// Take each call's context from its member `context`; only where no agent writes the calls
    #[arg(long, conflicts_with = "context", help_heading = "World")]
    contexts: bool,
}

impl Contexts {
    /// # Errors
    /// The context of every call is not one.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        check_context(self.context.as_deref())
    }

    /// The text of the context of a call; `own` is what the call itself says.
    pub(crate) fn of<'t>(&'t self, own: Option<&'t RawValue>) -> Option<&'t str> {
        match self.contexts {
            true => own.map(RawValue::get),
            false => self.context.as_deref(),
        }
    }
}

impl Question {
    /// The engine's question about a call.
    pub(crate) fn request<'t>(&'t self, call: CallText<'t>) -> Request<'t> {
        if self.prepared {
            Request::prepared(call)
        } else {
            Request::gate(call).in_container(self.container_workspace_dir.as_deref())
        }
    }
}

/// Checks the context that a flag gives.
pub(crate) fn check_context(context: Option<&str>) -> Result<(), Failure> {
    let read = context.map(Context::from_json).transpose();
    let read = read.map_err(|why| Failure::Fault(format!("`--context`: {why}")));
    read.map(drop)
}

/// Which call an answer is about.
#[derive(Serialize)]
pub(crate) struct About<'t> {
    /// The line of the input that the call begins on, from 1.
    pub(crate) line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'t RawValue>,
    pub(crate) server: String,
    pub(crate) tool: String,
    /// Other calls may come in the same input.
    #[serde(skip)]
    pub(crate) is_one_of_many: bool,
}

/// The answer to a call: one line of JSON.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    #[serde(flatten)]
    pub(crate) about: &'a About<'a>,
    #[serde(flatten)]
    pub(crate) verdict: &'a Verdict<'a>,
    /// The arguments to send if the call passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
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
    mut answer: impl FnMut(CallText<'_>, &About<'_>, &mut Out) -> Result<Exit, Problem>,
) -> Result<Exit, Failure> {
    question.contexts.check()?;
    let mut calls = Calls::open(question.calls.as_deref())?;
    let (mut exits, mut others) = (Exits::default(), Others::default());
    while let Some(calls::Line { line, text }) = calls.next()? {
        let read = match &text {
            Ok(text) => read_line(text, question.server.as_deref()),
            Err(message) => {
                exits.add(refuse(out, &Refused::of(line, message))?);
                continue;
            }
        };
        let exit = match read {
            Ok((id, Line::Call(asked))) => {
                let call = CallText::from(&*asked.call);
                let context = question.contexts.of(asked.context);
                let call = context.map_or(call, |context| call.within(context));
                let is_one_of_many = !calls.is_one();
                let answered = about(line, id, call).map_err(Problem::Call);
                let answered = answered.map(|about| About {
                    is_one_of_many,
                    ..about
                });
                match answered.and_then(|about| answer(call, &about, out)) {
                    Ok(exit) => exit,
                    Err(Problem::Failure(failure)) => return Err(failure),
                    Err(Problem::Call(error)) => refuse(out, &Refused::at(line, id, &error))?,
                }
            }
            Ok((id, Line::Other(what))) if calls.is_one() => {
                let message = format!("found {what}, expected a call of a tool (`tools/call`)");
                refuse(
                    out,
                    &Refused {
                        id,
                        ..Refused::of(line, &message)
                    },
                )?
            }
            Ok((_, Line::Other(what))) => {
                others.add(what);
                continue;
            }
            Err(NotCall { id, error, help }) => {
                let help = help.as_deref();
                refuse(
                    out,
                    &Refused {
                        help,
                        ..Refused::at(line, id, &error)
                    },
                )?
            }
        };
        exits.add(exit);
    }
    if out.human && !calls.is_one() && exits.worst().is_some() {
        out.line(&exits.summary())?;
    }
    if let Some(passed_over) = others.passed_over() {
        note(&passed_over);
    }
    // An empty input must not look like an allowed call.
    exits.worst().ok_or_else(|| {
        Failure::Fault(format!(
            "found no call in {}, expected at least one",
            calls.name()
        ))
    })
}

fn about<'t>(line: usize, id: Option<&'t RawValue>, call: CallText<'_>) -> Result<About<'t>, CallError> {
    let text = call.text();
    let call = Call::from_json(&text)?;
    Ok(About {
        line,
        id,
        server: call.server().to_owned(),
        tool: call.tool().to_owned(),
        is_one_of_many: false,
    })
}

/// The exit code that stands for a decision.
pub(crate) fn exit_of(verdict: &Verdict<'_>) -> Exit {
    match verdict.decision {
        Decision::Allow => Exit::Allow,
        Decision::Escalate(_) => Exit::Escalate,
        Decision::Deny => Exit::Deny,
    }
}

/// Help for a call of a tool that no annotation names: one of a similar name.
pub(crate) fn similar(gate: &Gate, about: &About<'_>, verdict: &Verdict<'_>) -> Option<String> {
    if verdict.rule != StructuralRule::UnknownTool.as_str() {
        return None;
    }
    let tools = gate.tools().ok()?;
    let names = tools
        .iter()
        .map(|tool| (tool.server.as_str(), tool.name.as_str()));
    Some(help_for_unknown_tool(&about.server, &about.tool, names))
}

/// A line that is not a call.
struct Refused<'r> {
    line: usize,
    id: Option<&'r RawValue>,
    at: Option<(usize, usize)>,
    message: &'r str,
    help: Option<&'r str>,
}

impl<'r> Refused<'r> {
    fn of(line: usize, message: &'r str) -> Self {
        Self {
            line,
            id: None,
            at: None,
            message,
            help: None,
        }
    }

    fn at(line: usize, id: Option<&'r RawValue>, error: &'r CallError) -> Self {
        let at = Some((line + error.line.saturating_sub(1), error.column));
        Self {
            id,
            at,
            ..Self::of(line, &error.message)
        }
    }
}

/// Its answer, `{line, id?, error: {line, column?, message, help?}}`.
fn refuse(out: &mut Out, refused: &Refused<'_>) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Answer<'r> {
        line: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'r RawValue>,
        error: ErrorMember<'r>,
    }

    #[derive(Serialize)]
    struct ErrorMember<'r> {
        line: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<usize>,
        message: &'r str,
        #[serde(skip_serializing_if = "Option::is_none")]
        help: Option<&'r str>,
    }

    let Refused {
        line,
        id,
        at,
        message,
        help,
    } = *refused;
    let (at, column) = at.map_or((line, None), |(line, column)| (line, Some(column)));
    if out.human {
        let column = column
            .map(|column| format!(", column {column}"))
            .unwrap_or_default();
        let place = format!("line {at}{column}: {}", clean(message));
        out.line(&format!(
            "{} {}",
            paint(RED, "error   "),
            wrapped(&place, 9, INDENT)
        ))?;
        if let Some(help) = help {
            out.line(&helping(help))?;
        }
        return Ok(Exit::Fault);
    }
    out.json(&Answer {
        line,
        id,
        error: ErrorMember {
            line: at,
            column,
            message,
            help,
        },
    })?;
    Ok(Exit::Fault)
}

/// The text before the lines that belong to an answer.
pub(crate) const INDENT: &str = "         ";

/// Help, as a line that belongs to an answer.
pub(crate) fn helping(help: &str) -> String {
    let help = wrapped(&clean(help), INDENT.len() + 6, INDENT);
    format!("{INDENT}{} {help}", paint(DIM, "help:"))
}
