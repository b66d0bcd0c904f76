//! The programs of the workspace, and where they are.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The hosts that are compiled into a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// The core in the program's own process. Without wasmtime, a bare machine has it within a minute.
    Native,
    /// For `cargo show`: those that these features bring, and nothing else, with a core that is not optimized.
    Soon(&'static str),
    /// All, as the tests have them.
    All,
}

/// The command for users.
pub(crate) const COMMAND: &str = "callgate";

/// The program behind `cargo show`.
pub(crate) const SHOW: &str = "show";

/// The feature of `show` that brings wasmtime. It needs neither the command nor the guard, and so none of the hundred crates that
/// those bring.
pub(crate) const WASMTIME: &str = "conformance/component";

/// The tests want a fast core, which takes a minute to compile. A few verdicts want one that is soon there.
const SOON: [&str; 2] = ["--config", "profile.dev.package.callgate-engine.opt-level=0"];

/// Features that the command has in the tests, and without wasmtime.
const COMPLETE: &str = "callgate/otel,callgate/serve";

/// The folder of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The cargo that started this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// The folder in which cargo puts programs: this one is there.
pub(crate) fn programs() -> Result<PathBuf, String> {
    let found = env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    found
        .parent()
        .map(Path::to_owned)
        .ok_or_else(|| "this program lies in no folder".to_owned())
}

/// Builds a program and returns its path.
///
/// All packages are selected even for one program: cargo then chooses the same features for the crates that they share,
/// and nothing from outside is compiled again for the next program, or for the tests.
pub(crate) fn program(name: &OsStr, hosts: Hosts, is_quiet: bool) -> Result<PathBuf, String> {
    let mut command = cargo();
    command.current_dir(root()).args(["build", "--workspace"]);
    match hosts {
        Hosts::Native if name == COMMAND => {
            command.args(["--no-default-features", "--features", COMPLETE]);
        }
        Hosts::Native => {
            command.arg("--no-default-features").args(SOON);
        }
        Hosts::Soon(features) => {
            command
                .args(["--no-default-features", "--features", features])
                .args(SOON);
        }
        Hosts::All => {
            command.args(["--features", WASMTIME, "--features", COMPLETE]);
        }
    }
    command.arg("--bin").arg(name);
    if is_quiet {
        command.arg("--quiet");
    }
    let shown = name.to_string_lossy();
    let status = command
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if status.success() {
        Ok(programs()?.join(name))
    } else {
        Err(format!("`{shown}` cannot be built"))
    }
}
