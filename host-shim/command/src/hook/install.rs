//! `callgate hook install` and `uninstall`: the hook in an agent's settings.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_hook::{Agent, SettingsFile, SettingsOf, settings, settings_without};
use clap::Args;
use serde_json::json;

use super::agents;
use crate::above::Above;
use crate::folder::in_folder;
use crate::program;
use crate::replace::replace;
use crate::signed::{self, Pinned};
use crate::terminal::{BOLD, DIM, Exit, Failure, GREEN, Out, clean, paint};

/// How many seconds an agent waits for its hook, beyond those that a person has.
const PATIENCE: u64 = 30;

/// The settings that are meant.
#[derive(Args)]
struct Whose {
    /// The user's settings, for all projects [default: those of the project in the working directory]
    #[arg(long)]
    user: bool,
    /// Another file of the agent's settings
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    settings: Option<PathBuf>,
}

impl Whose {
    fn with<T>(&self, act: impl FnOnce(SettingsOf<'_>) -> Result<T, String>) -> Result<T, Failure> {
        let found = match (&self.settings, self.user) {
            (Some(file), _) => act(SettingsOf::File(file)),
            (None, true) => {
                let home = std::env::home_dir();
                let home =
                    home.ok_or_else(|| Failure::Fault("the home directory is not known".to_owned()))?;
                act(SettingsOf::User(&home))
            }
            (None, false) => {
                let folder = std::env::current_dir();
                let folder = folder.map_err(|error| Failure::Fault(error.to_string()))?;
                act(SettingsOf::Project(&folder))
            }
        };
        found.map_err(Failure::Invalid)
    }
}

/// Take the hook out of an agent's settings again
///
/// Shows what would be written, and writes it with --write. Everything else in the settings stays as it is.
#[derive(Args)]
pub(crate) struct Uninstall {
    /// The agent
    #[arg(value_parser = agents())]
    agent: &'static Agent,
    #[command(flatten)]
    whose: Whose,
    /// Write it
    #[arg(long)]
    write: bool,
}

impl Uninstall {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let files = self.whose.with(|of| settings_without(self.agent, of))?;
        change(&files, self.write, "There is no hook of Callgate.", out)
    }
}

/// Add the hook to an agent's settings
///
/// Shows what would be written, and writes it with --write. Settings that are there stay as they are. Where the agent has a
/// switch to deny calls if its hook fails, it is set.
#[derive(Args)]
pub(crate) struct Install {
    /// The agent
    #[arg(value_parser = agents())]
    agent: &'static Agent,
    /// The bundle that calls are judged by, or the folder of one called callgate.json
    #[arg(long, short, value_name = "FILE")]
    bundle: PathBuf,
    #[command(flatten)]
    pinned: Pinned,
    #[command(flatten)]
    above: Above,
    /// Judge by the project's own `callgate.json` where it has one, as `callgate hook --per-project` does
    #[arg(long)]
    per_project: bool,
    /// Name nothing of this machine, so that a team can commit the project's settings: `callgate` is found in the PATH, and the
    /// bundle in the project
    #[arg(long, conflicts_with_all = ["user", "settings", "audit", "per_project"])]
    shared: bool,
    /// Write each decision to this file
    #[arg(long, alias = "log", value_name = "FILE")]
    audit: Option<PathBuf>,
    /// An MCP server that the agent has; may be repeated
    #[arg(long, value_name = "NAME")]
    mcp_server: Vec<String>,
    /// Ask a person whom the agent does not ask, by `callgate approvals`, and wait so many seconds for an answer
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    ask: Option<u64>,
    /// Trust the agent to ask a person, as `callgate hook --trust-ask` does
    #[arg(long)]
    trust_ask: bool,
    #[command(flatten)]
    whose: Whose,
    /// Write it
    #[arg(long)]
    write: bool,
}

impl Install {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let command = self.command()?;
        let patience = PATIENCE + self.ask.unwrap_or_default();
        let files = self
            .whose
            .with(|of| settings(self.agent, of, &command, patience))?;
        change(&files, self.write, "The hook is there already.", out)?;
        if !out.human {
            return Ok(Exit::Allow);
        }
        out.line(&paint(DIM, self.agent.advice()))?;
        Ok(Exit::Allow)
    }

    fn command(&self) -> Result<String, Failure> {
        let address = signed::address(&self.bundle);
        if address.is_none() && !self.bundle.exists() {
            return Err(Failure::Unloaded {
                message: format!("there is no `{}`", self.bundle.display()),
                help: Some("`callgate init` writes one".to_owned()),
            });
        }
        let mut words = match self.shared {
            true => vec!["callgate".to_owned()],
            false => vec![absolute(&program::lasting(self.write)?)?],
        };
        words.extend(["hook".to_owned(), self.agent.as_str().to_owned()]);
        if !self.shared {
            let bundle = match address {
                Some(address) => address.to_owned(),
                None => absolute(&in_folder(&self.bundle)?)?,
            };
            words.extend(["--bundle".to_owned(), bundle]);
            words.extend(self.pinned.flags(absolute)?);
            let flags = self.above.flags(|named| match signed::address(named) {
                Some(address) => Ok(address.to_owned()),
                None => absolute(named),
            });
            words.extend(flags?);
        }
        if self.per_project {
            words.push("--per-project".to_owned());
        }
        if let Some(audit) = &self.audit {
            words.extend(["--audit".to_owned(), absolute(audit)?]);
        }
        if let Some(seconds) = self.ask {
            words.extend(["--ask".to_owned(), seconds.to_string()]);
        }
        if self.trust_ask {
            words.push("--trust-ask".to_owned());
        }
        for server in &self.mcp_server {
            words.extend(["--mcp-server".to_owned(), server.clone()]);
        }
        let mut words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        if self.shared {
            let bundle = match address {
                Some(address) => quoted(address),
                None => self.of_project(&self.bundle)?,
            };
            words.extend(["--bundle".to_owned(), bundle]);
            words.extend(self.pinned.flags(|key| self.of_project(key))?);
            let flags = self.above.flags(|named| match signed::address(named) {
                Some(address) => Ok(quoted(address)),
                None => self.of_project(named),
            });
            words.extend(flags?);
        }
        Ok(words.join(" "))
    }

    /// A file from the project's folder, for a shell: the agent tells its hooks where that is.
    fn of_project(&self, file: &Path) -> Result<String, Failure> {
        let Some(variable) = self.agent.project_variable() else {
            return Err(Failure::Invalid(format!(
                "{} does not tell its hooks where the project is, so that its settings can only name a place of this machine",
                self.agent
            )));
        };
        let real = |path: &Path| {
            path.canonicalize()
                .map_err(|error| Failure::Fault(error.to_string()))
        };
        let (found, folder) = (real(file)?, real(Path::new("."))?);
        let found = match found.starts_with(&folder) {
            true => in_folder(&found)?,
            false => found,
        };
        match found.strip_prefix(&folder).ok().and_then(Path::to_str) {
            Some(below) => Ok(format!("\"${variable}\"/{}", quoted(below))),
            None => Err(Failure::Invalid(format!(
                "`{}` is not in the project, which is the working directory",
                file.display()
            ))),
        }
    }
}

/// Shows the files that are not what they are to be, or writes them.
fn change(files: &[SettingsFile], writes: bool, unchanged: &str, out: &mut Out) -> Result<Exit, Failure> {
    let new: Vec<&SettingsFile> = files
        .iter()
        .filter(|file| file.before.as_deref() != Some(&file.after))
        .collect();
    if writes {
        for file in &new {
            write(file)?;
        }
    }
    if !out.human {
        let files = new
            .iter()
            .map(|file| json!({"file": file.path, "text": file.after}));
        out.json(&json!({"written": writes, "files": files.collect::<Vec<_>>()}))?;
        return Ok(Exit::Allow);
    }
    for file in &new {
        show(file, out)?;
    }
    match (new.is_empty(), writes) {
        (true, _) => out.line(unchanged)?,
        (false, true) => out.line("Written.")?,
        (false, false) => out.line("Nothing is written yet: --write does it.")?,
    }
    Ok(Exit::Allow)
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path).map_err(|error| Failure::Fault(error.to_string()))?;
    path.into_os_string()
        .into_string()
        .map_err(|path| Failure::Fault(format!("the path `{}` is not UTF-8", path.display())))
}

/// The word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "/._-+:@%".contains(one);
    match word.chars().all(is_plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn write(file: &SettingsFile) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::Fault(format!("cannot write `{}`: {error}", file.path.display()));
    if let Some(folder) = file.path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    replace(&file.path, &file.after).map_err(failed)
}

/// The lines that are new. Nothing else changes but the lines around them, where they must end otherwise.
fn show(file: &SettingsFile, out: &mut Out) -> Result<(), Failure> {
    const AROUND: usize = 2;
    out.line(&paint(BOLD, &clean(&file.path.display().to_string())))?;
    let before: Vec<&str> = file.before.as_deref().unwrap_or_default().lines().collect();
    let after: Vec<&str> = file.after.lines().collect();
    let same = before
        .iter()
        .zip(&after)
        .take_while(|(one, other)| one == other)
        .count();
    let most = before.len().min(after.len()) - same;
    let ends = before.iter().rev().zip(after.iter().rev());
    let same_end = ends.take(most).take_while(|(one, other)| one == other).count();
    for line in &before[same.saturating_sub(AROUND)..same] {
        out.line(&format!("  {}", clean(line)))?;
    }
    for line in &before[same..before.len() - same_end] {
        out.line(&format!("- {}", clean(line)))?;
    }
    for line in &after[same..after.len() - same_end] {
        out.line(&paint(GREEN, &format!("+ {}", clean(line))))?;
    }
    let rest = &after[after.len() - same_end..];
    for line in rest.iter().take(AROUND) {
        out.line(&format!("  {}", clean(line)))?;
    }
    Ok(())
}
