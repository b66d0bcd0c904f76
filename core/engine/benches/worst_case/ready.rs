//! A host that answers at once.

use std::borrow::Cow;

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};

/// Every path exists and is canonical already, but for what lies below a name that begins with `new`, and for a name `link`,
/// which leads to `real` beside it. Every remote has one URL, and one whose name begins with `many` as many as git's host
/// reads of one remote.
pub(super) struct Ready;

const MOST_URLS: usize = 1_000;

impl Host for Ready {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        if path.contains("/new") {
            return Err(RealpathError::NotFound);
        }
        Ok(match path.contains("/link") {
            true => path.replace("/link", "/real").into(),
            false => path.into(),
        })
    }

    fn git_remote_urls(&self, _repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        let count = if remote.starts_with("many") { MOST_URLS } else { 1 };
        let url = |at| format!("https://github.com/acme{at}/{remote}.git");
        Ok((0..count).map(url).collect())
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.git_remote_urls(repo, "origin")
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        Ok(path.ends_with("/link").then(|| "real".to_owned()))
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        Ok(Some(false))
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}
