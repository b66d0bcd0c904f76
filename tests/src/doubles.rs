//! Test doubles: hosts that fail their duty or call back, and a subject that answers as a test says.

#[cfg(test)]
mod fake;
mod misbehaviour;
mod realpath;

#[cfg(test)]
pub(crate) use fake::Fake;
pub(crate) use misbehaviour::Misbehaviour;
pub(crate) use realpath::{Honest, WithRealpath};
