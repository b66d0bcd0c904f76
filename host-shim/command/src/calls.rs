//! Where calls come from: the command line, a file, or standard input.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal as _, Read as _};
use std::path::Path;

use callgate_engine::document::utf8;

use crate::source::Source;
use crate::terminal::{Failure, note};

/// Bytes of the longest call.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The argument, as messages say it.
const EXPECTED: &str = "expected a call as JSON, a file of calls, or - for standard input";

/// Calls, one after the other as they come.
pub(crate) struct Calls {
    reader: Box<dyn BufRead>,
    name: String,
    /// Everything together is one call.
    whole: bool,
    line: usize,
}

/// Something that stands where a call should be.
pub(crate) struct Line {
    /// The line that it begins on, from 1.
    pub(crate) line: usize,
    /// The text, or why there is none.
    pub(crate) text: Result<String, String>,
}

/// A call that was found somewhere.
pub(crate) struct LocatedCall {
    /// Where: a file and a line.
    pub(crate) place: String,
    /// Its text, or why there is none.
    pub(crate) call: Result<String, String>,
    /// The context that it is judged in.
    pub(crate) context: Option<String>,
}

impl Calls {
    /// `argument` is a call, `-`, or a file: `….json` for one call, any other for a call a line. Without one, calls are
    /// read from standard input, unless that is a terminal.
    pub(crate) fn open(argument: Option<&OsStr>) -> Result<Self, Failure> {
        let is_typed = io::stdin().is_terminal();
        let argument = match argument {
            Some(argument) => argument,
            None if is_typed => {
                return Err(Failure::Helped {
                    message: "there are no calls to judge".to_owned(),
                    help: EXPECTED.to_owned(),
                });
            }
            None => OsStr::new("-"),
        };
        let name = argument.display().to_string();
        let of = |reader, whole| Self {
            reader,
            name: name.clone(),
            whole,
            line: 0,
        };
        if let Some(text) = argument.to_str() {
            if text == "-" {
                if is_typed {
                    note("reading calls from this terminal, one a line; Ctrl-D ends them");
                }
                return Ok(of(Box::new(io::stdin().lock()), false));
            }
            if text.trim_start().starts_with(['{', '[', '"']) {
                return Ok(of(Box::new(Cursor::new(text.to_owned())), true));
            }
        }
        let unopened = |error| match unreadable(&name, &error) {
            Failure::Fault(message) => Failure::Helped {
                message,
                help: EXPECTED.to_owned(),
            },
            other => other,
        };
        let file = File::open(argument).map_err(unopened)?;
        if file.metadata().is_ok_and(|found| found.is_dir()) {
            return Err(Failure::Helped {
                message: format!("cannot read `{name}`: Is a directory"),
                help: format!("{EXPECTED}; a folder with documents is given by --bundle"),
            });
        }
        let whole = Path::new(argument).extension() == Some(OsStr::new("json"));
        Ok(of(Box::new(BufReader::new(file)), whole))
    }

    /// Those of a file that is open.
    pub(crate) fn of(source: Source) -> Self {
        Self {
            name: source.name.display().to_string(),
            whole: source.name.extension() == Some(OsStr::new("json")),
            reader: source.into_reader(),
            line: 0,
        }
    }

    /// Returns `true` if there is one call at most, so that its line says nothing.
    pub(crate) fn is_one(&self) -> bool {
        self.whole
    }

    /// The name of the input in a message.
    pub(crate) fn name(&self) -> &str {
        match &*self.name {
            "-" => "standard input",
            name => name,
        }
    }

    /// The next call; lines without anything are passed over.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, Failure> {
        loop {
            let mut bytes = Vec::new();
            let ended = self
                .read(&mut bytes)
                .map_err(|error| unreadable(&self.name, &error))?;
            if bytes.is_empty() && ended {
                return Ok(None);
            }
            self.line += 1;
            if bytes.len() > MOST_BYTES {
                let text = Err(format!(
                    "found more than {MOST_BYTES} bytes, expected a call of at most that"
                ));
                return Ok(Some(Line {
                    line: self.line,
                    text,
                }));
            }
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let text = utf8(bytes);
            return Ok(Some(Line {
                line: self.line,
                text,
            }));
        }
    }

    /// Reads one line or everything, one byte more than a call may have at most; the rest of a longer line is
    /// thrown away. Says whether the input ended before anything came.
    fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<bool> {
        let mut limited = self.reader.by_ref().take(MOST_BYTES as u64 + 1);
        let read = if self.whole {
            limited.read_to_end(bytes)?
        } else {
            limited.read_until(b'\n', bytes)?
        };
        if bytes.last() == Some(&b'\n') && !self.whole {
            bytes.pop();
        } else if bytes.len() > MOST_BYTES {
            self.skip_line()?;
        }
        Ok(read == 0)
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let buffered = self.reader.fill_buf()?;
            let end = buffered.iter().position(|byte| *byte == b'\n' && !self.whole);
            let (used, ended) = match end {
                Some(end) => (end + 1, true),
                None => (buffered.len(), buffered.is_empty()),
            };
            self.reader.consume(used);
            if ended {
                return Ok(());
            }
        }
    }
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    let name = if name == "-" { "standard input" } else { name };
    Failure::Fault(format!("cannot read `{name}`: {error}"))
}
