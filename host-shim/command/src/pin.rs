//! `callgate pin`: accepting a server's tools as they are.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_guard::{Lock, PinChange, PinChangeKind};
use clap::Args;
use serde_json::{Value, json};

use crate::asking::Asking;
use crate::replace::{read_file, replace};
use crate::terminal::{BOLD, DIM, Exit, Failure, GREEN, Out, RED, YELLOW, clean, counted, paint};

/// Accept a server's tools as they are
///
/// Shows how the tools of a server differ from those in the lock file: their names, descriptions, schemas and hints, how they
/// run, their icons and `_meta`, which is what models and clients go by. With --accept the lock file has them from then on. `callgate guard --lock` holds back every tool
/// that is not there like this. Exits with 2 if there is a difference that is not accepted.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Pin {
    #[command(flatten)]
    asked: Asking,
    /// The name of the server, as the guard has it
    #[arg(long, value_name = "NAME")]
    server: String,
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = "callgate.lock")]
    lock: PathBuf,
    /// Write the tools as they are to the lock file
    #[arg(long)]
    accept: bool,
}

const EXAMPLES: &str = "\
For example:
  callgate pin --server filesystem -- npx -y @modelcontextprotocol/server-filesystem .
  callgate pin --server filesystem --accept -- npx -y @modelcontextprotocol/server-filesystem .";

/// The lock file; `None` if there is none.
pub(crate) fn read(file: &Path) -> Result<Option<Lock>, Failure> {
    let text = match read_file(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Failure::Fault(format!(
                "cannot read `{}`: {error}",
                file.display()
            )));
        }
    };
    let lock = Lock::from_json(&text);
    lock.map(Some)
        .map_err(|reason| Failure::Invalid(format!("{}: {reason}", file.display())))
}

impl Pin {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let invalid = |reason: String| Failure::Invalid(format!("the list of tools: {reason}"));
        let mut lock = read(&self.lock)?.unwrap_or_default();
        let tools = tools_of(&self.asked.tools_as_written()?).map_err(invalid)?;
        let changes = lock.changes(&self.server, &tools).map_err(invalid)?;
        if self.accept {
            lock.accept(&self.server, &tools).map_err(invalid)?;
            replace(&self.lock, &lock.to_json()).map_err(|error| {
                Failure::Fault(format!("cannot write `{}`: {error}", self.lock.display()))
            })?;
        }
        if out.human {
            for change in &changes {
                show(change, out)?;
            }
            let what = match (changes.len(), self.accept) {
                (0, _) => "the tools are as they were accepted".to_owned(),
                (count, true) => format!("{} accepted", counted(count, "difference", "differences")),
                (1, false) => "1 difference; --accept accepts it".to_owned(),
                (count, false) => format!("{count} differences; --accept accepts them"),
            };
            out.line(&what)?;
        } else {
            out.json(&json!({"server": self.server, "changes": changes, "accepted": self.accept}))?;
        }
        Ok(match changes.is_empty() || self.accept {
            true => Exit::Allow,
            false => Exit::Deny,
        })
    }
}

/// The tools of a reply, of its result, or of a bare array.
fn tools_of(text: &str) -> Result<Vec<Value>, String> {
    let list: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let tools = list
        .pointer("/result/tools")
        .or_else(|| list.get("tools"))
        .unwrap_or(&list);
    let tools = tools
        .as_array()
        .ok_or("expected an answer to `tools/list`, its `result`, or an array of tools")?;
    Ok(tools.clone())
}

fn show(change: &PinChange, out: &mut Out) -> Result<(), Failure> {
    let (style, word) = match change.change {
        PinChangeKind::New => (GREEN, "new"),
        PinChangeKind::Changed => (YELLOW, "changed"),
        PinChangeKind::Gone => (RED, "gone"),
    };
    out.line(&format!(
        "{} {}",
        paint(style, word),
        paint(BOLD, &clean(&change.tool))
    ))?;
    for (name, before, after) in &change.parts {
        out.line(&format!("  {}", paint(DIM, &clean(name))))?;
        for (sign, value) in [("-", before), ("+", after)] {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            for line in text.lines() {
                out.line(&format!("  {sign} {}", clean(line)))?;
            }
        }
    }
    Ok(())
}
