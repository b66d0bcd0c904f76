//! A host that answers at once.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::{Duration, Instant};

use callgate_core::{Host, HostError, RealpathError};

/// Every path exists and is canonical already, but for what lies below a name that begins with `new`, and for a name `link`,
/// which leads to `real` beside it. Every remote has one URL, and one whose name begins with `many` as many as git's host
/// reads of one remote.
#[derive(Default)]
pub(super) struct Ready {
    /// How long the answers have taken; `None` while nobody asks.
    spent: Cell<Option<Duration>>,
}

const MOST_URLS: usize = 1_000;

impl Ready {
    /// A host that takes the time of its answers.
    pub(super) fn timed() -> Self {
        Self {
            spent: Cell::new(Some(Duration::ZERO)),
        }
    }

    pub(super) fn spent(&self) -> Duration {
        self.spent.get().unwrap_or_default()
    }

    fn answer<T>(&self, answer: impl FnOnce() -> T) -> T {
        let Some(spent) = self.spent.get() else {
            return answer();
        };
        let begun = Instant::now();
        let answered = answer();
        self.spent.set(Some(spent + begun.elapsed()));
        answered
    }
}

impl Host for Ready {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/"
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        self.answer(|| {
            if path.contains("/new") {
                return Err(RealpathError::NotFound);
            }
            Ok(match path.contains("/link") {
                true => path.replace("/link", "/real").into(),
                false => path.into(),
            })
        })
    }

    fn git_remote_urls(&self, _repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        let count = if remote.starts_with("many") { MOST_URLS } else { 1 };
        let url = |at| format!("https://github.com/acme{at}/{remote}.git");
        self.answer(|| Ok((0..count).map(url).collect()))
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.git_remote_urls(repo, "origin")
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.answer(|| Ok(path.ends_with("/link").then(|| "real".to_owned())))
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        Ok(Some(false))
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.answer(|| Ok(vec![url.to_owned()]))
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }
}
