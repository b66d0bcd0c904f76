//! Git's answers about the repositories of a machine.

use std::collections::BTreeMap;

use super::{Repository, Urls};

/// The remote that git uses if none is configured.
const ORIGIN: &str = "origin";

/// The repository at `dir` or the nearest one above it.
pub(super) fn nearest<'w>(
    repositories: &'w BTreeMap<String, Repository>,
    dir: &str,
) -> Option<&'w Repository> {
    let mut place = dir;
    loop {
        if let Some(repository) = repositories.get(place) {
            return Some(repository);
        }
        place = match place.rfind('/') {
            Some(0) if place != "/" => "/",
            Some(at) if at > 0 => &place[..at],
            _ => return None,
        };
    }
}

impl Repository {
    /// Every URL of the remote `name`: those to fetch from, then those to push to.
    pub(super) fn urls_of(&self, name: &str) -> Vec<String> {
        if name.starts_with('-') || name.contains('\0') {
            return Vec::new();
        }
        let configured = |of: &BTreeMap<String, Urls>| -> Vec<String> {
            let urls = of.get(name).into_iter().flat_map(Urls::iter).map(trim);
            urls.map(|url| self.rewritten(url)).collect()
        };
        distinct(
            configured(&self.remotes)
                .into_iter()
                .chain(configured(&self.push_urls)),
        )
    }

    /// The branch that is checked out; `None` if the head is detached.
    pub(super) fn branch(&self) -> Option<&str> {
        self.branch.as_deref().map(trim)
    }

    /// The URLs of the remotes that a fetch and a push use without an argument.
    pub(super) fn default_urls(&self) -> Vec<String> {
        let branch = self.branch();
        let of_branch =
            |remotes: &BTreeMap<String, String>| branch.and_then(|branch| remotes.get(branch)).cloned();
        let tracking = of_branch(&self.branch_remotes);
        let push = of_branch(&self.branch_push_remotes).or_else(|| self.push_default.clone());
        let fetched = tracking
            .map(|remote| self.urls_of_setting(&remote))
            .filter(|urls| urls.iter().any(|url| !url.is_empty()))
            .unwrap_or_else(|| self.urls_of(ORIGIN));
        let pushed = push
            .map(|remote| self.urls_of_setting(&remote))
            .unwrap_or_default();
        distinct(fetched.into_iter().chain(pushed).filter(|url| !url.is_empty()))
    }

    /// The URLs that git connects to for an explicit URL: it may be the name of a remote, and `insteadOf` may rewrite it.
    pub(super) fn urls_of_explicit(&self, url: &str) -> Vec<String> {
        let named = self.urls_of(url);
        if named.is_empty() {
            vec![self.rewritten(url)]
        } else {
            named
        }
    }

    /// The URLs of a remote as a setting names it, by its name or by a URL.
    fn urls_of_setting(&self, remote: &str) -> Vec<String> {
        let remote = trim(remote);
        if remote.contains(':') {
            self.urls_of_explicit(remote)
        } else {
            self.urls_of(remote)
        }
    }

    /// Applies `insteadOf` to `url`; the longest match wins (`git-config(1)`).
    fn rewritten(&self, url: &str) -> String {
        let bases = self
            .instead_of
            .iter()
            .filter(|(_, old)| url.starts_with(old.as_str()));
        match bases.max_by_key(|(_, old)| old.len()) {
            Some((new, old)) => format!("{new}{}", &url[old.len()..]),
            None => url.to_owned(),
        }
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches(|symbol: char| symbol.is_whitespace() || symbol == '\u{feff}')
}

fn distinct(urls: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    for url in urls {
        if !all.contains(&url) {
            all.push(url);
        }
    }
    all
}
