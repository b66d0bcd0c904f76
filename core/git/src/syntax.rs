//! The syntax of a configuration file of git (`git-config(1)`, "Syntax"), as `config.c` of git reads it.

use crate::entry::Entry;
use crate::files::{Error, is_space};
use crate::steps::Steps;

/// The sections that affect where git connects and what it pushes. Others are parsed and dropped.
const SECTIONS: &[&[u8]] = &[
    b"branch",
    b"core",
    b"extensions",
    b"fetch",
    b"include",
    b"includeif",
    b"push",
    b"remote",
    b"remotes",
    b"safe",
    b"url",
];

/// The most bytes in a key or a value.
const MAX_ENTRY_BYTES: usize = 32 << 10;

/// Parses `content`, the bytes of the file `path`. Entries of other sections than [`SECTIONS`] are left out.
///
/// # Errors
/// Git would refuse the syntax, there is a NUL (where git would cut the text), a key comes before the first section, or
/// a key or value is longer than 32 KiB. Or there are no steps left: each key takes as many as its section has bytes.
pub(crate) fn parse(path: &[u8], content: &[u8], steps: &Steps) -> Result<Vec<Entry>, Error> {
    let mut source = Source {
        // Git skips one byte order mark.
        rest: content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content),
        line: 1,
        is_at_end: false,
        steps,
    };
    source.file().map_err(|fault| match fault {
        Fault::Syntax(fault) => Error::new(format!(
            "git's configuration `{}`, line {}: {fault}",
            String::from_utf8_lossy(path),
            source.line
        )),
        Fault::Steps(error) => error,
    })
}

/// Why a file is not parsed.
enum Fault {
    /// Git refuses it.
    Syntax(SyntaxFault),
    /// There are no steps left.
    Steps(Error),
}

impl From<SyntaxFault> for Fault {
    fn from(fault: SyntaxFault) -> Self {
        Self::Syntax(fault)
    }
}

/// The fault, or what was expected instead.
type SyntaxFault = &'static str;

const SECTION: SyntaxFault = "expected a section, `[name]` or `[name \"subsection\"]`";
const KEY: SyntaxFault = "expected a key and its value";
const NUL: SyntaxFault = "expected text, found a NUL byte";
const QUOTE: SyntaxFault = "expected a closing quote";
const ESCAPE: SyntaxFault =
    "expected one of `\\\\`, `\\\"`, `\\n`, `\\t`, `\\b` or a line end after the backslash";
const TOO_LONG: SyntaxFault = "the key or its value is longer than 32768 bytes";

struct Source<'a> {
    rest: &'a [u8],
    /// The line of the byte that was read last, unless that is a line end.
    line: usize,
    is_at_end: bool,
    steps: &'a Steps,
}

impl Source<'_> {
    /// `git_parse_source`.
    fn file(&mut self) -> Result<Vec<Entry>, Fault> {
        let mut entries = Vec::new();
        let mut prefix: Option<Vec<u8>> = None;
        let mut is_known = false;
        let mut is_comment = false;
        loop {
            let byte = self.next()?;
            if byte == b'\n' {
                if self.is_at_end {
                    return Ok(entries);
                }
                self.line += 1;
                is_comment = false;
            } else if is_comment || is_space(byte) {
            } else if matches!(byte, b'#' | b';') {
                is_comment = true;
            } else if byte == b'[' {
                let section = self.section()?;
                let name = section.split(|byte| *byte == b'.').next().unwrap_or_default();
                is_known = SECTIONS.contains(&name);
                prefix = Some(section);
            } else if byte.is_ascii_alphabetic() {
                let prefix = prefix.as_deref().ok_or(SECTION)?;
                self.steps.take(prefix.len()).map_err(Fault::Steps)?;
                let entry = self.entry(prefix, byte)?;
                if is_known {
                    entries.push(entry);
                }
            } else {
                return Err(KEY.into());
            }
        }
    }

    /// `get_base_var`: the section in brackets, after its opening bracket.
    fn section(&mut self) -> Result<Vec<u8>, SyntaxFault> {
        let mut section = Vec::new();
        loop {
            let byte = self.next()?;
            match byte {
                b']' if section.is_empty() => return Err(SECTION),
                b']' => return Ok(section),
                _ if self.is_at_end => return Err(SECTION),
                _ if is_space(byte) => {
                    self.subsection(byte, &mut section)?;
                    return Ok(section);
                }
                _ if is_key_byte(byte) || byte == b'.' => push(&mut section, byte.to_ascii_lowercase())?,
                _ => return Err(SECTION),
            }
        }
    }

    /// `get_extended_base_var`: the quoted subsection after white space, up to the closing bracket.
    fn subsection(&mut self, mut byte: u8, section: &mut Vec<u8>) -> Result<(), SyntaxFault> {
        while is_space(byte) {
            if byte == b'\n' {
                return Err(SECTION);
            }
            byte = self.next()?;
        }
        if byte != b'"' {
            return Err(SECTION);
        }
        section.push(b'.');
        loop {
            let mut byte = self.next()?;
            if byte == b'"' {
                break;
            }
            if byte == b'\\' {
                byte = self.next()?;
            }
            if byte == b'\n' {
                return Err(QUOTE);
            }
            push(section, byte)?;
        }
        if self.next()? == b']' {
            Ok(())
        } else {
            Err(SECTION)
        }
    }

    /// `get_value`: a key, after its first byte, and its value.
    fn entry(&mut self, prefix: &[u8], first: u8) -> Result<Entry, SyntaxFault> {
        let mut key = [prefix, b".", &[first.to_ascii_lowercase()]].concat();
        let mut byte = self.next()?;
        while is_key_byte(byte) {
            push(&mut key, byte.to_ascii_lowercase())?;
            byte = self.next()?;
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next()?;
        }
        let value = match byte {
            b'\n' => None,
            b'=' => Some(self.value()?),
            _ => return Err(KEY),
        };
        // The line end is left for the next line.
        self.line += 1;
        Ok(Entry { key, value })
    }

    /// `parse_value`: a value, up to the line end. Inner white space is kept, as in git 2.45 and later.
    fn value(&mut self) -> Result<Vec<u8>, SyntaxFault> {
        let mut value = Vec::new();
        let mut is_quoted = false;
        let mut is_comment = false;
        // Where trailing white space starts, which is dropped unless more text follows.
        let mut trimmed: Option<usize> = None;
        loop {
            let mut byte = self.next()?;
            if byte == b'\n' {
                if is_quoted {
                    return Err(QUOTE);
                }
                value.truncate(trimmed.unwrap_or(value.len()));
                return Ok(value);
            }
            if is_comment {
                continue;
            }
            if is_space(byte) && !is_quoted {
                if !value.is_empty() {
                    trimmed = trimmed.or(Some(value.len()));
                    push(&mut value, byte)?;
                }
                continue;
            }
            if !is_quoted && matches!(byte, b';' | b'#') {
                is_comment = true;
                continue;
            }
            trimmed = None;
            if byte == b'"' {
                is_quoted = !is_quoted;
                continue;
            }
            if byte == b'\\' {
                byte = match self.next()? {
                    b'\n' => {
                        self.line += 1;
                        continue;
                    }
                    b't' => b'\t',
                    b'b' => 8,
                    b'n' => b'\n',
                    escaped @ (b'\\' | b'"') => escaped,
                    _ => return Err(ESCAPE),
                };
            }
            push(&mut value, byte)?;
        }
    }

    /// `get_next_char`: the next byte. `\r\n` reads as a line end, and the end of the file reads as one more.
    fn next(&mut self) -> Result<u8, SyntaxFault> {
        let (byte, rest) = match self.rest {
            [b'\r', b'\n', rest @ ..] => (b'\n', rest),
            [0, ..] => return Err(NUL),
            [byte, rest @ ..] => (*byte, rest),
            [] => {
                self.is_at_end = true;
                (b'\n', self.rest)
            }
        };
        self.rest = rest;
        Ok(byte)
    }
}

fn push(text: &mut Vec<u8>, byte: u8) -> Result<(), SyntaxFault> {
    if text.len() == MAX_ENTRY_BYTES {
        return Err(TOO_LONG);
    }
    text.push(byte);
    Ok(())
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

#[cfg(test)]
mod tests;
