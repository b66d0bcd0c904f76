//! The tools that build programs for other machines: parts of the compiler, and a compiler of C.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{Folders, read, run};

/// Installs the compiler's targets by rustup, and `cargo-zigbuild` with zig from PyPI under cargo's folder. Returns the folder of
/// their programs.
pub(crate) fn install(folders: &Folders, triples: &[String]) -> Result<PathBuf, String> {
    let installed = run(Command::new("rustup")
        .args(["target", "list", "--installed"])
        .current_dir(&folders.root))?;
    let installed = String::from_utf8_lossy(&installed).into_owned();
    for triple in triples {
        if !installed.lines().any(|line| line == *triple) {
            eprintln!("The compiler lacks a target; installing it: rustup target add {triple}");
            run(Command::new("rustup")
                .args(["target", "add", triple])
                .current_dir(&folders.root))?;
        }
    }
    let tools = folders.target.join("release-tools");
    let programs = tools.join("bin");
    let requirements = folders.root.join("tests/release/requirements.txt");
    let stamp = tools.join("requirements.txt");
    if fs::read(&stamp).ok() == Some(read(&requirements)?) {
        return Ok(programs);
    }
    eprintln!(
        "Installing zig (100 MB) and cargo-zigbuild from PyPI into {}",
        tools.display()
    );
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&tools))?;
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "-r",
    ];
    run(Command::new(programs.join("python")).args(pip).arg(&requirements))?;
    fs::copy(&requirements, &stamp)
        .map_err(|error| format!("`{}` cannot be written: {error}", stamp.display()))?;
    Ok(programs)
}
