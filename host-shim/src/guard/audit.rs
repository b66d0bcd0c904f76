//! What was decided, one JSON line each, written before anything is forwarded.
//!
//! Every line holds the digest of the line before it, so that a log that was changed or cut in the middle is seen to be.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;

use super::digest::digest;
use super::record::Record;

/// The version of the lines.
pub(super) const FORMAT: &str = "callgate-audit/1";

/// The longest line that is looked for at the end of a log.
const TAIL: u64 = 4 * 1024 * 1024;

/// A log that several guards may write at a time.
pub(super) struct Audit {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// How long the file is behind the last line that this process wrote, and that line's digest.
    end: u64,
    last: Option<String>,
}

#[derive(Serialize)]
struct Line<'e> {
    format: &'static str,
    time: Timestamp,
    previous: Option<&'e str>,
    /// The configured name of the server.
    server: &'e str,
    #[serde(flatten)]
    record: &'e Record<'e>,
}

impl Audit {
    /// Opens the log, or makes it; only its user may read it.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let state = Mutex::new(State {
            file: open(&path)?,
            end: 0,
            last: None,
        });
        Ok(Self { path, state })
    }

    /// Writes a line.
    ///
    /// # Errors
    /// It is not certain that the line is in the log: nothing may be forwarded.
    pub(super) fn write(&self, server: &str, record: &Record<'_>) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.reopen_if_moved(&self.path)?;
        flock(&state.file, FlockOperation::LockExclusive)?;
        let written = state.append(server, record);
        let unlocked = flock(&state.file, FlockOperation::Unlock);
        written?;
        Ok(unlocked?)
    }
}

impl State {
    /// A log that was moved away is begun anew in its place; its chain goes on.
    fn reopen_if_moved(&mut self, path: &PathBuf) -> io::Result<()> {
        let own = self.file.metadata()?;
        let is_there =
            std::fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()));
        if !is_there {
            self.file = open(path)?;
            self.end = 0;
        }
        Ok(())
    }

    fn append(&mut self, server: &str, record: &Record<'_>) -> io::Result<()> {
        let found = self.file.metadata()?.len();
        if found != self.end {
            self.read_end(found)?;
        }
        let length = self.end;
        let line = Line {
            format: FORMAT,
            time: Timestamp::now(),
            previous: self.last.as_deref(),
            server,
            record,
        };
        let mut text = serde_json::to_string(&line)?;
        let digest = digest(text.as_bytes());
        text.push('\n');
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // Half a line would be taken for a cut. Where it cannot be taken back, it is one.
            drop(self.file.set_len(length));
            return Err(error);
        }
        self.end = length + text.len() as u64;
        self.last = Some(digest);
        Ok(())
    }

    /// Somebody else has written.
    fn read_end(&mut self, length: u64) -> io::Result<()> {
        if length == 0 {
            self.end = 0;
            return Ok(());
        }
        let from = length.saturating_sub(TAIL);
        self.file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        (&self.file).take(TAIL).read_to_end(&mut tail)?;
        if tail.last() != Some(&b'\n') {
            // A process that ended while it wrote has left half a line.
            self.file.write_all(b"\n")?;
            tail.push(b'\n');
        }
        let whole = tail.strip_suffix(b"\n").unwrap_or(&tail);
        let last = whole.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        self.last = Some(digest(last));
        self.end = self.file.metadata()?.len();
        Ok(())
    }
}

fn open(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}
