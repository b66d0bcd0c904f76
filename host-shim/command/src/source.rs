//! A file that is read once, whatever it turns out to be: a pipe cannot be read again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read as _};
use std::path::{Path, PathBuf};

use crate::terminal::Failure;

/// Bytes of the first line that are looked at.
const MOST_BYTES: u64 = 1024 * 1024;

/// A file, and how it begins.
pub(crate) struct Source {
    pub(crate) name: PathBuf,
    /// The first line, or its beginning.
    first: Vec<u8>,
    rest: Box<dyn BufRead>,
}

impl Source {
    /// `-` is standard input.
    pub(crate) fn open(name: &Path) -> Result<Self, Failure> {
        let unreadable =
            |error: io::Error| Failure::Fault(format!("cannot read `{}`: {error}", name.display()));
        let mut rest: Box<dyn BufRead> = match name.to_str() {
            Some("-") => Box::new(io::stdin().lock()),
            Some(_) | None => Box::new(BufReader::new(File::open(name).map_err(unreadable)?)),
        };
        let mut first = Vec::new();
        let mut line = rest.by_ref().take(MOST_BYTES);
        line.read_until(b'\n', &mut first).map_err(unreadable)?;
        Ok(Self {
            name: name.to_owned(),
            first,
            rest,
        })
    }

    /// Returns `true` if it is the log of a guard: what its first line says.
    pub(crate) fn is_log(&self) -> bool {
        let first: serde_json::Value = serde_json::from_slice(&self.first).unwrap_or_default();
        let format = first.get("format").and_then(serde_json::Value::as_str);
        format.is_some_and(|format| format.starts_with("callgate-audit/"))
    }

    /// Everything in it.
    pub(crate) fn into_reader(self) -> Box<dyn BufRead> {
        Box::new(Cursor::new(self.first).chain(self.rest))
    }

    /// The same as text.
    pub(crate) fn into_text(self) -> Result<String, Failure> {
        let name = self.name.clone();
        let name = name.display();
        let mut text = String::new();
        match self.into_reader().read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(Failure::Invalid(format!("{name}: expected JSON Lines in UTF-8")))
            }
            Err(error) => Err(Failure::Fault(format!("cannot read `{name}`: {error}"))),
        }
    }
}
