//! The files in which agents are told to run a hook, and what is written there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_core::without_comments;
use callgate_jsontext::Members;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::agent::Agent;
use super::removal::without_hooks;

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
    let after = before.clone().unwrap_or_else(|| pretty(&plugin, "  ", 0) + "\n");
    Ok(Some(SettingsFile { path, before, after }))
}

fn with_entries(path: PathBuf, base: &Value, entries: &[(&str, Value)]) -> Result<SettingsFile, String> {
    let before = read(&path)?;
    let mut after = match &before {
        Some(text) if !text.trim().is_empty() => text.clone(),
        Some(_) | None => pretty(base, "  ", 0) + "\n",
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

/// The settings with one more hook for an event. Everything else stays byte for byte.
fn with_entry(text: &str, event: &str, entry: &Value) -> Result<String, String> {
    const UNKNOWN: &str =
        "expected settings as a JSON object, with an object `hooks` of lists if it has hooks";
    let clean = without_comments(text);
    let mut expected: Value = serde_json::from_str(&clean).map_err(|error| format!("not JSON: {error}"))?;
    let root = expected.as_object_mut().ok_or(UNKNOWN)?;
    let hooks = root.entry("hooks").or_insert_with(|| Value::Object(Map::new()));
    let hooks = hooks.as_object_mut().ok_or(UNKNOWN)?;
    let list = hooks.entry(event).or_insert_with(|| Value::Array(Vec::new()));
    let list = list.as_array_mut().ok_or(UNKNOWN)?;
    if list.contains(entry) {
        return Ok(text.to_owned());
    }
    list.push(entry.clone());
    let unit = indent_of(text);
    let edited = edited(text, &clean, event, entry, &unit).ok_or(UNKNOWN)?;
    let found: Option<Value> = serde_json::from_str(&without_comments(&edited)).ok();
    match found == Some(expected) {
        true => Ok(edited),
        false => Err("the hook cannot be added without changing something else".to_owned()),
    }
}

fn edited(text: &str, clean: &str, event: &str, entry: &Value, unit: &str) -> Option<String> {
    let root: Members<'_> = serde_json::from_str(clean).ok()?;
    let named =
        |name: &str, value: &Value, depth| format!("{}: {}", Value::from(name), pretty(value, unit, depth));
    let Some(hooks) = value_of(&root, "hooks") else {
        let hooks = json!({ event: [entry] });
        return appended(text, clean, clean.trim(), &named("hooks", &hooks, 1), unit, 1);
    };
    let members: Members<'_> = serde_json::from_str(hooks.get()).ok()?;
    match value_of(&members, event) {
        Some(list) => appended(text, clean, list.get(), &pretty(entry, unit, 3), unit, 3),
        None => appended(
            text,
            clean,
            hooks.get(),
            &named(event, &json!([entry]), 2),
            unit,
            2,
        ),
    }
}

fn value_of<'m>(members: &Members<'m>, name: &str) -> Option<&'m RawValue> {
    let found = members.0.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| *value)
}

/// Adds an item at the end of a list or an object.
fn appended(text: &str, clean: &str, part: &str, item: &str, unit: &str, depth: usize) -> Option<String> {
    let from = part.as_ptr().addr().checked_sub(clean.as_ptr().addr())?;
    let inner = part.get(..part.len().checked_sub(1)?)?.trim_end();
    let at = from + inner.len();
    let separator = if inner.len() == 1 { "" } else { "," };
    let (before, after) = (text.get(..at)?, text.get(at..)?);
    let rest = text.get(at..from + part.len() - 1)?;
    // The closing bracket is on a line of its own.
    let close = match rest.contains('\n') {
        true => String::new(),
        false => format!("\n{}", unit.repeat(depth.checked_sub(1)?)),
    };
    Some(format!(
        "{before}{separator}\n{}{item}{close}{after}",
        unit.repeat(depth)
    ))
}

/// The value on several lines, of which those after the first are at the depth.
fn pretty(value: &Value, unit: &str, depth: usize) -> String {
    // A value is always JSON.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let lines = text.lines().enumerate().map(|(at, line)| {
        let words = line.trim_start_matches(' ');
        let levels = (line.len() - words.len()) / 2 + if at == 0 { 0 } else { depth };
        format!("{}{words}", unit.repeat(levels))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The indentation of the text.
fn indent_of(text: &str) -> String {
    let indents = text.lines().map(|line| {
        let words = line.trim_start_matches([' ', '\t']);
        line.get(..line.len() - words.len()).unwrap_or_default()
    });
    let first = indents
        .filter(|indent| !indent.is_empty())
        .min_by_key(|indent| indent.len());
    first.unwrap_or("  ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let entry = json!({"command": "x"});
        assert_eq!(with_entry(text, "E", &entry).as_deref(), Ok(expected), "{text}");
        assert_eq!(
            with_entry(expected, "E", &entry).as_deref(),
            Ok(expected),
            "a second time"
        );
    }

    #[test]
    fn what_is_there_stays() {
        check(
            "{}\n",
            "{\n  \"hooks\": {\n    \"E\": [\n      {\n        \"command\": \"x\"\n      }\n    ]\n  }\n}\n",
        );
        check(
            "{\n    \"model\": \"m\", // why\n    \"hooks\": {\"F\": [], },\n}",
            "{\n    \"model\": \"m\", // why\n    \"hooks\": {\"F\": [],\n        \"E\": [\n            {\n                \"command\": \"x\"\n            }\n        ]\n    , },\n}",
        );
        check(
            "{\n\t\"hooks\": {\n\t\t\"E\": [\n\t\t\t{\"command\": \"y\"}\n\t\t]\n\t}\n}",
            "{\n\t\"hooks\": {\n\t\t\"E\": [\n\t\t\t{\"command\": \"y\"},\n\t\t\t{\n\t\t\t\t\"command\": \"x\"\n\t\t\t}\n\t\t]\n\t}\n}",
        );
    }

    #[test]
    fn what_is_something_else_is_refused() {
        for text in [
            "",
            "[]",
            "{\"hooks\": []}",
            "{\"hooks\": {\"E\": {}}}",
            "{\"a\": 1,, }",
        ] {
            assert!(with_entry(text, "E", &json!({})).is_err(), "{text}");
        }
    }
}
