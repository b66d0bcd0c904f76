//! Scenarios for the verdicts that none reaches. What they expect is what the documents say now: a person looks at each.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use callgate_core::{CoverageReport, Unreached};
use callgate_host::{CallText, Gate, Request};
use serde_json::json;

use super::table::title;
use crate::output::{Failure, note};

/// A file that was not there before.
pub(super) struct Missing {
    path: PathBuf,
    file: fs::File,
}

/// Makes the file. One that is there is kept: somebody may have reviewed it.
pub(super) fn create(path: &Path) -> Result<Missing, Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let shown = path.display();
    match opened {
        Ok(file) => Ok(Missing {
            path: path.to_owned(),
            file,
        }),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Failure::Fault(format!(
            "found `{shown}`, expected no such file: scenarios in it may have been reviewed"
        ))),
        Err(error) => Err(Failure::Fault(format!("cannot write `{shown}`: {error}"))),
    }
}

impl Missing {
    pub(super) fn write(mut self, coverage: &CoverageReport, gate: &Gate) -> Result<(), Failure> {
        let shown = self.path.display().to_string();
        let unwritable = |error: std::io::Error| Failure::Fault(format!("cannot write `{shown}`: {error}"));
        if coverage.unreached.is_empty() {
            note(&format!("no verdict is missing, so `{shown}` is not written"));
            return fs::remove_file(&self.path).map_err(unwritable);
        }
        let mut text = String::new();
        for one in &coverage.unreached {
            text.push_str(&line(one, gate)?);
            text.push('\n');
        }
        self.file.write_all(text.as_bytes()).map_err(unwritable)?;
        let count = match coverage.unreached.len() {
            1 => "1 scenario".to_owned(),
            many => format!("{many} scenarios"),
        };
        note(&format!(
            "wrote {count} to `{shown}`, which expect what the documents say now: see whether that is what they should say"
        ));
        Ok(())
    }
}

/// A scenario that expects the verdict of the gate.
fn line(one: &Unreached, gate: &Gate) -> Result<String, Failure> {
    let call = json!({"serverName": one.server_name, "toolName": one.tool_name, "arguments": one.arguments});
    let text = call.to_string();
    let response = gate.judge(&Request::gate(CallText::from(&text)));
    let verdict = response
        .map_err(|error| Failure::Fault(error.to_string()))?
        .verdict;
    let scenario = json!({
        "name": title(one), "call": call, "expect": verdict.decision.as_str(), "rule": verdict.rule,
    });
    Ok(scenario.to_string())
}
