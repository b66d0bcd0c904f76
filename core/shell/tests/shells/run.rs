//! A line in a shell, and what it started.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use callgate_shell::{Command, Joiner, Reading, RedirectionKind, Shells, Value, Word};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value as Json;
use tempfile::TempDir;

/// A shell of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    Dash,
    Bash,
    Zsh,
}

impl Shell {
    pub(crate) const ALL: [Self; 3] = [Self::Dash, Self::Bash, Self::Zsh];

    /// The program, and the options without which it reads files of the person's.
    fn command(self) -> &'static [&'static str] {
        match self {
            Self::Dash => &["dash"],
            Self::Bash => &["bash", "--noprofile", "--norc"],
            Self::Zsh => &["zsh", "-f"],
        }
    }

    fn program(self) -> Option<PathBuf> {
        let name = self.command().first()?;
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|file| file.exists())
    }

    pub(crate) fn is_there(self) -> bool {
        self.program().is_some()
    }

    fn reads(self, shells: Shells) -> bool {
        match shells {
            Shells::All => true,
            Shells::Bash => self != Self::Dash,
            Shells::Dash => self == Self::Dash,
        }
    }
}

/// What a program wrote down.
#[derive(Debug)]
struct Started {
    words: Vec<String>,
    directory: String,
    files: Vec<(u64, String)>,
}

/// A directory to run lines in, with what they find there.
pub(crate) struct Sandbox {
    /// Removed with the sandbox.
    _folder: TempDir,
    root: PathBuf,
    directory: String,
    home: String,
}

const DIRECTORIES: &[&str] = &["src", "src/sub", "docs", "a b", "build", "tests"];
const FILES: &[&str] = &[
    "a.txt",
    "b.txt",
    "src/main.rs",
    "src/lib.rs",
    "src/sub/x.rs",
    "docs/x.md",
    "README.md",
    "a b/c d.txt",
];

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let sandbox = Self {
            directory: root.join("work").to_str().unwrap().to_owned(),
            home: root.join("home").to_str().unwrap().to_owned(),
            _folder: folder,
            root: root.clone(),
        };
        for folder in ["bin", "work", "home"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        for folder in DIRECTORIES {
            fs::create_dir(root.join("work").join(folder)).unwrap();
        }
        for file in FILES {
            fs::write(root.join("work").join(file), "text\n").unwrap();
        }
        fs::write(root.join("log"), "").unwrap();
        sandbox
    }

    pub(crate) fn directory(&self) -> &str {
        &self.directory
    }

    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    /// Puts the programs that a reading names into the `PATH`, but for those that `[[` and its operators would be to dash.
    fn install(&self, reading: &Reading) {
        for command in &reading.commands {
            for name in command.words.iter().filter_map(Word::exact) {
                let file = self.root.join("bin").join(name);
                let is_operator = name == "[[" || name.len() == 2 && name.starts_with('-');
                let is_name = !name.is_empty()
                    && name.len() < 100
                    && !name.contains('/')
                    && !matches!(name, "." | "..")
                    && !is_operator;
                if is_name && fs::symlink_metadata(&file).is_err() {
                    symlink(std::env::current_exe().unwrap(), file).unwrap();
                }
            }
        }
    }

    /// Runs a line that was read as this. Returns `true` if the sandbox is as it was.
    pub(crate) fn run(&self, shell: Shell, line: &str, reading: &Reading) -> Result<bool, String> {
        fs::write(self.root.join("log"), "").map_err(|error| error.to_string())?;
        self.install(reading);
        let (started, is_done) = self.start(shell, line)?;
        let commands: Vec<&Command> = reading
            .commands
            .iter()
            .filter(|command| shell.reads(command.shells))
            .collect();
        let targets = targets(&commands);
        for one in &started {
            if !commands.iter().any(|command| is_of(one, command)) {
                let read: Vec<_> = commands
                    .iter()
                    .map(|command| {
                        (
                            &command.directories,
                            command.words.iter().map(|word| &word.value).collect::<Vec<_>>(),
                        )
                    })
                    .collect();
                return Err(format!("started, but not read: {one:?}\n    read: {read:?}"));
            }
            for (number, file) in &one.files {
                let is_inside = file.starts_with(&self.directory) || file.starts_with(&self.home);
                if is_inside && !targets.contains(file.as_str()) && !is_somewhere(file, &commands) {
                    return Err(format!("open, but no target: {number} {file} of {targets:?}"));
                }
            }
        }
        let made = self.made();
        // What is not waited for may be missing here, and be seen with the next line.
        let is_loose = line.contains(['&', '|', '!']) || line.contains("<(") || line.contains(">(");
        let is_clean = made.is_empty() && !is_loose;
        for made in made {
            if !targets.contains(made.as_str()) && !is_somewhere(&made, &commands) {
                return Err(format!("made, but no target: {made} of {targets:?}"));
            }
        }
        if is_done && !is_loose && commands.iter().all(|command| is_straight(command)) {
            for command in &commands {
                let ran = started.iter().any(|one| is_of(one, command));
                if !ran && self.is_stub(command) {
                    return Err(format!("read, but not started: {command:?}"));
                }
            }
        }
        Ok(is_clean)
    }

    fn start(&self, shell: Shell, line: &str) -> Result<(Vec<Started>, bool), String> {
        let log = self.root.join("log");
        let program = shell.program().ok_or("the shell is missing")?;
        let mut child = Process::new(program)
            .args(shell.command().get(1..).unwrap_or_default())
            .args(["-c", line])
            .env_clear()
            .env("PATH", self.root.join("bin"))
            .env("HOME", &self.home)
            .env("LC_ALL", "C.UTF-8")
            .env("CALLGATE_SHELLS_LOG", &log)
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| error.to_string())?;
        let begin = Instant::now();
        let mut is_done = true;
        while child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if begin.elapsed() > Duration::from_secs(20) {
                let _ = child.kill();
                is_done = false;
            }
            std::thread::sleep(Duration::from_micros(300));
        }
        // A loop in the background would go on for ever.
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        let status = child.wait().map_err(|error| error.to_string())?;
        // What runs in the background may end later; what it writes down then is not seen.
        let text = fs::read_to_string(log).map_err(|error| error.to_string())?;
        let rows = text
            .lines()
            .filter_map(|row| serde_json::from_str::<Json>(row).ok());
        let started = rows.map(|row| Started {
            words: row["words"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Json::as_str)
                .map(str::to_owned)
                .collect(),
            directory: row["directory"].as_str().unwrap_or_default().to_owned(),
            files: row["files"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|file| Some((file[0].as_u64()?, file[1].as_str()?.to_owned())))
                .collect(),
        });
        Ok((started.collect(), is_done && status.success()))
    }

    /// The files that were not there before.
    fn made(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut folders = vec![PathBuf::from(&self.directory), PathBuf::from(&self.home)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else {
                    found.insert(path.to_str().unwrap_or_default().to_owned());
                }
            }
        }
        for file in FILES {
            found.remove(&format!("{}/{file}", self.directory));
        }
        found
    }

    /// Returns `true` if the program of the command is one that writes down how it was started.
    fn is_stub(&self, command: &Command) -> bool {
        const BUILTINS: &[&str] = &[
            "[",
            "[[",
            ":",
            "cd",
            "echo",
            "exit",
            "export",
            "false",
            "printf",
            "pwd",
            "read",
            "set",
            "test",
            "true",
            "type",
            "unset",
            "wait",
            "command",
            "kill",
            "time",
            "jobs",
            "umask",
            "return",
            "shift",
            "local",
            "which",
            "builtin",
            "times",
            "break",
            "continue",
            "eval",
            "exec",
            "trap",
            "source",
            ".",
            "alias",
            "hash",
            "history",
            "let",
            "bg",
            "fg",
            "shopt",
            "setopt",
            "pushd",
            "popd",
            "declare",
            "typeset",
            "readonly",
            "ulimit",
            "getopts",
            "where",
            "whence",
            "log",
            "limit",
            "r",
            "fc",
            "stat",
            "zcompile",
            "rehash",
            "print",
            "integer",
            "float",
            "disable",
            "enable",
            "functions",
            "sched",
            "bindkey",
            "compgen",
            "complete",
            "help",
            "logout",
            "mapfile",
            "readarray",
            "suspend",
            "unalias",
            "dirs",
            "disown",
        ];
        let program = command.words.first().and_then(Word::exact);
        program.is_some_and(|name| !BUILTINS.contains(&name) && !name.contains('/') && !name.is_empty())
    }
}

/// Returns `true` if nothing decides whether it runs.
fn is_straight(command: &Command) -> bool {
    let within = command.within;
    // zsh refuses a pattern without names, and takes `==` for the path of a program.
    let is_known = command.words.iter().all(|word| {
        !matches!(
            word.value,
            Value::Pattern { .. } | Value::Unknown { is_many: true, .. }
        ) && word.exact() != Some("==")
    });
    let program = command.words.first().and_then(Word::exact);
    let ends = matches!(
        program,
        Some(
            "exit"
                | "cd"
                | "set"
                | "break"
                | "continue"
                | "return"
                | "exec"
                | "eval"
                | "unset"
                | "export"
                | "."
                | "source"
                | "shift"
        )
    );
    // A file that is missing ends a command before its program starts.
    let reads = command
        .redirections
        .iter()
        .any(|one| matches!(one.kind, RedirectionKind::Read | RedirectionKind::ReadWrite));
    !reads
        && !within.conditional
        && !within.repeated
        && !within.background
        && command.joiner != Joiner::Background
        && is_known
        && !ends
}

/// Returns `true` if the command is read so that this is how it starts.
fn is_of(started: &Started, command: &Command) -> bool {
    let is_there = match &command.directories {
        Some(directories) => directories.contains(&started.directory),
        None => true,
    };
    let words = command.words.as_slice();
    // dash has no `time` of its own.
    let is_run = matches!(words.first().and_then(Word::exact), Some("command" | "time"));
    let run = if is_run {
        words.get(1..).unwrap_or_default()
    } else {
        words
    };
    is_there && (is_same(&started.words, run, true) || is_same(&started.words, words, true))
}

fn is_same(started: &[String], words: &[Word], is_program: bool) -> bool {
    let Some((word, rest)) = words.split_first() else {
        return started.is_empty();
    };
    let Some((first, others)) = started.split_first() else {
        return matches!(word.value, Value::Unknown { is_many: true, .. }) && is_same(started, rest, false);
    };
    match &word.value {
        Value::Exact(text) => {
            // The name is the file that was found.
            let is_it = first == text || is_program && Path::new(first).file_name() == Some(text.as_ref());
            is_it && is_same(others, rest, false)
        }
        Value::Pattern { before, is_many, .. } => {
            first.starts_with(before.as_str())
                && (is_same(others, rest, false) || *is_many && is_same(others, words, false))
        }
        Value::Pipe => is_same(others, rest, false),
        Value::Unknown { before, is_many, .. } => {
            first.starts_with(before.as_str()) && is_same(others, rest, false)
                || *is_many && (is_same(others, words, false) || is_same(started, rest, false))
        }
    }
}

/// Returns `true` if the file may be the target of a redirection in a directory that is not known.
fn is_somewhere(file: &str, commands: &[&Command]) -> bool {
    let elsewhere = commands.iter().filter(|command| command.directories.is_none());
    let mut targets = elsewhere
        .flat_map(|command| &command.redirections)
        .filter_map(|one| one.target.as_ref()?.exact());
    targets.any(|target| Path::new(target).file_name() == Path::new(file).file_name())
}

/// The files that redirections open, in each directory that is possible.
fn targets(commands: &[&Command]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for command in commands {
        for redirection in &command.redirections {
            let Some(target) = redirection.target.as_ref().and_then(Value::exact) else {
                continue;
            };
            if redirection.kind == RedirectionKind::Text {
                continue;
            }
            for directory in command.directories.iter().flatten() {
                let path = Path::new(directory).join(target);
                let mut plain = PathBuf::new();
                for part in path.components() {
                    match part {
                        std::path::Component::ParentDir => {
                            plain.pop();
                        }
                        std::path::Component::CurDir => {}
                        part => plain.push(part),
                    }
                }
                found.insert(plain.to_str().unwrap_or_default().to_owned());
            }
        }
    }
    found
}
