//! The npm package, and the component for JavaScript beside it: built when a source is newer than they are.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::build::{programs, root};

/// The sources of both.
const SOURCES: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "core/Cargo.toml",
    "core/git/Cargo.toml",
    "core/git/src",
    "core/src",
    "js/package-lock.json",
    "js/src",
    "js/tools",
    "js/tsconfig.json",
    "rust-toolchain.toml",
    "wasm/Cargo.toml",
    "wasm/git",
    "wasm/pack",
    "wasm/src",
    "wasm/tools",
    "wasm/wit",
];

/// One of the two.
pub(crate) struct Artifact {
    name: &'static str,
    /// Files that it consists of.
    files: &'static [&'static str],
    /// The packer's argument.
    face: &'static str,
    /// The next command, in the folder `js`.
    then: (&'static str, &'static [&'static str]),
}

pub(crate) const PACKAGE: Artifact = Artifact {
    name: "the npm package",
    files: &[
        "js/dist/node.js",
        "js/wasm/analysis.wasm",
        "js/wasm/callgate.wasm",
        "js/wasm/git.wasm",
        "js/wasm/tools.wasm",
    ],
    face: "js",
    then: ("npm", &["run", "--silent", "build:ts"]),
};

pub(crate) const COMPONENT: Artifact = Artifact {
    name: "the component for JavaScript",
    files: &["js/component/callgate.js", "wasm/dist/callgate.component.wasm"],
    face: "component",
    then: ("node", &["tools/transpile.mjs"]),
};

/// Installs the packages of npm that the lock file names, unless they are there.
pub(crate) fn install(is_quiet: bool) -> Result<(), String> {
    let js = root().join("js");
    let installed = modified(&js.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= modified(&js.join("package-lock.json")) {
        return Ok(());
    }
    succeed(
        Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund"])
            .current_dir(js),
        is_quiet,
    )
}

impl Artifact {
    /// Builds it with `packer` unless it is newer than its sources. The packages of npm must be there.
    pub(crate) fn build(&self, packer: &Path, is_quiet: bool) -> Result<(), String> {
        let root = root();
        let stamp = programs()?.join(format!("built-{}", self.face));
        let newest = SOURCES.iter().filter_map(|source| newest(&root.join(source)));
        let is_new = newest.max() <= modified(&stamp);
        if is_new && self.files.iter().all(|file| root.join(file).exists()) {
            return Ok(());
        }
        let begin = SystemTime::now();
        let (program, arguments) = self.then;
        let mut pack = Command::new(packer);
        let mut then = Command::new(program);
        let made = succeed(pack.arg(self.face).current_dir(&root), is_quiet)
            .and_then(|()| succeed(then.args(arguments).current_dir(root.join("js")), is_quiet));
        made.map_err(|error| format!("{} cannot be built: {error}", self.name))?;
        // A source that changed meanwhile is newer.
        let marked = File::create(&stamp).and_then(|file| file.set_modified(begin));
        marked.map_err(|error| format!("`{}`: {error}", stamp.display()))
    }
}

/// Runs a command. If it is to be quiet, what it writes is shown only if it fails.
fn succeed(command: &mut Command, is_quiet: bool) -> Result<(), String> {
    let program = command.get_program().display().to_string();
    if !is_quiet {
        command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    }
    let output = command.output();
    let output = output.map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let written = [output.stdout, output.stderr].concat();
    Err(format!(
        "`{program}` ended with {}\n{}",
        output.status,
        String::from_utf8_lossy(&written)
    ))
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|found| found.modified()).ok()
}

/// When the file, or any below the folder, was last changed.
fn newest(place: &Path) -> Option<SystemTime> {
    let entries = place.read_dir().into_iter().flatten().flatten();
    let below = entries.filter_map(|entry| newest(&entry.path()));
    below.chain(modified(place)).max()
}

/// The program that makes both.
pub(crate) fn packer(is_quiet: bool) -> Result<PathBuf, String> {
    crate::build::program("callgate-pack".as_ref(), crate::build::Hosts::All, is_quiet)
}
