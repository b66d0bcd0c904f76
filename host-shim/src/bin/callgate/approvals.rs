//! `callgate approvals`: what guards ask, and what a person has approved.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use callgate_host::guard::{Answer, Answerer, Question, Queue};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::output::{BOLD, DIM, Exit, Failure, Out, clean, paint};

/// Show, allow and deny the calls that wait for a person
///
/// `callgate guard --ask` puts its questions where this command finds them. Without a subcommand they are listed, with what was
/// approved before.
#[derive(Args)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    what: Option<What>,
    /// Where questions and approvals are [default: $XDG_STATE_HOME/callgate or ~/.local/state/callgate]
    #[arg(long, value_name = "DIR", global = true)]
    state: Option<PathBuf>,
}

#[derive(Subcommand)]
enum What {
    /// Let a call pass. Needs a terminal, so that no tool does it
    Allow {
        /// The question
        id: String,
        /// And what the offer covers, until the client's session ends; calls of clients without sessions belong to none
        #[arg(long, conflicts_with = "always")]
        session: bool,
        /// And what the offer covers, from now on
        #[arg(long)]
        always: bool,
    },
    /// Let a call not pass
    Deny {
        /// The question
        id: String,
    },
    /// Take back what was approved for good
    Revoke {
        /// The approval
        id: String,
    },
}

/// The folder; `None` if no place is known.
pub(crate) fn folder(given: Option<&Path>) -> Option<PathBuf> {
    if let Some(given) = given {
        return Some(given.to_owned());
    }
    let state = std::env::var_os("XDG_STATE_HOME").filter(|state| !state.is_empty());
    let state = state
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".local/state")));
    Some(state?.join("callgate"))
}

pub(crate) fn queue(given: Option<&Path>) -> Result<Queue, Failure> {
    let Some(folder) = folder(given) else {
        return Err(Failure::Fault(
            "the home directory is not known, expected `--state DIR`".to_owned(),
        ));
    };
    Queue::open(&folder)
        .map_err(|error| Failure::Fault(format!("cannot use `{}`: {error}", folder.display())))
}

impl Approvals {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let queue = queue(self.state.as_deref())?;
        let fault = |error: io::Error| Failure::Fault(error.to_string());
        match &self.what {
            None => list(&queue, out),
            Some(What::Allow { id, session, always }) => {
                if !io::stdin().is_terminal() {
                    return Err(Failure::Fault(
                        "standard input is not a terminal: a person allows calls, not a program".to_owned(),
                    ));
                }
                let answer = match (session, always) {
                    (true, _) => Answer::Session,
                    (_, true) => Answer::Always,
                    (false, false) => Answer::Once,
                };
                answered(
                    queue.answer(id, answer, Answerer::Terminal).map_err(fault)?,
                    id,
                    "question that waits",
                    out,
                )
            }
            Some(What::Deny { id }) => answered(
                queue
                    .answer(id, Answer::Deny, Answerer::Terminal)
                    .map_err(fault)?,
                id,
                "question that waits",
                out,
            ),
            Some(What::Revoke { id }) => answered(queue.revoke(id).map_err(fault)?, id, "approval", out),
        }
    }
}

fn answered(is_there: bool, id: &str, what: &str, out: &mut Out) -> Result<Exit, Failure> {
    if !is_there {
        return Err(Failure::Fault(format!("there is no {what} with the id `{id}`")));
    }
    if !out.human {
        out.json(&json!({"id": id}))?;
    }
    Ok(Exit::Allow)
}

fn list(queue: &Queue, out: &mut Out) -> Result<Exit, Failure> {
    let fault = |error: io::Error| Failure::Fault(error.to_string());
    let questions = queue.questions().map_err(fault)?;
    let unreadable = queue.unreadable().map_err(fault)?;
    let approvals = queue.approvals().map_err(fault)?;
    if !out.human {
        out.json(&json!({"questions": questions, "approvals": approvals.list(), "unreadable": unreadable}))?;
        return Ok(Exit::Allow);
    }
    for question in &questions {
        show(question, out)?;
    }
    for approval in approvals.list() {
        let what = format!("{} {}", approval.id(), approval.offer().description);
        out.line(&format!("{} {}", paint(DIM, "approved"), clean(&what)))?;
    }
    for name in &unreadable {
        out.line(&format!("{} {}", paint(DIM, "not a question:"), clean(name)))?;
    }
    if questions.is_empty() {
        out.line("no call waits for a person")?;
    }
    Ok(Exit::Allow)
}

fn show(question: &Question, out: &mut Out) -> Result<(), Failure> {
    let Question {
        id,
        server,
        tool,
        rule,
        reason,
        offer,
        has_session,
        until,
        ..
    } = question;
    out.line(&format!(
        "{} {}",
        paint(BOLD, &clean(id)),
        clean(&format!("{server}/{tool}"))
    ))?;
    for line in question.touched() {
        out.line(&format!("  {line}"))?;
    }
    out.line(&format!("  {}: {}", clean(rule), clean(reason)))?;
    let covers = match offer {
        Some(offer) => clean(&offer.description),
        None => "this call alone".into(),
    };
    let lasting = match has_session {
        true => "--session and --always",
        false => "--always",
    };
    out.line(&paint(
        DIM,
        &format!("  {lasting} would cover: {covers}; until {until}"),
    ))
}
