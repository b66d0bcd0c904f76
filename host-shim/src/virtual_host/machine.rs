//! The shape of a machine: `tests/README.md` has the format in words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything that a [`VirtualHost`](super::VirtualHost) knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Machine {
    /// What the paths look like.
    #[serde(default)]
    pub platform: Platform,
    /// The home directory.
    pub home: String,
    /// The directory that relative paths are relative to.
    pub cwd: String,
    /// What exists. Ancestors of entries are directories, and nothing else exists.
    #[serde(default)]
    pub fs: Filesystem,
    /// Repositories by the canonical path of their top directory.
    #[serde(default)]
    pub git: BTreeMap<String, Repository>,
    /// What the predicates say that an engine's world calls `host:<name>`, by name; others fail.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, Predicate>,
}

/// What a predicate says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Predicate {
    /// This.
    Always(bool),
    /// That it cannot say: the host fails with these words.
    Fails(String),
    /// Whether the subject has all of these members.
    Of(serde_json::Map<String, serde_json::Value>),
}

/// Whose paths a machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Absolute paths start with `/`.
    #[default]
    Posix,
    /// Drive letters and `\`. The engine's paths are POSIX, so none of them leads to an entry of such a machine:
    /// only `/` exists.
    Win32,
}

/// The virtual filesystem. Without the three folding flags names compare byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Filesystem {
    /// Directories.
    #[serde(default)]
    pub dirs: Vec<String>,
    /// Files.
    #[serde(default)]
    pub files: Vec<String>,
    /// Symbolic links and the targets that are written in them.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Error codes by directory: looking up anything below it fails so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, String>,
    /// Names that differ in case only are one name. `realpath` keeps the spelling that it was given.
    #[serde(default, skip_serializing_if = "is_false")]
    pub case_insensitive: bool,
    /// Names that differ in Unicode composition only are one name.
    #[serde(default, skip_serializing_if = "is_false")]
    pub normalization_insensitive: bool,
    /// Invisible formatting characters in names do not count.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ignorables: bool,
}

/// What git knows of one repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Repository {
    /// The branch that is checked out; `None`: the head is detached.
    #[serde(default)]
    pub branch: Option<String>,
    /// `branch.<name>.remote`.
    #[serde(default, alias = "branchRemote")]
    pub branch_remotes: BTreeMap<String, String>,
    /// `branch.<name>.pushRemote`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub branch_push_remotes: BTreeMap<String, String>,
    /// `remote.pushDefault`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_default: Option<String>,
    /// `remote.<name>.url`.
    #[serde(default)]
    pub remotes: BTreeMap<String, Urls>,
    /// `remote.<name>.pushurl`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub push_urls: BTreeMap<String, Urls>,
    /// `url.<key>.insteadOf = <value>`: URLs that begin with the value begin with the key instead.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instead_of: BTreeMap<String, String>,
    /// Where the repository's data lies, if not in `.git`; no answer depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gitdir: Option<String>,
    /// Where the repository's files lie, if not beside its data; no answer depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// One URL or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Urls {
    /// One URL.
    One(String),
    /// Several, in the order in which the configuration names them.
    Several(Vec<String>),
}

impl Urls {
    /// The URLs, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(url) => std::slice::from_ref(url),
            Self::Several(urls) => urls.as_slice(),
        }
        .iter()
        .map(String::as_str)
    }
}

impl Machine {
    /// A machine in which only `home` and `cwd` exist.
    pub fn new(home: impl Into<String>, cwd: impl Into<String>) -> Self {
        let (home, cwd) = (home.into(), cwd.into());
        let dirs = vec![home.clone(), cwd.clone()];
        Self {
            home,
            cwd,
            fs: Filesystem {
                dirs,
                ..Filesystem::default()
            },
            ..Self::default()
        }
    }

    /// Adds a directory and its ancestors.
    #[must_use]
    pub fn dir(mut self, path: impl Into<String>) -> Self {
        self.fs.dirs.push(path.into());
        self
    }

    /// Adds a file and its ancestors.
    #[must_use]
    pub fn file(mut self, path: impl Into<String>) -> Self {
        self.fs.files.push(path.into());
        self
    }

    /// Adds a symbolic link and its ancestors; the target need not exist.
    #[must_use]
    pub fn link(mut self, path: impl Into<String>, target: impl Into<String>) -> Self {
        self.fs.links.insert(path.into(), target.into());
        self
    }

    /// Adds a repository, in place of one that was there.
    #[must_use]
    pub fn repository(mut self, path: impl Into<String>, repository: Repository) -> Self {
        self.git.insert(path.into(), repository);
        self
    }

    /// Adds a remote to the repository at `repo`, and the repository where it is missing.
    #[must_use]
    pub fn remote(
        mut self,
        repo: impl Into<String>,
        name: impl Into<String>,
        url: impl Into<String>,
    ) -> Self {
        let repository = self.git.entry(repo.into()).or_default();
        repository.remotes.insert(name.into(), Urls::One(url.into()));
        self
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
