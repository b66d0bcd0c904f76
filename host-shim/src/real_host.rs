//! A host that answers from the machine that this process runs on.

// A panic in a host would leave a call without a verdict.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod filesystem;
mod git;

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub use filesystem::realpath_error;

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use callgate_git::{CheckIgnore, Git, Known, Places};

/// The real filesystem and the real git configuration behind [`Host`].
///
/// - **Paths** are resolved as the kernel resolves them, with at most 40 links. A path that leads through a
///   process-relative place (`/proc/self`, `/proc/<pid>`, `/dev/fd`), even by a link, is refused, because it means
///   something else in the process of the tool server.
/// - **Git's configuration** is read by [`callgate_git`]; git is never run. That crate's documentation lists the answers,
///   and the uncertain cases, which are a [`HostError`] here. The environment (`GIT_*`) does not count: if a tool server's
///   environment changes git's configuration, put the same configuration in a file. Git is assumed to run as the user of
///   this process, who must own a repository or have it in `safe.directory`.
///
/// Nothing is kept between two evaluations, so the next one sees a change on the disk. Nothing but the files named
/// here is read, and nothing is ever written.
#[derive(Clone, Debug)]
pub struct RealHost {
    machine: Arc<Machine>,
}

#[derive(Clone, Debug)]
struct Machine {
    home: String,
    cwd: String,
    places: Places,
}

impl RealHost {
    /// A host with the home directory, the current directory and the `XDG_CONFIG_HOME` of this process.
    ///
    /// # Errors
    /// The home directory or the current directory is not known, not absolute or not UTF-8.
    pub fn from_env() -> Result<Self, HostError> {
        let home = std::env::home_dir().ok_or_else(|| HostError::new("the home directory is not known"))?;
        let cwd = std::env::current_dir()
            .map_err(|error| HostError::new(format!("the current directory is not known: {error}")))?;
        let mut host = Self::new(utf8("home directory", &home)?, utf8("current directory", &cwd)?)?;
        if let Some(config) = std::env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty()) {
            let places = &mut Arc::make_mut(&mut host.machine).places;
            let files = [Path::new(&config).join("git/config"), home.join(".gitconfig")];
            places.user = files.map(bytes).to_vec();
            places.excludes = bytes(Path::new(&config).join("git/ignore"));
        }
        Ok(host)
    }

    /// A host with the given home and current directory, which must be absolute and must not contain `..`.
    ///
    /// The user's git configuration is `~/.config/git/config` and `~/.gitconfig` below that home directory.
    ///
    /// # Errors
    /// A directory is not absolute, or contains `..` or a NUL.
    pub fn new(home: &str, cwd: &str) -> Result<Self, HostError> {
        let home = directory("home directory", home)?;
        let cwd = directory("current directory", cwd)?;
        let places = Places::new(&home, &format!("{home}/.config"), cfg!(target_vendor = "apple"));
        let machine = Arc::new(Machine { home, cwd, places });
        Ok(Self { machine })
    }

    /// Replaces the files of git's machine-wide configuration; later ones override earlier ones.
    ///
    /// Needed if the tool server's git was built with an unusual prefix.
    #[must_use]
    pub fn with_system_git_config(mut self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Arc::make_mut(&mut self.machine).places.system =
            files.into_iter().map(|file| bytes(file.into())).collect();
        self
    }
}

impl RealHost {
    fn evaluation(&self) -> Evaluation {
        Evaluation {
            machine: Arc::clone(&self.machine),
            known: RefCell::default(),
        }
    }
}

impl Host for RealHost {
    fn home_dir(&self) -> &str {
        &self.machine.home
    }

    fn current_dir(&self) -> &str {
        &self.machine.cwd
    }

    fn ignores_path_case(&self) -> bool {
        cfg!(target_os = "macos")
    }

    fn begin(&self) -> Option<Box<dyn Host + Send>> {
        Some(Box::new(self.evaluation()))
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        filesystem::realpath(path)
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        filesystem::read_link(path)
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        Ok(filesystem::is_directory(path))
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.evaluation().git_remote_urls(repo, remote)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.evaluation().git_default_remote_urls(repo)
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.evaluation().git_url(repo, url)
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        self.evaluation().git_branch(repo)
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        self.evaluation().git_push_refs(repo, remote, reference)
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        self.evaluation().git_check_ignore(path)
    }
}

/// The host for the time of one evaluation: each configuration of git is read once.
struct Evaluation {
    machine: Arc<Machine>,
    known: RefCell<Known>,
}

impl Evaluation {
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Git<'_>) -> Result<T, callgate_git::Error>,
    ) -> Result<T, HostError> {
        let mut known = self.known.borrow_mut();
        let mut git = Git::new(&git::Disk, &self.machine.places, &mut known);
        question(&mut git).map_err(git::host_error)
    }
}

impl Host for Evaluation {
    fn home_dir(&self) -> &str {
        &self.machine.home
    }

    fn current_dir(&self) -> &str {
        &self.machine.cwd
    }

    fn ignores_path_case(&self) -> bool {
        cfg!(target_os = "macos")
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        filesystem::realpath(path)
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        filesystem::read_link(path)
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        Ok(filesystem::is_directory(path))
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.ask(|git| git.remote_urls(repo, remote))
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.ask(|git| git.default_remote_urls(repo))
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.ask(|git| git.urls(repo, url))
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        Ok(self.ask(|git| git.branch(repo))?.unwrap_or_default())
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        self.ask(|git| git.push_refs(repo, remote, reference))
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        // What is not certain cannot be told, and then counts as strictly as any answer.
        let said = self.ask(|git| git.check_ignore(path)).ok();
        Ok(said.map(|said| match said {
            CheckIgnore::Ignored => GitIgnore::Ignored,
            CheckIgnore::Included => GitIgnore::Included,
            CheckIgnore::Unmentioned => GitIgnore::Unmentioned,
        }))
    }
}

fn bytes(path: PathBuf) -> Vec<u8> {
    path.into_os_string().into_vec()
}

fn utf8<'a>(what: &str, path: &'a Path) -> Result<&'a str, HostError> {
    path.to_str()
        .ok_or_else(|| HostError::new(format!("the {what} `{}` is not UTF-8", path.display())))
}

/// `path` without `.`, `//` and a trailing `/`.
fn directory(what: &str, path: &str) -> Result<String, HostError> {
    let refused = || {
        HostError::new(format!(
            "the {what} {path:?} is not absolute, or contains `..` or a NUL"
        ))
    };
    if !path.starts_with('/') || path.contains('\0') {
        return Err(refused());
    }
    let names: Option<Vec<&str>> = Path::new(path)
        .components()
        .filter(|component| *component != Component::RootDir)
        .map(|component| match component {
            Component::Normal(name) => OsStr::to_str(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect();
    Ok(format!("/{}", names.ok_or_else(refused)?.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_absolute_and_come_back_normalized() {
        #[track_caller]
        fn check(given: &str, expected: Option<&str>) {
            let host = RealHost::new(given, given);
            assert_eq!(host.as_ref().ok().map(Host::home_dir), expected, "{given:?}");
            assert_eq!(host.as_ref().ok().map(Host::current_dir), expected, "{given:?}");
        }
        check("/home/u", Some("/home/u"));
        check("/home//u/./", Some("/home/u"));
        check("/", Some("/"));
        check("home/u", None);
        check("", None);
        check("/home/../u", None);
        check("/home/u\0", None);
    }
}
