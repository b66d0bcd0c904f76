//! `callgate replay`: cases that were recorded, or made up, with the answers that are required.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

#[cfg(feature = "component")]
use callgate_host::replay::ComponentSubject;
use callgate_host::replay::{self, FileError, NativeSubject, Progress, Report, Subject};
use clap::Args;
use serde_json::json;

use crate::output::{Exit, Failure, Format, Out, clean};
use crate::setup::Engine;

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
    /// What runs the engine; both give the same answers
    #[arg(long, value_name = "ENGINE", default_value_t)]
    engine: Engine,
}

impl Replay {
    /// The closing line is for programs too, so JSON is written only where it is asked for.
    pub(crate) fn run(&self, format: Option<Format>, out: &mut Out) -> Result<Exit, Failure> {
        let mut whole = Report::default();
        let mut shown = Shown::new();
        let mut subject = self.subject()?;
        for file in &self.files {
            let report = replay::file(subject.as_mut(), file, &mut |progress| shown.show(progress));
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

    fn subject(&self) -> Result<Box<dyn Subject>, Failure> {
        Ok(match self.engine {
            #[cfg(feature = "component")]
            Engine::Component => {
                Box::new(ComponentSubject::new().map_err(|error| Failure::Fault(error.to_string()))?)
            }
            Engine::Native => Box::new(NativeSubject),
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
