//! `callgate eval`: verdicts.

use callgate_host::{Decision, Gate, Verdict};
use clap::Args;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answers::{self, About, Answer, INDENT, Question};
use crate::terminal::{DIM, Exit, Failure, Out, YELLOW, brief, clean, paint, style_of, width, wrapped};

/// Judge calls: allow, escalate or deny
///
/// Calls are judged as the gate judges them: arguments that name paths, URLs and the like are made canonical, relative
/// paths start from the sandbox, and what was judged is what is to be sent. A call is
/// `{"serverName", "toolName", "arguments"}`, or MCP's frame `{"method": "tools/call", "params": {"name", "arguments"}}`;
/// frames of other methods are passed over.
///
/// As JSON each answer is one line, `{"line", "id"?, "server", "tool", "decision", "rule", "reason", "escalatedRoles"?,
/// "approval"?, "arguments"?, "help"?}`. `line` is where the call begins in the input, `id` is that of the call, and
/// `arguments` are what to send if the call passes; a call that is denied has none. A line that is not a call is answered by
/// `{"line", "id"?, "error": {"line", "column"?, "message", "help"?}}`, and the next line is read.
#[derive(Args)]
#[command(after_help = crate::EXIT_CODES, after_long_help = EXAMPLES)]
pub(crate) struct Eval {
    #[command(flatten)]
    question: Question,
}

const EXAMPLES: &str = "\
Examples:
  callgate eval calls.jsonl
  callgate eval '{\"serverName\": \"fetch\", \"toolName\": \"fetch\", \"arguments\": {\"url\": \"https://docs.rs\"}}'
  agent | callgate eval --bundle conf
  callgate eval --server git recorded-session.jsonl

Exit codes: 0 allow, 1 fault (a bad flag or call, an unreadable file of calls), 2 deny, 3 escalate, \
4 a document that is invalid or cannot be read. \
For several calls: 1 if a line was not a call or there was none, else 2 if a call is denied, else 3 if one escalates, \
else 0.";

impl Eval {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let question = &self.question;
        let gate = question.setup.gate()?;
        mention_warnings(&gate, out)?;
        answers::each(question, out, |call, about, out| {
            let response = gate.judge(&question.request(call))?;
            let verdict = &response.verdict;
            let help = answers::similar(&gate, about, verdict);
            let sent = response.arguments.as_deref().filter(|_| passes(verdict));
            if out.human {
                out.line(&sentence(about, &call.text(), verdict))?;
                if let Some(sent) = sent {
                    show_sent(&call.text(), sent, out)?;
                }
                if let Some(help) = &help {
                    out.line(&answers::helping(help))?;
                }
            } else {
                let arguments = sent.map(serde_json::from_str::<&RawValue>).transpose();
                out.json(&Answer {
                    about,
                    verdict,
                    arguments: arguments.map_err(std::io::Error::from)?,
                    help,
                })?;
            }
            Ok(answers::exit_of(verdict))
        })
    }
}

/// Returns `true` if anything is sent.
pub(crate) fn passes(verdict: &Verdict<'_>) -> bool {
    match verdict.decision {
        Decision::Allow | Decision::Escalate(_) => true,
        Decision::Deny => false,
    }
}

/// Tells a person that there are warnings; programs ask `callgate validate`.
pub(crate) fn mention_warnings(gate: &Gate, out: &mut Out) -> Result<(), Failure> {
    let count = gate.warnings().len();
    if count == 0 || !out.human {
        return Ok(());
    }
    let what = if count == 1 {
        "1 warning"
    } else {
        &format!("{count} warnings")
    };
    let rest = "about the documents; `callgate validate` shows what and where";
    out.line(&format!("{} {rest}", paint(YELLOW, what)))
}

/// Columns of the arguments that are shown with a call.
const MOST: usize = 69;

/// The decision and the call on one line, and why on those below it.
fn sentence(about: &About<'_>, call: &str, verdict: &Verdict<'_>) -> String {
    let decision = verdict.decision.as_str();
    let line = if about.is_one_of_many {
        paint(DIM, &format!("{:>3} ", about.line))
    } else {
        String::new()
    };
    let title = clean(&format!("{}/{}", about.server, about.tool)).into_owned();
    let left = MOST.saturating_sub(width(&line) + width(&title));
    let arguments = match given(call) {
        Some(Value::Object(members)) if members.is_empty() => String::new(),
        Some(arguments) => format!(" {}", paint(DIM, &cut(&arguments.to_string(), left))),
        None => String::new(),
    };
    let roles = match &verdict.decision {
        Decision::Escalate(roles) if !roles.is_empty() => {
            clean(&format!(" ({})", roles.join(", "))).into_owned()
        }
        Decision::Allow | Decision::Escalate(_) | Decision::Deny => String::new(),
    };
    let why = format!("{}{roles}: {}", clean(&verdict.rule), clean(&verdict.reason));
    format!(
        "{} {line}{title}{arguments}\n{INDENT}{}",
        paint(style_of(decision), &format!("{decision:<8}")),
        wrapped(&why, INDENT.len(), INDENT),
    )
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", clean(&text[..end])),
        None => clean(text).into_owned(),
    }
}

/// The arguments of a call, as far as they can be read.
fn given(call: &str) -> Option<Value> {
    let mut call: Value = serde_json::from_str(call).ok()?;
    call.get_mut("arguments").map(Value::take)
}

/// Names each argument that is not sent as it was given.
fn show_sent(call: &str, sent: &str, out: &mut Out) -> Result<(), Failure> {
    let given = given(call).unwrap_or_default();
    let Ok(Value::Object(sent)) = serde_json::from_str(sent) else {
        return Ok(());
    };
    for (name, value) in &sent {
        if given.get(name) != Some(value) {
            let value = brief(&value.to_string(), 4 * MOST);
            let line = format!("{} is sent as {value}", clean(name));
            out.line(&format!("{INDENT}{}", wrapped(&line, INDENT.len(), INDENT)))?;
        }
    }
    Ok(())
}
