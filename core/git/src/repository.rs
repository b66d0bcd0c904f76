//! A repository that git found, and its checked-out branch.

use crate::files::{Error, Kind, is_space, join};
use crate::reader::Reader;

/// The most references that git follows from `HEAD` to a branch (`SYMREF_MAXDEPTH`).
const MAX_REFERENCES: usize = 5;

/// Where branches are.
pub(crate) const HEADS: &[u8] = b"refs/heads/";

/// A repository (`gitrepository-layout(5)`).
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Repository {
    /// Its directory, links resolved; for a linked worktree, that worktree's own.
    pub(crate) git_dir: Vec<u8>,
    /// Where the configuration and the branches are; the same as `git_dir` in the main worktree.
    pub(crate) common_dir: Vec<u8>,
    /// Its work tree, links resolved; `None` if it is bare, or git was started within it.
    pub(crate) work_tree: Option<Vec<u8>>,
    /// The other names that `git_dir` may have in a condition.
    pub(crate) names: Names,
    pub(crate) format: Format,
}

/// The absolute names, other than its canonical path, that git may use for the directory of a repository.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Names {
    /// The name that git certainly uses.
    pub(crate) certain: Option<Vec<u8>>,
    /// Names that it uses depending on facts that are not known here: `PWD`, or where in the work tree it runs.
    pub(crate) possible: Vec<Vec<u8>>,
}

/// The format that a repository declares (`gitrepository-layout(5)`, "`core.repositoryFormatVersion`").
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Format {
    /// `extensions.worktreeConfig`.
    pub(crate) has_worktree_config: bool,
    /// `core.bare` or `core.worktree` overrides what the repository's location implies.
    pub(crate) has_own_work_tree: bool,
    /// `core.worktree`, links resolved.
    pub(crate) work_tree: Option<Vec<u8>>,
    /// The number of hexadecimal digits in an object's name.
    pub(crate) digits: usize,
    /// `true` if references are kept in files.
    pub(crate) has_reference_files: bool,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            has_worktree_config: false,
            has_own_work_tree: false,
            work_tree: None,
            digits: 40,
            has_reference_files: true,
        }
    }
}

impl Repository {
    /// The checked-out branch, even if it has no commit yet; `None` if the head is detached.
    ///
    /// # Errors
    /// Git could not read the head, the head is not kept in files (reftable), or it does not lead to a branch.
    pub(crate) fn branch(&self, files: Reader<'_>) -> Result<Option<Vec<u8>>, Error> {
        if !self.format.has_reference_files {
            return Err(self.head_refused("the repository does not keep its references in files"));
        }
        let mut name = b"HEAD".to_vec();
        for _ in 0..MAX_REFERENCES {
            match self.reference(files, &name)? {
                Reference::Symbolic(target) if is_reference_name(&target) => name = target,
                Reference::Symbolic(target) => {
                    let target = String::from_utf8_lossy(&target).into_owned();
                    return Err(self.head_refused(&format!("`{target}` is not the name of a reference")));
                }
                Reference::Broken => {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    return Err(self.head_refused(&format!("`{name}` is broken")));
                }
                Reference::Plain if name == b"HEAD" => return Ok(None),
                Reference::Plain => {
                    return match name.strip_prefix(HEADS) {
                        Some(branch) => Ok(Some(branch.to_vec())),
                        None => Err(self.head_refused("it points outside of `refs/heads/`")),
                    };
                }
            }
        }
        Err(self.head_refused("too many symbolic references"))
    }

    /// The branch that the reference `name` leads to, by its full name; `None` if it leads elsewhere or is broken, so that
    /// git refuses to push it.
    ///
    /// # Errors
    /// A reference cannot be read.
    pub(crate) fn resolve(&self, files: Reader<'_>, name: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let mut name = name.to_vec();
        for _ in 0..MAX_REFERENCES {
            match self.reference(files, &name)? {
                Reference::Symbolic(target) if is_reference_name(&target) => name = target,
                Reference::Symbolic(_) | Reference::Broken => return Ok(None),
                Reference::Plain => return Ok(name.starts_with(HEADS).then_some(name)),
            }
        }
        Ok(None)
    }

    /// Reads the reference `name` (`files_read_raw_ref`). Packed references are never symbolic.
    fn reference(&self, files: Reader<'_>, name: &[u8]) -> Result<Reference, Error> {
        let is_of_worktree = name == b"HEAD"
            || [&b"refs/bisect/"[..], b"refs/worktree/", b"refs/rewritten/"]
                .iter()
                .any(|own| name.starts_with(own));
        let base = if is_of_worktree {
            &self.git_dir
        } else {
            &self.common_dir
        };
        let path = join(base, name);
        match files.look(&path)?.map(|found| found.kind) {
            // Other branches are in a directory of this name; the branch itself is packed or unborn.
            None | Some(Kind::Directory) => return Ok(Reference::Plain),
            Some(Kind::Link(target)) if target.starts_with(b"refs/") && is_reference_name(&target) => {
                return Ok(Reference::Symbolic(target));
            }
            Some(Kind::Link(_) | Kind::File | Kind::Other) => {}
        }
        let Some(content) = files.read(&path)? else {
            return Ok(Reference::Broken);
        };
        let spaces = content.iter().rev().take_while(|byte| is_space(**byte)).count();
        let text = content.split_at(content.len() - spaces).0;
        Ok(if let Some(target) = text.strip_prefix(b"ref:") {
            let spaces = target.iter().take_while(|byte| is_space(**byte)).count();
            Reference::Symbolic(target.split_at(spaces).1.to_vec())
        } else if is_object_name(text, self.format.digits) {
            Reference::Plain
        } else {
            Reference::Broken
        })
    }

    fn head_refused(&self, why: &str) -> Error {
        let head = join(&self.git_dir, b"HEAD");
        Error::new(format!(
            "the branch cannot be read from `{}`: {why}",
            String::from_utf8_lossy(&head)
        ))
    }
}

enum Reference {
    Symbolic(Vec<u8>),
    /// An object, or nothing yet.
    Plain,
    Broken,
}

/// Returns `true` if `text` is an object's name, alone or followed by white space (`parse_loose_ref_contents`).
fn is_object_name(text: &[u8], digits: usize) -> bool {
    text.len() >= digits
        && text.iter().take(digits).all(u8::is_ascii_hexdigit)
        && text.get(digits).is_none_or(|byte| is_space(*byte))
}

/// Returns `true` if git accepts `name`, a whole name below `refs/` (`git-check-ref-format(1)`).
pub(crate) fn is_reference_name(name: &[u8]) -> bool {
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
