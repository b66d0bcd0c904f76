//! Tests of the walk against a small disk.

pub(super) mod disk;
mod resolve;
