//! Replays case files in every host: `cargo run -p conformance -- [--hosts a,b] FILES…`.
//!
//! Prints a table per file and tag, each disagreement with its world, and last a line `N passed, N failed`.

mod agree;
mod node;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_host::replay::{NativeSubject, Progress, Report, Subject, adversarial, recordings, vectors};
use clap::Parser;

use agree::Agreeing;
use node::NodeSubject;

/// Replay case files in every host
#[derive(Parser)]
struct Options {
    /// The hosts to replay in; all that there are without this
    #[arg(long, value_delimiter = ',')]
    hosts: Vec<String>,
    /// Ask the hosts the same at the same time; they must give the same bytes, explanations included
    #[arg(long)]
    agree: bool,
    /// Case files (vectors, adversarial cases beside their setups, recordings); the suite's own without any
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let files = if options.files.is_empty() {
        own_files()
    } else {
        options.files
    };
    let mut subjects = match subjects(&options.hosts) {
        Ok(subjects) => subjects,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if options.agree {
        subjects = vec![Box::new(Agreeing::new(subjects))];
    }
    let mut whole = Report::default();
    for subject in &mut subjects {
        for file in &files {
            match replay(subject.as_mut(), file) {
                Ok(report) => whole.absorb(report),
                Err(error) => {
                    eprintln!("{error}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    println!("{whole}");
    if whole.total().failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The hosts of those names; all of them where none is named.
fn subjects(names: &[String]) -> Result<Vec<Box<dyn Subject>>, String> {
    const ALL: [&str; 2] = ["native", "node"];
    let all = ALL.map(str::to_owned);
    let names = if names.is_empty() { &all[..] } else { names };
    let start = |name: &String| -> Result<Box<dyn Subject>, String> {
        match name.as_str() {
            "native" => Ok(Box::new(NativeSubject)),
            "node" => Ok(Box::new(NodeSubject::start()?)),
            _ => Err(format!(
                "there is no host `{name}`, expected one of {}",
                ALL.join(", ")
            )),
        }
    };
    names.iter().map(start).collect()
}

/// The suite's own case files, in the order of their names.
fn own_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let vectors = std::fs::read_dir(root.join("vectors"))
        .into_iter()
        .flatten()
        .flatten();
    let mut files: Vec<PathBuf> = vectors.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.retain(|path| !path.ends_with("departures.jsonl"));
    files.push(root.join("adversarial/cases.jsonl"));
    files.sort();
    files
}

fn replay(subject: &mut dyn Subject, file: &Path) -> Result<Report, String> {
    let read =
        |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let text = read(file)?;
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut quiet = |_: Progress<'_>| {};
    let setups = file.with_file_name("setups.json");
    let report = if setups.exists() {
        let departures = file.with_file_name("departures.jsonl");
        let departures = if departures.exists() {
            read(&departures)?
        } else {
            String::new()
        };
        adversarial::Suite::read(&name, &read(&setups)?, &text, &departures)
            .and_then(|suite| suite.replay(subject, &mut quiet))
    } else if text.contains("\"format\":") {
        let departures = file.with_file_name("departures.jsonl");
        let departures = if departures.exists() {
            read(&departures)?
        } else {
            String::new()
        };
        vectors::Departures::read("departures.jsonl", &departures)
            .and_then(|departures| vectors::replay(subject, &name, &text, &departures, &mut quiet))
    } else {
        recordings::replay(subject, &name, &text, &mut quiet)
    };
    report.map_err(|error| error.to_string())
}
