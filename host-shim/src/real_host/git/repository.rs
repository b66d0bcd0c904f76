//! Finding the repository of a directory, and the branch that is checked out in it.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use callgate_core::HostError;
use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::files;

/// The symbolic references that git follows from `HEAD`.
const MAX_SYMBOLIC_REFERENCES: usize = 5;

/// A repository as git finds it (`gitrepository-layout(5)`).
#[derive(Debug)]
pub(super) struct Repository {
    /// Canonical; of a worktree its own directory.
    pub(super) git_dir: PathBuf,
    /// Where the configuration and the branches are; of a main worktree the same as `git_dir`.
    pub(super) common_dir: PathBuf,
}

impl Repository {
    /// The repository that git would use in `directory`; where that does not exist yet, in the deepest
    /// directory on the way that does.
    ///
    /// # Errors
    /// A `.git` file that does not lead to a repository, and what may not be looked at.
    pub(super) fn discover(directory: &str) -> Result<Option<Self>, HostError> {
        let mut given = Path::new(directory);
        let start = loop {
            match super::canonical(given)? {
                Some(start) => break start,
                None => match given.parent() {
                    Some(parent) => given = parent,
                    None => return Ok(None),
                },
            }
        };
        for directory in start.ancestors() {
            if let Some(found) = Self::at(directory)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The branch that is checked out, also when it has no commit yet; `None` when the head is detached.
    ///
    /// # Errors
    /// When that is not kept in files (reftable), or not in a form that git accepts.
    pub(super) fn branch(&self) -> Result<Option<Vec<u8>>, HostError> {
        let mut name = b"HEAD".to_vec();
        for _ in 0..=MAX_SYMBOLIC_REFERENCES {
            let Some(target) = self.symbolic_reference(&name)? else {
                return Ok(name.strip_prefix(b"refs/heads/").map(<[u8]>::to_vec));
            };
            if !is_reference_name(&target) {
                let target = String::from_utf8_lossy(&target).into_owned();
                return Err(self.head_refused(&format!("`{target}` is no name of a reference")));
            }
            name = target;
        }
        Err(self.head_refused("too many symbolic references"))
    }

    fn at(directory: &Path) -> Result<Option<Self>, HostError> {
        if let Some(real) = super::canonical(&directory.join(".git"))? {
            if real.is_file() {
                return Self::behind_git_file(&real, directory).map(Some);
            }
            if let Some(found) = Self::of_git_dir(real)? {
                return Ok(Some(found));
            }
        }
        Self::of_git_dir(directory.to_owned())
    }

    /// The repository that a `.git` file of a worktree or a submodule names.
    fn behind_git_file(file: &Path, directory: &Path) -> Result<Self, HostError> {
        let refused = || HostError::new(format!("`{}` leads to no git repository", file.display()));
        let content = files::read(file)?.ok_or_else(refused)?;
        let place = content.strip_prefix(b"gitdir: ").ok_or_else(refused)?;
        let git_dir = directory.join(OsStr::from_bytes(without_line_ends(place)));
        let git_dir = super::canonical(&git_dir)?.ok_or_else(refused)?;
        Self::of_git_dir(git_dir)?.ok_or_else(refused)
    }

    /// The repository whose directory is `git_dir`, if it is one for git (`is_git_directory`).
    fn of_git_dir(git_dir: PathBuf) -> Result<Option<Self>, HostError> {
        if !has_head(&git_dir)? {
            return Ok(None);
        }
        let common_dir = match files::read(&git_dir.join("commondir"))? {
            Some(place) => {
                let place = git_dir.join(OsStr::from_bytes(without_line_ends(&place)));
                match super::canonical(&place)? {
                    Some(real) => real,
                    None => return Ok(None),
                }
            }
            None => git_dir.clone(),
        };
        let found = is_searchable(&common_dir.join("objects"))? && is_searchable(&common_dir.join("refs"))?;
        Ok(found.then_some(Self { git_dir, common_dir }))
    }

    /// What the reference `name` stands for, when it is a symbolic one.
    fn symbolic_reference(&self, name: &[u8]) -> Result<Option<Vec<u8>>, HostError> {
        let is_of_worktree = name == b"HEAD"
            || [&b"refs/bisect/"[..], b"refs/worktree/", b"refs/rewritten/"]
                .iter()
                .any(|own| name.starts_with(own));
        let base = if is_of_worktree {
            &self.git_dir
        } else {
            &self.common_dir
        };
        let path = base.join(OsStr::from_bytes(name));
        if let Some(target) = reference_link(&path) {
            return Ok(Some(target));
        }
        // A directory is a name that other branches start with; the branch itself is packed or unborn.
        if path.is_dir() {
            return Ok(None);
        }
        let content = files::read(&path)?.unwrap_or_default();
        Ok(content
            .strip_prefix(b"ref:")
            .map(|target| target.trim_ascii().to_vec()))
    }

    fn head_refused(&self, why: &str) -> HostError {
        let head = self.git_dir.join("HEAD");
        HostError::new(format!("`{}` does not tell the branch: {why}", head.display()))
    }
}

/// Whether `git_dir` has a `HEAD` that git accepts (`validate_headref`).
fn has_head(git_dir: &Path) -> Result<bool, HostError> {
    let path = git_dir.join("HEAD");
    match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_symlink() => return Ok(reference_link(&path).is_some()),
        Ok(metadata) if metadata.is_dir() => return Ok(false),
        Ok(_) => {}
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => {
            return Err(HostError::new(format!(
                "`{}` cannot be read: {error}",
                path.display()
            )));
        }
    }
    let head = files::read(&path)?.unwrap_or_default();
    Ok(match head.strip_prefix(b"ref:") {
        Some(target) => target.trim_ascii_start().starts_with(b"refs/"),
        None => head.len() >= 40 && head.iter().take(40).all(u8::is_ascii_hexdigit),
    })
}

/// The reference that a symbolic link stands for, as git once wrote `HEAD`.
fn reference_link(path: &Path) -> Option<Vec<u8>> {
    let target = fs::read_link(path).ok()?.into_os_string().into_vec();
    target.starts_with(b"refs/").then_some(target)
}

/// Git's own test of a repository's directories, `access(2)` with `X_OK`.
fn is_searchable(path: &Path) -> Result<bool, HostError> {
    match access(path, Access::EXEC_OK) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
        // The tool server may have another user's rights, so this process cannot answer for it.
        Err(error) => Err(HostError::new(format!(
            "`{}` cannot be searched: {error}",
            path.display()
        ))),
    }
}

fn without_line_ends(text: &[u8]) -> &[u8] {
    let ends = text
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    text.split_at(text.len() - ends).0
}

/// `git-check-ref-format(1)`, for a whole name below `refs/`.
fn is_reference_name(name: &[u8]) -> bool {
    let is_component = |component: &[u8]| {
        !component.is_empty() && !component.starts_with(b".") && !component.ends_with(b".lock")
    };
    let is_forbidden = |byte: &u8| byte.is_ascii_control() || b" ~^:?*[\\".contains(byte);
    let has = |pair: &[u8; 2]| name.windows(2).any(|window| window == pair);
    name.starts_with(b"refs/")
        && name.split(|byte| *byte == b'/').all(is_component)
        && !name.iter().any(is_forbidden)
        && !has(b"..")
        && !has(b"@{")
        && !name.ends_with(b".")
}
