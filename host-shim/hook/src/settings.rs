//! The files in which agents are told to run a hook, and what is written there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_jsontext::render;
use serde_json::Value;

use super::agents::{Agent, Run};
use super::entries::{has_entry, with_entry, without_hooks};

/// What makes every end of a command but its denial one, in a shell. Agents with a switch that all of their versions know, and those
/// that deny at every end but 0, do not need it.
pub(super) const CLOSES: &str =
    " || { [ $? -eq 2 ] || echo 'callgate: the hook failed, callgate doctor says why' >&2; exit 2; }";

/// A file of an agent's settings with a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its text now; `None` if there is no file.
    pub before: Option<String>,
    /// The text that it is to have: the same, if it has the hook already.
    pub after: String,
}

/// The settings that a hook is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsOf<'p> {
    /// Those of the user with this home directory, for all projects.
    User(&'p Path),
    /// Those of the project in this directory.
    Project(&'p Path),
    /// Another file.
    File(&'p Path),
}

impl SettingsOf<'_> {
    /// The file that the agent reads.
    pub(super) fn file(self, agent: &Agent) -> PathBuf {
        match self {
            Self::User(home) => home.join(agent.settings.file),
            Self::Project(folder) => folder.join(agent.settings.in_project),
            Self::File(file) => file.to_owned(),
        }
    }
}

/// The files to be written so that the agent no longer runs its hook: those that have it.
///
/// # Errors
/// A file cannot be read, or is not one that a hook can be taken out of.
pub fn settings_without(agent: &Agent, of: SettingsOf<'_>) -> Result<Vec<SettingsFile>, String> {
    let path = of.file(agent);
    let Some(before) = read(&path)? else {
        return Ok(Vec::new());
    };
    let after = without_hooks(&before, agent).map_err(|reason| format!("`{}`: {reason}", path.display()))?;
    let before = Some(before);
    Ok(vec![SettingsFile { path, before, after }])
}

/// The files to be written so that the agent runs the command before it runs tools, with its switch to deny a call if the command
/// fails, where it has one. The agent waits so many seconds for it.
///
/// # Errors
/// A file cannot be read, or is not one that a hook can be added to.
pub fn settings(
    agent: &Agent,
    of: SettingsOf<'_>,
    command: &str,
    patience: u64,
) -> Result<Vec<SettingsFile>, String> {
    let path = of.file(agent);
    let run = Run {
        command,
        closed: format!("{command}{CLOSES}"),
        patience,
    };
    let entries = (agent.settings.entries)(&run);
    let beside = (agent.settings.beside)(&path);
    let mut files = vec![with_entries(path, agent, &entries)?];
    if let Some((path, text)) = beside {
        let before = read(&path)?;
        let after = before.clone().unwrap_or_else(|| render(&text, "") + "\n");
        files.push(SettingsFile { path, before, after });
    }
    Ok(files)
}

fn with_entries(path: PathBuf, agent: &Agent, entries: &[(&str, Value)]) -> Result<SettingsFile, String> {
    let before = read(&path)?;
    let mut after = match &before {
        Some(text) if !text.trim().is_empty() => text.clone(),
        Some(_) | None => render(&(agent.settings.base)(), "") + "\n",
    };
    // One of another version, or with other flags, would be asked too.
    if !entries
        .iter()
        .all(|(event, entry)| has_entry(&after, event, entry))
    {
        after = without_hooks(&after, agent).map_err(|reason| format!("`{}`: {reason}", path.display()))?;
    }
    for (event, entry) in entries {
        after =
            with_entry(&after, event, entry).map_err(|reason| format!("`{}`: {reason}", path.display()))?;
    }
    Ok(SettingsFile { path, before, after })
}

pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    // A pipe that nobody writes to would hold the command up.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(format!("`{}` is not a regular file", path.display()));
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read `{}`: {error}", path.display())),
    }
}
