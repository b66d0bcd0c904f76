//! The command as a program that needs nothing of the machine: no C library, no certificates, no files. And Python's module, which
//! is loaded into a program that has a C library.

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

/// The command, with every feature for people.
const COMMAND: [&str; 4] = ["--package", "callgate", "--features", "otel,serve"];

/// The oldest C library of GNU's that Python's installers know by a number.
pub(crate) const GNU: &str = "2.17";

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
    let mut cargo = cargo(folders, zig, "zigbuild", &triple, &COMMAND)?;
    run(optimized(&mut cargo, folders, profile))?;
    Ok(Binary {
        platform,
        bytes: read(&folders.target.join(triple).join("dist/callgate"))?,
        seconds: begin.elapsed().as_secs(),
    })
}

/// Builds Python's module, for any C library of GNU's that installers know.
pub(crate) fn module(
    folders: &Folders,
    zig: &Path,
    platform: &Platform,
    profile: Profile,
) -> Result<Vec<u8>, String> {
    let triple = platform.module_triple();
    let package = ["--package", "callgate-python"];
    let mut cargo = cargo(folders, zig, "zigbuild", &format!("{triple}.{GNU}"), &package)?;
    // Who loads it has Python's symbols; a library of one version would be wanted otherwise.
    cargo.env("PYO3_BUILD_EXTENSION_MODULE", "1");
    run(optimized(&mut cargo, folders, profile))?;
    read(&folders.target.join(triple).join("dist/libcallgate_python.so"))
}

fn optimized<'c>(cargo: &'c mut Command, folders: &Folders, profile: Profile) -> &'c mut Command {
    cargo
        .args(["--profile", "dist"])
        // What this program was started with is not meant for others.
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", without_paths(folders));
    if profile == Profile::Draft {
        cargo.args(DRAFT);
    }
    cargo
}

/// Checks the types for another system, for which nothing can be linked here: its own libraries are missing.
pub(crate) fn check(folders: &Folders, zig: &Path, triple: &str) -> Result<(), String> {
    run(&mut cargo(folders, zig, "check", triple, &COMMAND)?)?;
    Ok(())
}

/// Has cargo do something with a package, and zig compile C and link.
fn cargo(
    folders: &Folders,
    zig: &Path,
    task: &str,
    triple: &str,
    package: &[&str],
) -> Result<Command, String> {
    let mut paths = vec![zig.to_owned()];
    paths.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let paths = env::join_paths(paths).map_err(|error| format!("PATH cannot be extended: {error}"))?;
    let mut cargo = Command::new(zig.join("cargo-zigbuild"));
    cargo
        .args([task, "--quiet", "--locked", "--target", triple])
        .args(package)
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
