//! The lines of a case file, and the error for malformed ones.

use std::fmt;

/// The progress of replaying one file, reported to the caller's callback after every batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'f> {
    /// The file's name.
    pub file: &'f str,
    /// Batches done.
    pub done: usize,
    /// Batches in the file.
    pub total: usize,
}

/// Why a case file cannot be replayed. An answer of a subject is never such an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// The name of the file, and the line, counted from 1, if one is malformed.
    pub place: String,
    /// The fault there.
    pub message: String,
}

impl ReplayError {
    pub(crate) fn new(place: impl Into<String>, message: impl fmt::Display) -> Self {
        Self {
            place: place.into(),
            message: message.to_string(),
        }
    }

    pub(crate) fn at_line(file: &str, line: usize, message: impl fmt::Display) -> Self {
        Self::new(format!("{file}:{line}"), message)
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for ReplayError {}

/// The non-blank lines of a JSON Lines file, with their numbers from 1.
pub(crate) fn lines(text: &str) -> Vec<(usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered.filter(|(_, line)| !line.trim().is_empty()).collect()
}

/// Replays the lines of the file `name`, each with its number from 1, and calls `progress` after every one.
pub(crate) fn each<L: Copy>(
    name: &str,
    lines: impl ExactSizeIterator<Item = (usize, L)>,
    progress: &mut dyn FnMut(Progress<'_>),
    mut replay: impl FnMut(usize, L) -> Result<(), String>,
) -> Result<(), ReplayError> {
    let total = lines.len();
    for (done, (number, line)) in lines.enumerate() {
        replay(number, line).map_err(|message| ReplayError::at_line(name, number, message))?;
        progress(Progress {
            file: name,
            done: done + 1,
            total,
        });
    }
    Ok(())
}
