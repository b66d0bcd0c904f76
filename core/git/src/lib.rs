//! Git's configuration, read without git: where a remote leads, and which branch is checked out.
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
//! - **Git's answers**: those of `git remote get-url --all` (with and without `--push`), `git ls-remote --get-url` and
//!   `git branch --show-current`. The tests of `callgate-host` compare them with the installed git. Where versions of
//!   git differ, the answer contains the URLs of all of them.
//! - **An uncertain answer is an [`Error`]**, never an empty answer: a configuration or a repository that git refuses, a
//!   repository that git ignores because of its owner (`safe.directory`), a program that git would start instead of
//!   connecting (`remote.<name>.vcs`, `ext::`, unknown schemes), an unknown condition of `includeIf`, a path that starts
//!   with `~name` or `%(prefix)`, the legacy files below `.git/remotes` and `.git/branches`, the branch of a repository
//!   that does not keep its references in files, and text that is not UTF-8.
//! - **Bounded**: one question reads at most 1,000 files of 16 MiB in all, 100,000 keys of 32 KiB each and includes 10
//!   deep, returns at most 1,000 URLs, and takes a fixed number of steps to match all patterns.
//!
//! The environment (`GIT_*`, `PWD`) does not count, and git is assumed to run as the user that [`Found::is_own`] refers
//! to. An answer says where git connects first; submodules, bundles and proxies are not considered.

mod condition;
mod config;
mod discover;
mod entry;
mod files;
mod format;
mod memory;
mod push;
mod push_default;
mod remotes;
mod repository;
mod rewrites;
mod syntax;
mod transport;
mod wildmatch;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub use files::{Error, Files, Found, Kind};

use memory::{Contents, Memory};
use push::Push;
use remotes::{Remotes, Settings};
use repository::Repository;

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
    contents: RefCell<Contents>,
    /// By directory.
    places: BTreeMap<String, StartDirectory>,
    /// Outside of every repository.
    outside: StartDirectory,
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
        let places = self.places;
        let (files, place, _) = self.place(directory);
        texts(place.remotes(&files, places)?.named(remote.as_bytes())?)
    }

    /// The same for the remotes that a fetch or push without an argument would use. Empty if there are none.
    ///
    /// # Errors
    /// The answer is not certain; see the crate's description.
    pub fn default_remote_urls(&mut self, directory: &str) -> Result<Vec<String>, Error> {
        let places = self.places;
        let (files, place, _) = self.place(directory);
        let branch = match place.repository()? {
            Some(repository) => repository.branch(&files)?,
            None => None,
        };
        let remotes = place.remotes(&files, places)?;
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
        let places = self.places;
        let (files, place, outside) = self.place(directory);
        let mut urls = Vec::new();
        if place.repository()?.is_some() {
            urls = place.remotes(&files, places)?.explicit(url)?;
        }
        urls.extend(outside.remotes(&files, places)?.explicit(url)?);
        texts(urls)
    }

    /// The short name of the checked-out branch, even if it has no commit yet. `None` if the head is detached.
    ///
    /// # Errors
    /// `directory` is not in a repository, or the answer is not certain; see the crate's description.
    pub fn branch(&mut self, directory: &str) -> Result<Option<String>, Error> {
        let places = self.places;
        let (files, place, _) = self.place(directory);
        let Some(repository) = place.repository()? else {
            return Err(Error::new(format!(
                "`{directory}` is not in a git repository, so it has no branch"
            )));
        };
        let branch = repository.branch(&files);
        // Git refuses to do anything if it does not understand the configuration.
        place.remotes(&files, places)?;
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
        let places = self.places;
        let (files, place, _) = self.place(directory);
        place.remotes(&files, places)?;
        let (Some(repository), Some(Ok(settings))) = (place.repository()?, &place.settings) else {
            return Ok(Some(Vec::new()));
        };
        let remotes = Remotes {
            files: &files,
            common_dir: Some(&repository.common_dir),
            settings,
        };
        let branch = match (remote, reference) {
            ("", _) | (_, "" | "HEAD") => repository.branch(&files)?,
            _ => None,
        };
        let push = Push::new(&remotes, repository, branch.as_deref());
        let refs = push.refs(remote.as_bytes(), reference.as_bytes())?;
        refs.map(|refs| refs.into_iter().map(branch_text).collect())
            .transpose()
    }

    /// The files, the place of the directory, found once, and the place outside of every repository.
    fn place(&mut self, directory: &str) -> (Memory<'_>, &mut StartDirectory, &mut StartDirectory) {
        let Known {
            contents,
            places,
            outside,
        } = &mut *self.known;
        let files = Memory::new(self.files, contents);
        let place = places.entry(directory.to_owned()).or_insert_with(|| {
            StartDirectory::at(discover::discover(&files, self.places, directory.as_bytes()))
        });
        (files, place, outside)
    }
}

/// Where git is started.
struct StartDirectory {
    repository: Result<Option<Repository>, Error>,
    /// The settings in its configuration, once asked for.
    settings: Option<Result<Settings, Error>>,
}

impl Default for StartDirectory {
    fn default() -> Self {
        Self::at(Ok(None))
    }
}

impl StartDirectory {
    fn at(repository: Result<Option<Repository>, Error>) -> Self {
        Self {
            repository,
            settings: None,
        }
    }

    fn repository(&self) -> Result<Option<&Repository>, Error> {
        self.repository.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// The remotes there; the configuration is read once.
    fn remotes<'r>(&'r mut self, files: &'r dyn Files, places: &Places) -> Result<Remotes<'r>, Error> {
        let repository = self.repository.as_ref().map_err(Clone::clone)?.as_ref();
        let settings = self.settings.get_or_insert_with(|| {
            config::load(files, places, repository).and_then(|entries| Settings::new(&entries))
        });
        Ok(Remotes {
            files,
            common_dir: repository.map(|repository| repository.common_dir.as_slice()),
            settings: settings.as_ref().map_err(Clone::clone)?,
        })
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
