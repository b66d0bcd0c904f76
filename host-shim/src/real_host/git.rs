//! What git would connect to, read from its configuration as `git-config(1)` describes it.

mod condition;
mod entry;
mod files;
mod layers;
mod remotes;
mod repository;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use callgate_core::{HostError, RealpathError};

use super::filesystem;
use layers::Entries;
use remotes::Remotes;
use repository::Repository;

/// The places of git's configuration outside a repository.
#[derive(Clone, Debug)]
pub(super) struct ConfigFiles {
    /// What `~` stands for.
    pub(super) home: PathBuf,
    /// Of the machine, the weakest first.
    pub(super) system: Vec<PathBuf>,
    /// Of the user, the weakest first.
    pub(super) user: Vec<PathBuf>,
}

/// See [`callgate_core::Host::git_remote_urls`].
///
/// A name of a group of remotes (`remotes.<group>`) stands for them all. A name that is no remote but that
/// `insteadOf` rewrites stands for what it is rewritten to, since git would connect there.
pub(super) fn remote_urls(files: &ConfigFiles, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
    let repository = Repository::discover(repo)?;
    let entries = Entries::load(files, repository.as_ref())?;
    let remotes = Remotes::new(entries.iter(), repository.as_ref())?;
    texts(remotes.named(remote.as_bytes())?)
}

/// See [`callgate_core::Host::git_default_remote_urls`].
pub(super) fn default_remote_urls(files: &ConfigFiles, repo: &str) -> Result<Vec<String>, HostError> {
    let Some(repository) = Repository::discover(repo)? else {
        return Ok(Vec::new());
    };
    let entries = Entries::load(files, Some(&repository))?;
    let remotes = Remotes::new(entries.iter(), Some(&repository))?;
    texts(remotes.without_argument(repository.branch()?.as_deref())?)
}

/// See [`callgate_core::Host::git_url`].
///
/// `git clone` does not read the configuration of the repository that it happens to run in, other commands
/// do. Where the two rewrite differently, both answers are given.
pub(super) fn url(files: &ConfigFiles, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
    let url = url.as_bytes();
    let mut urls = Vec::new();
    if let Some(repository) = Repository::discover(repo)? {
        let entries = Entries::load(files, Some(&repository))?;
        urls = Remotes::new(entries.iter(), Some(&repository))?.explicit(url)?;
    }
    let entries = Entries::load(files, None)?;
    urls.extend(Remotes::new(entries.iter(), None)?.explicit(url)?);
    texts(urls)
}

/// The distinct `urls`, in their order.
fn texts(urls: Vec<Vec<u8>>) -> Result<Vec<String>, HostError> {
    let mut seen = BTreeSet::new();
    let mut texts = Vec::with_capacity(urls.len());
    for url in urls {
        let text = String::from_utf8(url).map_err(|error| {
            let url = String::from_utf8_lossy(error.as_bytes()).into_owned();
            HostError::new(format!(
                "git's configuration has a URL that is not UTF-8: `{url}`"
            ))
        })?;
        if seen.insert(text.clone()) {
            texts.push(text);
        }
    }
    Ok(texts)
}

/// The canonical form of a place that git would look at, `None` when there is nothing.
fn canonical(path: &Path) -> Result<Option<PathBuf>, HostError> {
    let why = match filesystem::canonical(path) {
        Ok(real) => return Ok(Some(real)),
        Err(RealpathError::NotFound) => return Ok(None),
        Err(RealpathError::Loop) => "too many links",
        Err(RealpathError::Denied) => "permission denied",
        Err(RealpathError::NotUtf8 | RealpathError::Other) => "its place is not resolvable",
        Err(RealpathError::Host(error)) => return Err(error),
    };
    Err(HostError::new(format!(
        "git's `{}` cannot be read: {why}",
        path.display()
    )))
}

#[cfg(test)]
mod tests;
