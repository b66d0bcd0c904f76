//! `callgate approvals`: what guards ask, and what a person has approved.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use callgate_guard::{Answer, Answerer, Question, Queue};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::terminal::{BOLD, DIM, Exit, Failure, Out, clean, paint};

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
        /// The question; without it the only one that waits, which is shown first
        id: Option<String>,
        /// And what the offer covers, until the client's session ends; calls of clients without sessions belong to none
        #[arg(long, conflicts_with = "always")]
        session: bool,
        /// And what the offer covers, from now on
        #[arg(long)]
        always: bool,
    },
    /// Let a call not pass
    Deny {
        /// The question; without it the only one that waits
        id: Option<String>,
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
                let question = meant(&queue, id.as_deref())?;
                if id.is_none() && !is_meant(&question, out)? {
                    return Err(Failure::Fault("nothing is allowed".to_owned()));
                }
                let answer = match (session, always) {
                    (true, _) => Answer::Session,
                    (_, true) => Answer::Always,
                    (false, false) => Answer::Once,
                };
                answer_to(&queue, &question, answer, "allowed", out)
            }
            Some(What::Deny { id }) => {
                let question = meant(&queue, id.as_deref())?;
                answer_to(&queue, &question, Answer::Deny, "denied", out)
            }
            Some(What::Revoke { id }) => match queue.revoke(id).map_err(fault)? {
                false => Err(Failure::Fault(format!("there is no approval with the id `{id}`"))),
                true => said(&format!("revoked {id}"), id, out),
            },
        }
    }
}

/// The question with the id, or the only one that waits.
fn meant(queue: &Queue, id: Option<&str>) -> Result<Question, Failure> {
    let mut questions = queue
        .questions()
        .map_err(|error| Failure::Fault(error.to_string()))?;
    let helped = |message: &str| Failure::Helped {
        message: message.to_owned(),
        help: "`callgate approvals` lists them".to_owned(),
    };
    match (id, questions.len()) {
        (Some(id), _) => questions
            .into_iter()
            .find(|question| question.id == id)
            .ok_or_else(|| Failure::Fault(format!("there is no question that waits with the id `{id}`"))),
        (None, 1) => questions
            .pop()
            .ok_or_else(|| helped("no call waits for a person")),
        (None, 0) => Err(helped("no call waits for a person")),
        (None, _) => Err(helped("several calls wait for a person, expected the id of one")),
    }
}

/// Shows the question, which the person has not named, and asks whether it is the one.
fn is_meant(question: &Question, out: &mut Out) -> Result<bool, Failure> {
    show(question, out)?;
    let failed = |error: io::Error| Failure::Fault(error.to_string());
    let mut stderr = io::stderr();
    write!(stderr, "Allow it? [y/N] ")
        .and_then(|()| stderr.flush())
        .map_err(failed)?;
    let mut word = String::new();
    io::stdin().read_line(&mut word).map_err(failed)?;
    Ok(matches!(&*word.trim().to_lowercase(), "y" | "yes"))
}

fn answer_to(
    queue: &Queue,
    question: &Question,
    answer: Answer,
    done: &str,
    out: &mut Out,
) -> Result<Exit, Failure> {
    let Question { id, server, tool, .. } = question;
    let answered = queue.answer(id, answer, Answerer::Terminal);
    match answered.map_err(|error| Failure::Fault(error.to_string()))? {
        false => Err(Failure::Fault(format!(
            "there is no question that waits with the id `{id}`"
        ))),
        true => said(&format!("{done} {id}: {server}/{tool}"), id, out),
    }
}

fn said(text: &str, id: &str, out: &mut Out) -> Result<Exit, Failure> {
    match out.human {
        true => out.line(&clean(text))?,
        false => out.json(&json!({"id": id}))?,
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
        request,
        ..
    } = question;
    out.line(&format!(
        "{} {}",
        paint(BOLD, &clean(id)),
        clean(&format!("{server}/{tool}"))
    ))?;
    if let Some(request) = request {
        let by = request.subject.as_deref().map(|by| format!(", says {by}"));
        let whom = format!("  requested for {}{}", request.whom, by.unwrap_or_default());
        out.line(&clean(&whom))?;
    }
    for line in question.touched() {
        out.line(&format!("  {line}"))?;
    }
    out.line(&format!("  {}: {}", clean(rule), clean(reason)))?;
    let covers = match offer {
        Some(offer) => match &offer.expires_at {
            Some(end) => format!("{}, until {end}", offer.description),
            None => offer.description.clone(),
        },
        None => "this call alone".to_owned(),
    };
    let lasting = match has_session {
        true => "--session and --always",
        false => "--always",
    };
    out.line(&paint(
        DIM,
        &format!(
            "  {lasting} would cover: {}; answer until {until}",
            clean(&covers)
        ),
    ))
}
