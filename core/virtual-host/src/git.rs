//! Git's answers about the repositories of a machine.

use std::collections::BTreeMap;

use callgate_engine::host::GitIgnore;

use super::{PushMode, Repository, Urls};

/// The remote that git uses if none is configured.
const ORIGIN: &str = "origin";

/// Where branches are.
const HEADS: &str = "refs/heads/";

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
            Some(at) if at > 0 => place.get(..at)?,
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

    /// What git's ignore files say of a path without links; `None` if it cannot be told.
    pub(super) fn check_ignore(&self, path: &str) -> Option<GitIgnore> {
        let said = |path: &str| self.check_ignore.get(path).copied();
        let mut above = path;
        while let Some((place, _)) = above.rsplit_once('/') {
            if said(place) == Some(Some(GitIgnore::Ignored)) {
                return Some(GitIgnore::Ignored);
            }
            above = place;
        }
        said(path).unwrap_or(Some(GitIgnore::Unmentioned))
    }

    /// The refs that a push updates because the configuration says so; `None` if they cannot be told.
    pub(super) fn push_refs(&self, remote: &str, reference: &str) -> Option<Vec<String>> {
        let refspecs: Vec<(&str, &str)> = self
            .remotes_pushed_to(remote)
            .into_iter()
            .filter_map(|name| self.push_refspecs.get(name))
            .flat_map(Urls::iter)
            .map(|text| refspec(trim(text)))
            .collect();
        let mut refs = Vec::new();
        if reference.is_empty() {
            let mut remotes = self.remotes_pushed_to(remote).into_iter();
            let is_mirror = remotes.any(|name| self.mirrors.iter().any(|mirror| mirror == name));
            let is_pattern = refspecs.iter().any(|(_, to)| to.is_empty() || to.contains('*'));
            let is_matching = refspecs.is_empty() && self.push_mode == PushMode::Matching;
            if is_mirror || is_pattern || is_matching {
                return None;
            }
            let explicit = refspecs.iter().filter(|(_, to)| *to != "HEAD");
            refs.extend(explicit.map(|(_, to)| (*to).to_owned()));
        }
        let name = match (reference, self.branch()) {
            ("" | "HEAD", None) => return Some(refs),
            ("" | "HEAD", Some(branch)) => branch,
            (name, _) => name.strip_prefix(HEADS).unwrap_or(name),
        };
        let full = format!("{HEADS}{name}");
        let mapped = refspecs
            .iter()
            .find_map(|(from, to)| destination(&full, from, to));
        refs.extend(mapped.filter(|to| *to != full));
        if self.push_mode == PushMode::Upstream {
            refs.extend(self.branch_merges.get(name).cloned());
        }
        Some(distinct(refs.into_iter()))
    }

    /// The remote, or those that a push without one may use.
    fn remotes_pushed_to<'r>(&'r self, remote: &'r str) -> Vec<&'r str> {
        if !remote.is_empty() {
            return vec![remote];
        }
        let branch = self.branch();
        let of_branch = |remotes: &'r BTreeMap<String, String>| branch.and_then(|branch| remotes.get(branch));
        let configured = [
            of_branch(&self.branch_remotes),
            of_branch(&self.branch_push_remotes),
            self.push_default.as_ref(),
        ];
        let names = configured.into_iter().flatten().map(|name| trim(name));
        names.chain([ORIGIN]).collect()
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
            .filter_map(|(new, old)| Some((new, old.len(), url.strip_prefix(old.as_str())?)));
        match bases.max_by_key(|(_, length, _)| *length) {
            Some((new, _, rest)) => format!("{new}{rest}"),
            None => url.to_owned(),
        }
    }
}

/// The source and the destination of a refspec, which are the same where it has no colon.
fn refspec(text: &str) -> (&str, &str) {
    let text = text.strip_prefix('+').unwrap_or(text);
    text.rsplit_once(':').unwrap_or((text, text))
}

/// The name that `to` maps the reference to if `from` matches it.
fn destination(reference: &str, from: &str, to: &str) -> Option<String> {
    let Some((before, after)) = from.split_once('*') else {
        return (reference == from).then(|| to.to_owned());
    };
    let middle = reference.strip_prefix(before)?.strip_suffix(after)?;
    Some(to.replacen('*', middle, 1))
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
