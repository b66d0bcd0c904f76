//! A repository as git found it, and the branch that is checked out in it.

use crate::files::{Error, Files, Kind, is_space, join, read};

/// How many references git reads on the way from `HEAD` to a branch (`SYMREF_MAXDEPTH`).
const MAX_REFERENCES: usize = 5;

/// A repository (`gitrepository-layout(5)`).
#[derive(Debug)]
pub(crate) struct Repository {
    /// Without links; of a worktree its own directory.
    pub(crate) git_dir: Vec<u8>,
    /// Where the configuration and the branches are; of a main worktree the same as `git_dir`.
    pub(crate) common_dir: Vec<u8>,
    /// The other names that `git_dir` may have in a condition.
    pub(crate) names: Names,
    pub(crate) format: Format,
}

/// What git calls the directory of a repository beside its canonical path, in absolute form.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The name that git certainly has for it.
    pub(crate) certain: Option<Vec<u8>>,
    /// Names that it has by what cannot be known here: `PWD`, or a place of the work tree.
    pub(crate) possible: Vec<Vec<u8>>,
}

/// What a repository says about its own format (`gitrepository-layout(5)`, "`core.repositoryFormatVersion`").
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// `extensions.worktreeConfig`.
    pub(crate) has_worktree_config: bool,
    /// `core.bare` or `core.worktree` says something else than the place does.
    pub(crate) has_own_work_tree: bool,
    /// The digits of an object's name.
    pub(crate) digits: usize,
    /// Whether references are kept in files.
    pub(crate) has_reference_files: bool,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            has_worktree_config: false,
            has_own_work_tree: false,
            digits: 40,
            has_reference_files: true,
        }
    }
}

impl Repository {
    /// The branch that is checked out, also when it has no commit yet; `None` when the head is detached.
    ///
    /// # Errors
    /// The head is not readable for git, is not kept in files (reftable), or leads to something else than a branch.
    pub(crate) fn branch(&self, files: &dyn Files) -> Result<Option<Vec<u8>>, Error> {
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
                    return match name.strip_prefix(b"refs/heads/") {
                        Some(branch) => Ok(Some(branch.to_vec())),
                        None => Err(self.head_refused("it points outside of `refs/heads/`")),
                    };
                }
            }
        }
        Err(self.head_refused("too many symbolic references"))
    }

    /// What the reference `name` is (`files_read_raw_ref`). Packed references are never symbolic.
    fn reference(&self, files: &dyn Files, name: &[u8]) -> Result<Reference, Error> {
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
            // A directory is a name that other branches start with; the branch itself is packed or unborn.
            None | Some(Kind::Directory) => return Ok(Reference::Plain),
            Some(Kind::Link(target)) if target.starts_with(b"refs/") && is_reference_name(&target) => {
                return Ok(Reference::Symbolic(target));
            }
            Some(Kind::Link(_) | Kind::File | Kind::Other) => {}
        }
        let Some(content) = read(files, &path)? else {
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
            "`{}` does not tell the branch: {why}",
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

/// Whether `text` is an object's name, alone or before white space (`parse_loose_ref_contents`).
fn is_object_name(text: &[u8], digits: usize) -> bool {
    text.len() >= digits
        && text.iter().take(digits).all(u8::is_ascii_hexdigit)
        && text.get(digits).is_none_or(|byte| is_space(*byte))
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
