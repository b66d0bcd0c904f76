//! The host: the only thing that the engine knows of the outside, and one evaluation's memory of it.
//!
//! The core does no input or output. What it must know about the disk and about git it asks through
//! [`Host`]; [`Facts`] asks each distinct question at most once in one evaluation, checks that the answer
//! is well-formed, and keeps what was asked for an explanation or a [`Recording`].

mod facts;
mod recording;

use std::borrow::Cow;
use std::fmt;

pub(crate) use facts::Facts;
pub use recording::{Answer, Exchange, Question, Recording};

/// Why a path has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RealpathError {
    /// Nothing is there, or a component on the way is not a directory (`ENOENT`, `ENOTDIR`).
    NotFound,
    /// Too many symbolic links (`ELOOP`).
    Loop,
    /// A directory on the way may not be searched (`EACCES`, `EPERM`).
    Denied,
    /// The canonical path is not UTF-8.
    NotUtf8,
    /// Any other error that the file system gave (`ENAMETOOLONG`, `EIO`, …).
    Other,
    /// The host itself failed: a callback threw, a message did not arrive.
    Host(HostError),
}

/// The host could not answer at all; the call that needed the answer is denied with rule
/// `structural-host-error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// What failed, for a person.
    pub message: String,
}

impl HostError {
    /// An error with a message for a person.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for HostError {}

/// What the engine asks of its host (SPEC §1).
///
/// Paths are absolute, POSIX, without `.`, `..`, `//` or a trailing `/`, in both directions; an answer that
/// is not is a host error. Answers should be those of one moment: the engine asks each distinct question at
/// most once in one evaluation and keeps nothing between evaluations (unless directories are pinned).
pub trait Host {
    /// The home directory, which `~` stands for. Read once, when an engine is built.
    fn home_dir(&self) -> &str;

    /// The directory that relative paths are relative to. Read once, when an engine is built.
    fn current_dir(&self) -> &str;

    /// Whether names that differ only in case or composition may be one file, as on macOS and Windows.
    fn ignores_path_case(&self) -> bool {
        false
    }

    /// The canonical form of `path`: existing, free of links. Most often that is `path` itself, which is then borrowed.
    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError>;

    /// The target of the symbolic link at `path`, as it is written there; `None` when `path` is no link or
    /// does not exist.
    ///
    /// A host that cannot tell answers `None`; dangling links are then missing files like others.
    fn read_link(&self, _path: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    /// Whether `path` is an existing directory; `None` when the host cannot tell.
    fn is_directory(&self, _path: &str) -> Result<Option<bool>, HostError> {
        Ok(None)
    }

    /// Every URL that the remote `remote` of the repository at `repo` stands for: where it fetches from and,
    /// where it differs, where it pushes to, after `insteadOf` and `pushInsteadOf`. Empty: no such remote.
    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError>;

    /// The same for the remotes that a fetch or push without an argument would use. Empty: there are none.
    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError>;

    /// `url` after the `insteadOf` rewriting of the repository at `repo`, fetch and push where they differ.
    ///
    /// A host that cannot tell answers with the URL itself.
    fn git_url(&self, _repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    /// The value of a host-defined role's step that is a callback: `step` is `canonicalize` or
    /// `extractPolicyValue`.
    fn role_value(&self, role: &str, step: &str, _value: &str) -> Result<String, HostError> {
        Err(HostError::new(format!(
            "the host has no callback `{step}` for the role `{role}`"
        )))
    }

    /// Whether the predicate that a world calls `host:<name>` holds (SPEC §13). A host without it fails, and what
    /// hangs on it is denied.
    ///
    /// `subject` is JSON text, `{mode, tool, command, root_key, subdirectory, address, host}`: what is asked about,
    /// `null` where there is no such thing, `host` being what the call's context says under that name.
    fn condition(&self, name: &str, _subject: &str) -> Result<bool, HostError> {
        Err(HostError::new(format!("the host has no predicate `{name}`")))
    }
}
