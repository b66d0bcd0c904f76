//! A build for WebAssembly, which starts no programs.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::time::Duration;

use crate::queue::{Question, Queue};

/// No program can be run.
pub(super) fn ask(_: &[OsString], _: &Question, _: &Queue, _: Duration, _: fn(&str)) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}
