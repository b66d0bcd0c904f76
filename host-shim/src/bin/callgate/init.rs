//! `callgate init`: a bundle to begin with, in one file.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use callgate_host::BUNDLE_FILE;
use clap::Args;
use serde_json::json;

use crate::output::{BOLD, Exit, Failure, Out, clean, paint};

/// Write a bundle to begin with: callgate.json, with a sandbox, protected paths, four rules and three tools
///
/// It is for any project, and its comments say what it does. calls.jsonl holds calls to try, scenarios.jsonl calls with what is
/// expected of them.
#[derive(Args)]
pub(crate) struct Init {
    /// The project's directory; made where it is missing
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Overwrite files that are there
    #[arg(long)]
    force: bool,
}

const FILES: [(&str, &str); 3] = [
    (BUNDLE_FILE, include_str!("init/callgate.json")),
    ("calls.jsonl", include_str!("init/calls.jsonl")),
    ("scenarios.jsonl", include_str!("init/scenarios.jsonl")),
];

/// Commands to run in the directory, each with the question that it answers.
const NEXT: [(&str, &str); 4] = [
    ("callgate validate", "are the documents right?"),
    ("callgate test", "do they decide what they should?"),
    ("callgate eval calls.jsonl", "what becomes of some calls?"),
    (
        r#"callgate explain '{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {"path": "~/.ssh/config"}}'"#,
        "why?",
    ),
];

impl Init {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let paths = FILES.map(|(name, _)| self.dir.join(name));
        if !self.force {
            let there: Vec<String> = paths
                .iter()
                .filter(|path| fs::symlink_metadata(path).is_ok())
                .map(|path| format!("`{}`", path.display()))
                .collect();
            if !there.is_empty() {
                let message = format!(
                    "found {}, expected no such file (--force overwrites)",
                    there.join(", ")
                );
                return Err(Failure::Fault(message));
            }
        }
        let fault = |path: &Path, error: std::io::Error| {
            Failure::Fault(format!("cannot write `{}`: {error}", path.display()))
        };
        fs::create_dir_all(&self.dir).map_err(|error| fault(&self.dir, error))?;
        for (path, (_, text)) in paths.iter().zip(FILES) {
            self.write(path, text).map_err(|error| fault(path, error))?;
        }
        let written: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        if !out.human {
            let next: Vec<&str> = NEXT.iter().map(|(command, _)| *command).collect();
            out.json(&json!({"written": written, "next": next}))?;
            return Ok(Exit::Allow);
        }
        for file in &written {
            out.line(&format!("wrote {}", clean(file)))?;
        }
        out.line("\nnext:")?;
        if !is_in_path() {
            out.line("  # `callgate` is not in your PATH: in its checkout, `cargo install --path host-shim` puts it there")?;
        }
        if self.dir != Path::new(".") {
            let command = format!("cd {}", quoted(&clean(&self.dir.display().to_string())));
            out.line(&format!("  {}", paint(BOLD, &command)))?;
        }
        for (command, what) in NEXT {
            out.line(&format!("  {}   # {what}", paint(BOLD, command)))?;
        }
        out.line("\nthen write your own rules and tools into callgate.json")?;
        Ok(Exit::Allow)
    }

    fn write(&self, path: &Path, text: &str) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true);
        if self.force {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        options.open(path)?.write_all(text.as_bytes())
    }
}

/// Returns `true` if a shell finds the command by its name.
fn is_in_path() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("callgate").is_file())
}

/// The name of a directory as a shell reads it.
fn quoted(name: &str) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || "/._-+~".contains(one);
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}
