//! A host that answers at once.

use std::borrow::Cow;

use callgate_core::{Host, HostError, RealpathError};

/// Every path exists and is canonical already; every remote has one URL.
pub(super) struct Ready;

impl Host for Ready {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/"
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        Ok(path.into())
    }

    fn git_remote_urls(&self, _repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![format!("https://github.com/acme/{remote}.git")])
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.git_remote_urls(repo, "origin")
    }
    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
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
}
