//! The trait by which a caller reads its disk, and the failure that it reports.

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

    /// An error about the file at `path`, which is made readable where it is not UTF-8.
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

/// What git would see of a disk.
///
/// Paths are absolute and of any bytes but NUL; they may hold `.`, `..`, `//` and symbolic links. A method that
/// cannot tell returns an [`Error`]; `None` and `false` mean that git would find nothing there.
pub trait Files {
    /// The path without links, as `realpath(3)` has it; `None` when nothing is there.
    ///
    /// # Errors
    /// What is there cannot be told: too many links, no permission, a path that belongs to one process.
    fn real(&self, path: &[u8]) -> Result<Option<Vec<u8>>, Error>;

    /// What is at the path itself, as `lstat(2)` has it; `None` when nothing is there.
    ///
    /// # Errors
    /// The path may not be looked at.
    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error>;

    /// The first `limit` bytes of the regular file that the path leads to, all if it is shorter; `None` when nothing
    /// is there. `/dev/null` is an empty file.
    ///
    /// # Errors
    /// The file may not be read, or is not a regular file.
    fn read(&self, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error>;

    /// Whether `access(2)` grants `X_OK`; `false` when nothing is there.
    ///
    /// # Errors
    /// Something is there, and the permission is missing.
    fn is_searchable(&self, path: &[u8]) -> Result<bool, Error>;
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its kind.
    pub kind: Kind,
    /// Whether the user that git runs as owns it (`is_path_owned_by_current_user`).
    pub is_own: bool,
    /// The number of the filesystem that holds it (`st_dev`).
    pub device: u64,
}

/// The kind of what is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, and what is written in it.
    Link(Vec<u8>),
    /// A device, a FIFO, a socket.
    Other,
}

/// The bytes that are read of one file.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// All of the file at `path`; `None` when there is none.
///
/// # Errors
/// It cannot be read, or is longer than [`MAX_BYTES`].
pub(crate) fn read(files: &dyn Files, path: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let content = files.read(path, MAX_BYTES + 1)?;
    match &content {
        Some(content) if content.len() > MAX_BYTES => Err(Error::about(
            path,
            &format!("it is longer than {MAX_BYTES} bytes"),
        )),
        _ => Ok(content),
    }
}

/// `name` in `directory`; `name` itself where it is absolute.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    match (name.first(), directory.last()) {
        (Some(b'/'), _) => name.to_vec(),
        (_, Some(b'/')) => [directory, name].concat(),
        _ => [directory, b"/", name].concat(),
    }
}

/// What stands before the last slash; `None` for the root.
pub(crate) fn parent(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    match (slash, path.len()) {
        (0, 1) => None,
        (0, _) => path.get(..1),
        _ => path.get(..slash),
    }
}

/// Git's white space (`ctype.c`): not the vertical tab, not the form feed.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// `text` without the line ends after it.
pub(crate) fn without_line_ends(text: &[u8]) -> &[u8] {
    let ends = text
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    text.split_at(text.len() - ends).0
}
