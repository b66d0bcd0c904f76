//! The log as it is read again.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use super::audit::FORMAT;
use super::digest::digest;

/// A line of a guard's log.
#[derive(Debug)]
pub struct LogLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its content; the log's schema has the members.
    pub record: Value,
    /// The digest of its text, which the next line holds.
    pub digest: String,
    /// Why it does not follow from the line before, if it does not.
    pub broken: Option<String>,
}

impl LogLine {
    /// Returns `true` if it is a line of a log at all.
    #[must_use]
    pub fn is_of_log(&self) -> bool {
        is_of_log(&self.record)
    }
}

fn is_of_log(record: &Value) -> bool {
    record.get("format").and_then(Value::as_str) == Some(FORMAT)
}

/// The lines of a log, each checked against the one before.
pub struct Log {
    lines: io::Split<Box<dyn BufRead>>,
    number: usize,
    /// The digest of the line before.
    last: Option<String>,
}

impl Log {
    /// Opens a log to read it.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self::new(Box::new(BufReader::new(File::open(path)?))))
    }

    /// The log that is read from here.
    pub fn new(reader: Box<dyn BufRead>) -> Self {
        Self {
            lines: reader.split(b'\n'),
            number: 0,
            last: None,
        }
    }

    fn read(&mut self, text: &[u8]) -> LogLine {
        let record: Value = serde_json::from_slice(text).unwrap_or_default();
        let broken = match (&self.last, record.get("previous")) {
            _ if !is_of_log(&record) => Some(format!("is not a line of `{FORMAT}`")),
            // A log that was moved away goes on in the next file.
            (None, Some(Value::Null | Value::String(_))) => None,
            (Some(last), Some(Value::String(previous))) if last == previous => None,
            (Some(last), Some(Value::String(previous))) => Some(format!(
                "follows a line with the digest {previous}, and the line before has {last}: a line was changed, added or removed"
            )),
            (_, _) => Some("has no digest of the line before".to_owned()),
        };
        let digest = digest(text);
        self.last = Some(digest.clone());
        LogLine {
            number: self.number,
            record,
            digest,
            broken,
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, last, .. } = self;
        let mut shown = formatter.debug_struct("Log");
        shown
            .field("number", number)
            .field("last", last)
            .finish_non_exhaustive()
    }
}

impl Iterator for Log {
    type Item = io::Result<LogLine>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = match self.lines.next()? {
            Ok(text) => text,
            Err(error) => return Some(Err(error)),
        };
        self.number += 1;
        Some(Ok(self.read(&text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Audit;
    use crate::record::Record;

    fn breaks(path: &Path) -> Vec<usize> {
        let lines = Log::open(path).unwrap().map(Result::unwrap);
        lines
            .filter(|line| line.broken.is_some())
            .map(|line| line.number)
            .collect()
    }

    #[test]
    fn a_log_of_two_guards_is_one_chain_and_a_change_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let guards = [
            Audit::open(path.clone(), false).unwrap(),
            Audit::open(path.clone(), false).unwrap(),
        ];
        for at in 0..6 {
            let guard = guards.get(at % 3 % 2).unwrap();
            guard
                .write(
                    "s",
                    &Record::Refused {
                        reason: &format!("reason {at}"),
                    },
                )
                .unwrap();
        }
        assert_eq!(breaks(&path), [0; 0]);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let check = |lines: &[&str], expected: &[usize]| {
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            assert_eq!(breaks(&path), expected, "{lines:?}");
        };
        let changed = lines[2].replace("reason 2", "reason x");
        check(&[lines[0], lines[1], &changed, lines[3]], &[4]);
        check(&[lines[0], lines[2], lines[3]], &[2]);
        check(&[lines[1], lines[0]], &[2]);
        check(&[lines[0], "{}", lines[1]], &[2, 3]);
        check(&[lines[0], lines[0]], &[2]);
        check(&lines[3..], &[]);
    }

    #[test]
    fn half_a_line_that_a_dead_guard_left_is_seen_and_the_log_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "{\"format\":\"call").unwrap();
        let guard = Audit::open(path.clone(), false).unwrap();
        guard.write("s", &Record::Refused { reason: "a" }).unwrap();
        guard.write("s", &Record::Refused { reason: "b" }).unwrap();
        assert_eq!(breaks(&path), [1]);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
    }

    #[test]
    fn a_log_that_is_moved_away_goes_on_in_the_next_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("log"), folder.path().join("log.1"));
        let guard = Audit::open(path.clone(), false).unwrap();
        guard.write("s", &Record::Refused { reason: "a" }).unwrap();
        std::fs::rename(&path, &moved).unwrap();
        guard.write("s", &Record::Refused { reason: "b" }).unwrap();
        let last = Log::open(&moved).unwrap().last().unwrap().unwrap();
        let first = Log::open(&path).unwrap().next().unwrap().unwrap();
        assert_eq!(first.record["previous"], last.digest);
    }

    #[test]
    fn a_log_whose_folder_is_gone_for_a_while_goes_on_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let (there, gone) = (folder.path().join("there"), folder.path().join("gone"));
        std::fs::create_dir(&there).unwrap();
        let path = there.join("log");
        let guard = Audit::open(path.clone(), false).unwrap();
        refused(&guard, "a").unwrap();
        std::fs::rename(&there, &gone).unwrap();
        // It cannot be opened, and is not left locked: another guard would wait for ever.
        for _ in 0..2 {
            refused(&guard, "b").unwrap_err();
        }
        let other = Audit::open(gone.join("log"), false).unwrap();
        refused(&other, "c").unwrap();
        std::fs::rename(&gone, &there).unwrap();
        refused(&guard, "d").unwrap();
        assert_eq!(breaks(&path), [0; 0]);
        assert_eq!(Log::open(&path).unwrap().count(), 3);
    }

    fn refused(guard: &Audit, reason: &str) -> std::io::Result<()> {
        guard.write("s", &Record::Refused { reason })
    }

    #[test]
    fn lines_that_are_gone_while_a_guard_runs_are_seen_and_nothing_more_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let guard = Audit::open(path.clone(), false).unwrap();
        for reason in ["a", "b", "c"] {
            refused(&guard, reason).unwrap();
        }
        let whole = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let changed = whole.replace("\"c\"", "\"x\"");
        for cut in [
            // The last line is gone, a part of it, or all but a part of the first.
            lines[..2].concat(),
            whole.trim_end_matches(['\n', '}', '"']).to_owned(),
            "{".to_owned(),
            // Other lines are in its place.
            [lines[0], lines[1], lines[0], lines[1]].concat(),
            changed.clone() + lines[0],
        ] {
            let path = folder.path().join("copy");
            let guard = Audit::open(path.clone(), false).unwrap();
            for reason in ["a", "b", "c"] {
                refused(&guard, reason).unwrap();
            }
            std::fs::write(&path, &cut).unwrap();
            for reason in ["d", "e"] {
                let error = refused(&guard, reason).unwrap_err();
                assert!(error.to_string().contains("not whole"), "{error}");
            }
            let last = Log::open(&path).unwrap().last().unwrap().unwrap();
            assert_eq!(last.record["kind"], "cut", "{cut}");
            assert!(last.broken.is_some(), "{cut}");
            // Once it is moved away a new one is begun, which follows the cut.
            let moved = folder.path().join("copy.1");
            std::fs::rename(&path, &moved).unwrap();
            refused(&guard, "f").unwrap();
            let first = Log::open(&path).unwrap().next().unwrap().unwrap();
            assert_eq!(first.record["previous"], last.digest);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn each_line_says_that_nothing_is_enforced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let session = Record::Start {
            session: "i",
            policy: "p",
        };
        for observes in [false, true] {
            let guard = Audit::open(path.clone(), observes).unwrap();
            guard.write("s", &session).unwrap();
            refused(&guard, "a").unwrap();
        }
        let lines = Log::open(&path).unwrap().map(Result::unwrap);
        let said: Vec<Option<bool>> = lines
            .map(|line| line.record.get("observed").and_then(Value::as_bool))
            .collect();
        assert_eq!(said, [Some(false), None, Some(true), Some(true)]);
    }
}
