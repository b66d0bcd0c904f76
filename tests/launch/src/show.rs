//! `cargo show [BUNDLE] [CALLS]`: the verdicts of every host, each as soon as it is ready.
//!
//! The native host needs the fewest crates and judges first. While the packer and wasmtime are compiled, npm's packages are
//! fetched and the JavaScript hosts are made.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use crate::build::{self, Hosts};
use crate::needs::{self, Purpose};
use crate::package::{self, COMPONENT, GATE};

/// Judges in every host. Fails if one of them answers otherwise than the native host.
pub(crate) fn show(arguments: &[OsString]) -> Result<ExitCode, String> {
    let begin = Instant::now();
    needs::meet(Purpose::Show)?;
    let program = build::program(build::SHOW.as_ref(), Hosts::Native, false)?;
    let status = Command::new(&program).args(arguments).status();
    let status = status.map_err(|error| format!("`{}` cannot be started: {error}", program.display()))?;
    if !status.success() {
        return Ok(crate::code(status));
    }
    println!("({} since the start)", spoken(begin.elapsed()));
    // The next build replaces the program.
    let native = program.with_file_name("show-native");
    fs::copy(&program, &native).map_err(|error| format!("`{}`: {error}", native.display()))?;

    // Not before: unpacking npm's packages would delay the first verdict by ten seconds.
    let packages = thread::spawn(|| package::install(true));
    let packer = package::packer(false)?;
    let round = Round {
        begin,
        arguments: arguments.to_vec(),
    };
    let others = round.clone();
    let javascript = thread::spawn(move || {
        packages
            .join()
            .map_err(|_| "installing npm's packages failed".to_owned())??;
        others.javascript(&native, &packer)
    });
    let program = build::program(build::SHOW.as_ref(), Hosts::Soon(build::WASMTIME), false)?;
    let mut same = round.compare(&program, "wasmtime")?;
    println!("making the JavaScript hosts");
    same &= javascript
        .join()
        .map_err(|_| "the JavaScript hosts failed".to_owned())??;
    println!(
        "{} ({})",
        match same {
            true => "every host answered the same",
            false => "the hosts answered differently",
        },
        spoken(begin.elapsed())
    );
    Ok(match same {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The same calls in one host after the other.
#[derive(Clone)]
struct Round {
    begin: Instant,
    arguments: Vec<OsString>,
}

impl Round {
    fn javascript(&self, program: &Path, packer: &Path) -> Result<bool, String> {
        GATE.build(packer, true)?;
        let mut same = self.compare(program, "node")?;
        if needs::has_chromium() {
            same &= self.compare(program, "browser")?;
        } else {
            self.report("browser   left out: Chromium is missing");
        }
        COMPONENT.build(packer, true)?;
        same &= self.compare(program, "jco")?;
        Ok(same)
    }

    /// Judges in a host. Returns `true` if it answers as the native host does.
    fn compare(&self, program: &Path, host: &str) -> Result<bool, String> {
        let mut command = Command::new(program);
        let output = command.args(["--host", host]).args(&self.arguments).output();
        let output = output.map_err(|error| format!("`{}` cannot be started: {error}", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if text.is_empty() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        self.report(text.trim_end());
        Ok(output.status.success())
    }

    fn report(&self, text: &str) {
        println!("{text} ({} since the start)", spoken(self.begin.elapsed()));
    }
}

/// A length of time for people: `48 s`, `2 min 5 s`.
pub(crate) fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_minutes_and_seconds() {
        for (seconds, expected) in [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (485, "8 min 5 s")] {
            assert_eq!(spoken(Duration::from_secs(seconds)), expected);
        }
    }
}
