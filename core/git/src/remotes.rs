//! The remotes of a repository, and the URLs that git connects to for them (`remote.c` of git).

use std::collections::{BTreeMap, BTreeSet};

use crate::entry::Entry;
use crate::files::{Error, join};
use crate::push_default::PushDefault;
use crate::reader::Reader;
use crate::rewrites::Rewrites;
use crate::transport;

/// The steps of looking a remote up.
const LOOK_UP: usize = 32;

/// The most URLs in one answer.
const MAX_URLS: usize = 1_000;

/// The part of git's configuration that decides where git connects, and what it ignores.
#[derive(Default)]
pub(crate) struct Settings {
    remotes: BTreeMap<Vec<u8>, Remote>,
    branches: BTreeMap<Vec<u8>, Branch>,
    /// The members of each group. A group's name is everything after `remotes.` in its key.
    groups: BTreeMap<Vec<u8>, Vec<Vec<u8>>>,
    instead_of: Rewrites,
    push_instead_of: Rewrites,
    push_default: Option<Vec<u8>>,
    /// `push.default`.
    pub(crate) push_mode: PushDefault,
    fetches_all: bool,
    /// `core.excludesFile`.
    pub(crate) excludes_file: Option<Vec<u8>>,
    /// `core.ignoreCase`.
    pub(crate) ignores_case: bool,
}

/// Where git connects, by its settings and the legacy files.
pub(crate) struct Remotes<'a> {
    pub(crate) files: Reader<'a>,
    /// Where the legacy files are; `None` outside a repository.
    pub(crate) common_dir: Option<&'a [u8]>,
    pub(crate) settings: &'a Settings,
}

#[derive(Default)]
struct Remote {
    urls: Vec<Vec<u8>>,
    push_urls: Vec<Vec<u8>>,
    /// URLs before an empty value, which git drops from version 2.46 on and keeps before.
    earlier_urls: Vec<Vec<u8>>,
    /// The remote helper through which every connection goes (`remote.<name>.vcs`).
    helper: Option<Vec<u8>>,
    /// The refspecs of a push (`remote.<name>.push`).
    push: Vec<Vec<u8>>,
    is_mirror: bool,
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
    /// Its upstream branches, as the remote has them.
    merges: Vec<Vec<u8>>,
}

/// The meaning of a name that is not the name of a remote.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// Nothing, because git chose the name itself.
    Nothing,
    /// A URL or a path, as for every name that git is given.
    Url,
}

impl Settings {
    /// # Errors
    /// Git would refuse the configuration: a key that needs a value does not have one, or a name is empty.
    pub(crate) fn new(entries: &[Entry]) -> Result<Self, Error> {
        let mut settings = Self::default();
        for entry in entries {
            settings.read(entry)?;
        }
        Ok(settings)
    }

    /// `handle_config`.
    fn read(&mut self, entry: &Entry) -> Result<(), Error> {
        match entry.parts() {
            (b"remote" | b"branch", Some(b""), _) => return Err(entry.refused("a name before it")),
            (b"remote", Some(name), key) => self.read_remote(name, key, entry)?,
            (b"remote", None, b"pushdefault") => self.push_default = Some(entry.required()?.to_vec()),
            (b"branch", Some(name), b"remote") => {
                self.branches.entry(name.to_vec()).or_default().remote = Some(entry.required()?.to_vec());
            }
            (b"branch", Some(name), b"pushremote") => {
                self.branches.entry(name.to_vec()).or_default().push_remote =
                    Some(entry.required()?.to_vec());
            }
            (b"branch", Some(name), b"merge") => {
                let merges = &mut self.branches.entry(name.to_vec()).or_default().merges;
                merges.push(entry.required()?.to_vec());
            }
            (b"push", None, b"default") => self.push_mode = PushDefault::read(entry)?,
            (b"url", Some(base), b"insteadof") => self.instead_of.add(base, entry.required()?),
            (b"url", Some(base), b"pushinsteadof") => self.push_instead_of.add(base, entry.required()?),
            (b"core", None, b"excludesfile") => self.excludes_file = Some(entry.required()?.to_vec()),
            (b"core", None, b"ignorecase") => self.ignores_case = entry.boolean()?,
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

    fn read_remote(&mut self, name: &[u8], key: &[u8], entry: &Entry) -> Result<(), Error> {
        // Git warns about such a name and treats it as a path.
        if name.starts_with(b"/") {
            return Ok(());
        }
        let remote = self.remotes.entry(name.to_vec()).or_default();
        match key {
            b"url" => add_url(&mut remote.urls, &mut remote.earlier_urls, entry.required()?),
            b"pushurl" => add_url(&mut remote.push_urls, &mut remote.earlier_urls, entry.required()?),
            b"vcs" => remote.helper = Some(entry.required()?.to_vec()),
            b"push" => remote.push.push(entry.required()?.to_vec()),
            b"mirror" => remote.is_mirror = entry.boolean()?,
            _ => {}
        }
        Ok(())
    }

    /// The refspecs of a push to the remote.
    pub(crate) fn push_refspecs(&self, remote: &[u8]) -> &[Vec<u8>] {
        self.remotes.get(remote).map_or(&[], |remote| &remote.push)
    }

    /// Returns `true` if a push makes the remote a copy of the repository.
    pub(crate) fn is_mirror(&self, remote: &[u8]) -> bool {
        self.remotes.get(remote).is_some_and(|remote| remote.is_mirror)
    }

    /// The upstream branches of a branch.
    pub(crate) fn merges(&self, branch: &[u8]) -> &[Vec<u8>] {
        self.branches.get(branch).map_or(&[], |branch| &branch.merges)
    }
}

impl<'a> Remotes<'a> {
    /// The names of the remotes that a push to `remote` may mean: the members of a group, and for an empty name every
    /// remote that git, or a program that starts it, may choose on `branch`.
    ///
    /// # Errors
    /// A remote is in a legacy file, which may have refspecs too.
    pub(crate) fn pushed_to(
        &self,
        remote: &'a [u8],
        branch: Option<&[u8]>,
    ) -> Result<BTreeSet<&'a [u8]>, Error> {
        let settings = self.settings;
        let mut names = vec![remote];
        if remote.is_empty() {
            let branch = branch.and_then(|name| settings.branches.get(name));
            let own = branch.map(|branch| [&branch.remote, &branch.push_remote]);
            let configured = own
                .into_iter()
                .flatten()
                .chain([&settings.push_default])
                .flatten();
            names = configured.map(Vec::as_slice).chain([&b"origin"[..]]).collect();
            // If there is only one remote, git uses it whatever its name.
            if let (1, Some(only)) = (settings.remotes.len(), settings.remotes.keys().next()) {
                names.push(only);
            }
        }
        let mut seen = BTreeSet::new();
        while let Some(name) = names.pop() {
            self.files.steps().take(LOOK_UP + name.len())?;
            if seen.insert(name) {
                if settings
                    .remotes
                    .get(name)
                    .is_none_or(|remote| remote.urls.is_empty())
                {
                    self.refuse_legacy_file(name)?;
                }
                let members = settings.groups.get(name).into_iter().flatten();
                names.extend(members.map(Vec::as_slice));
            }
        }
        Ok(seen)
    }
}

impl Remotes<'_> {
    /// The URLs of a remote or a group of remotes; empty if it does not exist and no rule rewrites the name.
    pub(crate) fn named(&self, name: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let urls = self.explicit(name)?;
        Ok(if urls == [name] && !self.is_known(name) {
            Vec::new()
        } else {
            urls
        })
    }

    /// The URLs that git connects to when it is given `name`, which may be a URL itself.
    pub(crate) fn explicit(&self, name: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let mut urls = Vec::new();
        let mut seen = BTreeSet::new();
        let mut names = vec![name];
        while let Some(name) = names.pop() {
            if seen.insert(name) {
                self.resolve(name, Unknown::Url, &mut urls)?;
                names.extend(
                    self.settings
                        .groups
                        .get(name)
                        .into_iter()
                        .flatten()
                        .map(Vec::as_slice),
                );
            }
        }
        Ok(urls)
    }

    /// The URLs that `git fetch` and `git push` use without an argument on `branch`, which is `None` for a detached head.
    pub(crate) fn without_argument(&self, branch: Option<&[u8]>) -> Result<Vec<Vec<u8>>, Error> {
        let branch = branch.and_then(|name| self.settings.branches.get(name));
        let remote = branch.and_then(|branch| branch.remote.as_ref());
        let push_remote = branch
            .and_then(|branch| branch.push_remote.as_ref())
            .or(self.settings.push_default.as_ref());

        let mut urls = Vec::new();
        for name in remote.into_iter().chain(push_remote) {
            self.resolve(name, Unknown::Url, &mut urls)?;
        }
        if remote.is_none() {
            self.resolve(b"origin", Unknown::Nothing, &mut urls)?;
            // If there is only one remote, git uses it whatever its name.
            if let (1, Some(only)) = (self.settings.remotes.len(), self.settings.remotes.keys().next()) {
                self.resolve(only, Unknown::Nothing, &mut urls)?;
            }
        }
        if self.settings.fetches_all {
            for name in self.settings.remotes.keys() {
                self.resolve(name, Unknown::Nothing, &mut urls)?;
            }
        }
        Ok(urls)
    }

    fn is_known(&self, name: &[u8]) -> bool {
        self.settings.groups.contains_key(name)
            || self.settings.remotes.get(name).is_some_and(Remote::is_configured)
    }

    /// Adds every URL of one remote to `answer`, those to fetch from first (`remotes_remote_get_1`).
    fn resolve(&self, name: &[u8], unknown: Unknown, answer: &mut Vec<Vec<u8>>) -> Result<(), Error> {
        let steps = self.files.steps();
        steps.take(LOOK_UP + name.len())?;
        let none = Remote::default();
        let remote = self.settings.remotes.get(name).unwrap_or(&none);
        if let Some(helper) = &remote.helper {
            return Err(transport::refused(helper, name));
        }
        let configured = remote.lists().iter().map(|urls| urls.len()).sum::<usize>();
        if answer.len() + configured > MAX_URLS {
            return Err(Error::new(format!(
                "git would connect to more than {MAX_URLS} URLs"
            )));
        }
        let (instead_of, push_instead_of) = (&self.settings.instead_of, &self.settings.push_instead_of);
        for url in &remote.earlier_urls {
            answer.push(instead_of.apply(url, steps)?);
            answer.extend(push_instead_of.rewrite(url, steps)?);
        }
        let own = [name.to_vec()];
        let mut fetch_urls = remote.urls.as_slice();
        if fetch_urls.is_empty() {
            self.refuse_legacy_file(name)?;
            if unknown == Unknown::Url {
                fetch_urls = &own;
            }
        }
        for url in fetch_urls.iter().chain(&remote.push_urls) {
            answer.push(instead_of.apply(url, steps)?);
        }
        // A name that stands for itself is rewritten for a push even if there is a `pushurl`.
        if remote.push_urls.is_empty() || remote.urls.is_empty() {
            for url in fetch_urls {
                answer.extend(push_instead_of.rewrite(url, steps)?);
            }
        }
        Ok(())
    }

    /// Git before version 3 reads `remotes/<name>` and `branches/<name>` if the configuration has no URL, so what the
    /// remote stands for depends on git's version.
    fn refuse_legacy_file(&self, name: &[u8]) -> Result<(), Error> {
        let is_file_name = !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/') && !name.contains(&0);
        let Some(common_dir) = self.common_dir.filter(|_| is_file_name) else {
            return Ok(());
        };
        for folder in [&b"remotes"[..], b"branches"] {
            let path = join(&join(common_dir, folder), name);
            if self.files.look(&path)?.is_some() {
                let path = String::from_utf8_lossy(&path).into_owned();
                return Err(Error::new(format!(
                    "the remote is in the legacy file `{path}`, which is not read"
                )));
            }
        }
        Ok(())
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
