//! What git's configuration means: where a remote leads, and which branch is checked out.
//!
//! ```
//! use callgate_git::{Error, Files, Found, Git, Kind, Places};
//!
//! /// A disk of one repository.
//! struct Disk;
//!
//! const FILES: &[(&[u8], &[u8])] = &[
//!     (b"/repo/.git/HEAD", b"ref: refs/heads/main\n"),
//!     (b"/repo/.git/config", b"[remote \"origin\"]\n\turl = gh:acme/app.git\n"),
//!     (b"/home/u/.gitconfig", b"[url \"https://github.com/\"]\n\tinsteadOf = gh:\n"),
//! ];
//! const DIRECTORIES: &[&[u8]] = &[
//!     b"/", b"/repo", b"/repo/.git", b"/repo/.git/objects", b"/repo/.git/refs", b"/home", b"/home/u",
//! ];
//!
//! impl Files for Disk {
//!     fn real(&self, path: &[u8]) -> Result<Option<Vec<u8>>, Error> {
//!         Ok(self.look(path)?.map(|_| path.to_vec()))
//!     }
//!
//!     fn look(&self, path: &[u8]) -> Result<Option<Found>, Error> {
//!         let kind = if DIRECTORIES.contains(&path) {
//!             Kind::Directory
//!         } else if FILES.iter().any(|(name, _)| *name == path) {
//!             Kind::File
//!         } else {
//!             return Ok(None);
//!         };
//!         Ok(Some(Found { kind, is_own: true, device: 1 }))
//!     }
//!
//!     fn read(&self, path: &[u8], _limit: usize) -> Result<Option<Vec<u8>>, Error> {
//!         let found = FILES.iter().find(|(name, _)| *name == path);
//!         Ok(found.map(|(_, content)| content.to_vec()))
//!     }
//!
//!     fn is_searchable(&self, path: &[u8]) -> Result<bool, Error> {
//!         Ok(DIRECTORIES.contains(&path))
//!     }
//! }
//!
//! let places = Places::new("/home/u", "/home/u/.config", false);
//! let git = Git::new(&Disk, &places);
//! assert_eq!(git.remote_urls("/repo", "origin")?, ["https://github.com/acme/app.git"]);
//! assert_eq!(git.branch("/repo")?.as_deref(), Some("main"));
//! # Ok::<(), Error>(())
//! ```
//!
//! - **Pure**: nothing is read but by the [`Files`] of the caller, no process is started, nothing is kept between two
//!   questions.
//! - **Git's answers**: those of `git remote get-url --all` (with and without `--push`), `git ls-remote --get-url` and
//!   `git branch --show-current`, held against the installed git in the tests of `callgate-host`. Where versions of git
//!   differ, the answer holds the URLs of all.
//! - **What is not certain is an [`Error`]**, never "none": a configuration or a repository that git refuses, a
//!   repository that git ignores for its owner (`safe.directory`), a program that git would start instead of connecting
//!   (`remote.<name>.vcs`, `ext::`, unknown schemes), a condition of `includeIf` that is not known, a path that starts
//!   with `~name` or `%(prefix)`, the legacy files below `.git/remotes` and `.git/branches`, the branch of a repository
//!   that does not keep its references in files, text that is not UTF-8.
//! - **Bounded**: for one question 1,000 files of 16 MiB together, 100,000 keys of 32 KiB each, includes 10 deep, 1,000
//!   URLs, and a fixed number of steps for all patterns together.
//!
//! The environment (`GIT_*`, `PWD`) is not looked at, and git is taken to run as the user who [`Found::is_own`] is
//! about. An answer is about where git connects first: submodules, bundles and proxies are not looked at.

mod condition;
mod config;
mod discover;
mod entry;
mod files;
mod format;
mod remotes;
mod repository;
mod rewrites;
mod syntax;
mod transport;
mod wildmatch;

use std::collections::BTreeSet;

pub use files::{Error, Files, Found, Kind};

use remotes::Remotes;
use repository::Repository;

/// The configuration of the whole machine, as git's usual builds have it.
const SYSTEM: &[&str] = &["/etc/gitconfig"];

/// The same on macOS, where there are several builds.
const SYSTEM_OF_MACOS: &[&str] = &[
    "/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
    "/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
    "/etc/gitconfig",
    "/usr/local/etc/gitconfig",
    "/opt/homebrew/etc/gitconfig",
];

/// Where git's configuration outside a repository is. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// What `~` stands for.
    pub home: Vec<u8>,
    /// The files of the machine, the weakest first.
    pub system: Vec<Vec<u8>>,
    /// The files of the user, the weakest first.
    pub user: Vec<Vec<u8>>,
}

impl Places {
    /// The usual places for a user with this home directory, whose other configuration is below `user_config`
    /// (`$XDG_CONFIG_HOME`, or `~/.config`).
    #[must_use]
    pub fn new(home: &str, user_config: &str, is_macos: bool) -> Self {
        let system = if is_macos { SYSTEM_OF_MACOS } else { SYSTEM };
        let user = [format!("{user_config}/git/config"), format!("{home}/.gitconfig")];
        Self {
            home: home.as_bytes().to_vec(),
            system: system.iter().map(|path| path.as_bytes().to_vec()).collect(),
            user: user.into_iter().map(String::into_bytes).collect(),
        }
    }
}

/// Git, as the files say.
#[derive(Clone, Copy)]
pub struct Git<'a> {
    files: &'a dyn Files,
    places: &'a Places,
}

impl<'a> Git<'a> {
    /// Git on these files.
    #[must_use]
    pub fn new(files: &'a dyn Files, places: &'a Places) -> Self {
        Self { files, places }
    }

    /// Every URL that `remote` stands for in the repository of the directory `directory`: to fetch from, then to push
    /// to. Empty: no such remote.
    ///
    /// The name of a group of remotes (`remotes.<group>`) stands for them all. A name that is not a remote but that
    /// `insteadOf` rewrites stands for what it is rewritten to, since git would connect there.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn remote_urls(&self, directory: &str, remote: &str) -> Result<Vec<String>, Error> {
        let repository = self.discover(directory)?;
        texts(self.remotes(repository.as_ref())?.named(remote.as_bytes())?)
    }

    /// The same for the remotes that a fetch or push without an argument would use. Empty: none.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn default_remote_urls(&self, directory: &str) -> Result<Vec<String>, Error> {
        let repository = self.discover(directory)?;
        let branch = self.branch_of(repository.as_ref())?;
        let remotes = self.remotes(repository.as_ref())?;
        texts(remotes.without_argument(branch.as_deref())?)
    }

    /// Every URL that git connects to when it is given `url`: after `insteadOf` and `pushInsteadOf`, and those of a
    /// remote that has this URL for its name.
    ///
    /// `git clone` does not read the configuration of the repository that it happens to run in, other commands
    /// do. Where the two rewrite differently, both answers are given.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn urls(&self, directory: &str, url: &str) -> Result<Vec<String>, Error> {
        let url = url.as_bytes();
        let mut urls = Vec::new();
        if let Some(repository) = self.discover(directory)? {
            urls = self.remotes(Some(&repository))?.explicit(url)?;
        }
        urls.extend(self.remotes(None)?.explicit(url)?);
        texts(urls)
    }

    /// The short name of the branch that is checked out, also when it has no commit yet. `None`: the head is detached,
    /// or there is no repository.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn branch(&self, directory: &str) -> Result<Option<String>, Error> {
        let repository = self.discover(directory)?;
        // Git does nothing where it does not understand the configuration.
        self.remotes(repository.as_ref())?;
        self.branch_of(repository.as_ref())?.map(branch_text).transpose()
    }

    fn branch_of(&self, repository: Option<&Repository>) -> Result<Option<Vec<u8>>, Error> {
        match repository {
            Some(repository) => repository.branch(self.files),
            None => Ok(None),
        }
    }

    fn discover(&self, directory: &str) -> Result<Option<Repository>, Error> {
        discover::discover(self.files, self.places, directory.as_bytes())
    }

    fn remotes<'r>(&'r self, repository: Option<&'r Repository>) -> Result<Remotes<'r>, Error> {
        let entries = config::load(self.files, self.places, repository)?;
        let common_dir = repository.map(|repository| repository.common_dir.as_slice());
        Remotes::new(self.files, common_dir, &entries)
    }
}

/// The distinct `urls`, in their order.
fn texts(urls: Vec<Vec<u8>>) -> Result<Vec<String>, Error> {
    let mut seen = BTreeSet::new();
    let mut texts = Vec::with_capacity(urls.len());
    for url in urls {
        let text = transport::text(url)?;
        if seen.insert(text.clone()) {
            texts.push(text);
        }
    }
    Ok(texts)
}

fn branch_text(branch: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(branch).map_err(|error| {
        let branch = String::from_utf8_lossy(error.as_bytes()).into_owned();
        Error::new(format!("the branch is not UTF-8: `{branch}`"))
    })
}
