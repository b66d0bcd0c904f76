//! The other build, as a process that answers batches line by line.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::subject::{Batch, Outcome, Subject};

/// A running `oracle answer` of another build.
pub struct Oracle {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Oracle {
    /// Starts `program`, which judges in the host with this name.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, host: &str) -> Result<Self, String> {
        let fault = |error: io::Error| format!("{}: {error}", program.display());
        let mut process = Command::new(program)
            .args(["answer", "--host", host])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(fault)?;
        let input = process.stdin.take().ok_or("the oracle has no input")?;
        let output = process.stdout.take().ok_or("the oracle has no output")?;
        Ok(Self {
            process,
            input,
            output: BufReader::new(output),
        })
    }

    /// Sends a batch. [`Oracle::receive`] waits for its answers.
    ///
    /// # Errors
    /// The process has ended.
    pub fn send(&mut self, batch: &Batch) -> Result<(), String> {
        let line = serde_json::to_string(batch).map_err(|error| error.to_string())?;
        writeln!(self.input, "{line}").map_err(|error| format!("the oracle takes no question: {error}"))
    }

    /// The answers to the oldest batch that was sent.
    ///
    /// # Errors
    /// The process has ended, or does not write answers.
    pub fn receive(&mut self) -> Result<Vec<Outcome>, String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        match read {
            Ok(0) => Err("the oracle ended without an answer".to_owned()),
            Ok(_) => serde_json::from_str(&line).map_err(|error| format!("the oracle wrote {line}: {error}")),
            Err(error) => Err(format!("the oracle cannot be read: {error}")),
        }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // It answers nothing that is kept, so it may end in the middle of an answer.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Answers the batches of the standard input until it ends.
///
/// # Errors
/// A line is not a batch, or nobody reads the answers.
pub fn answer(subject: &mut dyn Subject) -> Result<(), String> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let batch: Batch = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let answers = serde_json::to_string(&subject.run(&batch)).map_err(|error| error.to_string())?;
        writeln!(output, "{answers}")
            .and_then(|()| output.flush())
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
