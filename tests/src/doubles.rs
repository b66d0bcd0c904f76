//! Test doubles: hosts that misbehave or call back, and a subject that answers as a test tells it to.

#[cfg(test)]
mod fake;
mod misbehaviour;
mod realpath;

#[cfg(test)]
pub(crate) use fake::Fake;
pub(crate) use misbehaviour::Misbehaviour;
pub(crate) use realpath::{Honest, WithRealpath};
