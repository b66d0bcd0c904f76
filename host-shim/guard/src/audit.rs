//! The log of decisions, one JSON line each, written before anything is forwarded.
//!
//! Every line holds the digest of the line before it, so that a log that was changed or cut in the middle is seen to be. A guard
//! looks whether its own last line is still where it was; if not, the log is not whole, and nothing more is written to it but that.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{FlockOperation, OFlags, flock};
use serde::Serialize;

use super::digest::digest;
use super::locking::{self, PATIENCE};
use super::record::{Record, short};

/// The version of the lines.
pub(super) const FORMAT: &str = "callgate-audit/1";

/// The longest line. It is what is looked for at the end of a log that somebody else has written to. Texts in a line are cut, so
/// that none comes near it.
const LONGEST: u64 = 4 * 1024 * 1024;

/// A log that several guards may write at a time.
pub(super) struct Audit {
    path: PathBuf,
    /// Nothing is enforced, which each line says.
    observes: bool,
    /// How long a lock is waited for.
    patience: Duration,
    state: Mutex<State>,
}

struct State {
    file: File,
    /// Tells the file from another one of its name.
    inode: (u64, u64),
    /// How long the file is behind the last line that is known, how long that line is with its end, and its digest.
    end: u64,
    length: u64,
    last: Option<String>,
    /// The last line that was known is gone.
    is_cut: bool,
    /// The lock was waited for in vain. Until it is free nobody waits for it, so that no call waits for those before it.
    is_locked: bool,
}

#[derive(Serialize)]
struct Line<'e> {
    format: &'static str,
    time: Timestamp,
    previous: Option<&'e str>,
    /// The configured name of the server.
    #[serde(serialize_with = "short")]
    server: &'e str,
    #[serde(flatten)]
    record: &'e Record<'e>,
    /// Nothing is enforced. A line that says that a guard began always has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<bool>,
}

impl Audit {
    /// Opens the log, or makes it; only its user may read it. Only a regular file is one.
    pub(super) fn open(path: PathBuf, observes: bool) -> io::Result<Self> {
        let state = State::open(&path)?;
        Ok(Self {
            path,
            observes,
            patience: PATIENCE,
            state: Mutex::new(state),
        })
    }

    /// Writes a line.
    ///
    /// # Errors
    /// It is not certain that the line is in the log, or the log is not whole, or another program keeps it locked: nothing may be
    /// forwarded.
    pub(super) fn write(&self, server: &str, record: &Record<'_>) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = state.lock(&self.path, self.patience);
        let written = found.and_then(|found| state.append(found, server, self.observes, record));
        let unlocked = flock(&state.file, FlockOperation::Unlock);
        written?;
        Ok(unlocked?)
    }
}

impl State {
    fn open(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        Ok(Self {
            inode: inode(&file.metadata()?),
            file,
            end: 0,
            length: 0,
            last: None,
            is_cut: false,
            is_locked: false,
        })
    }

    /// Locks the log, and returns its length. One that was moved away is begun anew in its place; its chain goes on.
    fn lock(&mut self, path: &Path, patience: Duration) -> io::Result<u64> {
        let patience = if self.is_locked { Duration::ZERO } else { patience };
        let locked = locking::lock(&self.file, patience);
        self.is_locked = locked.is_err();
        locked?;
        match std::fs::metadata(path) {
            Ok(there) if inode(&there) == self.inode => return Ok(there.len()),
            Ok(_) | Err(_) => {}
        }
        let begun = Self::open(path)?;
        // The lock of the file that was moved away ends with it.
        *self = Self {
            last: self.last.take(),
            ..begun
        };
        locking::lock(&self.file, patience)?;
        Ok(self.file.metadata()?.len())
    }

    /// Writes a line to the locked log, which has `found` bytes.
    fn append(&mut self, found: u64, server: &str, observes: bool, record: &Record<'_>) -> io::Result<()> {
        if self.is_cut {
            return Err(not_whole());
        }
        if found != self.end {
            if !self.holds_last(found)? {
                self.is_cut = true;
                self.end = self.end_line(found)?;
                // It follows the line that is gone, so that whoever reads the log sees where.
                self.add(server, observes, &Record::Cut {})?;
                return Err(not_whole());
            }
            self.read_end(found)?;
        }
        self.add(server, observes, record)
    }

    /// Returns `true` if the last known line is where it was. Emptying a log is a way to move it away; it is begun anew then.
    fn holds_last(&mut self, found: u64) -> io::Result<bool> {
        if found == 0 || self.end == 0 {
            (self.end, self.length) = (0, 0);
            return Ok(true);
        }
        if found < self.end {
            return Ok(false);
        }
        let line = self.read(self.end.saturating_sub(self.length), self.length)?;
        let line = line.strip_suffix(b"\n").map(digest);
        Ok(line == self.last)
    }

    /// Looks for the last line of those that somebody else has written.
    fn read_end(&mut self, found: u64) -> io::Result<()> {
        if found == 0 {
            return Ok(());
        }
        let end = self.end_line(found)?;
        let from = self.end.max(end.saturating_sub(LONGEST));
        let tail = self.read(from, end - from)?;
        let whole = tail.strip_suffix(b"\n").unwrap_or(&tail);
        let last = whole.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        if last.len() == whole.len() && from > self.end {
            let reason = format!("the last line of the log has more than {LONGEST} bytes");
            return Err(io::Error::new(ErrorKind::InvalidData, reason));
        }
        self.last = Some(digest(last));
        (self.end, self.length) = (end, last.len() as u64 + 1);
        Ok(())
    }

    /// Ends the half line that a process has left that ended while it wrote. Returns the length of the log with it.
    fn end_line(&mut self, found: u64) -> io::Result<u64> {
        match found.checked_sub(1) {
            Some(before) if self.read(before, 1)? != b"\n" => {
                self.file.write_all(b"\n")?;
                Ok(found + 1)
            }
            Some(_) | None => Ok(found),
        }
    }

    fn read(&mut self, from: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(from))?;
        (&self.file).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Adds a line behind the last one that is known.
    fn add(&mut self, server: &str, observes: bool, record: &Record<'_>) -> io::Result<()> {
        let before = self.end;
        let line = Line {
            format: FORMAT,
            time: Timestamp::now(),
            previous: self.last.as_deref(),
            server,
            record,
            observed: (observes || matches!(record, Record::Start { .. })).then_some(observes),
        };
        let mut text = serde_json::to_string(&line)?;
        let digest = digest(text.as_bytes());
        text.push('\n');
        let length = text.len() as u64;
        if length > LONGEST {
            let reason = format!("a line of {length} bytes, expected at most {LONGEST}");
            return Err(io::Error::new(ErrorKind::InvalidInput, reason));
        }
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // Half a line would be taken for a cut. Where it cannot be taken back, it is one.
            drop(self.file.set_len(before));
            return Err(error);
        }
        (self.end, self.length) = (before + length, length);
        self.last = Some(digest);
        Ok(())
    }
}

fn inode(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

fn not_whole() -> io::Error {
    let reason = "the log is not whole, since lines of it were removed or changed; once it is moved away, a new one is begun";
    io::Error::new(ErrorKind::InvalidData, reason)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).append(true).create(true).mode(0o600);
    locking::open(path, options, OFlags::empty())
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn stop() -> Record<'static> {
        Record::Stop { why: String::new() }
    }

    #[test]
    fn a_log_that_another_program_keeps_locked_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut audit = Audit::open(path.clone(), false).unwrap();
        audit.patience = Duration::from_millis(20);
        audit.write("s", &stop()).unwrap();
        // A reader is enough.
        let reader = File::open(&path).unwrap();
        flock(&reader, FlockOperation::LockShared).unwrap();
        assert_eq!(audit.write("s", &stop()).unwrap_err().kind(), ErrorKind::TimedOut);
        // Whoever comes next does not wait at all.
        audit.patience = Duration::from_secs(3600);
        assert_eq!(audit.write("s", &stop()).unwrap_err().kind(), ErrorKind::TimedOut);
        drop(reader);
        audit.write("s", &stop()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
    }

    #[test]
    fn only_a_regular_file_is_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        mknodat(CWD, &path, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        assert!(Audit::open(path.clone(), false).is_err());
        // Nor is one that takes the place of a log.
        std::fs::remove_file(&path).unwrap();
        let audit = Audit::open(path.clone(), false).unwrap();
        std::fs::remove_file(&path).unwrap();
        mknodat(CWD, &path, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        assert!(audit.write("s", &stop()).is_err());
    }
}
