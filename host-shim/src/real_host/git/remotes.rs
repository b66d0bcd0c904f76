//! The remotes of a repository, and the URLs that git connects to for them (`remote.c` of git).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use callgate_core::HostError;

use super::entry::Entry;
use super::repository::Repository;

/// The URLs of one answer.
const MAX_URLS: usize = 1_000;

/// What git's configuration says about connecting.
#[derive(Default)]
pub(super) struct Remotes {
    remotes: BTreeMap<Vec<u8>, Remote>,
    branches: BTreeMap<Vec<u8>, Branch>,
    /// The members of each group, which is named by all that follows `remotes.` in its key.
    groups: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    instead_of: Rewrites,
    push_instead_of: Rewrites,
    push_default: Option<Vec<u8>>,
    fetches_all: bool,
    common_dir: Option<PathBuf>,
}

#[derive(Default)]
struct Remote {
    urls: Vec<Vec<u8>>,
    push_urls: Vec<Vec<u8>>,
    /// Those before an empty value. Git since 2.46 forgets them there, an older one does not.
    earlier_urls: Vec<Vec<u8>>,
    /// The remote helper that carries every connection (`remote.<name>.vcs`).
    helper: Option<Vec<u8>>,
}

impl Remote {
    fn lists(&self) -> [&[Vec<u8>]; 3] {
        [&self.urls, &self.push_urls, &self.earlier_urls]
    }

    fn is_configured(&self) -> bool {
        self.lists().iter().any(|urls| !urls.is_empty()) || self.helper.is_some()
    }
}

#[derive(Default)]
struct Branch {
    remote: Option<Vec<u8>>,
    push_remote: Option<Vec<u8>>,
}

/// What a name stands for when no remote has it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// Nothing: git chose the name itself.
    Nothing,
    /// A URL or a path, as git takes every name that it is given.
    Url,
}

impl Remotes {
    /// # Errors
    /// A key that needs a value has none.
    pub(super) fn new<'e>(
        entries: impl Iterator<Item = &'e Entry>,
        repository: Option<&Repository>,
    ) -> Result<Self, HostError> {
        let mut remotes = Self {
            common_dir: repository.map(|repository| repository.common_dir.clone()),
            ..Self::default()
        };
        for entry in entries {
            remotes.read(entry)?;
        }
        Ok(remotes)
    }

    /// The URLs of a remote or a group of remotes; empty when there is none and nothing rewrites the name.
    pub(super) fn named(&self, name: &[u8]) -> Result<Vec<Vec<u8>>, HostError> {
        let urls = self.explicit(name)?;
        Ok(if urls == [name] && !self.is_known(name) {
            Vec::new()
        } else {
            urls
        })
    }

    /// The URLs that git connects to when it is given `name`, which may be a URL itself.
    pub(super) fn explicit(&self, name: &[u8]) -> Result<Vec<Vec<u8>>, HostError> {
        let mut urls = Vec::new();
        let mut seen = BTreeSet::new();
        let mut names = vec![name];
        while let Some(name) = names.pop() {
            if seen.insert(name) {
                self.resolve(name, Unknown::Url, &mut urls)?;
                names.extend(self.groups.get(name).into_iter().flatten().map(Vec::as_slice));
            }
        }
        Ok(urls)
    }

    /// The URLs of `git fetch` and `git push` without an argument on `branch`, `None` for a detached head.
    pub(super) fn without_argument(&self, branch: Option<&[u8]>) -> Result<Vec<Vec<u8>>, HostError> {
        let branch = branch.and_then(|name| self.branches.get(name));
        let remote = branch.and_then(|branch| branch.remote.as_ref());
        let push_remote = branch
            .and_then(|branch| branch.push_remote.as_ref())
            .or(self.push_default.as_ref());

        let mut urls = Vec::new();
        for name in remote.into_iter().chain(push_remote) {
            self.resolve(name, Unknown::Url, &mut urls)?;
        }
        if remote.is_none() {
            self.resolve(b"origin", Unknown::Nothing, &mut urls)?;
            // Git takes the only remote there is, whatever its name.
            if let (1, Some(only)) = (self.remotes.len(), self.remotes.keys().next()) {
                self.resolve(only, Unknown::Nothing, &mut urls)?;
            }
        }
        if self.fetches_all {
            for name in self.remotes.keys() {
                self.resolve(name, Unknown::Nothing, &mut urls)?;
            }
        }
        Ok(urls)
    }

    fn read(&mut self, entry: &Entry) -> Result<(), HostError> {
        match entry.parts() {
            (b"remote", Some(name), key) => self.read_remote(name, key, entry)?,
            (b"remote", None, b"pushdefault") => self.push_default = Some(entry.required()?.to_vec()),
            (b"branch", Some(name), b"remote") => {
                self.branches.entry(name.to_vec()).or_default().remote = Some(entry.required()?.to_vec());
            }
            (b"branch", Some(name), b"pushremote") => {
                self.branches.entry(name.to_vec()).or_default().push_remote =
                    Some(entry.required()?.to_vec());
            }
            (b"url", Some(base), b"insteadof") => self.instead_of.add(base, entry.required()?),
            (b"url", Some(base), b"pushinsteadof") => self.push_instead_of.add(base, entry.required()?),
            (b"fetch", None, b"all") => self.fetches_all = entry.boolean()?,
            (b"remotes", _, _) => {
                let group = entry.key.strip_prefix(b"remotes.").unwrap_or_default();
                let members = words(entry.required()?).map(<[u8]>::to_vec);
                self.groups.entry(group.to_vec()).or_default().extend(members);
            }
            _ => {}
        }
        Ok(())
    }

    fn read_remote(&mut self, name: &[u8], key: &[u8], entry: &Entry) -> Result<(), HostError> {
        // Git warns of such a name and takes it for a path.
        if name.starts_with(b"/") {
            return Ok(());
        }
        let remote = self.remotes.entry(name.to_vec()).or_default();
        match key {
            b"url" => add_url(&mut remote.urls, &mut remote.earlier_urls, entry.required()?),
            b"pushurl" => add_url(&mut remote.push_urls, &mut remote.earlier_urls, entry.required()?),
            b"vcs" => remote.helper = Some(entry.required()?.to_vec()),
            _ => {}
        }
        Ok(())
    }

    fn is_known(&self, name: &[u8]) -> bool {
        self.groups.contains_key(name) || self.remotes.get(name).is_some_and(Remote::is_configured)
    }

    /// Adds every URL of one remote to `answer`: to fetch from, then to push to.
    fn resolve(&self, name: &[u8], unknown: Unknown, answer: &mut Vec<Vec<u8>>) -> Result<(), HostError> {
        let none = Remote::default();
        let remote = self.remotes.get(name).unwrap_or(&none);
        let configured = remote.lists().iter().map(|urls| urls.len()).sum::<usize>();
        if answer.len() + configured > MAX_URLS {
            return Err(HostError::new(format!(
                "git would connect to more than {MAX_URLS} URLs"
            )));
        }
        let mut urls: Vec<Vec<u8>> = Vec::new();
        for url in &remote.earlier_urls {
            urls.push(self.instead_of.apply(url));
            urls.extend(self.push_instead_of.rewrite(url));
        }
        let mut fetch_urls = remote.urls.clone();
        if remote.urls.is_empty() && remote.helper.is_none() {
            self.refuse_legacy_file(name)?;
            if unknown == Unknown::Url {
                fetch_urls.push(name.to_vec());
            }
        }
        urls.extend(fetch_urls.iter().map(|url| self.instead_of.apply(url)));
        urls.extend(remote.push_urls.iter().map(|url| self.instead_of.apply(url)));
        // A name that stands for itself is rewritten for a push even beside a `pushurl`.
        if remote.push_urls.is_empty() || remote.urls.is_empty() {
            let push_urls = fetch_urls.iter();
            urls.extend(push_urls.filter_map(|url| self.push_instead_of.rewrite(url)));
        }
        match &remote.helper {
            Some(helper) if urls.is_empty() => answer.push([helper, &b"::"[..], name].concat()),
            Some(helper) => answer.extend(urls.iter().map(|url| [helper, &b"::"[..], url].concat())),
            None => answer.append(&mut urls),
        }
        Ok(())
    }

    /// Git reads `remotes/<name>` and `branches/<name>` where the configuration has no URL (and no longer
    /// from version 3 on); what they stand for is not told here.
    fn refuse_legacy_file(&self, name: &[u8]) -> Result<(), HostError> {
        let is_file_name = !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && !name.contains(&0);
        let Some(common_dir) = self.common_dir.as_ref().filter(|_| is_file_name) else {
            return Ok(());
        };
        for folder in ["remotes", "branches"] {
            let path = common_dir.join(folder).join(OsStr::from_bytes(name));
            if path.symlink_metadata().is_ok() {
                let path = path.display();
                return Err(HostError::new(format!(
                    "the remote is in the legacy file `{path}`, which is not read"
                )));
            }
        }
        Ok(())
    }
}

/// The rules of `url.<base>.insteadOf` or `pushInsteadOf`.
#[derive(Default)]
struct Rewrites {
    /// Each base with its place in the order of first mention.
    bases: BTreeMap<Vec<u8>, usize>,
    /// Each prefix with what replaces it: of several bases the one that was mentioned first.
    rules: BTreeMap<Vec<u8>, (usize, Vec<u8>)>,
}

impl Rewrites {
    fn add(&mut self, base: &[u8], prefix: &[u8]) {
        let next = self.bases.len();
        let place = *self.bases.entry(base.to_vec()).or_insert(next);
        let rule = self
            .rules
            .entry(prefix.to_vec())
            .or_insert_with(|| (place, base.to_vec()));
        if place < rule.0 {
            *rule = (place, base.to_vec());
        }
    }

    fn apply(&self, url: &[u8]) -> Vec<u8> {
        self.rewrite(url).unwrap_or_else(|| url.to_vec())
    }

    /// `url` with its longest known prefix replaced; `None` when it has none.
    fn rewrite(&self, url: &[u8]) -> Option<Vec<u8>> {
        let mut start = url;
        loop {
            // The greatest rule that is not behind `start`: where it is no prefix of it, one that is can only
            // be as long as what both have in common.
            let up_to = (Bound::Unbounded, Bound::Included(start));
            let (prefix, (_, base)) = self.rules.range::<[u8], _>(up_to).next_back()?;
            if let Some(rest) = url.strip_prefix(prefix.as_slice()) {
                return Some([base, rest].concat());
            }
            let common = start.iter().zip(prefix).take_while(|(one, other)| one == other);
            start = start.split_at(common.count()).0;
        }
    }
}

fn add_url(urls: &mut Vec<Vec<u8>>, earlier: &mut Vec<Vec<u8>>, url: &[u8]) {
    if url.is_empty() {
        earlier.append(urls);
    } else {
        urls.push(url.to_vec());
    }
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
        .filter(|word| !word.is_empty())
}
