//! `cargo playground`: the page that judges calls as they are typed, served to this machine.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::build::root;
use crate::code;
use crate::needs::{self, Purpose};
use crate::package::{self, PACKAGE};

/// Builds the npm package and the page, and serves it until it is stopped. `arguments` are Vite's, such as `--port 8080`.
pub(crate) fn playground(arguments: &[OsString]) -> Result<ExitCode, String> {
    needs::meet(Purpose::Playground)?;
    package::install(false)?;
    PACKAGE.build(&package::packer(false)?, false)?;
    let mut npm = Command::new("npm");
    npm.args(["run", "--silent", "start", "--workspace", "playground", "--"])
        .args(arguments);
    let status = npm.current_dir(root().join("js")).status();
    Ok(code(
        status.map_err(|error| format!("npm cannot be started: {error}"))?,
    ))
}
