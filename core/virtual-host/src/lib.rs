//! A host that answers from a description of a machine, and never from the machine that it runs on.
//!
//! ```
//! use callgate_engine::host::Host;
//! use callgate_virtual_host::{Machine, VirtualHost};
//!
//! let machine = Machine::new("/home/u", "/srv/app")
//!     .file("/srv/app/notes.txt")
//!     .link("/home/u/app", "/srv/app")
//!     .remote("/srv/app", "origin", "https://github.com/acme/app.git");
//! let host = VirtualHost::new(machine)?;
//! assert_eq!(host.realpath("/home/u/app/notes.txt"), Ok("/srv/app/notes.txt".into()));
//! # Ok::<(), callgate_virtual_host::MachineError>(())
//! ```

mod fold;
mod git;
mod machine;
mod tree;

use std::borrow::Cow;
use std::fmt;

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use serde::Deserialize as _;
use serde_json::Value;

pub use machine::{Filesystem, Machine, Platform, Predicate, PushMode, Repository, Urls};

use tree::{Last, Tree};

/// Answers from a [`Machine`]: it walks paths as the Linux kernel does, and answers about git from the described
/// repositories.
///
/// There are no permissions (`fs.errors` sets failures), and the machine never changes, so all evaluations see the
/// same.
#[derive(Debug)]
pub struct VirtualHost {
    machine: Machine,
    tree: Tree,
}

/// Why a machine was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineError {
    message: String,
}

impl MachineError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for MachineError {}

impl VirtualHost {
    /// A host that answers from `machine`.
    ///
    /// # Errors
    /// An entry is not absolute and normalized, is of two kinds, or lies below a file or a link, or an error code of
    /// `fs.errors` is unknown.
    pub fn new(machine: Machine) -> Result<Self, MachineError> {
        let tree = Tree::new(&machine)?;
        Ok(Self { machine, tree })
    }

    /// A host that answers from a machine given as JSON.
    ///
    /// # Errors
    /// Those of [`VirtualHost::new`]; or the value does not have the shape of a [`Machine`], or has unknown keys.
    pub fn from_value(machine: &Value) -> Result<Self, MachineError> {
        let refused = |error: serde_json::Error| MachineError::new(error.to_string());
        // A derived reader would read an array as the fields of a structure in order.
        let repositories = machine.get("git").and_then(Value::as_object);
        let inner = repositories.into_iter().flat_map(serde_json::Map::values);
        for one in machine.get("fs").into_iter().chain(inner) {
            if !one.is_object() {
                let message = format!("invalid type: found `{one}`, expected an object");
                return Err(MachineError::new(message));
            }
        }
        Self::new(Machine::deserialize(machine).map_err(refused)?)
    }

    /// The machine that the answers come from.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }
}

impl Host for VirtualHost {
    fn home_dir(&self) -> &str {
        &self.machine.home
    }

    fn current_dir(&self) -> &str {
        &self.machine.cwd
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        let place = self.tree.walk(path, Last::Follow)?;
        Ok(Cow::Owned(place.path))
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        let place = self.tree.walk(path, Last::Keep).ok();
        Ok(place.and_then(|place| place.link_target().map(str::to_owned)))
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        Ok(match self.tree.walk(path, Last::Follow) {
            Ok(place) => Some(place.is_directory()),
            Err(RealpathError::NotFound) => Some(false),
            Err(_) => None,
        })
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        let fail = |what: &str| Err(HostError::new(format!("the predicate `{name}` {what}")));
        match self.machine.conditions.get(name) {
            Some(Predicate::Always(holds)) => Ok(*holds),
            Some(Predicate::Of(members)) => {
                let Ok(subject) = serde_json::from_str::<Value>(subject) else {
                    return fail("was asked about a subject that is not JSON");
                };
                Ok(members
                    .iter()
                    .all(|(key, value)| subject.get(key).unwrap_or(&Value::Null) == value))
            }
            Some(Predicate::Fails(words)) => Err(HostError::new(words.clone())),
            None => fail("does not exist"),
        }
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        Ok(self
            .repository(repo)
            .map_or_else(Vec::new, |repository| repository.urls_of(remote)))
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        Ok(self
            .repository(repo)
            .map_or_else(Vec::new, Repository::default_urls))
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(self.repository(repo).map_or_else(
            || vec![url.to_owned()],
            |repository| repository.urls_of_explicit(url),
        ))
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        let repository = self.repository(repo);
        let repository =
            repository.ok_or_else(|| HostError::new(format!("`{repo}` is not in a git repository")))?;
        Ok(repository.branch().unwrap_or_default().to_owned())
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        Ok(self.repository(repo).map_or_else(
            || Some(Vec::new()),
            |repository| repository.push_refs(remote, reference),
        ))
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        let (above, _) = path.rsplit_once('/').unwrap_or_default();
        let above = if above.is_empty() { "/" } else { above };
        let place = self.tree.walk(above, Last::Follow);
        if place.is_ok_and(|place| place.path != above) {
            return Ok(None);
        }
        let repository = git::nearest(&self.machine.git, above);
        Ok(repository.map_or(Some(GitIgnore::Unmentioned), |repository| {
            repository.check_ignore(path)
        }))
    }
}

impl VirtualHost {
    /// The repository that git finds from the directory `dir`: the nearest at or above its real path.
    fn repository(&self, dir: &str) -> Option<&Repository> {
        let place = self.tree.walk(dir, Last::Follow).ok()?;
        if !place.is_directory() {
            return None;
        }
        git::nearest(&self.machine.git, &place.path)
    }
}

#[cfg(test)]
mod tests;
