//! Git's whole configuration for one repository: its files in order, and the files that they include (`config.c` of
//! git).

use crate::Places;
use crate::condition::{self, Condition};
use crate::entry::Entry;
use crate::files::{Error, join, parent};
use crate::reader::Reader;
use crate::repository::Repository;
use crate::wildmatch::{Case, wildmatch};

/// The deepest nesting of includes that git allows.
const MAX_DEPTH: usize = 10;

/// The steps of an entry, and of each byte of it two more: it is kept, and copied into the settings.
const ENTRY: usize = 32;

/// Reads the files of the machine, the user, the repository and the worktree. Later entries override earlier ones.
///
/// # Errors
/// A file cannot be read or parsed, a condition is not known, or there are no steps left.
pub(crate) fn load(
    files: Reader<'_>,
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

/// One pass over all files.
struct Pass<'a> {
    files: Reader<'a>,
    places: &'a Places,
    repository: Option<&'a Repository>,
    purpose: Purpose,
    /// The branch, once a condition has asked for it.
    branch: Option<Option<Vec<u8>>>,
    entries: Vec<Entry>,
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
        let Some(entries) = self.files.entries(path)? else {
            return Ok(());
        };
        if position.depth > MAX_DEPTH {
            return Err(about(
                path,
                &format!("is nested more than {MAX_DEPTH} includes deep"),
            ));
        }
        for entry in entries.iter() {
            if !position.may_hold_remote_urls && is_remote_url(entry) {
                return Err(about(
                    path,
                    "has the URL of a remote and is included on a condition, which git refuses where another \
                     condition is on such URLs",
                ));
            }
            match entry.parts() {
                (b"include", None, b"path") => self.include(entry, path, position)?,
                (b"includeif", Some(condition), b"path") => {
                    self.include_if(condition, entry, path, position)?;
                }
                _ => {}
            }
            let bytes = entry.key.len() + entry.value.as_ref().map_or(0, Vec::len);
            self.files.steps().take(ENTRY + 2 * bytes)?;
            self.entries.push(entry.clone());
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
                    self.files.steps(),
                ),
                None => Ok(false),
            },
            Condition::Branch { pattern } => {
                if self.branch.is_none() {
                    let branch = self.repository.map(|repository| repository.branch(self.files));
                    self.branch = Some(branch.transpose()?.flatten());
                }
                match &self.branch {
                    Some(Some(branch)) => condition::branch_matches(pattern, branch, self.files.steps()),
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
                ..*self
            };
            pass.run()?;
            let urls = pass.entries.into_iter().filter(is_remote_url);
            *remote_urls = Some(urls.filter_map(|entry| entry.value).collect());
        }
        for url in remote_urls.iter().flatten() {
            if wildmatch(pattern, url, Case::Sensitive, self.files.steps())? {
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
