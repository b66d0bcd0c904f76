//! `callgate validate`: what is wrong with the documents.

use callgate_host::Fault;
use clap::Args;
use serde_json::json;

use crate::setup::Setup;
use crate::terminal::{Exit, Failure, GREEN, Out, RED, diagnosis, paint};

/// Check the documents and show everything that is wrong with them
///
/// Each diagnostic has its place, what was found, what was expected, and help where there is any. As JSON one
/// object, `{"valid", "errors", "warnings"}`. Exits with 0 for valid documents and 4 for others.
#[derive(Args)]
pub(crate) struct Validate {
    /// Refuse documents with warnings too
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    setup: Setup,
}

impl Validate {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let (loaded, faults) = match self.setup.gate_or_faults()? {
            Ok(gate) => (true, gate.warnings().to_vec()),
            Err(faults) => (false, faults),
        };
        let (errors, warnings): (Vec<Fault>, Vec<Fault>) = faults.into_iter().partition(Fault::is_error);
        let valid = loaded && (!self.strict || warnings.is_empty());
        if out.human {
            for fault in errors.iter().chain(&warnings) {
                out.line(&diagnosis(fault))?;
            }
            let verdict = if valid {
                paint(GREEN, "valid")
            } else {
                paint(RED, "invalid")
            };
            let (errors, warnings) = (counted(errors.len(), "error"), counted(warnings.len(), "warning"));
            out.line(&format!("{verdict}: {errors}, {warnings}"))?;
        } else {
            out.json(&json!({"valid": valid, "errors": errors, "warnings": warnings}))?;
        }
        Ok(if valid { Exit::Allow } else { Exit::Invalid })
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl Setup {
    fn gate_or_faults(&self) -> Result<Result<callgate_host::Gate, Vec<Fault>>, Failure> {
        match self.build(&Ok) {
            Ok(gate) => Ok(Ok(gate)),
            Err(Failure::Refused(faults)) => Ok(Err(faults)),
            Err(failure) => Err(failure),
        }
    }
}
