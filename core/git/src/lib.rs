//! Git's files, read without git: where a remote leads, which branch is checked out, and what is ignored.
//!
//! ```
//! use callgate_git::{Error, Files, Found, Git, Kind, Known, Places};
//!
//! /// A disk with one repository.
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
//! let mut known = Known::default();
//! let mut git = Git::new(&Disk, &places, &mut known);
//! assert_eq!(git.remote_urls("/repo", "origin")?, ["https://github.com/acme/app.git"]);
//! assert_eq!(git.branch("/repo")?.as_deref(), Some("main"));
//! # Ok::<(), Error>(())
//! ```
//!
//! - **Pure**: everything is read through the caller's [`Files`], and no process is started. Each file and each
//!   configuration is read once and then [`Known`], so answers agree with each other. Nothing else is kept: for the files as they
//!   are later, begin with nothing known.
//! - **Git's answers**: those of `git remote get-url --all` (with and without `--push`), `git ls-remote --get-url`,
//!   `git branch --show-current` and `git check-ignore --no-index`. The tests of `callgate-host` compare them with the installed git. Where versions of
//!   git differ, the answer contains the URLs of all of them.
//! - **An uncertain answer is an [`Error`]**, never an empty answer: a configuration or a repository that git refuses, a
//!   repository that git ignores because of its owner (`safe.directory`), a program that git would start instead of
//!   connecting (`remote.<name>.vcs`, `ext::`, unknown schemes), an unknown condition of `includeIf`, a path that starts
//!   with `~name` or `%(prefix)`, the legacy files below `.git/remotes` and `.git/branches`, the branch of a repository
//!   that does not keep its references in files, and text that is not UTF-8. About what is ignored, a work tree that is not beside its
//!   repository, and what other programs that read ignore files, such as `rg`, are known to read in another way.
//! - **Bounded**: what is [`Known`] takes at most 6,000,000 steps to read, and an answer beyond them is an error, whatever
//!   is asked. A byte of a file or a path is a step, a question to the disk 256 and 32 for each name on the way, a key that is
//!   kept 32, two for each byte of it, and one for each byte of its section; to rewrite a URL and to match a pattern
//!   takes as many as there are bytes to compare. A key has at most 32 KiB, an include is at most
//!   10 deep, and an answer has at most 1,000 URLs.
//!
//! The environment (`GIT_*`, `PWD`) does not count, and git is assumed to run as the user that [`Found::is_own`] refers
//! to. An answer says where git connects first; submodules, bundles and proxies are not considered.

mod condition;
mod config;
mod discover;
mod entry;
mod files;
mod format;
mod ignore;
mod push;
mod push_default;
mod reader;
mod real;
mod remotes;
mod repository;
mod rewrites;
mod steps;
mod syntax;
mod transport;
mod wildmatch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use files::{Error, Files, Found, Kind};
pub use ignore::CheckIgnore;

use ignore::Ignore;
use push::Push;
use reader::{Contents, Reader};
use remotes::{Remotes, Settings};
use repository::Repository;
use wildmatch::Case;

/// Where git's usual builds look for the configuration of the machine.
const SYSTEM: &[&str] = &["/etc/gitconfig"];

/// The same on macOS, which has several builds.
const SYSTEM_OF_MACOS: &[&str] = &[
    "/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
    "/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
    "/etc/gitconfig",
    "/usr/local/etc/gitconfig",
    "/opt/homebrew/etc/gitconfig",
];

/// Where git's configuration outside of repositories is. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The directory that `~` stands for.
    pub home: Vec<u8>,
    /// The files of the machine; later ones override earlier ones.
    pub system: Vec<Vec<u8>>,
    /// The files of the user; later ones override earlier ones.
    pub user: Vec<Vec<u8>>,
    /// The file of ignored names that git reads where `core.excludesFile` says nothing.
    pub excludes: Vec<u8>,
}

impl Places {
    /// The usual places for a user with this home directory. `user_config` is `$XDG_CONFIG_HOME`, or else
    /// `~/.config`.
    #[must_use]
    pub fn new(home: &str, user_config: &str, is_macos: bool) -> Self {
        let system = if is_macos { SYSTEM_OF_MACOS } else { SYSTEM };
        let user = [format!("{user_config}/git/config"), format!("{home}/.gitconfig")];
        Self {
            home: home.as_bytes().to_vec(),
            system: system.iter().map(|path| path.as_bytes().to_vec()).collect(),
            user: user.into_iter().map(String::into_bytes).collect(),
            excludes: format!("{user_config}/git/ignore").into_bytes(),
        }
    }
}

/// Git's answers, worked out from its files as they are when they are first read.
pub struct Git<'a> {
    files: &'a dyn Files,
    places: &'a Places,
    known: &'a mut Known,
}

/// Everything that has been read of the files and understood. Kept for one evaluation, it answers each question of that
/// evaluation from the same reading.
#[derive(Default)]
pub struct Known {
    contents: Contents,
    /// By the directory that git is started in.
    repositories: BTreeMap<String, Result<Option<Arc<Repository>>, Error>>,
    /// The settings in the configuration of a repository, and outside of all.
    settings: BTreeMap<Option<Arc<Repository>>, Result<Arc<Settings>, Error>>,
}

impl<'a> Git<'a> {
    /// Answers from these files and places, and from what is known of them already.
    #[must_use]
    pub fn new(files: &'a dyn Files, places: &'a Places, known: &'a mut Known) -> Self {
        Self { files, places, known }
    }

    /// Every URL of `remote` in the repository that contains `directory`: those to fetch from, then those to push to.
    /// Empty if the remote does not exist.
    ///
    /// The name of a group of remotes (`remotes.<group>`) stands for all of them. A name that is not a remote but is
    /// rewritten by `insteadOf` stands for the result, since git would connect there.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn remote_urls(&mut self, directory: &str, remote: &str) -> Result<Vec<String>, Error> {
        let repository = self.repository(directory)?;
        let settings = self.settings(repository.as_ref())?;
        let remotes = self.remotes(repository.as_deref(), &settings);
        texts(remotes.named(remote.as_bytes())?)
    }

    /// The same for the remotes that a fetch or push without an argument would use. Empty if there are none.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn default_remote_urls(&mut self, directory: &str) -> Result<Vec<String>, Error> {
        let repository = self.repository(directory)?;
        let branch = match &repository {
            Some(repository) => repository.branch(self.reader())?,
            None => None,
        };
        let settings = self.settings(repository.as_ref())?;
        let remotes = self.remotes(repository.as_deref(), &settings);
        texts(remotes.without_argument(branch.as_deref())?)
    }

    /// Every URL that git connects to when it is given `url`: the results of `insteadOf` and `pushInsteadOf`, and the
    /// URLs of a remote whose name is this URL.
    ///
    /// `git clone` does not read the configuration of the repository that it happens to run in; other commands
    /// do. If the two rewrite differently, the answer contains both results.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn urls(&mut self, directory: &str, url: &str) -> Result<Vec<String>, Error> {
        let url = url.as_bytes();
        let repository = self.repository(directory)?;
        let mut urls = Vec::new();
        if repository.is_some() {
            let settings = self.settings(repository.as_ref())?;
            urls = self.remotes(repository.as_deref(), &settings).explicit(url)?;
        }
        let outside = self.settings(None)?;
        urls.extend(self.remotes(None, &outside).explicit(url)?);
        texts(urls)
    }

    /// The short name of the checked-out branch, even if it has no commit yet. `None` if the head is detached.
    ///
    /// # Errors
    /// `directory` is not in a repository, or the answer is not certain; see the crate's description.
    pub fn branch(&mut self, directory: &str) -> Result<Option<String>, Error> {
        let Some(repository) = self.repository(directory)? else {
            return Err(Error::new(format!(
                "`{directory}` is not in a git repository, so it has no branch"
            )));
        };
        let branch = repository.branch(self.reader());
        // Git refuses to do anything if it does not understand the configuration.
        self.settings(Some(&repository))?;
        branch?.map(branch_text).transpose()
    }

    /// The refs on the other side that a push of `reference` to `remote` updates because the configuration says so, beyond
    /// the ref of the same name: by `remote.<name>.push`, `push.default`, `branch.<name>.merge` and symbolic references.
    /// Each is named as a refspec names its destination, in full where the configuration has it in full. An empty
    /// `reference` is a push without one, and an empty `remote` a push without one. `None` if the refs cannot be told: a
    /// mirror, a pattern or `matching` without a reference, and references that are not kept in files.
    ///
    /// Outside of a repository git pushes nothing.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn push_refs(
        &mut self,
        directory: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, Error> {
        let repository = self.repository(directory)?;
        let settings = self.settings(repository.as_ref())?;
        let Some(repository) = repository else {
            return Ok(Some(Vec::new()));
        };
        let remotes = self.remotes(Some(&repository), &settings);
        let branch = match (remote, reference) {
            ("", _) | (_, "" | "HEAD") => repository.branch(self.reader())?,
            _ => None,
        };
        let push = Push::new(&remotes, &repository, branch.as_deref());
        let refs = push.refs(remote.as_bytes(), reference.as_bytes())?;
        refs.map(|refs| refs.into_iter().map(branch_text).collect())
            .transpose()
    }

    /// What git's ignore files say of a path: each `.gitignore` from the top of its work tree down to it, `info/exclude` and
    /// `core.excludesFile`. Outside of a repository they say nothing.
    ///
    /// # Errors
    /// The path has a link on the way, or the answer is not certain; see the crate's description.
    pub fn check_ignore(&mut self, path: &str) -> Result<CheckIgnore, Error> {
        let above = match path.rsplit_once('/') {
            Some(("", _)) | None => "/",
            Some((above, _)) => above,
        };
        if let Some(real) = self.reader().real(above.as_bytes())?
            && real != above.as_bytes()
        {
            return Err(Error::about(path.as_bytes(), "a link is on the way"));
        }
        let Some(repository) = self.repository(above)? else {
            if ignore::has_git_above(self.reader(), above.as_bytes())? {
                return Err(Error::about(
                    path.as_bytes(),
                    "others take a `.git` above it for a repository",
                ));
            }
            return Ok(CheckIgnore::Unmentioned);
        };
        let (own, outside) = (self.settings(Some(&repository))?, self.settings(None)?);
        let nowhere = || Error::about(&repository.git_dir, "it has no work tree");
        let work_tree = repository.work_tree.as_deref().ok_or_else(nowhere)?;
        let places = self.places;
        let excludes = |settings: &Settings| {
            let setting = settings.excludes_file.as_deref();
            ignore::excludes_file(setting, &places.excludes, &places.home, work_tree)
        };
        let excludes_file = excludes(&own)?;
        let mut ignore = Ignore {
            files: self.reader(),
            work_tree,
            case: if own.ignores_case {
                Case::Insensitive
            } else {
                Case::Sensitive
            },
            lists: Vec::new(),
        };
        // Others do not look for it in the repository's own configuration.
        ignore.add(&excludes_file, excludes(&outside)? != excludes_file)?;
        let is_beside = repository.git_dir == files::join(work_tree, b".git");
        ignore.add(&files::join(&repository.common_dir, b"info/exclude"), !is_beside)?;
        ignore.check(path.as_bytes())
    }

    fn reader(&self) -> Reader<'_> {
        Reader::new(self.files, &self.known.contents)
    }

    /// The repository of the directory, found once.
    fn repository(&mut self, directory: &str) -> Result<Option<Arc<Repository>>, Error> {
        if let Some(known) = self.known.repositories.get(directory) {
            return known.clone();
        }
        let found = discover::discover(self.reader(), self.places, directory.as_bytes());
        let found = found.map(|found| found.map(Arc::new));
        let known = &mut self.known.repositories;
        known.insert(directory.to_owned(), found.clone());
        found
    }

    /// The settings in the configuration, read once.
    fn settings(&mut self, repository: Option<&Arc<Repository>>) -> Result<Arc<Settings>, Error> {
        let repository = repository.cloned();
        if let Some(known) = self.known.settings.get(&repository) {
            return known.clone();
        }
        let entries = config::load(self.reader(), self.places, repository.as_deref());
        let settings = entries.and_then(|entries| Settings::new(&entries)).map(Arc::new);
        self.known.settings.insert(repository, settings.clone());
        settings
    }

    fn remotes<'r>(&'r self, repository: Option<&'r Repository>, settings: &'r Settings) -> Remotes<'r> {
        Remotes {
            files: self.reader(),
            common_dir: repository.map(|repository| repository.common_dir.as_slice()),
            settings,
        }
    }
}

/// `urls` in order, without duplicates.
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
