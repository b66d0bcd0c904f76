//! Hosts for what is judged without a disk: one without links and repositories, and one that knows nothing of either.

use std::borrow::Cow;

use crate::host::{GitIgnore, Host, HostError, RealpathError};
use crate::path::PathCase;
use crate::program::Program;

/// A host that asks nobody: every path exists and is not a link, no remote is configured, and no branch is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinklessHost {
    home: Box<str>,
    current: Box<str>,
    ignores_path_case: bool,
    /// The branch of every repository, if it has one; `None` where no directory is a repository.
    branch: Option<Box<str>>,
}

impl LinklessHost {
    /// With these directories, both absolute; the case of names matters.
    pub fn new(home: &str, current: &str) -> Self {
        Self {
            home: home.into(),
            current: current.into(),
            ignores_path_case: false,
            branch: Some(Box::default()),
        }
    }

    /// With the directories of another host, and its way with the case of names.
    pub fn like(host: &dyn Host) -> Self {
        Self {
            home: host.home_dir().into(),
            current: host.current_dir().into(),
            ignores_path_case: host.ignores_path_case(),
            branch: Some(Box::default()),
        }
    }

    /// With the directories that the program knows, and this branch in every repository. An empty name stands for a
    /// detached head.
    pub fn on_branch(program: &Program, branch: &str) -> Self {
        Self {
            home: program.home.clone(),
            current: program.current.clone(),
            ignores_path_case: program.path_case == PathCase::Insensitive,
            branch: Some(branch.into()),
        }
    }

    /// The same where no directory is a repository.
    pub fn without_repositories(program: &Program) -> Self {
        Self {
            branch: None,
            ..Self::on_branch(program, "")
        }
    }

    /// An answer about a repository.
    fn of_repository<T>(&self, answer: T) -> Result<T, HostError> {
        match self.branch {
            Some(_) => Ok(answer),
            None => Err(HostError::new("not a git repository")),
        }
    }
}

impl Host for LinklessHost {
    fn home_dir(&self) -> &str {
        &self.home
    }

    fn current_dir(&self) -> &str {
        &self.current
    }

    fn ignores_path_case(&self) -> bool {
        self.ignores_path_case
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        Ok(path.into())
    }

    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        // The directory's contents are not known here: removing it would remove every name that is protected anywhere.
        Ok(Some(false))
    }

    fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
        self.of_repository(Vec::new())
    }

    fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> {
        self.of_repository(Vec::new())
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        self.of_repository(self.branch.as_deref().unwrap_or_default().to_owned())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        self.of_repository(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}

/// A host that cannot answer: every call that depends on a disk or a repository is denied. It is for a gate far from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisklessHost;

fn nothing<T>() -> Result<T, HostError> {
    Err(HostError::new(
        "there is no disk where this is judged, so nothing is known of paths and repositories",
    ))
}

impl Host for DisklessHost {
    // No path is found under either.
    fn home_dir(&self) -> &str {
        "/home"
    }

    fn current_dir(&self) -> &str {
        "/"
    }

    fn ignores_path_case(&self) -> bool {
        true
    }

    fn realpath<'p>(&self, _: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        Ok(nothing()?)
    }

    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        nothing()
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        nothing()
    }

    fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
        nothing()
    }

    fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> {
        nothing()
    }

    fn git_url(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
        nothing()
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        nothing()
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        nothing()
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        nothing()
    }
}
