//! Starts a program of the conformance suite: `cargo show` and `cargo suite`.
//!
//! Those programs take minutes to compile and need the compiler's target `wasm32-unknown-unknown`. This one has no
//! dependencies, so within seconds it checks for the target, and installs it with rustup if it is missing. rustup
//! itself installs it only if its automatic installation is on.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

const TARGET: &str = "wasm32-unknown-unknown";

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let started = match arguments.next() {
        Some(program) => ensure_target().and_then(|()| start(program, arguments)),
        None => Err("expected the name of a program of the crate `conformance`, such as `show`".to_owned()),
    };
    match started {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Installs the target for the toolchain in use, unless it is there.
///
/// # Errors
/// The target is missing, and rustup is missing or fails.
fn ensure_target() -> Result<(), String> {
    if is_installed()? {
        return Ok(());
    }
    let command = format!("rustup target add {TARGET}");
    eprintln!("The compiler has no target `{TARGET}`; installing it: {command}");
    let status = Command::new("rustup").args(["target", "add", TARGET]).status();
    let status = status.map_err(|error| {
        format!("rustup cannot be started ({error}); install the target `{TARGET}` for this compiler by hand")
    })?;
    if !status.success() {
        return Err(format!("`{command}` ended with {status}"));
    }
    match is_installed()? {
        true => Ok(()),
        false => Err(format!(
            "`{command}` installed the target for another toolchain than the one in use"
        )),
    }
}

/// Returns `true` if the compiler in use has the target's standard library.
fn is_installed() -> Result<bool, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    let output = output.map_err(|error| format!("rustc cannot be started: {error}"))?;
    let folder = String::from_utf8_lossy(&output.stdout);
    // rustup leaves the empty folder behind when it removes a target.
    let mut libraries = PathBuf::from(folder.trim()).read_dir().into_iter().flatten();
    Ok(libraries.next().is_some())
}

fn start(program: OsString, arguments: impl Iterator<Item = OsString>) -> Result<ExitStatus, String> {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
        .args(["run", "--package", "conformance", "--bin"])
        .arg(program)
        .arg("--")
        .args(arguments)
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))
}
