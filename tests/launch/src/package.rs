//! The npm package, the component for JavaScript beside it, and the filter for proxies: built when a source is newer than they are.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::build::{Hosts, program, programs, root};

/// The sources of the WebAssembly faces.
const SOURCES: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "core/Cargo.toml",
    "core/analysis/Cargo.toml",
    "core/analysis/src",
    "core/authoring",
    "core/compat",
    "core/docs",
    "core/engine/Cargo.toml",
    "core/engine/src",
    "core/git/Cargo.toml",
    "core/git/src",
    "core/jsontext",
    "core/src",
    "core/virtual-host",
    "js/package-lock.json",
    "rust-toolchain.toml",
    "wasm/Cargo.toml",
    "wasm/boundary",
    "wasm/git",
    "wasm/pack",
    "wasm/src",
    "wasm/tools",
    "wasm/wit",
];

/// The sources of what is made of the faces.
const SOURCES_IN_JS: &[&str] = &["js/src", "js/tools", "js/tsconfig.json"];

/// A face of the engine, as the packer names it, with the files that it is.
struct Face {
    name: &'static str,
    files: &'static [&'static str],
    /// Its sources beside those of all faces.
    sources: &'static [&'static str],
}

const GATE_FACE: Face = Face {
    name: "gate",
    files: &["js/wasm/callgate.wasm", "js/wasm/git.wasm"],
    sources: &[],
};

const TOOLS_FACE: Face = Face {
    name: "tools",
    files: &["js/wasm/tools.wasm"],
    sources: &[],
};

const FILTER: Face = Face {
    name: "proxy",
    files: &["wasm/dist/callgate.proxy.wasm"],
    sources: &[
        "host-shim/Cargo.toml",
        "host-shim/bundle",
        "host-shim/guard",
        "host-shim/src",
        "wasm/proxy",
    ],
};

/// Builds the filter for proxies with `packer` if it is older than its sources.
pub(crate) fn filter(packer: &Path, is_quiet: bool) -> Result<(), String> {
    let packed = pack(&[FILTER], packer, is_quiet);
    packed
        .map(|_| ())
        .map_err(|error| format!("the filter for proxies cannot be built: {error}"))
}

/// Something that JavaScript hosts load.
pub(crate) struct Artifact {
    name: &'static str,
    faces: &'static [Face],
    /// The command that makes it of them, in the folder `js`.
    then: (&'static str, &'static [&'static str]),
    /// The folder in `js` that the command writes, and files that it must have.
    folder: &'static str,
    files: &'static [&'static str],
}

/// The part of the package that judges, and the functions beside it. It is there before the types.
pub(crate) const GATE: Artifact = Artifact {
    name: "the gate for JavaScript",
    faces: &[GATE_FACE, TOOLS_FACE],
    then: ("node", &["tools/bundle.mjs", "node", "web", "tools-web"]),
    folder: "dist",
    files: &["node.js", "web.js", "tools-web.js"],
};

pub(crate) const PACKAGE: Artifact = Artifact {
    name: "the npm package",
    faces: &[GATE_FACE, TOOLS_FACE],
    then: ("npm", &["run", "--silent", "build:ts"]),
    folder: "dist",
    // The bundler removes the one and writes no types if it is asked for the gate alone.
    files: &["tools-node.js", "node.d.ts"],
};

pub(crate) const COMPONENT: Artifact = Artifact {
    name: "the component for JavaScript",
    faces: &[Face {
        name: "component",
        files: &["wasm/dist/callgate.component.wasm"],
        sources: &[],
    }],
    then: ("node", &["tools/transpile.mjs"]),
    folder: "component",
    files: &["callgate.js"],
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
    /// Builds with `packer` what is older than its sources. The packages of npm must be there.
    pub(crate) fn build(&self, packer: &Path, is_quiet: bool) -> Result<(), String> {
        self.make(packer, is_quiet)
            .map_err(|error| format!("{} cannot be built: {error}", self.name))
    }

    fn make(&self, packer: &Path, is_quiet: bool) -> Result<(), String> {
        let root = root();
        let folder = root.join("js").join(self.folder);
        let newest_face = pack(self.faces, packer, is_quiet)?;
        let made = stamp(&format!("js-{}", self.folder))?;
        let is_made = self.files.iter().all(|file| folder.join(file).exists())
            && is_newer(&made, SOURCES_IN_JS)
            && newest_face <= modified(&made);
        if is_made {
            return Ok(());
        }
        let begin = SystemTime::now();
        let (program, arguments) = self.then;
        let mut then = Command::new(program);
        succeed(then.args(arguments).current_dir(root.join("js")), is_quiet)?;
        mark(&made, begin)
    }
}

/// Packs the faces that are older than their sources. Returns when the last of them was packed.
fn pack(faces: &[Face], packer: &Path, is_quiet: bool) -> Result<Option<SystemTime>, String> {
    let root = root();
    let mut stale = Vec::new();
    let mut newest = None;
    for Face { name, files, sources } in faces {
        let stamp = stamp(name)?;
        let are_there = files.iter().all(|file| root.join(file).exists());
        if are_there && is_newer(&stamp, SOURCES) && is_newer(&stamp, sources) {
            newest = newest.max(modified(&stamp));
        } else {
            stale.push((*name, stamp));
        }
    }
    if stale.is_empty() {
        return Ok(newest);
    }
    let begin = SystemTime::now();
    let names = stale.iter().map(|(name, _)| name);
    succeed(Command::new(packer).args(names).current_dir(&root), is_quiet)?;
    stale.iter().try_for_each(|(_, stamp)| mark(stamp, begin))?;
    Ok(Some(begin))
}

/// The file whose time says when a face was packed, or a folder written.
fn stamp(name: &str) -> Result<PathBuf, String> {
    Ok(programs()?.join(format!("built-{name}")))
}

/// Marks with the time at which it began: a source that changed meanwhile is newer.
fn mark(stamp: &Path, begin: SystemTime) -> Result<(), String> {
    let marked = File::create(stamp).and_then(|file| file.set_modified(begin));
    marked.map_err(|error| format!("`{}`: {error}", stamp.display()))
}

/// Returns `true` if no source is newer than the stamp.
fn is_newer(stamp: &Path, sources: &[&str]) -> bool {
    let newest = sources.iter().filter_map(|source| newest(&root().join(source)));
    newest.max() <= modified(stamp)
}

/// Runs a command. If it is to be quiet, what it writes is shown only if it fails.
pub(crate) fn succeed(command: &mut Command, is_quiet: bool) -> Result<(), String> {
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

/// The program that packs the faces.
const PACKER: &str = "callgate-pack";

/// Its own features, and those that `cargo show` builds with: what both use is then compiled once.
pub(crate) const PACKED: &str = "callgate-pack/program,conformance/component";

/// Builds it.
pub(crate) fn packer(is_quiet: bool) -> Result<PathBuf, String> {
    program(PACKER.as_ref(), Hosts::Soon(PACKED), is_quiet)
}

/// The packer as it was last built: cargo would wait for another build.
pub(crate) fn built_packer() -> Result<PathBuf, String> {
    Ok(programs()?.join(PACKER))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a bare machine nothing else is there when the browser's host starts.
    #[test]
    fn what_the_browsers_host_loads_is_built_with_the_gate() {
        let (_, built) = GATE.then;
        let host = root().join("js/test/conformance/browser.mjs");
        let text = fs::read_to_string(host).expect("the host");
        let loaded = text
            .split("/dist/")
            .skip(1)
            .filter_map(|rest| rest.split_once(".js"));
        let loaded: Vec<&str> = loaded.map(|(entry, _)| entry).collect();
        assert!(loaded.len() > 1, "{loaded:?}");
        for entry in loaded {
            assert!(built.contains(&entry), "`{entry}`");
        }
    }
}
