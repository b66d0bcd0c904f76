//! `callgate explain`: verdicts with everything that led to them.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use crate::answers::{self, Question};
use crate::eval::mention_warnings;
use crate::output::{Exit, Failure, Out};
use crate::tree;

/// Judge calls and show why, step by step
///
/// For a person a tree: each value as given and in its canonical form, the structural checks, for each role the
/// rules that were looked at and why they held or not, and what the host was asked. As JSON the same, one line a
/// call. Takes what eval takes and ends with the same exit codes.
#[derive(Args)]
#[command(after_help = crate::EXIT_CODES)]
pub(crate) struct Explain {
    /// Also write what `callgate replay` replays to this file: documents, calls, what the host answered
    #[arg(long, value_name = "FILE", conflicts_with = "gate")]
    record: Option<PathBuf>,
    #[command(flatten)]
    question: Question,
}

impl Explain {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let question = &self.question;
        let gate = question.setup.gate()?;
        mention_warnings(&gate, out)?;
        let mut record = match &self.record {
            Some(path) => Some(File::create(path).map_err(|error| self.unwritable(&error))?),
            None => None,
        };
        answers::each(question, out, |call, out| {
            let explanation = if question.gate {
                gate.explain_gate(call, question.container_workspace_dir.as_deref())?
            } else {
                gate.explain(call)?
            };
            if let Some(file) = &mut record {
                let line = gate.recorded(call, &explanation).map_err(io::Error::from);
                let written = line.and_then(|line| writeln!(file, "{line}"));
                written.map_err(|error| self.unwritable(&error))?;
            }
            if out.human {
                out.text(&tree::of(&explanation)?)?;
            } else {
                out.json(&explanation)?;
            }
            let decision = explanation["verdict"]["decision"].as_str();
            Ok(answers::exit_of(decision.unwrap_or_default()))
        })
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        let path = self.record.as_deref().unwrap_or(std::path::Path::new(""));
        Failure::Fault(format!("cannot write `{}`: {error}", path.display()))
    }
}
