//! Where answers go: what a person, a program or a pull request is shown of them, and how a command ends.

mod diagnosis;
mod failure;
mod output;
mod page;
mod progress;
mod style;
mod tree;

pub(crate) use callgate_host::clean;
pub(crate) use diagnosis::diagnosis;
pub(crate) use failure::{Exit, Failure, note};
pub(crate) use output::{Color, Format, Out};
pub(crate) use page::rendered;
pub(crate) use progress::Progress;
pub(crate) use style::{BOLD, DIM, GREEN, RED, YELLOW, brief, counted, paint, style_of, width, wrapped};
pub(crate) use tree::tree;
