//! Holds this build against another one: `oracle compare --before PROGRAM [--except FILE] [--calls N] FILES…`.
//!
//! `PROGRAM` is this program, built from the commit to compare with and kept outside the checkout. It carries the engine of
//! that commit as a library and as a component.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use conformance::oracle::{Compared, Oracle, Questions, answer, read_exceptions};
use conformance::{hosts, own_files};

/// Hold this build against another one
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answer batches from the standard input, one a line
    Answer {
        /// The host to judge in
        #[arg(long, default_value = "native")]
        host: String,
    },
    /// Ask another build the same questions, and print each that it answers differently
    Compare {
        /// The other build of this program
        #[arg(long)]
        before: PathBuf,
        /// The host of the other build
        #[arg(long, default_value = "wasmtime")]
        before_host: String,
        /// The host of this build
        #[arg(long, default_value = "native")]
        host: String,
        /// How many calls to judge, at least
        #[arg(long, default_value_t = 1_000_000)]
        calls: usize,
        /// Another seed asks other questions
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many differences end the comparison
        #[arg(long, default_value_t = 20)]
        most: usize,
        /// Differences that a change of the specification explains, as JSON
        #[arg(long)]
        except: Option<PathBuf>,
        /// Case files, of whose engines and calls the questions are made [default: the suite's own]
        files: Vec<PathBuf>,
    },
}

fn main() -> ExitCode {
    match run(Options::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns `true` if nothing differs.
fn run(command: Command) -> Result<bool, String> {
    match command {
        Command::Answer { host } => {
            for subject in &mut hosts::start(&[host])? {
                answer(subject.as_mut())?;
            }
            Ok(true)
        }
        Command::Compare {
            before,
            before_host,
            host,
            calls,
            seed,
            most,
            except,
            files,
        } => {
            let mut oracle = Oracle::start(&before, &before_host)?;
            let mut subjects = hosts::start(&[host])?;
            let subject = subjects.first_mut().ok_or("no host")?;
            let exceptions = except.as_deref().map_or(Ok(Vec::new()), read_exceptions)?;
            let mut compared = Compared {
                exceptions,
                ..Compared::default()
            };
            let files = if files.is_empty() { own_files() } else { files };
            for batch in Questions::new(&files, seed).map_err(|error| error.to_string())? {
                compared.ask(&batch, &mut oracle, subject.as_mut())?;
                if compared.calls >= calls || compared.differences.len() >= most {
                    break;
                }
            }
            for (row, count) in &compared.verdicts {
                println!("{count:>9} {row}");
            }
            for (why, count) in &compared.excepted {
                println!("{count:>9} answered differently: {why}");
            }
            for difference in &compared.differences {
                println!("{difference}");
            }
            println!(
                "{} calls, {} engines refused, {} answered differently without a reason",
                compared.calls,
                compared.refused,
                compared.differences.len()
            );
            Ok(compared.differences.is_empty())
        }
    }
}
