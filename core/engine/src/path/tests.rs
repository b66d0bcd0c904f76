//! Tests of resolving against a small disk.

mod bounds;
pub(super) mod disk;
mod properties;
mod resolve;
mod sample;
