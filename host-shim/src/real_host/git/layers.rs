//! All of git's configuration for one repository: the files in their order, with what they include.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use callgate_core::HostError;

use super::condition::{self, Condition};
use super::entry::{self, Entry};
use super::repository::Repository;
use super::{ConfigFiles, files};

/// How deep git lets files include one another.
const MAX_DEPTH: usize = 10;

/// The files that are read for one question; the depth alone would let a few files include each other
/// without end.
const MAX_FILES: usize = 1_000;

/// The configuration's entries, the strongest last.
pub(super) struct Entries(Vec<Entry>);

impl Entries {
    /// Reads the files of the machine, the user, the repository and the worktree.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, a condition is not known, or a limit is exceeded.
    pub(super) fn load(files: &ConfigFiles, repository: Option<&Repository>) -> Result<Self, HostError> {
        let mut first = Pass::new(files, repository, RemoteUrls::Unknown);
        first.run()?;
        if !first.needs_remote_urls {
            return Ok(Self(first.entries));
        }
        let urls = first
            .entries
            .iter()
            .filter(|entry| is_remote_url(entry))
            .filter_map(|entry| entry.value.clone())
            .collect();
        let mut second = Pass::new(files, repository, RemoteUrls::Known(urls));
        second.run()?;
        Ok(Self(second.entries))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter()
    }
}

/// What a condition on the remotes' URLs is judged by. Git collects them first, without the files that such a
/// condition includes, which may hold no such URL themselves.
enum RemoteUrls {
    Unknown,
    Known(Vec<Vec<u8>>),
}

/// One reading of all files.
struct Pass<'a> {
    config: &'a ConfigFiles,
    repository: Option<&'a Repository>,
    remote_urls: RemoteUrls,
    needs_remote_urls: bool,
    entries: Vec<Entry>,
    files_left: usize,
    bytes_left: usize,
}

/// The file that is being read.
#[derive(Clone, Copy)]
struct Position {
    depth: usize,
    /// Whether a condition on the remotes' URLs led here.
    may_hold_remote_urls: bool,
}

impl<'a> Pass<'a> {
    fn new(config: &'a ConfigFiles, repository: Option<&'a Repository>, remote_urls: RemoteUrls) -> Self {
        Self {
            config,
            repository,
            remote_urls,
            needs_remote_urls: false,
            entries: Vec::new(),
            files_left: MAX_FILES,
            bytes_left: files::MAX_BYTES,
        }
    }

    fn run(&mut self) -> Result<(), HostError> {
        let config = self.config;
        let position = Position {
            depth: 0,
            may_hold_remote_urls: true,
        };
        for path in config.system.iter().chain(&config.user) {
            self.file(path, position)?;
        }
        if let Some(repository) = self.repository {
            let path = repository.common_dir.join("config");
            let own = self.read(&path)?;
            // Git reads this switch from the file itself, without what it includes.
            let switch = own
                .iter()
                .rfind(|entry| entry.key == b"extensions.worktreeconfig");
            let has_worktree_config = switch.map(Entry::boolean).transpose()?.unwrap_or(false);
            self.follow(own, &path, position)?;
            if has_worktree_config {
                let path = repository.git_dir.join("config.worktree");
                self.file(&path, position)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, position: Position) -> Result<(), HostError> {
        let entries = self.read(path)?;
        self.follow(entries, path, position)
    }

    fn read(&mut self, path: &Path) -> Result<Vec<Entry>, HostError> {
        let Some(content) = files::read(path)? else {
            return Ok(Vec::new());
        };
        let refused = || {
            let path = path.display();
            HostError::new(format!(
                "git's configuration holds more than {MAX_FILES} files or {} bytes at `{path}`",
                files::MAX_BYTES
            ))
        };
        self.files_left = self.files_left.checked_sub(1).ok_or_else(refused)?;
        self.bytes_left = self.bytes_left.checked_sub(content.len()).ok_or_else(refused)?;
        entry::parse(path, &content)
    }

    /// Takes the entries of `path` over, and those of what it includes at the place where it does.
    fn follow(&mut self, entries: Vec<Entry>, path: &Path, position: Position) -> Result<(), HostError> {
        for entry in entries {
            if !position.may_hold_remote_urls && is_remote_url(&entry) {
                return Err(HostError::new(format!(
                    "git's configuration `{}` has the URL of a remote, but a condition on such URLs includes it",
                    path.display()
                )));
            }
            match entry.parts() {
                (b"include", None, b"path") => self.include(&entry, path, position)?,
                (b"includeif", Some(condition), b"path") => {
                    if let Some(position) = self.condition(condition, path, position)? {
                        self.include(&entry, path, position)?;
                    }
                }
                _ => {}
            }
            self.entries.push(entry);
        }
        Ok(())
    }

    fn include(&mut self, entry: &Entry, from: &Path, position: Position) -> Result<(), HostError> {
        if position.depth == MAX_DEPTH {
            return Err(HostError::new(format!(
                "git's configuration `{}` includes at a depth of more than {MAX_DEPTH} files",
                from.display()
            )));
        }
        let path = condition::interpolate(entry.required()?, &self.config.home)?;
        let path: PathBuf = from
            .parent()
            .unwrap_or(Path::new("/"))
            .join(OsStr::from_bytes(&path));
        self.file(
            &path,
            Position {
                depth: position.depth + 1,
                ..position
            },
        )
    }

    /// Where the reading goes on when the condition holds.
    fn condition(
        &mut self,
        text: &[u8],
        path: &Path,
        position: Position,
    ) -> Result<Option<Position>, HostError> {
        let condition = Condition::parse(text, path)?;
        let holds = match &condition {
            Condition::RemoteUrl { pattern } => {
                self.needs_remote_urls = true;
                let position = Position {
                    may_hold_remote_urls: false,
                    ..position
                };
                let holds = match &self.remote_urls {
                    RemoteUrls::Unknown => false,
                    RemoteUrls::Known(urls) => urls.iter().any(|url| condition::url_matches(pattern, url)),
                };
                return Ok(holds.then_some(position));
            }
            Condition::GitDir { pattern, case } => match self.repository {
                Some(repository) => {
                    let git_dir = repository.git_dir.as_os_str().as_bytes();
                    condition::git_dir_matches(pattern, *case, path, git_dir, &self.config.home)?
                }
                None => false,
            },
            Condition::Branch { pattern } => match self.repository {
                Some(repository) => repository
                    .branch()?
                    .is_some_and(|branch| condition::branch_matches(pattern, &branch)),
                None => false,
            },
        };
        Ok(holds.then_some(position))
    }
}

fn is_remote_url(entry: &Entry) -> bool {
    matches!(entry.parts(), (b"remote", Some(_), b"url"))
}
