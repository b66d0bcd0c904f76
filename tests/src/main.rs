//! Replays case files in every host: `cargo conformance [--hosts a,b] FILES…`.
//!
//! Prints each disagreement with its world, a table by file and by tag, and last a line `N passed, N failed`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use conformance::hosts::{self, Agreeing};
use conformance::{Progress, Report};

/// Replay case files in every host
#[derive(Parser)]
struct Options {
    /// The hosts to replay in [default: all]
    #[arg(long, value_delimiter = ',')]
    hosts: Vec<String>,
    /// Ask all hosts together; they must give the same bytes, explanations included
    #[arg(long)]
    agree: bool,
    /// Case files: vectors, adversarial cases beside their setups, recordings [default: the suite's own]
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let files = if options.files.is_empty() {
        conformance::own_files()
    } else {
        options.files
    };
    let mut subjects = match hosts::start(&options.hosts) {
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
    let mut quiet = |_: Progress<'_>| {};
    for subject in &mut subjects {
        for file in &files {
            match conformance::file(subject.as_mut(), file, &mut quiet) {
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
