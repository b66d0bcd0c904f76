//! `callgate replay`: judges recorded calls again, without the disk and git that answered then, and those of a guard's log by
//! other documents.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::answers::check_context;
use crate::logged::{Change, Judged};
use crate::recording::Recorded;
use crate::setup::Setup;
use crate::source::Source;
use crate::terminal::{Exit, Failure, Format, Out, clean};

/// Judge recorded calls again and compare the answers
///
/// Takes the files that `callgate explain --record` wrote. They hold the documents, the calls and what the host
/// answered, so nothing of this machine is asked. Prints each explanation that is not as recorded as one line of JSON,
/// and last `N passed, N failed`; with --format json one object. Exits with 0 if nothing failed, 1 if something did or
/// a file cannot be read, 4 if a file is malformed.
///
/// The logs of `callgate guard --audit` are judged by the documents that are given here, on this machine, and what changes is
/// shown; calls that a log says too little about are named. Exits with 1 if a decision changes.
#[derive(Args)]
pub(crate) struct Replay {
    /// The recordings, or the logs
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// The context of the guard that wrote the logs, which they do not hold
    #[arg(long, value_name = "JSON", help_heading = "World")]
    context: Option<String>,
    #[command(flatten)]
    setup: Setup,
}

impl Replay {
    /// The closing line is for programs too, so JSON is written only where it is asked for.
    pub(crate) fn run(&self, format: Option<Format>, out: &mut Out) -> Result<Exit, Failure> {
        let sources = self.files.iter().map(|file| Source::open(file));
        let sources = sources.collect::<Result<Vec<Source>, Failure>>()?;
        if sources.iter().any(Source::is_log) {
            return self.logs(sources, out);
        }
        if self.setup.has_documents() {
            return Err(Failure::Fault(
                "recordings hold their documents, expected logs of `callgate guard` with documents"
                    .to_owned(),
            ));
        }
        let (mut count, mut differences) = (0, Vec::new());
        for source in sources {
            let name = source.name.clone();
            let name = name.display();
            let text = source.into_text()?;
            let lines = text.lines().enumerate();
            let lines = lines.filter(|(_, line)| !line.trim().is_empty());
            let before = count;
            for (at, line) in lines {
                let place = format!("{name}:{}", at + 1);
                let help = "`callgate explain --record` writes recordings";
                let invalid = |message| Failure::Invalid(format!("{place}: {message} (help: {help})"));
                let recorded = Recorded::read(line).map_err(invalid)?;
                count += recorded.len();
                differences.extend(recorded.replay(&place, self.setup.engine())?);
            }
            if count == before {
                return Err(Failure::Invalid(format!("{name}: found no recorded call")));
            }
        }
        let failed = differences.len();
        let passed = count - failed;
        if format == Some(Format::Json) {
            out.json(&json!({"total": {"passed": passed, "failed": failed}, "differences": differences}))?;
        } else {
            for difference in &differences {
                let text = serde_json::to_string(difference).map_err(io::Error::from)?;
                out.line(&clean(&text))?;
            }
            out.line(&format!("{passed} passed, {failed} failed"))?;
        }
        Ok(if failed == 0 { Exit::Allow } else { Exit::Fault })
    }

    fn logs(&self, logs: Vec<Source>, out: &mut Out) -> Result<Exit, Failure> {
        if let Some(other) = logs.iter().find(|source| !source.is_log()) {
            return Err(Failure::Fault(format!(
                "`{}` is not a log, and other files are: expected one kind of files",
                other.name.display()
            )));
        }
        check_context(self.context.as_deref())?;
        let gate = self.setup.gate()?;
        let mut judged = Judged::default();
        for log in logs {
            judged.add(log, &gate, self.context.as_deref())?;
        }
        if out.human {
            judged.show(out)?;
        } else {
            out.json(&judged)?;
        }
        Ok(match judged.changes.iter().any(Change::is_of_decision) {
            true => Exit::Fault,
            false => Exit::Allow,
        })
    }
}
