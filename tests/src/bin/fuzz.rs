//! A bounded run of every fuzz target: `cargo run -p conformance --bin fuzz [RUNS]`.
//!
//! The targets in `core/fuzz` are those of `cargo fuzz`, which needs a nightly compiler and an installation of its
//! own; here the stable compiler counts coverage, and the address sanitizer, which a crate without unsafe code does not
//! need, is left out. A run begins with the committed seeds and the same random numbers, and ends after 100,000 inputs
//! a target. It needs a C++ compiler for libFuzzer; without one it is skipped, and under `CI=true` that is a failure.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const TARGETS: [&str; 3] = ["calls", "documents", "texts"];

const RUNS: &str = "100000";

/// What makes the compiler tell libFuzzer which branches an input took.
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

/// Builds and runs every target; how many failed.
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

/// Builds the targets with coverage; the folder that they are in.
fn build(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let version = Command::new("rustc").arg("-vV").output()?;
    let version = String::from_utf8(version.stdout)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("`rustc -vV` names no host")?;
    let target = root.join("target/fuzz");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(root.join("core/fuzz/Cargo.toml"))
        // Named, so that the flags do not reach build scripts.
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
