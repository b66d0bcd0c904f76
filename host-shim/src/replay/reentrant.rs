//! A host that calls back into the engine that asks it.

use std::borrow::Cow;
use std::ops::Deref;

use callgate_core::{Host, HostError, RealpathError};

/// A host that does something else first whenever it is asked for a real path.
pub(super) struct Reentrant<H, F> {
    host: H,
    first: F,
}

impl<H, F: Fn()> Reentrant<H, F> {
    pub(super) fn new(host: H, first: F) -> Self {
        Self { host, first }
    }
}

impl<H: Deref<Target: Host>, F: Fn()> Host for Reentrant<H, F> {
    fn home_dir(&self) -> &str {
        self.host.home_dir()
    }

    fn current_dir(&self) -> &str {
        self.host.current_dir()
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        (self.first)();
        self.host.realpath(path)
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

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        self.host.role_value(role, step, value)
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        self.host.condition(name, subject)
    }
}
