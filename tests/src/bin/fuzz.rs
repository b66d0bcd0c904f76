//! A bounded run of every fuzz target: `cargo run -p conformance --bin fuzz [RUNS]`.
//!
//! `cargo fuzz` runs the same targets, in `core/fuzz`, but it needs a nightly compiler and must be installed. Here the
//! stable compiler measures coverage, and the address sanitizer is left out, since the crate has no unsafe code. A run
//! starts with the committed seeds and fixed random numbers, and ends after 100,000 inputs per target. It needs a C++
//! compiler for libFuzzer; without one it is skipped, or fails under `CI=true`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const TARGETS: [&str; 4] = ["calls", "documents", "git", "texts"];

const RUNS: &str = "100000";

/// The flags that make the compiler report to libFuzzer which branches an input took.
const COVERAGE: &str = "--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

fn main() -> ExitCode {
    let runs = std::env::args().nth(1).unwrap_or_else(|| RUNS.to_owned());
    let is_there = Command::new("c++")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if is_there.is_err() {
        let required = std::env::var_os("CI").is_some_and(|value| value == "true");
        println!("fuzzing is skipped: it needs the C++ compiler `c++`");
        println!("0 passed, {} failed", usize::from(required));
        return if required {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        };
    }
    match fuzz(&runs) {
        Ok(failed) => {
            println!("{} passed, {failed} failed", TARGETS.len() - failed);
            if failed == 0 {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds and runs every target. Returns the number of failures.
fn fuzz(runs: &str) -> Result<usize, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let programs = build(&root)?;
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
fn build(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let version = Command::new("rustc").arg("-vV").output()?;
    let version = String::from_utf8(version.stdout)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("`rustc -vV` names no host")?;
    let target = root.join("target/fuzz");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(root.join("core/fuzz/Cargo.toml"))
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
