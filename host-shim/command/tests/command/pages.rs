//! The commands that the reference pages and READMEs show. Those that need only the bundle above them are run, and must print what
//! the page shows below them. Of the others every flag must exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use callgate_core::docs;
use serde_json::{Value, json};

use crate::project::{Project, reading};

/// Commands that judge or look at the documents of a folder.
const RUN: &[&str] = &[
    "check", "eval", "explain", "init", "lint", "map", "suggest", "test", "validate",
];

/// Words of arguments that stand for something that is not there: a server, or a file that a reader has.
const ABSENT: &[&str] = &[
    "--",
    "--from",
    "--server",
    "--url",
    "~/.local/state/callgate.jsonl",
];

#[test]
fn commands_of_the_pages_run() {
    let mut count = Count::default();
    for page in docs::PAGES {
        Page::new(page.topic).read(page.text, &mut count);
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = [
        "../../README.md",
        "../README.md",
        "README.md",
        "../guard/README.md",
        "../hook/README.md",
    ];
    for readme in pages {
        let text = fs::read_to_string(here.join(readme)).expect("a page");
        Page::new(readme).read(&text, &mut count);
    }
    assert!(
        count.run > 8 && count.shown > 1 && count.flags > 20,
        "{} commands ran, {} outputs and {} flags were compared",
        count.run,
        count.shown,
        count.flags
    );
}

#[derive(Default)]
struct Count {
    run: usize,
    shown: usize,
    flags: usize,
}

/// A page, and the project that its reader has.
struct Page<'p> {
    name: &'p str,
    project: Project,
    /// The help of commands, by their names.
    helps: BTreeMap<String, String>,
}

impl<'p> Page<'p> {
    fn new(name: &'p str) -> Self {
        let project = Project::new();
        let keys = project.folder.path().join("home/.ssh");
        fs::create_dir(&keys).expect("a folder");
        fs::write(keys.join("id_ed25519"), "").expect("a file");
        project.edit("callgate.json", |bundle| {
            bundle["tests"] = json!(["scenarios.jsonl"])
        });
        let call: Value = serde_json::from_str(&reading("a")).expect("a call");
        project.write(
            "scenarios.jsonl",
            json!({"call": call, "expect": "allow"}).to_string(),
        );
        Self {
            name,
            project,
            helps: BTreeMap::new(),
        }
    }

    fn read(&mut self, text: &str, count: &mut Count) {
        let mut last = None;
        for block in text.split("\n```").skip(1).step_by(2) {
            let (fence, code) = block.split_once('\n').unwrap_or((block, ""));
            let printed = last.take();
            match fence {
                "json bundle" => self.project.write("callgate.json", code),
                "json scenarios" => self.project.write("scenarios.jsonl", code),
                "sh" => last = self.follow(code, count),
                "text" => {
                    if let Some(printed) = printed {
                        self.compare(code, &printed);
                        count.shown += 1;
                    }
                }
                _ => {}
            }
        }
    }

    /// Runs the commands of a block; the output of the last.
    fn follow(&mut self, code: &str, count: &mut Count) -> Option<String> {
        let mut printed = None;
        for command in commands(code) {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let launched = ["cargo", "npx"].contains(words.first().unwrap_or(&""));
            let words = words.get(usize::from(launched)..).unwrap_or_default();
            let Some((&"callgate", arguments)) = words.split_first() else {
                continue;
            };
            count.flags += self.check_flags(arguments);
            let runs = arguments.first().is_some_and(|command| RUN.contains(command));
            if runs && !arguments.iter().any(|word| ABSENT.contains(word)) {
                printed = Some(self.run(arguments));
                count.run += 1;
            }
        }
        printed
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut arguments = arguments.to_vec();
        for word in &mut arguments {
            *word = if *word == "FOLDER" { "." } else { word };
        }
        if matches!(&arguments[..], ["init", "--for", _]) {
            // The project has a bundle.
            arguments.push("../begun");
        }
        if !arguments.contains(&"--sarif") && arguments.first() != Some(&"init") {
            arguments.extend(["--format", "human"]);
        }
        let output = self.project.run(&arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let name = self.name;
        // A scenario, a finding or a verdict may well end it with another code than 0; a flag, a file or a document must not.
        let faults = err.lines().filter(|line| line.starts_with("error"));
        assert_eq!(faults.count(), 0, "{name}: {arguments:?}\n{err}");
        assert!(output.status.code().is_some(), "{name}: {arguments:?}");
        out
    }

    /// Holds a command's flags against its help. Returns how many there are.
    fn check_flags(&mut self, arguments: &[&str]) -> usize {
        let own = arguments.iter().take_while(|word| **word != "--");
        let flags: Vec<&str> = own.copied().filter(|word| word.starts_with("--")).collect();
        let is_group = matches!(arguments.first(), Some(&("approvals" | "audit" | "hook")));
        let command = arguments
            .iter()
            .take(1 + usize::from(is_group))
            .take_while(|word| !word.starts_with('-'))
            .copied()
            .collect::<Vec<_>>();
        let project = &self.project;
        let help = self.helps.entry(command.join(" ")).or_insert_with(|| {
            let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
            let output = project.run(&arguments);
            assert!(output.status.success(), "{arguments:?}");
            String::from_utf8(output.stdout).expect("UTF-8")
        });
        for flag in &flags {
            let flag = flag.split('=').next().unwrap_or(flag);
            let known = help.split(|one: char| !one.is_ascii_alphanumeric() && one != '-');
            let mut known = known.filter(|word| word.starts_with("--"));
            assert!(
                known.any(|word| word == flag),
                "{}: `callgate {}` has no {flag}",
                self.name,
                command.join(" ")
            );
        }
        flags.len()
    }

    /// Compares what a page shows with what was printed, but for white space and the lines of trees. `…` on the last line stands
    /// for the rest.
    fn compare(&self, shown: &str, printed: &str) {
        let home = self.project.folder.path().join("home");
        let home = home.canonicalize().expect("a home").display().to_string();
        let bare = |text: &str| -> String {
            let text = text.replace(&home, "/home/u");
            text.chars()
                .filter(|one| !one.is_whitespace() && !"├─│└".contains(*one))
                .collect()
        };
        let (shown, printed) = (bare(shown), bare(printed));
        let holds = match shown.strip_suffix('…') {
            Some(start) => printed.starts_with(start),
            None => printed == shown,
        };
        assert!(
            holds,
            "{} shows\n{shown}\nand the command prints\n{printed}",
            self.name
        );
    }
}

/// The commands of a block, each as its words. As in a shell a quoted word may hold white space and ends of lines, and `#` begins a
/// comment; what follows `>` is the name of a file.
fn commands(code: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let (mut quoted, mut skipped, mut redirected) = (false, false, false);
    for one in code.chars().chain(['\n']) {
        if skipped && one != '\n' {
            continue;
        }
        match one {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            _ if quoted => word.get_or_insert_default().push(one),
            '#' if word.is_none() => skipped = true,
            '>' if word.is_none() => redirected = true,
            _ if one.is_whitespace() => {
                if let Some(word) = word.take()
                    && !std::mem::take(&mut redirected)
                {
                    words.push(word);
                }
                if one == '\n' {
                    skipped = false;
                    commands.push(std::mem::take(&mut words));
                }
            }
            _ => word.get_or_insert_default().push(one),
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

#[test]
fn a_block_is_read_as_a_shell_reads_it() {
    assert_eq!(
        commands("a 'b c\nd' # e 'f\ng > h 'i'\n"),
        [vec!["a", "b c\nd"], vec!["g", "i"]]
    );
}
