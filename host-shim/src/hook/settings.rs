//! The files in which agents are told to run a hook, and what is written there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_jsontext::render;
use serde_json::{Value, json};

use super::agent::Agent;
use super::entries::{with_entry, without_hooks};

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
    fn file(self, agent: Agent) -> PathBuf {
        let usual = match agent {
            Agent::ClaudeCode => ".claude/settings.json",
            Agent::Codex => ".codex/hooks.json",
            Agent::Cursor => ".cursor/hooks.json",
            Agent::GeminiCli => ".gemini/settings.json",
            Agent::CopilotCli => ".copilot/hooks/callgate.json",
            Agent::Vscode => ".copilot/hooks/callgate-vscode.json",
            Agent::Goose => ".agents/plugins/callgate/hooks/hooks.json",
        };
        match self {
            Self::User(home) => home.join(usual),
            // These two have another folder in a project.
            Self::Project(folder) => folder.join(usual.replace(".copilot/", ".github/")),
            Self::File(file) => file.to_owned(),
        }
    }
}

/// The files to be written so that the agent no longer runs its hook: those that have it.
///
/// # Errors
/// A file cannot be read, or is not one that a hook can be taken out of.
pub fn settings_without(agent: Agent, of: SettingsOf<'_>) -> Result<Vec<SettingsFile>, String> {
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
    agent: Agent,
    of: SettingsOf<'_>,
    command: &str,
    patience: u64,
) -> Result<Vec<SettingsFile>, String> {
    let path = of.file(agent);
    // Without such a switch, or with one that only new versions know, the shell makes every other end of the command a denial.
    // Cursor and goose have a switch; Copilot CLI denies by itself at every end but 0.
    let closed = format!("{command} || {{ [ $? -eq 2 ] || echo 'callgate: the hook failed' >&2; exit 2; }}");
    let (base, entries) = match agent {
        Agent::ClaudeCode => {
            let hook =
                json!({"type": "command", "command": closed, "timeout": patience, "onFailure": "block"});
            let entry = json!({"matcher": "*", "hooks": [hook]});
            (
                json!({}),
                vec![("PreToolUse", entry.clone()), ("PreSkillShellCommand", entry)],
            )
        }
        Agent::Codex => {
            let hook = json!({"type": "command", "command": closed, "timeout": patience});
            let entry = json!({"hooks": [hook]});
            (json!({}), vec![("PreToolUse", entry)])
        }
        Agent::Cursor => {
            let entry = |command: &str| json!({"command": command, "timeout": patience, "failClosed": true});
            let entries = vec![
                ("preToolUse", entry(&format!("{command} --leave-execution"))),
                ("beforeShellExecution", entry(command)),
                ("beforeMCPExecution", entry(command)),
                ("beforeReadFile", entry(command)),
            ];
            (json!({"version": 1}), entries)
        }
        Agent::GeminiCli => {
            let hook = json!({"type": "command", "name": "callgate", "command": closed, "timeout": patience.saturating_mul(1000)});
            let entry = json!({"matcher": ".*", "hooks": [hook]});
            (json!({}), vec![("BeforeTool", entry)])
        }
        Agent::CopilotCli => {
            let entry = json!({"type": "command", "bash": command, "timeoutSec": patience});
            (json!({"version": 1}), vec![("preToolUse", entry)])
        }
        Agent::Vscode => {
            let entry = json!({"type": "command", "command": closed, "timeout": patience});
            (json!({}), vec![("PreToolUse", entry)])
        }
        Agent::Goose => {
            let hook =
                json!({"type": "command", "command": command, "timeout": patience, "on_failure": "block"});
            (json!({}), vec![("PreToolUse", json!({"hooks": [hook]}))])
        }
    };
    let mut files = vec![with_entries(path, &base, &entries)?];
    if agent == Agent::Goose {
        files.extend(goose_plugin(&files)?);
    }
    Ok(files)
}

/// The file that makes a folder a plugin, beside the folder of the hooks.
fn goose_plugin(files: &[SettingsFile]) -> Result<Option<SettingsFile>, String> {
    let folder = files.first().and_then(|file| file.path.parent()?.parent());
    let Some(folder) = folder else { return Ok(None) };
    let path = folder.join("plugin.json");
    let before = read(&path)?;
    let plugin = json!({
        "name": "callgate",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Judges each tool call before it is made",
    });
    let after = before.clone().unwrap_or_else(|| render(&plugin, "") + "\n");
    Ok(Some(SettingsFile { path, before, after }))
}

fn with_entries(path: PathBuf, base: &Value, entries: &[(&str, Value)]) -> Result<SettingsFile, String> {
    let before = read(&path)?;
    let mut after = match &before {
        Some(text) if !text.trim().is_empty() => text.clone(),
        Some(_) | None => render(base, "") + "\n",
    };
    for (event, entry) in entries {
        after =
            with_entry(&after, event, entry).map_err(|reason| format!("`{}`: {reason}", path.display()))?;
    }
    Ok(SettingsFile { path, before, after })
}

fn read(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read `{}`: {error}", path.display())),
    }
}
