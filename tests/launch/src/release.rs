//! `cargo release`: the npm package, and then the program that packs everything.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::build::{self, Hosts, root};
use crate::needs::{self, Purpose};
use crate::package::{self, PACKAGE, succeed};

/// The program that packs.
pub(crate) const RELEASE: &str = "release";

/// Builds what is packed, packs it, and installs it as people do.
pub(crate) fn release(arguments: &[OsString]) -> Result<ExitCode, String> {
    needs::meet(Purpose::Release)?;
    package::install(true)?;
    let packer = package::packer(true)?;
    PACKAGE.build(&packer, true)?;
    package::filter(&packer, true)?;
    let js = root().join("js");
    succeed(Command::new(program(true)?).args(arguments), false)?;
    let mut qemu = Command::new("node");
    succeed(
        qemu.args(["test/tools/debian.mjs", "qemu"]).current_dir(&js),
        false,
    )?;
    let mut install = Command::new("npm");
    succeed(
        install.args(["run", "--silent", "test:release"]).current_dir(&js),
        false,
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Builds the program that packs.
pub(crate) fn program(is_quiet: bool) -> Result<PathBuf, String> {
    build::program(OsStr::new(RELEASE), Hosts::Soon(package::PACKED), is_quiet)
}
