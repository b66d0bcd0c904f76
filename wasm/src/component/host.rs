//! The host: the functions that the component imports.

use std::borrow::Cow;

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};

use super::bindings::callgate::gate::host as imported;
use super::types::{self, Existence, GitIgnore as Said, Link, Location, PushRefs, RoleStep};

/// The imported functions, with what is asked once.
pub(super) struct Imported {
    home: String,
    current: String,
    ignores_path_case: bool,
}

impl Imported {
    /// Asks where home and the current directory are.
    pub(super) fn ask() -> Self {
        Self {
            home: imported::home_dir(),
            current: imported::current_dir(),
            ignores_path_case: imported::ignores_path_case(),
        }
    }
}

impl Host for Imported {
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
        Err(match imported::realpath(path) {
            Location::Unchanged => return Ok(Cow::Borrowed(path)),
            Location::At(real) => return Ok(Cow::Owned(real)),
            Location::NotFound => RealpathError::NotFound,
            Location::TooManyLinks => RealpathError::Loop,
            Location::Denied => RealpathError::Denied,
            Location::NotUtf8 => RealpathError::NotUtf8,
            Location::Other => RealpathError::Other,
            Location::Failed(error) => RealpathError::Host(failed(error)),
        })
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        match imported::read_link(path) {
            Link::Absent => Ok(None),
            Link::To(target) => Ok(Some(target)),
            Link::Failed(error) => Err(failed(error)),
        }
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        match imported::is_directory(path) {
            Existence::Yes => Ok(Some(true)),
            Existence::No => Ok(Some(false)),
            Existence::Unknown => Ok(None),
            Existence::Failed(error) => Err(failed(error)),
        }
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        imported::git_remote_urls(repo, remote).map_err(failed)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        imported::git_default_remote_urls(repo).map_err(failed)
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        imported::git_url(repo, url).map_err(failed)
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        imported::git_branch(repo).map_err(failed)
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        match imported::git_push_refs(repo, remote, reference) {
            PushRefs::Unknown => Ok(None),
            PushRefs::Known(refs) => Ok(Some(refs)),
            PushRefs::Failed(error) => Err(failed(error)),
        }
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(match imported::git_check_ignore(path) {
            Said::Ignored => Some(GitIgnore::Ignored),
            Said::Included => Some(GitIgnore::Included),
            Said::Unmentioned => Some(GitIgnore::Unmentioned),
            Said::Unknown => None,
            Said::Failed(error) => return Err(failed(error)),
        })
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        imported::role_value(role, role_step(step), value).map_err(failed)
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        imported::condition(name, subject).map_err(failed)
    }
}

/// The step by the name that the core has for it.
fn role_step(name: &str) -> RoleStep {
    match name {
        "canonicalize" => RoleStep::Canonicalize,
        _ => RoleStep::ExtractPolicyValue,
    }
}

fn failed(error: types::HostError) -> HostError {
    HostError::new(error.message)
}
