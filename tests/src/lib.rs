//! The conformance suite: cases as data, replayed in every host of the engine.
//!
//! A [`Subject`] is an engine in some host: this process, a Node process, a browser, a component. It receives batches (a
//! machine, the documents of an engine, operations) and returns one [`Outcome`] per operation. Both are plain JSON, so a
//! subject may be another process. The kinds of case files are
//! - recorded cases of the existing runtime: [`vectors`], with the rules of comparison in `tags` and `probes`;
//! - bypass attempts and controls: [`adversarial`];
//! - cases written from the specification, and recordings of single evaluations: [`cases`].
//!
//! [`file()`] recognizes the kind.
//!
//! A [`Report`] counts the cases that agreed, and contains each disagreement with its machine, as one line that can be
//! run again.

pub mod adversarial;
pub mod cases;
mod compare;
mod doubles;
mod explain;
mod file;
pub mod hosts;
pub mod oracle;
mod report;
mod source;
mod subject;
pub mod vectors;

pub use explain::Explain;
pub use file::{FileError, file, own_files};
pub use report::{Disagreement, Report, Tally};
pub use source::{Progress, ReplayError};
pub use subject::{
    ApprovedCall, ApprovedQuestion, Batch, EngineParts, Extraction, Match, Need, Operation, Outcome,
    ReferenceStep, Subject, SubjectKind, Surroundings, WhitelistScript, WorldQuestion,
};
