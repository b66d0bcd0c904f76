//! Starts the programs of the checkout: `cargo show`, `cargo suite`, `cargo playground`, `cargo conformance`, `cargo callgate`,
//! `cargo pack`, `cargo release`.
//!
//! This program has no dependencies, so within two seconds it says what the machine lacks, and installs what it may.
//! Whatever is built after that is built with one choice of features, so that no crate is compiled twice.

mod build;
mod clock;
mod count;
mod fuzz;
mod needs;
mod package;
mod playground;
mod release;
mod show;
mod suite;

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode, ExitStatus};

use build::{COMMAND, Hosts};
use needs::Purpose;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("error: expected the name of a program, such as `show`");
        return ExitCode::FAILURE;
    };
    let arguments: Vec<OsString> = arguments.collect();
    let ended = match program.to_str() {
        Some("show") => show::show(&arguments),
        Some("suite") => suite::suite(),
        Some("fuzz") => fuzz::fuzz(&arguments),
        Some("release") => release::release(&arguments),
        Some("playground") => playground::playground(&arguments),
        _ => start(&program, &arguments),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// Builds a program of the workspace, and runs it in the current directory.
fn start(program: &OsString, arguments: &[OsString]) -> Result<ExitCode, String> {
    // Without wasmtime the command is ready in a fraction of the time.
    let is_component = |argument: &OsString| argument.to_string_lossy().ends_with("component");
    let (purpose, hosts) = match program == COMMAND && !arguments.iter().any(is_component) {
        true => (Purpose::Command, Hosts::Native),
        false => (Purpose::Build, Hosts::All),
    };
    needs::meet(purpose)?;
    let program = build::program(program, hosts, true)?;
    let status = Command::new(&program).args(arguments).status();
    let status = status.map_err(|error| format!("`{}` cannot be started: {error}", program.display()))?;
    Ok(code(status))
}

/// The exit code of a program as that of this one.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
