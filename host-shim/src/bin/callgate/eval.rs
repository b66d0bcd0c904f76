//! `callgate eval`: verdicts.

use callgate_core::CallError;
use callgate_host::{CallText, Decision, Gate, Request, Verdict};
use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answers::{self, Question};
use crate::output::{DIM, Exit, Failure, Out, YELLOW, clean, paint, style_of};

/// Judge calls: allow, escalate or deny
///
/// Prints one verdict a call, `{"decision", "rule", "reason", "escalatedRoles"?}` as JSON; with --gate
/// `{"verdict", "argsForTransport"}`. A line that is not a call is answered by `{"error": {"line", "column", "message"}}`,
/// and the next line is read; empty lines are passed over.
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
  agent | callgate eval - --bundle conf/callgate.json --gate

Exit codes: 0 allow, 1 fault (a bad flag or call, an unreadable file), 2 deny, 3 escalate, 4 invalid document. \
For several calls: 1 if a line was not a call or there was none, else 2 if a call is denied, else 3 if one escalates, \
else 0.";

/// The answer of `--gate`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Gated<'a> {
    verdict: &'a Verdict<'a>,
    args_for_transport: Option<&'a RawValue>,
}

impl Eval {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let question = &self.question;
        let gate = question.setup.gate()?;
        mention_warnings(&gate, out)?;
        answers::each(question, out, |call, out| {
            if !question.gate {
                let verdict = gate.evaluate(call)?;
                if out.human {
                    out.line(&sentence(call, &verdict)?)?;
                } else {
                    out.json(&verdict)?;
                }
                return Ok(answers::exit_of(verdict.decision.as_str()));
            }
            let container = question.container_workspace_dir.as_deref();
            let response = gate.judge(&Request::gate(call, container))?;
            let (verdict, arguments) = (&response.verdict, response.arguments.as_deref());
            if out.human {
                out.line(&sentence(call, verdict)?)?;
                if let (Decision::Allow | Decision::Escalate(_), Some(arguments)) =
                    (&verdict.decision, arguments)
                {
                    out.line(&format!(
                        "         {} {}",
                        paint(DIM, "to forward:"),
                        clean(arguments)
                    ))?;
                }
            } else {
                let args_for_transport = arguments.map(serde_json::from_str).transpose();
                out.json(&Gated {
                    verdict,
                    args_for_transport: args_for_transport.map_err(std::io::Error::from)?,
                })?;
            }
            Ok(answers::exit_of(verdict.decision.as_str()))
        })
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

fn sentence(call: CallText<'_>, verdict: &Verdict<'_>) -> Result<String, CallError> {
    let decision = verdict.decision.as_str();
    let roles = match &verdict.decision {
        Decision::Escalate(roles) if !roles.is_empty() => {
            paint(DIM, &clean(&format!(" ({})", roles.join(", "))))
        }
        Decision::Allow | Decision::Escalate(_) | Decision::Deny => String::new(),
    };
    Ok(format!(
        "{} {}{roles}  {} {}",
        paint(style_of(decision), &format!("{decision:<8}")),
        answers::title(call)?,
        paint(DIM, &format!("{}:", clean(&verdict.rule))),
        clean(&verdict.reason),
    ))
}
