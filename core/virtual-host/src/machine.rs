//! The shape of a machine; `tests/README.md` describes the format.

use std::collections::BTreeMap;

use callgate_engine::host::GitIgnore;
use serde::{Deserialize, Serialize};

/// The machine that a [`VirtualHost`](super::VirtualHost) answers from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Machine {
    /// The syntax of the paths.
    #[serde(default)]
    pub platform: Platform,
    /// The home directory.
    pub home: String,
    /// The directory that relative paths are relative to.
    pub cwd: String,
    /// The entries that exist. Their ancestors are directories, and nothing else exists.
    #[serde(default)]
    pub fs: Filesystem,
    /// The repositories, by the canonical path of their top directory.
    #[serde(default)]
    pub git: BTreeMap<String, Repository>,
    /// The predicates that an engine's world calls `host:<name>`, by name. Any other predicate fails.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, Predicate>,
}

/// The answer of a predicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Predicate {
    /// Always this answer.
    Always(bool),
    /// A host failure with this message.
    Fails(String),
    /// `true` if the subject has all of these members.
    Of(serde_json::Map<String, serde_json::Value>),
}

/// The platform whose paths a machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Absolute paths start with `/`.
    #[default]
    Posix,
    /// Drive letters and `\`. The engine's paths are POSIX and never lead to an entry of such a machine, so only `/`
    /// exists.
    Win32,
}

/// The virtual filesystem. Names compare byte for byte unless one of the three folding flags is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Filesystem {
    /// Directories.
    #[serde(default)]
    pub dirs: Vec<String>,
    /// Files.
    #[serde(default)]
    pub files: Vec<String>,
    /// Symbolic links, with their targets as written.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Error codes by directory. Looking up anything below the directory fails with the code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, String>,
    /// Names that differ only in case are the same. `realpath` keeps the spelling that it was given.
    #[serde(default, skip_serializing_if = "is_false")]
    pub case_insensitive: bool,
    /// Names that differ only in Unicode composition are the same.
    #[serde(default, skip_serializing_if = "is_false")]
    pub normalization_insensitive: bool,
    /// Invisible formatting characters in names do not count.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ignorables: bool,
}

/// One git repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Repository {
    /// The checked-out branch; `None` if the head is detached.
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
    /// `push.default`.
    #[serde(default, skip_serializing_if = "PushMode::is_simple")]
    pub push_mode: PushMode,
    /// `branch.<name>.merge`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub branch_merges: BTreeMap<String, String>,
    /// `remote.<name>.push`, as `SOURCE:DESTINATION`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub push_refspecs: BTreeMap<String, Urls>,
    /// The remotes with `remote.<name>.mirror`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirrors: Vec<String>,
    /// `remote.<name>.url`.
    #[serde(default)]
    pub remotes: BTreeMap<String, Urls>,
    /// `remote.<name>.pushurl`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub push_urls: BTreeMap<String, Urls>,
    /// `url.<key>.insteadOf = <value>`: URLs that begin with the value begin with the key instead.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instead_of: BTreeMap<String, String>,
    /// What git's ignore files say, by absolute path: what is ignored is so with everything below it. `None` cannot be told, and a
    /// path that is not listed is unmentioned.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub check_ignore: BTreeMap<String, Option<GitIgnore>>,
    /// The repository's own directory, if it is not `.git`; no answer depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gitdir: Option<String>,
    /// The work tree, if it is not beside the repository's own directory; no answer depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// The ref that a push without a refspec updates (`git-config(1)`, `push.default`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PushMode {
    /// Nothing, unless the upstream branch has the same name.
    #[default]
    Simple,
    /// The branch of the same name.
    Current,
    /// The upstream branch.
    Upstream,
    /// Every branch that both sides have.
    Matching,
    /// Nothing.
    Nothing,
}

impl PushMode {
    fn is_simple(&self) -> bool {
        *self == Self::Simple
    }
}

/// One URL or several, or one refspec or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Urls {
    /// One.
    One(String),
    /// Several, in the order of the configuration.
    Several(Vec<String>),
}

impl Urls {
    /// All of them, in order.
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

    /// Adds a repository, replacing one that was there.
    #[must_use]
    pub fn repository(mut self, path: impl Into<String>, repository: Repository) -> Self {
        self.git.insert(path.into(), repository);
        self
    }

    /// Adds a remote to the repository at `repo`, and the repository itself if it is missing.
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
