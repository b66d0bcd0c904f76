//! The program that settings name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::documents::is_own;
use super::finding::{Finding, Standing};
use super::running::finished;
use super::{Place, VERSION};

/// The variable with secrets of the servers that bundles come from.
const CREDENTIALS: &str = "CALLGATE_BUNDLE_CREDENTIALS";

/// How long a program has to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// The program that a command of these settings begins with, if it can be started: else what is wrong with it. `repair` says how to
/// write it anew.
///
/// Whoever wrote the settings of a project may have written programs beside them, or have had them written elsewhere: such settings
/// start this program, a copy of it, or the one that the PATH has, and no other.
pub(super) fn program(
    about: &str,
    word: &str,
    settings: &Path,
    place: &Place,
    repair: &str,
) -> Result<PathBuf, Finding> {
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
    let repository = repository(place);
    let is_of_project = path.starts_with(&repository);
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
    if settings.starts_with(&repository) && !is_known(&path, place) {
        let message = format!(
            "settings of the project name the program `{}`, which is neither this one nor in the PATH, and is not started here",
            path.display()
        );
        return Err(Finding::wrong(about, message).helped(repair));
    }
    Ok(path)
}

/// Returns `true` for this program, a copy of it, and the one that the PATH has.
fn is_known(path: &Path, place: &Place) -> bool {
    let of_path = in_path("callgate").and_then(|known| known.canonicalize().ok());
    let is_copy = || matches!((fs::read(path), fs::read(&place.own)), (Ok(one), Ok(own)) if one == own);
    path == place.own || of_path.as_deref() == Some(path) || is_copy()
}

/// The outermost repository that the project lies in. The home directory is the user's own, whatever lies there.
fn repository(place: &Place) -> PathBuf {
    let around = place.project.ancestors();
    let around = around.take_while(|folder| !place.home.starts_with(folder));
    let outermost = around.filter(|folder| folder.join(".git").exists()).last();
    let is_home = place.home.starts_with(&place.project);
    match outermost {
        Some(folder) => folder.to_owned(),
        // No settings and no program are of a project then.
        None if is_home => place.project.join(".git"),
        None => place.project.clone(),
    }
}

/// Starts a program that settings name. It is told no secret that is not its own.
pub(super) fn start(program: &Path, place: &Place) -> Command {
    let mut command = Command::new(program);
    if program != place.own {
        command.env_remove(CREDENTIALS);
    }
    command
}

/// What is to be said of the program's version.
pub(super) fn version(about: &str, program: &Path, place: &Place, repair: &str) -> Option<Finding> {
    if program == place.own {
        return None;
    }
    let mut command = start(program, place);
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
