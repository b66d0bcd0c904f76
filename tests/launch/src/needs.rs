//! Finds everything that the machine lacks before anything is compiled.
//!
//! All of it is said at once. What may be installed without asking is installed: the parts of the compiler that rustup has.
//! Everything else gets a line that says what to run.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build::cargo;

/// The compiler's target for WebAssembly.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// The oldest Node that the npm package runs in.
const NODE: (u32, u32) = (20, 19);

/// The tasks that the machine must be able to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Compile the command, which judges in its own process.
    Command,
    /// Compile a program with every host.
    Build,
    /// Judge in every host.
    Show,
    /// Serve the playground.
    Playground,
    /// Build what people install.
    Release,
    /// Check and test everything.
    Suite,
}

/// Something that is missing.
struct Lack {
    what: String,
    /// The command to run, or another way out.
    remedy: String,
    /// Without it there is no point in going on.
    is_fatal: bool,
}

/// Installs what is missing for the purpose, and says what else is.
///
/// # Errors
/// Something is missing that cannot be installed; nothing is installed then.
pub(crate) fn meet(purpose: Purpose) -> Result<(), String> {
    let mut lacks = Vec::new();
    let mut additions = Vec::new();
    if purpose != Purpose::Command && !has_target()? {
        additions.push(["target", "add", TARGET].as_slice());
    }
    if purpose == Purpose::Suite && !(has_part("fmt") && has_part("clippy")) {
        additions.push(&["component", "add", "rustfmt", "clippy"]);
    }
    if !additions.is_empty() && !is_in_path("rustup") {
        lacks.extend(additions.iter().map(|addition| Lack {
            what: format!("the compiler has no {}", addition.join(" ").replace(" add ", " ")),
            remedy: "install it for this compiler, or use rustup: https://rustup.rs".to_owned(),
            is_fatal: true,
        }));
    }
    if !matches!(purpose, Purpose::Command | Purpose::Build) {
        lacks.extend(node());
    }
    if purpose == Purpose::Suite {
        lacks.extend(tools());
    }
    if purpose == Purpose::Release && !has_python() {
        lacks.push(Lack {
            what: "Python is missing, or its `venv`".to_owned(),
            remedy: "install Python 3 with venv: it installs the compiler of C".to_owned(),
            is_fatal: true,
        });
    }
    let (fatal, others): (Vec<Lack>, Vec<Lack>) = lacks.into_iter().partition(|lack| lack.is_fatal);
    for Lack { what, remedy, .. } in &others {
        eprintln!("{what}, its tests are skipped: {remedy}");
    }
    if !fatal.is_empty() {
        let lines = fatal
            .iter()
            .map(|Lack { what, remedy, .. }| format!("{what}: {remedy}"));
        return Err(lines.collect::<Vec<_>>().join("\nerror: "));
    }
    additions.into_iter().try_for_each(add)
}

/// Installs a part of the compiler in use.
fn add(addition: &[&str]) -> Result<(), String> {
    let command = format!("rustup {}", addition.join(" "));
    eprintln!("The compiler lacks a part; installing it: {command}");
    let status = Command::new("rustup").args(addition).status();
    let status = status.map_err(|error| format!("rustup cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("`{command}` ended with {status}"));
    }
    if addition.contains(&TARGET) && !has_target()? {
        return Err(format!(
            "`{command}` installed the target for another toolchain than the one in use"
        ));
    }
    Ok(())
}

/// Returns `true` if the compiler in use has the target's standard library.
fn has_target() -> Result<bool, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    let output = output.map_err(|error| format!("rustc cannot be started: {error}"))?;
    Ok(is_filled(Path::new(
        String::from_utf8_lossy(&output.stdout).trim(),
    )))
}

/// Returns `true` if the folder has an entry: rustup leaves the empty folder behind when it removes a target.
fn is_filled(folder: &Path) -> bool {
    let mut entries = folder.read_dir().into_iter().flatten();
    entries.next().is_some()
}

/// Returns `true` if cargo has this command of the compiler's.
fn has_part(name: &str) -> bool {
    succeeds(cargo().args([name, "--version"]))
}

/// Node and npm, if they are missing or too old.
fn node() -> Vec<Lack> {
    let asked = Command::new("node").arg("--version").output();
    let found = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let what = match found {
        Err(_) => "Node is missing".to_owned(),
        Ok(found) if version(&found).is_none_or(|version| version < NODE) => {
            format!("Node is too old (`{found}`)")
        }
        Ok(_) if !is_in_path("npm") => "npm is missing".to_owned(),
        Ok(_) => return Vec::new(),
    };
    let (major, minor) = NODE;
    vec![Lack {
        what,
        remedy: format!("install Node {major}.{minor} or later, with npm: https://nodejs.org"),
        is_fatal: true,
    }]
}

/// `v20.19.1` as `(20, 19)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text
        .strip_prefix('v')?
        .split('.')
        .map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// The needs of tests besides the compiler and Node. In continuous integration none of them may be missing.
fn tools() -> Vec<Lack> {
    let is_fatal = env::var_os("CI").is_some_and(|value| value == "true");
    let has_packages = is_in_path("apt-get");
    let lack = |what: &str, package: &str| Lack {
        what: what.to_owned(),
        remedy: match has_packages {
            true => format!("apt-get install {package}"),
            false => format!("install {package}"),
        },
        is_fatal,
    };
    let mut lacks = Vec::new();
    if !is_in_path("git") {
        lacks.push(lack("git is missing", "git"));
    }
    if !is_in_path("c++") {
        lacks.push(lack("fuzzing needs the C++ compiler `c++`", "g++"));
    }
    if !has_python() {
        lacks.push(lack("Python is missing, or its `venv`", "python3 python3-venv"));
    }
    // A step of the suite installs it where it may.
    let is_installed_later = has_packages && is_root();
    if !has_chromium() && !is_installed_later {
        lacks.push(lack("Chromium is missing", CHROMIUM[0]));
    }
    lacks
}

/// Returns `true` if Python can install packages into a folder.
fn has_python() -> bool {
    succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]))
}

/// Debian's packages of Chromium, which have programs of the same names, as the tests look for them.
const CHROMIUM: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Returns `true` if the browser is there that the tests start.
pub(crate) fn has_chromium() -> bool {
    match env::var_os("CHROMIUM") {
        Some(path) => Path::new(&path).exists(),
        None => CHROMIUM
            .iter()
            .any(|name| Path::new("/usr/bin").join(name).exists()),
    }
}

fn is_root() -> bool {
    let asked = Command::new("id").arg("-u").output();
    asked.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn is_in_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .any(|folder| fs::metadata(folder.join(program)).is_ok_and(|found| found.is_file()))
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_are_compared_as_numbers() {
        for (text, expected) in [
            ("v20.19.0", Some((20, 19))),
            ("v4.9.1", Some((4, 9))),
            ("v100.0.0-nightly", Some((100, 0))),
            ("", None),
            ("20.19.0", None),
        ] {
            assert_eq!(version(text), expected, "{text}");
        }
        assert!(version("v9.20.0") < Some(NODE));
    }

    #[test]
    fn a_folder_that_a_removed_target_left_is_not_a_target() {
        let folder = env::temp_dir().join(format!("callgate-target-{}", std::process::id()));
        assert!(!is_filled(&folder));
        fs::create_dir(&folder).unwrap();
        assert!(!is_filled(&folder));
        fs::write(folder.join("libcore.rlib"), "").unwrap();
        assert!(is_filled(&folder));
        fs::remove_dir_all(&folder).unwrap();
    }
}
