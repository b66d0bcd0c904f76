//! The program that settings name.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::documents::is_own;
use super::finding::{Finding, Standing};
use super::running::finished;
use super::{Place, VERSION};

/// How long a program has to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// The program that a command begins with, if it can be started: else what is wrong with it. `repair` says how to write it anew.
pub(super) fn program(about: &str, word: &str, place: &Place, repair: &str) -> Result<PathBuf, Finding> {
    let path = match word.contains('/') {
        true => Some(place.project.join(word)).filter(|path| path.is_file()),
        false => in_path(word),
    };
    let Some(path) = path.and_then(|path| path.canonicalize().ok()) else {
        let message = match word.contains('/') {
            true => format!("the program `{word}` is gone, so that nothing is judged"),
            false => format!("`{word}` is not in the PATH, so that nothing is judged"),
        };
        return Err(Finding::wrong(about, message).helped(repair));
    };
    let is_of_project = path.starts_with(&place.project);
    let is_named = path.file_name().is_some_and(|name| name == "callgate");
    if path != place.own && !is_named {
        let message = format!(
            "the program `{}` is not callgate, and is not started here",
            path.display()
        );
        return Err(Finding::wrong(about, message).helped(repair));
    }
    if path != place.own && (is_of_project || !is_own(&path)) {
        let message = format!(
            "the program `{}` can be changed by others, and is not started here",
            path.display()
        );
        return Err(Finding::wrong(about, message).helped(repair));
    }
    Ok(path)
}

/// What is to be said of the program's version.
pub(super) fn version(about: &str, program: &Path, place: &Place, repair: &str) -> Option<Finding> {
    if program == place.own {
        return None;
    }
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    let said = finished(command, b"", PATIENCE).ok();
    let said = said.map(|said| said.stdout).unwrap_or_default();
    let version = said.trim().strip_prefix("callgate ");
    match version {
        Some(VERSION) => None,
        Some(version) => {
            let message = format!(
                "the program `{}` is of version {version}, and this one of {}",
                program.display(),
                VERSION
            );
            Some(Finding::new(about.to_owned(), Standing::Doubtful, message).helped(repair))
        }
        None => {
            let message = format!(
                "`{}` does not say its version, as callgate does",
                program.display()
            );
            Some(Finding::wrong(about, message).helped(repair))
        }
    }
}

/// Where a shell finds a program.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|place| place.is_file())
}
