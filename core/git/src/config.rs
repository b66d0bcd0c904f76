//! Git's whole configuration for one repository: its files in order, and the files that they include (`config.c` of
//! git).

use crate::Places;
use crate::condition::{self, Condition};
use crate::entry::Entry;
use crate::files::{Error, Files, MAX_BYTES, join, parent, read};
use crate::repository::Repository;
use crate::syntax;
use crate::wildmatch::{Case, Steps, wildmatch};

/// The deepest nesting of includes that git allows.
const MAX_DEPTH: usize = 10;

/// The most files that are read for one question. A limit on depth alone would let a few files include each other
/// exponentially often.
const MAX_FILES: usize = 1_000;

/// The most entries that are kept for one question.
const MAX_ENTRIES: usize = 100_000;

/// Reads the files of the machine, the user, the repository and the worktree. Later entries override earlier ones.
///
/// # Errors
/// A file cannot be read or parsed, a condition is not known, or a limit is exceeded.
pub(crate) fn load(
    files: &dyn Files,
    places: &Places,
    repository: Option<&Repository>,
) -> Result<Vec<Entry>, Error> {
    let mut pass = Pass {
        files,
        places,
        repository,
        purpose: Purpose::Configuration { remote_urls: None },
        branch: None,
        entries: Vec::new(),
        room: Room::default(),
    };
    pass.run()?;
    Ok(pass.entries)
}

/// Why files are read.
enum Purpose {
    Configuration {
        /// The URLs of all remotes, once a condition has asked for them.
        remote_urls: Option<Vec<Vec<u8>>>,
    },
    /// Git must collect the URLs of all remotes before it can decide a condition on them. While it collects, every such
    /// condition holds, and a file that is included on any condition must not have the URL of a remote.
    RemoteUrls,
}

/// How much may still be read.
struct Room {
    files: usize,
    bytes: usize,
    steps: Steps,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            files: MAX_FILES,
            bytes: MAX_BYTES,
            steps: Steps::default(),
        }
    }
}

/// One pass over all files.
struct Pass<'a> {
    files: &'a dyn Files,
    places: &'a Places,
    repository: Option<&'a Repository>,
    purpose: Purpose,
    /// The branch, once a condition has asked for it.
    branch: Option<Option<Vec<u8>>>,
    entries: Vec<Entry>,
    room: Room,
}

/// The file that is being read.
#[derive(Clone, Copy)]
struct Position {
    depth: usize,
    may_hold_remote_urls: bool,
}

impl Pass<'_> {
    /// `do_git_config_sequence`.
    fn run(&mut self) -> Result<(), Error> {
        let position = Position {
            depth: 0,
            may_hold_remote_urls: true,
        };
        for path in self.places.system.iter().chain(&self.places.user) {
            self.file(path, position)?;
        }
        if let Some(repository) = self.repository {
            self.file(&join(&repository.common_dir, b"config"), position)?;
            if repository.format.has_worktree_config {
                self.file(&join(&repository.git_dir, b"config.worktree"), position)?;
            }
        }
        Ok(())
    }

    /// Adds the entries of the file at `path`, and those of the files that it includes in place of the `include`.
    fn file(&mut self, path: &[u8], position: Position) -> Result<(), Error> {
        let Some(content) = read(self.files, path)? else {
            return Ok(());
        };
        if position.depth > MAX_DEPTH {
            return Err(about(
                path,
                &format!("is nested more than {MAX_DEPTH} includes deep"),
            ));
        }
        let refused = || {
            about(
                path,
                &format!("and those before it are more than {MAX_FILES} files or {MAX_BYTES} bytes"),
            )
        };
        self.room.files = self.room.files.checked_sub(1).ok_or_else(refused)?;
        self.room.bytes = self.room.bytes.checked_sub(content.len()).ok_or_else(refused)?;
        for entry in syntax::parse(path, &content)? {
            if !position.may_hold_remote_urls && is_remote_url(&entry) {
                return Err(about(
                    path,
                    "has the URL of a remote and is included on a condition, which git refuses where another \
                     condition is on such URLs",
                ));
            }
            match entry.parts() {
                (b"include", None, b"path") => self.include(&entry, path, position)?,
                (b"includeif", Some(condition), b"path") => {
                    self.include_if(condition, &entry, path, position)?;
                }
                _ => {}
            }
            if self.entries.len() == MAX_ENTRIES {
                return Err(about(
                    path,
                    &format!("and those before it have more than {MAX_ENTRIES} keys"),
                ));
            }
            self.entries.push(entry);
        }
        Ok(())
    }

    /// `handle_path_include`: a relative path starts in the directory of the including file as it was named, links
    /// unresolved.
    fn include(&mut self, entry: &Entry, from: &[u8], position: Position) -> Result<(), Error> {
        let path = condition::interpolate(entry.required()?, &self.places.home)?;
        let path = join(parent(from).unwrap_or(b"/"), &path);
        self.file(
            &path,
            Position {
                depth: position.depth + 1,
                ..position
            },
        )
    }

    fn include_if(
        &mut self,
        condition: &[u8],
        entry: &Entry,
        from: &[u8],
        position: Position,
    ) -> Result<(), Error> {
        if !self.holds(condition, from)? {
            return Ok(());
        }
        let may_hold_remote_urls = match self.purpose {
            Purpose::Configuration { .. } => position.may_hold_remote_urls,
            Purpose::RemoteUrls => false,
        };
        let position = Position {
            may_hold_remote_urls,
            ..position
        };
        self.include(entry, from, position)
    }

    fn holds(&mut self, text: &[u8], path: &[u8]) -> Result<bool, Error> {
        match Condition::parse(text, path)? {
            Condition::RemoteUrl { pattern } => self.has_remote_url(pattern),
            Condition::GitDir { pattern, case } => match self.repository {
                Some(repository) => condition::git_dir_matches(
                    self.files,
                    &self.places.home,
                    (pattern, case),
                    path,
                    (&repository.git_dir, &repository.names),
                    &mut self.room.steps,
                ),
                None => Ok(false),
            },
            Condition::Branch { pattern } => {
                if self.branch.is_none() {
                    let branch = self.repository.map(|repository| repository.branch(self.files));
                    self.branch = Some(branch.transpose()?.flatten());
                }
                match &self.branch {
                    Some(Some(branch)) => condition::branch_matches(pattern, branch, &mut self.room.steps),
                    Some(None) | None => Ok(false),
                }
            }
        }
    }

    /// `include_by_remote_url`.
    fn has_remote_url(&mut self, pattern: &[u8]) -> Result<bool, Error> {
        let remote_urls = match &mut self.purpose {
            Purpose::RemoteUrls => return Ok(true),
            Purpose::Configuration { remote_urls } => remote_urls,
        };
        if remote_urls.is_none() {
            let mut pass = Pass {
                purpose: Purpose::RemoteUrls,
                branch: self.branch.clone(),
                entries: Vec::new(),
                room: Room::default(),
                ..*self
            };
            pass.run()?;
            let urls = pass.entries.into_iter().filter(is_remote_url);
            *remote_urls = Some(urls.filter_map(|entry| entry.value).collect());
        }
        for url in remote_urls.iter().flatten() {
            if wildmatch(pattern, url, Case::Sensitive, &mut self.room.steps)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_remote_url(entry: &Entry) -> bool {
    matches!(entry.parts(), (b"remote", Some(_), b"url"))
}

fn about(path: &[u8], what: &str) -> Error {
    Error::new(format!(
        "git's configuration `{}` {what}",
        String::from_utf8_lossy(path)
    ))
}
