//! `callgate init`: a bundle to begin with, in one file.

mod container;
mod recipe;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use callgate_host::BUNDLE_FILE;
use clap::Args;
use serde_json::{Value, json};

use crate::packs::{self, PACKS};
use crate::terminal::{BOLD, DIM, Exit, Failure, Out, YELLOW, clean, paint};
use crate::wrap::{Configured, How, configured};
use recipe::Chosen;

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

/// What is written, and what there is to say.
struct Written {
    files: Vec<(&'static str, String)>,
    /// Commands to run in the directory, each with the question that it answers.
    next: Vec<(String, &'static str)>,
    chosen: Vec<Chosen>,
    /// Servers without a pack, and what to do about each.
    without: Vec<Without>,
}

/// A server without a pack.
struct Without {
    server: String,
    why: String,
    /// The command that drafts annotations for it, to be run where this one was.
    run: Option<String>,
}

/// The files for any project.
const FILES: [(&str, &str); 3] = [
    (BUNDLE_FILE, include_str!("init/callgate.json")),
    ("calls.jsonl", include_str!("init/calls.jsonl")),
    (recipe::SCENARIOS_FILE, include_str!("init/scenarios.jsonl")),
];

const EXPLAIN: &str = r#"callgate explain '{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {"path": "~/.ssh/config"}}'"#;

fn packs_help() -> String {
    let names: Vec<&str> = PACKS.iter().map(|pack| pack.name).collect();
    format!(
        "For example:\n  callgate init --for filesystem,gh=github .\n  callgate init --from .mcp.json .\n\nPacks: {}",
        names.join(", ")
    )
}

impl Init {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        let written = self.written()?;
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
            false => out.json(&report(&shown, &written)?)?,
        }
        Ok(Exit::Allow)
    }

    /// The files that are asked for.
    fn written(&self) -> Result<Written, Failure> {
        let mut chosen = Vec::new();
        for one in &self.packs {
            let (server, pack) = one.split_once('=').unwrap_or((one, one));
            let pack = packs::find(pack)?;
            if let Some(why) = recipe::unsuitable(server, pack, &chosen)? {
                return Err(Failure::Fault(format!("the server `{}`: {why}", clean(server))));
            }
            let server = server.to_owned();
            chosen.push(Chosen {
                server,
                pack,
                mounts: Vec::new(),
            });
        }
        let without = self.read(&mut chosen)?;
        let is_for_any_project = chosen.is_empty() && without.is_empty();
        let next = |command: &str, what| (command.to_owned(), what);
        let mut questions = vec![
            next("callgate validate", "are the documents right?"),
            next("callgate test", "do they decide what they should?"),
        ];
        let files = if is_for_any_project {
            questions.push(next("callgate eval calls.jsonl", "what becomes of some calls?"));
            questions.push(next(EXPLAIN, "why?"));
            FILES.map(|(name, text)| (name, text.to_owned())).into()
        } else {
            questions.retain(|(command, _)| !chosen.is_empty() || command != "callgate test");
            questions.push(next("callgate map", "what may each tool do?"));
            let mut files = vec![
                (BUNDLE_FILE, recipe::bundle(&chosen)?),
                (recipe::ANNOTATIONS_FILE, recipe::annotations(&chosen)?),
            ];
            if !chosen.is_empty() {
                files.push((recipe::SCENARIOS_FILE, recipe::scenarios(&chosen)?));
            }
            files
        };
        Ok(Written {
            files,
            next: questions,
            chosen,
            without,
        })
    }

    /// Reads the servers of a configuration, adds those that have a pack, and returns those that have none.
    fn read(&self, chosen: &mut Vec<Chosen>) -> Result<Vec<Without>, Failure> {
        let mut without = Vec::new();
        let Some(file) = &self.from else {
            return Ok(without);
        };
        for Configured { name: server, how } in configured(file)? {
            let mut mounts = Vec::new();
            let (pack, asked) = match how {
                Err(why) => {
                    without.push(Without {
                        server,
                        why,
                        run: None,
                    });
                    continue;
                }
                Ok(How::Program(words)) => {
                    mounts = container::mounts(&words);
                    let pack = packs::recognize(words.iter().map(String::as_str))?;
                    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                    (pack, format!("-- {}", words.join(" ")))
                }
                Ok(How::Url(url)) => (packs::recognize([&*url])?, format!("--url {}", quoted(&url))),
            };
            if let Some(pack) = pack {
                // Several projects may have the same server.
                if chosen
                    .iter()
                    .any(|one| one.server == server && one.pack.name == pack.name)
                {
                    continue;
                }
                if let Some(why) = recipe::unsuitable(&server, pack, chosen)? {
                    without.push(Without {
                        server,
                        why,
                        run: None,
                    });
                    continue;
                }
                chosen.push(Chosen { server, pack, mounts });
                continue;
            }
            let bundle = self.dir.join(BUNDLE_FILE).display().to_string();
            let run = format!(
                "callgate annotate --server {} --into {} {asked}",
                quoted(&server),
                quoted(&bundle)
            );
            without.push(Without {
                server,
                why: "there is no pack for it".to_owned(),
                run: Some(run),
            });
        }
        Ok(without)
    }

    fn tell(&self, files: &[String], written: &Written, out: &mut Out) -> Result<(), Failure> {
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

/// The answer for a program.
fn report(files: &[String], written: &Written) -> Result<Value, Failure> {
    let next: Vec<&str> = written.next.iter().map(|(command, _)| &**command).collect();
    let mut answer = json!({"written": files, "next": next});
    if !written.chosen.is_empty() || !written.without.is_empty() {
        let mut servers = Vec::new();
        for Chosen { server, pack, .. } in &written.chosen {
            let about = pack.about()?;
            servers.push(json!({"server": server, "pack": pack.name, "recorded": about.recorded}));
        }
        let without = written.without.iter();
        servers.extend(without.map(|one| json!({"server": one.server, "why": one.why, "run": one.run})));
        answer["servers"] = servers.into();
    }
    Ok(answer)
}

/// Returns `true` if a shell finds the command by its name.
fn is_in_path() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("callgate").is_file())
}

/// A word as a shell reads it. Variables of the environment, as agents write them, stay variables.
fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || "/._-+~@:=,%".contains(one);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    with_variables(word).unwrap_or_else(|| format!("'{}'", word.replace('\'', "'\\''")))
}

/// A word with `${NAME}` or `${env:NAME}`, within double quotes; `None` if it has none, or what else a shell reads there.
fn with_variables(word: &str) -> Option<String> {
    let mut parts = word.split("${");
    let mut text = parts.next()?.to_owned();
    let mut has_any = false;
    for part in parts {
        let (name, rest) = part.split_once('}')?;
        let name = name.strip_prefix("env:").unwrap_or(name);
        let is_name = |one: char| one.is_ascii_alphanumeric() || one == '_';
        if name.is_empty() || !name.chars().all(is_name) || name == "workspaceFolder" {
            return None;
        }
        text += &format!("${{{name}}}{rest}");
        has_any = true;
    }
    let is_safe = !word.replace("${", "").contains(['"', '$', '`', '\\', '!']);
    (has_any && is_safe).then(|| format!("\"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_word_to_a_shell() {
        for (word, expected) in [
            ("--read-only", "--read-only"),
            ("my server.js", "'my server.js'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("--key=${KEY}", "\"--key=${KEY}\""),
            ("${env:KEY} x", "\"${KEY} x\""),
            ("${input:key}", "'${input:key}'"),
            ("${workspaceFolder}/a", "'${workspaceFolder}/a'"),
            ("${KEY}$(rm -r .)", "'${KEY}$(rm -r .)'"),
            ("${KEY}`id`", "'${KEY}`id`'"),
            ("${A", "'${A'"),
        ] {
            assert_eq!(quoted(word), expected, "{word}");
        }
    }
}
