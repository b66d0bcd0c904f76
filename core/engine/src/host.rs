//! The host, the engine's only access to the outside, and the memory of its answers during one evaluation.
//!
//! The core does no input or output. It asks about the disk and git through [`Host`]. [`Facts`] asks each distinct
//! question at most once per evaluation, checks that the answer is well-formed, and keeps the exchanges for a
//! [`Recording`].

mod facts;
mod meter;
mod path_key;
mod question;
mod recording;

use std::borrow::Cow;
use std::fmt;
use std::io::{Error, ErrorKind};

use crate::named::named;

pub use facts::Facts;
pub use question::{Answer, Question};
pub use recording::{Exchange, Recording};

/// Why a path has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RealpathError {
    /// The path does not exist, or a component on the way is not a directory (`ENOENT`, `ENOTDIR`).
    NotFound,
    /// Too many symbolic links (`ELOOP`).
    Loop,
    /// A directory on the way may not be searched (`EACCES`, `EPERM`).
    Denied,
    /// The canonical path is not UTF-8.
    NotUtf8,
    /// Any other file-system error (`ENAMETOOLONG`, `EIO`, …).
    Other,
    /// The host itself failed: a callback threw, a message did not arrive.
    Host(HostError),
}

/// For hosts that read a disk themselves. The standard library has no stable name for a loop of links, so that is
/// [`RealpathError::Other`], which is refused like [`RealpathError::Loop`].
impl From<ErrorKind> for RealpathError {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::NotFound,
            ErrorKind::PermissionDenied => Self::Denied,
            // ErrorKind may grow; an unknown kind is refused.
            _ => Self::Other,
        }
    }
}

impl From<Error> for RealpathError {
    fn from(error: Error) -> Self {
        error.kind().into()
    }
}

impl fmt::Display for RealpathError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotFound => "the path does not exist",
            Self::Loop => "too many links lead to the path",
            Self::Denied => "permission denied",
            Self::NotUtf8 => "the canonical path is not UTF-8",
            Self::Other => "the path cannot be resolved",
            Self::Host(error) => return error.fmt(formatter),
        })
    }
}

impl std::error::Error for RealpathError {}

impl From<HostError> for RealpathError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

/// The host could not answer at all. The call that needed the answer is denied by the rule `structural-host-error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// The failure, for a person.
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

named! {
    /// What git's ignore files say of a path.
    pub enum GitIgnore {
        /// The last pattern that matches it excludes it, or a directory above it.
        Ignored = "ignored",
        /// The last pattern that matches it begins with `!`.
        Included = "included",
        /// No pattern matches it.
        Unmentioned = "unmentioned",
    }
}

/// The questions that an engine asks its host (SPEC §1).
///
/// Paths in questions and answers are absolute POSIX paths without `.`, `..`, `//` or a trailing `/`; any other
/// answer is a host error. Answers should describe one moment: the engine asks each distinct question at most once
/// per evaluation and keeps nothing between evaluations (unless directories are pinned).
pub trait Host {
    /// The home directory, for `~`. Read once, when an engine is built.
    fn home_dir(&self) -> &str;

    /// The base of relative paths. Read once, when an engine is built.
    fn current_dir(&self) -> &str;

    /// A host for the time of one evaluation, which may keep what it has read; `None` if this one answers every time
    /// anew. Its home and current directory are not asked for.
    fn begin(&self) -> Option<Box<dyn Host + Send>> {
        None
    }

    /// Returns `true` if names that differ only in case or Unicode composition may be the same file, as on macOS and
    /// Windows. They are folded only where a comparison can deny.
    fn ignores_path_case(&self) -> bool;

    /// The canonical form of `path`, which must exist: without links. Usually that is `path` itself, which is then
    /// borrowed.
    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError>;

    /// The target of the symbolic link at `path`, as written; `None` if `path` is not a link or does not exist.
    ///
    /// A host that cannot tell fails: a link that is taken for a missing file would let a write leave the sandbox.
    fn read_link(&self, path: &str) -> Result<Option<String>, HostError>;

    /// Returns `true` if `path` is an existing directory; `None` if the host cannot tell, and then whatever needs the
    /// answer is denied or not offered.
    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError>;

    /// The URLs of `remote` in the repository at `repo`, after `insteadOf` and `pushInsteadOf`: for fetching and, if
    /// they differ, for pushing. Empty if there is no such remote.
    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError>;

    /// The URLs of the remotes that a fetch or push without arguments uses. Empty if there are none.
    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError>;

    /// Every URL that git connects to in the repository at `repo` when it is given `url`: after `insteadOf` and
    /// `pushInsteadOf`, and those of a remote that has this URL as its name. Without any of these, the URL itself.
    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError>;

    /// The short name of the branch that is checked out in the repository at `repo`; empty if the head is detached.
    /// Without a repository there is no answer, and the host fails.
    fn git_branch(&self, repo: &str) -> Result<String, HostError>;

    /// The refs on the other side that a push of `reference` to `remote` from the repository at `repo` updates because git's
    /// configuration says so, beyond the ref of the same name: by `remote.<name>.push`, `push.default` and
    /// `branch.<name>.merge`. `remote` is a name, a URL, or empty for the default remote, and an empty `reference` stands
    /// for a push without one. `None` if the refs cannot be told, which meets every restriction.
    ///
    /// Each ref is named as a refspec names its destination, such as `refs/heads/main`. Outside of a repository git pushes
    /// nothing.
    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError>;

    /// What git's ignore files say of `path`, as `git check-ignore --no-index` has it: each `.gitignore` from the top of its work tree
    /// down to it, `.git/info/exclude`, and `core.excludesFile`. Outside of a repository it is unmentioned.
    ///
    /// `None` if that cannot be told; it then counts as strictly as any answer.
    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError>;

    /// Calls back for a step of a host-defined role; `step` is `canonicalize` or `extractPolicyValue`.
    fn role_value(&self, role: &str, step: &str, _value: &str) -> Result<String, HostError> {
        Err(HostError::new(format!(
            "the host has no callback `{step}` for the role `{role}`"
        )))
    }

    /// Returns `true` if the predicate that a world calls `host:<name>` holds (SPEC §13). If the host does not have
    /// the predicate, it fails, and whatever depends on it is denied.
    ///
    /// `subject` is JSON text, `{mode, tool, command, root_key, subdirectory, address, host}`. A member that does not
    /// apply is `null`; `host` is taken from the call's context.
    fn condition(&self, name: &str, _subject: &str) -> Result<bool, HostError> {
        Err(HostError::new(format!("the host has no predicate `{name}`")))
    }
}
