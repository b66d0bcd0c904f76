//! A host with a different `realpath`.

use std::borrow::Cow;
use std::ops::Deref;

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};

/// Asks the host itself.
pub(crate) type Honest<'h> = &'h dyn Fn() -> Result<String, RealpathError>;

/// Passes every question on to a host, except `realpath`, which a function answers.
pub(crate) struct WithRealpath<H, F> {
    host: H,
    realpath: F,
}

impl<H, F> WithRealpath<H, F>
where
    F: Fn(&str, Honest<'_>) -> Result<String, RealpathError>,
{
    pub(crate) fn new(host: H, realpath: F) -> Self {
        Self { host, realpath }
    }
}

impl<H, F> Host for WithRealpath<H, F>
where
    H: Deref<Target: Host>,
    F: Fn(&str, Honest<'_>) -> Result<String, RealpathError>,
{
    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        let honest = || self.host.realpath(path).map(Cow::into_owned);
        (self.realpath)(path, &honest).map(Cow::Owned)
    }

    fn home_dir(&self) -> &str {
        self.host.home_dir()
    }

    fn current_dir(&self) -> &str {
        self.host.current_dir()
    }

    fn ignores_path_case(&self) -> bool {
        self.host.ignores_path_case()
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.host.read_link(path)
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.host.is_directory(path)
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.host.git_remote_urls(repo, remote)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.host.git_default_remote_urls(repo)
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.host.git_url(repo, url)
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        self.host.git_branch(repo)
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        self.host.git_push_refs(repo, remote, reference)
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        self.host.git_check_ignore(path)
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        self.host.role_value(role, step, value)
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        self.host.condition(name, subject)
    }
}
