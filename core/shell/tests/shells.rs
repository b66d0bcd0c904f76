//! Real shells run lines that `callgate-shell` has read: what they start is what was read.
//!
//! `dash`, `bash` and `zsh` run each line that is understood, in a directory of its own, with programs in the `PATH` that only write
//! down their arguments, working directory and open files. Each of these has to be a command of the reading; every file that is made
//! has to be the target of a redirection; and what is read to run in any case has to have run.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failing test stops where it fails"
)]

#[path = "shells/generate.rs"]
mod generate;
#[path = "shells/run.rs"]
mod run;
#[path = "shells/stub.rs"]
mod stub;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use callgate_shell::{Surroundings, read};
use run::{Sandbox, Shell};

/// How many generated lines are run.
const GENERATED: usize = 3_000;

const SURROUNDINGS: Surroundings<'static> = Surroundings {
    directory: "/work",
    home: "/home/u",
};

fn shells() -> Vec<Shell> {
    let found: Vec<Shell> = Shell::ALL.into_iter().filter(|shell| shell.is_there()).collect();
    if found.len() < Shell::ALL.len() {
        let required = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!required, "a shell is missing: dash, bash and zsh are needed");
        println!("skipped: of dash, bash and zsh, {} are installed", found.len());
    }
    found
}

/// The lines of a file of data.
fn lines(name: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let rows = text.lines().map(|row| {
        let row: serde_json::Value =
            serde_json::from_str(row).unwrap_or_else(|error| panic!("{row}: {error}"));
        row["command"]
            .as_str()
            .unwrap_or_else(|| panic!("{row}"))
            .to_owned()
    });
    rows.collect()
}

/// Runs the lines that are understood. Returns how many those were.
fn hold(lines: &[String]) -> usize {
    let shells = shells();
    let wrong = Mutex::new(Vec::new());
    let next = Mutex::new(lines.iter());
    let understood = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut sandbox = None;
                loop {
                    let line = next.lock().unwrap().next();
                    let Some(line) = line else { break };
                    if !read(line, &SURROUNDINGS).is_understood() {
                        continue;
                    }
                    *understood.lock().unwrap() += 1;
                    for shell in &shells {
                        let here = sandbox.take().unwrap_or_else(Sandbox::new);
                        let surroundings = Surroundings {
                            directory: here.directory(),
                            home: here.home(),
                        };
                        let reading = read(line, &surroundings);
                        match here.run(*shell, line, &reading) {
                            Ok(true) => sandbox = Some(here),
                            Ok(false) => {}
                            Err(error) => wrong
                                .lock()
                                .unwrap()
                                .push(format!("{shell:?}: {line}\n    {error}")),
                        }
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    let shown = wrong.iter().take(40).map(String::as_str).collect::<Vec<_>>();
    assert!(
        wrong.is_empty(),
        "{} lines ran otherwise:\n{}",
        wrong.len(),
        shown.join("\n")
    );
    understood.into_inner().unwrap()
}

fn written_lines() {
    let lines = lines("lines.jsonl");
    let understood = hold(&lines);
    println!("{understood} of {} written lines are understood", lines.len());
}

fn agents_commands() {
    let lines = lines("commands.jsonl");
    let understood = hold(&lines);
    println!("{understood} of {} commands are understood", lines.len());
}

fn generated_lines() {
    let seed = std::env::var("CALLGATE_SHELLS_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let mut random = fastrand::Rng::with_seed(seed.unwrap_or(42));
    let mut found = Vec::new();
    let mut all = 0_usize;
    let lines = std::env::var("CALLGATE_SHELLS_LINES")
        .ok()
        .and_then(|count| count.parse().ok());
    let lines = lines.unwrap_or(GENERATED);
    while found.len() < lines {
        all += 1;
        let line = generate::line(&mut random);
        if read(&line, &SURROUNDINGS).is_understood() {
            found.push(line);
        }
    }
    println!("{lines} of {all} generated lines are understood");
    assert_eq!(hold(&found), lines);
}

/// The tests. The same program stands in the `PATH` of the shells, where it only writes down how it was started.
fn main() -> ExitCode {
    if let Some(log) = std::env::var_os("CALLGATE_SHELLS_LOG") {
        return stub::main(&log);
    }
    let tests: [(&str, fn()); 3] = [
        ("written_lines", written_lines),
        ("agents_commands", agents_commands),
        ("generated_lines", generated_lines),
    ];
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let mut passed = 0;
    let mut failed = 0;
    for (name, test) in tests {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let is_passed = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {}", if is_passed { "ok" } else { "FAILED" });
        passed += usize::from(is_passed);
        failed += usize::from(!is_passed);
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
    );
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
