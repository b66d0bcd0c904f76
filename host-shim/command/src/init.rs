//! `callgate init`: a bundle to begin with, in one file.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use callgate_authoring::packs::PACKS;
use callgate_authoring::start::{Chosen, Start, Without, quoted};
use callgate_host::BUNDLE_FILE;
use clap::Args;

use crate::terminal::{BOLD, DIM, Exit, Failure, Out, YELLOW, clean, paint};
use crate::wrap::configured;

/// Write a bundle to begin with: callgate.json, with a sandbox, protected paths, four rules and three tools
///
/// It is for any project, and its comments say what it does. calls.jsonl holds calls to try, scenarios.jsonl calls with what is
/// expected of them.
///
/// With --for it is for the servers that are named, and with --from for those of an agent's configuration, as far as there is a pack
/// for them: annotations that were reviewed by hand, a few rules, and scenarios. The annotations have a file of their own. For each
/// other server the command is shown that drafts annotations.
#[derive(Args)]
#[command(after_help = packs_help())]
pub(crate) struct Init {
    /// The project's directory; made where it is missing
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// The servers that have a pack, separated by commas; NAME=PACK for one that has another name in calls
    #[arg(long = "for", value_name = "PACKS", value_delimiter = ',')]
    packs: Vec<String>,
    /// An agent's configuration, in any form that `callgate wrap` reads: each server keeps its name
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Overwrite files that are there
    #[arg(long)]
    force: bool,
}

fn packs_help() -> String {
    let names: Vec<&str> = PACKS.iter().map(|pack| pack.name).collect();
    format!(
        "For example:\n  callgate init --for filesystem,gh=github .\n  callgate init --from .mcp.json .\n\nPacks: {}",
        names.join(", ")
    )
}

impl Init {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        if !self.force && self.has_home() {
            return Err(Failure::Helped {
                message: format!(
                    "your home directory lies in `{}`: as the sandbox, an agent could read and write all that is there",
                    self.dir.display()
                ),
                help: "name the directory of a project, or for calls outside of projects one of its own, such as \
                       ~/.config/callgate; --force writes it here"
                    .to_owned(),
            });
        }
        let configured = self.from.as_deref().map(configured).transpose()?;
        let bundle = self.dir.join(BUNDLE_FILE).display().to_string();
        let written = Start::new(&self.packs, configured.unwrap_or_default(), &bundle)?;
        let paths: Vec<PathBuf> = written
            .files
            .iter()
            .map(|(name, _)| self.dir.join(name))
            .collect();
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
        for (path, (_, text)) in paths.iter().zip(&written.files) {
            self.write(path, text).map_err(|error| fault(path, error))?;
        }
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        match out.human {
            true => self.tell(&shown, &written, out)?,
            false => out.json(&written.report(&shown)?)?,
        }
        Ok(Exit::Allow)
    }

    /// Returns `true` if the user's home is the directory, or below it.
    fn has_home(&self) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let home = std::env::home_dir().as_deref().and_then(real);
        home.zip(real(&self.dir))
            .is_some_and(|(home, dir)| home.starts_with(dir))
    }

    fn tell(&self, files: &[String], written: &Start, out: &mut Out) -> Result<(), Failure> {
        for file in files {
            out.line(&format!("wrote {}", clean(file)))?;
        }
        for Chosen { server, pack, .. } in &written.chosen {
            let about = pack.about()?;
            let what = format!("the pack `{}`, written for {}", pack.name, about.recorded);
            out.line(&format!("{}: {}", clean(server), paint(DIM, &what)))?;
        }
        for Without { server, why, run } in &written.without {
            out.line(&format!("{}: {}", clean(server), paint(YELLOW, &clean(why))))?;
            if let Some(run) = run {
                out.line(&format!("  {}", paint(BOLD, &clean(run))))?;
            }
        }
        if written.without.iter().any(|one| one.run.is_some()) {
            out.line("until they are annotated, calls to these servers are denied; they need a rule of their own too. Set the variables of their \
                 entries before you run the commands")?;
        }
        out.line("\nnext:")?;
        if !is_in_path() {
            out.line("  # `callgate` is not in your PATH: write `npx callgate` or `uvx callgate-cli`, or install it")?;
        }
        if self.dir != Path::new(".") {
            let command = format!("cd {}", quoted(&clean(&self.dir.display().to_string())));
            out.line(&format!("  {}", paint(BOLD, &command)))?;
        }
        for (command, what) in &written.next {
            out.line(&format!("  {}   # {what}", paint(BOLD, command)))?;
        }
        out.line("\nthen write your own rules and tools into callgate.json")
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
