//! The command as a program that needs nothing of the machine: no C library, no certificates, no files.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::platform::Platform;
use crate::{Folders, read, run};

/// How it is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For people.
    Dist,
    /// For tests, in a quarter of the time.
    Draft,
}

/// What makes a draft of the profile for people.
const DRAFT: [&str; 6] = [
    "--config",
    "profile.dist.codegen-units=16",
    "--config",
    "profile.dist.lto='off'",
    "--config",
    "profile.dist.opt-level=0",
];

/// The command, for one platform.
pub(crate) struct Binary {
    pub(crate) platform: &'static Platform,
    pub(crate) bytes: Vec<u8>,
    pub(crate) seconds: u64,
}

/// Builds it.
pub(crate) fn build(
    folders: &Folders,
    zig: &Path,
    platform: &'static Platform,
    profile: Profile,
) -> Result<Binary, String> {
    let begin = Instant::now();
    let triple = platform.triple();
    let mut cargo = cargo(folders, zig, "zigbuild", &triple)?;
    cargo
        .args(["--profile", "dist"])
        // What this program was started with is not meant for others.
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", without_paths(folders));
    if profile == Profile::Draft {
        cargo.args(DRAFT);
    }
    run(&mut cargo)?;
    Ok(Binary {
        platform,
        bytes: read(&folders.target.join(triple).join("dist/callgate"))?,
        seconds: begin.elapsed().as_secs(),
    })
}

/// Checks the types for another system, for which nothing can be linked here: its own libraries are missing.
pub(crate) fn check(folders: &Folders, zig: &Path, triple: &str) -> Result<(), String> {
    run(&mut cargo(folders, zig, "check", triple)?)?;
    Ok(())
}

/// Has cargo do something with the command and every feature for people, and zig compile C and link.
fn cargo(folders: &Folders, zig: &Path, task: &str, triple: &str) -> Result<Command, String> {
    let mut paths = vec![zig.to_owned()];
    paths.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let paths = env::join_paths(paths).map_err(|error| format!("PATH cannot be extended: {error}"))?;
    let mut cargo = Command::new(zig.join("cargo-zigbuild"));
    cargo
        .args([task, "--quiet", "--locked", "--package", "callgate"])
        .args(["--features", "otel,serve", "--target", triple])
        .current_dir(&folders.root)
        .env("PATH", paths)
        .env("CARGO_TARGET_DIR", &folders.target);
    Ok(cargo)
}

/// Flags of the compiler that keep this machine's folders out of the program.
fn without_paths(folders: &Folders) -> OsString {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")))
        .unwrap_or_default();
    let mut flags = OsString::new();
    // Of several that fit, the last one counts.
    for (from, to) in [
        (&home, "cargo"),
        (&folders.root, "callgate"),
        (&folders.target, "target"),
    ] {
        if !flags.is_empty() {
            flags.push("\x1f");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=/");
        flags.push(to);
    }
    flags
}
