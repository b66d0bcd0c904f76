//! Replaying case files against an engine under test.
//!
//! A [`Subject`] is an engine in some host: this process, a Node process, a browser, a component. It is given
//! batches (a world, the documents of an engine, operations) and gives one [`Outcome`] an operation; both are
//! plain JSON, so a subject may be another process. The kinds of case files are
//! - recorded cases of the existing runtime: [`vectors`], with the rules of comparison in `tags` and `probes`;
//! - bypass attempts and controls: [`adversarial`];
//! - what the specification says, case by case: [`cases`];
//! - what an engine with a world answers about its places: [`worlds`];
//! - recordings of single evaluations: [`recordings`].
//!
//! [`file()`] tells the kinds apart.
//!
//! A [`Report`] counts what agreed and holds each disagreement with its world, as one line that can be run again.

pub mod adversarial;
pub mod cases;
mod compare;
#[cfg(feature = "component")]
mod component;
mod directives;
mod file;
mod functions;
mod native;
mod native_world;
mod probes;
pub mod recordings;
mod reentrant;
mod report;
mod subject;
mod tags;
pub mod vectors;
pub mod worlds;

use std::fmt;

#[cfg(feature = "component")]
pub use component::ComponentSubject;
pub use directives::{DirectiveError, expand};
pub use file::{FileError, file};
pub use native::NativeSubject;
pub use report::{Disagreement, Report, Tally};
pub use subject::{
    Batch, EngineParts, Extraction, Match, Need, Operation, Outcome, ReferenceStep, Subject, SubjectKind,
    Surroundings, WhitelistScript, WorldQuestion,
};

/// How far the replay of one file is; given to the caller's callback after every batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'f> {
    /// The file's name.
    pub file: &'f str,
    /// Batches done.
    pub done: usize,
    /// Batches in the file.
    pub total: usize,
}

/// Why a case file cannot be replayed. What a subject answers is never such an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// The file's name and, where one is at fault, the line, counted from 1.
    pub place: String,
    /// What is wrong there.
    pub message: String,
}

impl ReplayError {
    fn new(place: impl Into<String>, message: impl fmt::Display) -> Self {
        Self {
            place: place.into(),
            message: message.to_string(),
        }
    }

    fn at_line(file: &str, line: usize, message: impl fmt::Display) -> Self {
        Self::new(format!("{file}:{line}"), message)
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for ReplayError {}

/// The lines of a JSON Lines text that are not blank, with their numbers from 1.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered.filter(|(_, line)| !line.trim().is_empty()).collect()
}

/// Replays the lines of the file `name`, each with its number from 1; `progress` is called after every one.
fn each<L: Copy>(
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

#[cfg(test)]
mod fake;
