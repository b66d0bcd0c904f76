//! `cargo release`: the npm package, and then the program that packs everything.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::build::{self, Hosts};
use crate::code;
use crate::needs::{self, Purpose};
use crate::package::{self, PACKAGE};

/// The program that packs.
pub(crate) const RELEASE: &str = "release";

/// Builds what is packed, and packs it.
pub(crate) fn release(arguments: &[OsString]) -> Result<ExitCode, String> {
    needs::meet(Purpose::Release)?;
    package::install(true)?;
    PACKAGE.build(&package::packer(true)?, true)?;
    let status = Command::new(program(true)?).args(arguments).status();
    Ok(code(status.map_err(|error| {
        format!("`{RELEASE}` cannot be started: {error}")
    })?))
}

/// Builds the program that packs.
pub(crate) fn program(is_quiet: bool) -> Result<PathBuf, String> {
    build::program(OsStr::new(RELEASE), Hosts::Soon(package::PACKED), is_quiet)
}
