//! A bounded run of every fuzz target: `cargo run -p launch -- fuzz [RUNS]`.
//!
//! `cargo fuzz` runs the same targets, in `core/fuzz`, but it needs a nightly compiler and must be installed. Here the
//! stable compiler measures coverage, and the address sanitizer is left out, since the crate has no unsafe code. A run
//! starts with the committed seeds and fixed random numbers, and ends after 100,000 inputs per target. It needs a C++
//! compiler for libFuzzer; without one it is skipped, or fails under `CI=true`.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use crate::build::{cargo, root};

const TARGETS: [&str; 5] = ["calls", "documents", "git", "shell", "texts"];

const RUNS: &str = "100000";

/// The flags that make the compiler report to libFuzzer which branches an input took.
const COVERAGE: &str = "--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Fuzzes with as many inputs per target as the first argument says. Fails if a target does.
pub(crate) fn fuzz(arguments: &[OsString]) -> Result<ExitCode, String> {
    let runs = arguments
        .first()
        .map_or(RUNS.into(), |runs| runs.to_string_lossy());
    let is_there = Command::new("c++")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if is_there.is_err() {
        let required = std::env::var_os("CI").is_some_and(|value| value == "true");
        println!("fuzzing is skipped: it needs the C++ compiler `c++`");
        println!("0 passed, {} failed", usize::from(required));
        return Ok(if required {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        });
    }
    let failed = run(&runs).map_err(|error| error.to_string())?;
    println!("{} passed, {failed} failed", TARGETS.len() - failed);
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Builds and runs every target. Returns the number of failures.
fn run(runs: &str) -> Result<usize, Box<dyn Error>> {
    let root = root();
    let programs = build()?;
    let mut failed = 0;
    for target in TARGETS {
        let folder = |kind: &str| root.join("core/fuzz").join(kind).join(target);
        fs::create_dir_all(folder("corpus"))?;
        fs::create_dir_all(folder("artifacts"))?;
        println!("-- {target}: {runs} inputs");
        let status = Command::new(programs.join(target))
            .args([folder("corpus"), folder("seeds")])
            .args([
                format!("-runs={runs}"),
                "-seed=1".to_owned(),
                "-verbosity=0".to_owned(),
            ])
            .arg(format!("-artifact_prefix={}/", folder("artifacts").display()))
            .status()?;
        failed += usize::from(!status.success());
    }
    Ok(failed)
}

/// Builds the targets with coverage. Returns the folder that they are in.
fn build() -> Result<PathBuf, Box<dyn Error>> {
    let version = Command::new("rustc").arg("-vV").output()?;
    let version = String::from_utf8(version.stdout)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("`rustc -vV` names no host")?;
    let target = root().join("target/fuzz");
    let status = cargo()
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(root().join("core/fuzz/Cargo.toml"))
        // An explicit target keeps the flags from build scripts.
        .args(["--target", host, "--target-dir"])
        .arg(&target)
        .env("RUSTFLAGS", COVERAGE)
        .status()?;
    if status.success() {
        Ok(target.join(host).join("release"))
    } else {
        Err("the fuzz targets do not build".into())
    }
}
