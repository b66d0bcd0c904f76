//! Building the crate for WebAssembly.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::target::{self, TARGET};

/// The purpose of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// The gate, for JavaScript. Keeps the names of functions, which the next steps may need.
    JavaScript,
    /// A component.
    Component,
    /// What programs need beside the engine, for JavaScript.
    Tools,
    /// Git's answers, for the Node host alone.
    Git,
    /// A filter for proxies.
    Proxy,
}

/// The most that LLVM may inline into a component, in its own measure; its default is 225. Hosts that stop a component
/// by a clock have it look at that clock in each function that it enters, and a component is not sent over networks.
const INLINED: u32 = 1200;

/// Instructions for sixteen bytes at a time. With them a component takes half as long for the longest paths. V8 finds none of it
/// in the module for JavaScript.
const SIMD: &str = "-C target-feature=+simd128";

/// Builds the face's crate, in the workspace at `root`, into the target directory `target`; the answer is the module.
///
/// # Errors
/// When the compiler has no such target, and when cargo cannot be started or fails; what it says is on standard error.
pub fn compile(root: &Path, target: &Path, face: Face) -> Result<PathBuf, Box<dyn Error>> {
    target::require()?;
    let (package, module, features): (_, _, &[&str]) = match face {
        Face::JavaScript => ("callgate-wasm", "callgate_wasm.wasm", &["--features", "js"]),
        Face::Component => (
            "callgate-wasm",
            "callgate_wasm.wasm",
            &["--features", "component"],
        ),
        Face::Git => ("callgate-git-wasm", "callgate_git_wasm.wasm", &[]),
        Face::Tools => ("callgate-tools-wasm", "callgate_tools_wasm.wasm", &[]),
        Face::Proxy => ("callgate-proxy-wasm", "callgate_proxy_wasm.wasm", &[]),
    };
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    // Optimization across crates needs a crate that is nothing but the module; for tests it is a library as well.
    command
        .current_dir(root)
        .args(["rustc", "--locked", "--lib", "--crate-type", "cdylib"]);
    command.args(["--package", package]).args(features);
    command.args(["--profile", "wasm", "--target", TARGET]);
    command.arg("--target-dir").arg(target);
    // The environment of a build script or of clippy is not meant for this build.
    for inherited in ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"] {
        command.env_remove(inherited);
    }
    match face {
        // Measured in Node: as fast as level 3, half a percent larger than level `s`; `z` is 5 % smaller, and its verdicts take a
        // quarter longer. The second threshold is for functions that say `#[inline]`, and is 325 by default. With 200 the module is
        // 1 % larger, and verdicts are 2 to 4 % faster; with 100 it is 1 % smaller, and a verdict about a URL takes a tenth longer.
        // Without unrolling at run time, vectorization and specialization it is the same module. An analysis judges thousands of
        // calls.
        // A proxy has V8, too; what the tools were made of is compiled already.
        Face::JavaScript | Face::Tools | Face::Proxy => {
            command.env("CARGO_PROFILE_WASM_OPT_LEVEL", "2");
            let inlined = "-C llvm-args=-inlinedefault-threshold=10 -C llvm-args=-inlinehint-threshold=130";
            command.env("RUSTFLAGS", inlined);
        }
        // It reads a few small files for a question; its size counts.
        Face::Git => {
            command.env("CARGO_PROFILE_WASM_OPT_LEVEL", "s");
        }
        Face::Component => {
            command.env("CARGO_PROFILE_WASM_STRIP", "symbols");
            let inlined = format!("-C llvm-args=-inline-threshold={INLINED}");
            command.env("RUSTFLAGS", format!("{SIMD} {inlined}"));
        }
    }
    succeed(&mut command)?;
    Ok(target.join(TARGET).join("wasm").join(module))
}

/// Runs the command.
///
/// # Errors
/// When it cannot be started, or fails.
pub fn succeed(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let program = command.get_program().display().to_string();
    let status = command
        .status()
        .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{program}` ended with {status}").into())
    }
}
