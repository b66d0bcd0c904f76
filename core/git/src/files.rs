//! The trait through which this crate reads a disk, and its error.

use std::fmt;

/// Why git's answer is not known: a file that cannot be read, or a configuration that git would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    /// An error with this message: lower case, no full stop, paths in backticks.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// An error about the file at `path`. Bytes that are not UTF-8 are replaced in the message.
    #[must_use]
    pub fn about(path: &[u8], why: &str) -> Self {
        Self::new(format!(
            "git's `{}` cannot be read: {why}",
            String::from_utf8_lossy(path)
        ))
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A disk.
///
/// Paths are absolute and consist of any bytes except NUL, and of names that are not `.` or `..`. No name in them is that of a
/// symbolic link, or only the last one where a method says so: the crate follows links itself. A method that does not know
/// the answer returns an [`Error`]; `None` and `false` mean that nothing is there.
pub trait Files {
    /// The kind of file at the path, without following a last link, as by `lstat(2)`; `None` if nothing is there.
    ///
    /// # Errors
    /// The path may not be looked at.
    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error>;

    /// At most the first `limit` bytes of the regular file at the path; `None` if nothing is there.
    ///
    /// # Errors
    /// The file may not be read, or is not a regular file.
    fn read(&self, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error>;

    /// Returns `true` if `access(2)` grants `X_OK`, and `false` if nothing is there.
    ///
    /// # Errors
    /// Something is there, but the permission is missing.
    fn is_searchable(&self, path: &[u8]) -> Result<bool, Error>;
}

/// A file at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The kind of file.
    pub kind: Kind,
    /// `true` if the user that git runs as owns it (`is_path_owned_by_current_user`).
    pub is_own: bool,
    /// The filesystem that it is on (`st_dev`).
    pub device: u64,
}

/// A kind of file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, with its target as written.
    Link(Vec<u8>),
    /// A device, a FIFO or a socket.
    Other,
}

/// `name` in `directory`, or `name` itself if it is absolute.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    match (name.first(), directory.last()) {
        (Some(b'/'), _) => name.to_vec(),
        (_, Some(b'/')) => [directory, name].concat(),
        _ => [directory, b"/", name].concat(),
    }
}

/// The part before the last slash; `None` for the root.
pub(crate) fn parent(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    match (slash, path.len()) {
        (0, 1) => None,
        (0, _) => path.get(..1),
        _ => path.get(..slash),
    }
}

/// Returns `true` for git's white space (`ctype.c`), which has neither the vertical tab nor the form feed.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// `text` without trailing line ends.
pub(crate) fn without_line_ends(text: &[u8]) -> &[u8] {
    let ends = text
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    text.split_at(text.len() - ends).0
}
