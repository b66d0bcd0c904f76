//! `callgate explain`: verdicts with everything that led to them.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use callgate_engine::engine::Audience;
use callgate_host::{Decision, StructuralRule, Verdict};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::advice;
use crate::answers::{self, Answer, Question};
use crate::eval::{mention_warnings, passes};
use crate::terminal::tree;
use crate::terminal::{Exit, Failure, Out};

/// Judge calls and show why, step by step
///
/// For a person a tree: each value as given and in its canonical form, the structural checks, for each role the
/// rules that were looked at and why they held or not, and with -v what the host was asked. As JSON the answers of eval,
/// with all of that in `explanation`. Takes what eval takes and ends with the same exit codes.
#[derive(Args)]
#[command(after_help = crate::EXIT_CODES)]
pub(crate) struct Explain {
    /// Also write what `callgate replay` replays to this file: documents, calls, what the host answered
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Show the smallest rule that would allow each call that is not allowed, where it must stand, and what else it would let
    /// through; for what no rule allows, what has to change instead
    #[arg(long)]
    suggest: bool,
    #[command(flatten)]
    question: Question,
}

/// The answer of eval, and what led to it.
#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    answer: Answer<'a>,
    explanation: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<Value>,
}

/// The page about a rule of the engine that keeps the call from passing.
fn where_it_is_explained(verdict: &Verdict<'_>) -> Option<String> {
    let is_own =
        StructuralRule::parse(&verdict.rule).is_some_and(|rule| rule != StructuralRule::TrustedServer);
    let is_stopped = verdict.decision != Decision::Allow;
    (is_own && is_stopped)
        .then(|| "`callgate help structural-rules` says what this rule means, and what to do".to_owned())
}

impl Explain {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let question = &self.question;
        let gate = question.setup.gate()?;
        mention_warnings(&gate, out)?;
        if !gate.above().is_empty() && (self.record.is_some() || self.suggest) {
            return Err(Failure::Fault(
                "--record and --suggest are about one bundle, and --above names others: ask about each by itself"
                    .to_owned(),
            ));
        }
        let mut record = match &self.record {
            Some(path) => Some(File::create(path).map_err(|error| self.unwritable(&error))?),
            None => None,
        };
        answers::each(question, out, |call, about, out| {
            let request = question.request(call);
            let response = gate.judge(&request.explained(Audience::Operator))?;
            let verdict = &response.verdict;
            let Some(explanation) = response.explanation else {
                return Err(Failure::Fault("the engine gave no explanation".to_owned()).into());
            };
            if let Some(file) = &mut record {
                let line = gate
                    .recorded_request(&request, &explanation)
                    .map_err(io::Error::from);
                let written = line.and_then(|line| writeln!(file, "{line}"));
                written.map_err(|error| self.unwritable(&error))?;
            }
            let help = answers::similar(&gate, about, verdict);
            let wanted = self.suggest && verdict.decision != Decision::Allow;
            let advice = wanted.then(|| advice::of(&gate, &question.setup, std::slice::from_ref(&request)));
            let advice = advice.transpose()?;
            if out.human {
                let help = help.or_else(|| where_it_is_explained(verdict));
                let is_verbose = question.setup.running.verbose;
                out.text(&tree(&explanation, help.as_deref(), is_verbose)?)?;
                if let Some(advice) = &advice {
                    out.text(&advice::shown(advice))?;
                }
            } else {
                let sent = response.arguments.as_deref().filter(|_| passes(verdict));
                let arguments = sent.map(serde_json::from_str::<&RawValue>).transpose();
                out.json(&Explained {
                    answer: Answer {
                        about,
                        verdict,
                        arguments: arguments.map_err(io::Error::from)?,
                        help,
                    },
                    explanation: &explanation,
                    suggestion: advice.as_ref().map(advice::json),
                })?;
            }
            Ok(answers::exit_of(verdict))
        })
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        let path = self.record.as_deref().unwrap_or(std::path::Path::new(""));
        Failure::Fault(format!("cannot write `{}`: {error}", path.display()))
    }
}
