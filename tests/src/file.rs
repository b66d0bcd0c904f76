//! Replaying a case file of any kind.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::adversarial::Suite;
use crate::report::Report;
use crate::source::{Progress, ReplayError, lines};
use crate::subject::Subject;
use crate::vectors::Departures;
use crate::{cases, vectors};

/// Why a case file was not replayed.
#[derive(Debug)]
pub enum FileError {
    /// The case file, or one beside it, cannot be read.
    Unreadable {
        /// The file.
        file: String,
        /// The error of the operating system.
        reason: String,
    },
    /// It is not a case file, or is malformed.
    Malformed(ReplayError),
}

impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, reason } => write!(formatter, "cannot read `{file}`: {reason}"),
            Self::Malformed(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for FileError {}

impl From<ReplayError> for FileError {
    fn from(error: ReplayError) -> Self {
        Self::Malformed(error)
    }
}

/// Replays the file at `path`: recorded cases, cases with written expectations, or adversarial cases beside their
/// `setups.json`. The first line shows which kind it is. A `departures.jsonl` beside the cases is read too. Calls
/// `progress` after every batch.
///
/// # Errors
/// A file cannot be read or is malformed, or contains no case.
pub fn file(
    subject: &mut dyn Subject,
    path: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, FileError> {
    let text = read(path)?;
    // Departures name the file without its folder.
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.display().to_string();
    let Some((number, first)) = lines(&text).into_iter().next() else {
        return Err(ReplayError::new(name, "found no line, expected cases").into());
    };
    let kind = Kind::of(first).map_err(|message| ReplayError::at_line(&name, number, message))?;
    Ok(match kind {
        Kind::Vectors => {
            let departures = Departures::read("departures.jsonl", &departures_of(path)?)?;
            vectors::replay(subject, &name, &text, &departures, progress)?
        }
        Kind::Cases => cases::replay(subject, &name, &text, progress)?,
        Kind::Adversarial => {
            let setups = read(&path.with_file_name("setups.json"))?;
            Suite::read(&name, &setups, &text, &departures_of(path)?)?.replay(subject, progress)?
        }
    })
}

/// The suite's own case files, in the order of their names.
#[must_use]
pub fn own_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["vectors", "ceilings", "configuration", "workday", "worlds"]
        .map(|folder| std::fs::read_dir(root.join(folder)));
    let entries = folders.into_iter().flatten().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.retain(|path| !path.ends_with("departures.jsonl"));
    files.extend(
        ["adversarial", "adversarial-2", "adversarial-3"].map(|folder| root.join(folder).join("cases.jsonl")),
    );
    files.push(root.join("adversarial-3/written.jsonl"));
    files.sort();
    files
}

fn departures_of(path: &Path) -> Result<String, FileError> {
    let departures = path.with_file_name("departures.jsonl");
    if departures.exists() {
        read(&departures)
    } else {
        Ok(String::new())
    }
}

enum Kind {
    Vectors,
    Cases,
    Adversarial,
}

impl Kind {
    fn of(line: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: Option<String>,
            setup: Option<Value>,
        }
        const EXPECTED: &str = "`vectors/1`, `cases/1`, or an adversarial case with its `setup`";

        let head: Head = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match (head.format.as_deref(), head.setup) {
            (Some("vectors/1"), _) => Ok(Self::Vectors),
            (Some("cases/1"), _) => Ok(Self::Cases),
            (Some(format), _) => Err(format!("found the format `{format}`, expected {EXPECTED}")),
            (None, Some(_)) => Ok(Self::Adversarial),
            (None, None) => Err(format!("found no `format`, expected {EXPECTED}")),
        }
    }
}

fn read(path: &Path) -> Result<String, FileError> {
    std::fs::read_to_string(path).map_err(|error| {
        let file = path.display().to_string();
        if error.kind() == io::ErrorKind::InvalidData {
            ReplayError::new(file, "expected JSON Lines in UTF-8").into()
        } else {
            let reason = error.to_string();
            FileError::Unreadable { file, reason }
        }
    })
}
