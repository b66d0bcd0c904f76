//! The hooks that an agent's settings have, and what is missing of what is written there.

use std::path::PathBuf;

use serde_json::Value;

use super::agents::{Agent, Run};
use super::entries::{commands, own_entries};
use super::settings::{CLOSES, SettingsOf, read};

/// The hook in a file of an agent's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Where it is.
    pub path: PathBuf,
    /// The commands, without what denies a call if they fail. Each is there once.
    pub commands: Vec<String>,
    /// The steps before which the hook is not run.
    pub missing: Vec<String>,
    /// The steps at which the agent is not told to deny a call if the hook fails.
    pub open: Vec<String>,
}

/// The hook of an agent, as its settings have it; `None` if they do not.
///
/// # Errors
/// The file cannot be read, or is not one of settings.
pub fn installed(agent: &Agent, of: SettingsOf<'_>) -> Result<Option<Installed>, String> {
    let path = of.file(agent);
    let Some(text) = read(&path)? else { return Ok(None) };
    let found = own_entries(&text, agent).map_err(|reason| format!("`{}`: {reason}", path.display()))?;
    if found.is_empty() {
        return Ok(None);
    }
    let (mut all, mut open) = (Vec::new(), Vec::new());
    let mut missing: Vec<String> = written(agent, "").map(|(event, _)| event).collect();
    for (event, entry) in &found {
        missing.retain(|one| one != event);
        let mut is_closed = false;
        for command in commands(entry) {
            let command = command.strip_suffix(CLOSES).unwrap_or(command);
            // What is written for one event only is not of the command.
            let own = command.strip_suffix(" --leave-execution").unwrap_or(command);
            is_closed |= written(agent, own).any(|(name, one)| name == *event && one == untimed(entry));
            if !all.iter().any(|one| one == command) {
                all.push(command.to_owned());
            }
        }
        if !is_closed {
            open.push(event.clone());
        }
    }
    Ok(Some(Installed {
        path,
        commands: all,
        missing,
        open,
    }))
}

/// The entries that are written for a command, each with its event.
fn written(agent: &Agent, command: &str) -> impl Iterator<Item = (String, Value)> {
    let run = Run {
        command,
        closed: format!("{command}{CLOSES}"),
        patience: 0,
    };
    let entries = (agent.settings.entries)(&run);
    entries
        .into_iter()
        .map(|(event, entry)| (event.to_owned(), untimed(&entry)))
}

/// The entry without the time that its hooks have, which anybody may change.
fn untimed(entry: &Value) -> Value {
    match entry {
        Value::Object(members) => {
            let kept = members
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "timeout" | "timeoutSec"));
            Value::Object(kept.map(|(name, value)| (name.clone(), untimed(value))).collect())
        }
        Value::Array(items) => items.iter().map(untimed).collect(),
        other => other.clone(),
    }
}
