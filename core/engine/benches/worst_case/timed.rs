//! A host that takes the time of its answers.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::{Duration, Instant};

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};

use super::ready::Ready;

/// Answers as [`Ready`] does.
#[derive(Default)]
pub(super) struct Timed {
    spent: Cell<Duration>,
}

impl Timed {
    /// How long all answers have taken.
    pub(super) fn spent(&self) -> Duration {
        self.spent.get()
    }

    fn answer<T>(&self, answer: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let answered = answer();
        self.spent.set(self.spent.get() + begun.elapsed());
        answered
    }
}

impl Host for Timed {
    fn home_dir(&self) -> &str {
        Ready.home_dir()
    }

    fn current_dir(&self) -> &str {
        Ready.current_dir()
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        self.answer(|| Ready.realpath(path))
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.answer(|| Ready.git_remote_urls(repo, remote))
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.answer(|| Ready.git_default_remote_urls(repo))
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.answer(|| Ready.read_link(path))
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.answer(|| Ready.is_directory(path))
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.answer(|| Ready.git_url(repo, url))
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        self.answer(|| Ready.git_branch(repo))
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        self.answer(|| Ready.git_push_refs(repo, remote, reference))
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        self.answer(|| Ready.git_check_ignore(path))
    }
}
