//! `callgate replay`: cases that were recorded, or made up, with the answers that are required.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use callgate_host::replay::{self, FileError, NativeSubject, Progress, Report};
use clap::Args;
use serde_json::json;

use crate::output::{Exit, Failure, Format, Out, clean};

/// Replay case files and compare the answers with what they require
///
/// Takes recorded cases (`vectors/1`), recordings that `callgate explain --record` wrote (`recording/1`), and
/// adversarial cases beside their setups.json. Prints each disagreement as one line of JSON, tables by file and by
/// tag, and last `N passed, N failed`; with --format json one object. Exits with 0 if nothing failed, 1 if something
/// did or a file cannot be read, 4 if a file is malformed.
#[derive(Args)]
pub(crate) struct Replay {
    /// The case files
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
}

impl Replay {
    /// The closing line is for programs too, so JSON is written only where it is asked for.
    pub(crate) fn run(&self, format: Option<Format>, out: &mut Out) -> Result<Exit, Failure> {
        let mut whole = Report::default();
        let mut shown = Shown::new();
        for file in &self.files {
            let report = replay::file(&mut NativeSubject, file, &mut |progress| shown.show(progress));
            shown.clear();
            whole.absorb(report.map_err(|error| match error {
                FileError::Unreadable { .. } => Failure::Fault(error.to_string()),
                FileError::Malformed(_) => Failure::Invalid(error.to_string()),
            })?);
        }
        let total = whole.total();
        if format == Some(Format::Json) {
            out.json(&json!({"total": total, "report": whole}))?;
        } else {
            for line in whole.to_string().lines() {
                out.line(&clean(line))?;
            }
        }
        Ok(if total.failed == 0 {
            Exit::Allow
        } else {
            Exit::Fault
        })
    }
}

/// How far the replay is, on standard error while that is a terminal.
struct Shown {
    on: bool,
    percent: Option<usize>,
}

impl Shown {
    fn new() -> Self {
        Self {
            on: io::stderr().is_terminal(),
            percent: None,
        }
    }

    fn show(&mut self, progress: Progress<'_>) {
        let percent = progress.done * 100 / progress.total.max(1);
        if self.on && self.percent != Some(percent) {
            self.percent = Some(percent);
            // A terminal that has gone away is no reason to stop.
            let _ = write!(io::stderr(), "\r\x1b[K{} {percent}%", clean(progress.file));
        }
    }

    fn clear(&mut self) {
        if self.percent.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
