//! The answers of the machine that this process runs on.

// A host that panics takes the verdict with it.
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
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use callgate_core::{Host, HostError, RealpathError};

/// Where git looks for the configuration of the whole machine, as git's usual builds have it.
const SYSTEM_GIT_CONFIGS: &[&str] = if cfg!(target_vendor = "apple") {
    &[
        "/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
        "/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
        "/etc/gitconfig",
        "/usr/local/etc/gitconfig",
        "/opt/homebrew/etc/gitconfig",
    ]
} else {
    &["/etc/gitconfig"]
};

/// The real filesystem and the real git configuration behind [`Host`].
///
/// - **Paths** are resolved as the kernel does it, with at most 40 links. A path that leads through a
///   process-relative place (`/proc/self`, `/proc/<pid>`, `/dev/fd`), by a link too, is refused: it means
///   something else in the process of the tool server.
/// - **Git's configuration** is read, git is never run: the files of the machine, of the user and of the
///   repository, with their includes; at most 1,000 files and 16 MiB for one question, 32 KiB for a key or a
///   value, 1,000 URLs in an answer. The environment (`GIT_*`) is not looked at, so a tool server whose
///   environment changes git's configuration needs the same configuration in a file.
/// - **What cannot be told with certainty is a [`HostError`]**: a file that git would not understand or that may
///   not be read, a condition of `includeIf` that is not known, a path that starts with `~name` or `%(prefix)`,
///   the legacy files below `.git/remotes` and `.git/branches`, the branch of a repository that keeps its
///   references in another way than in files.
///
/// Where versions of git differ, the answer holds the URLs of all. It is about where git connects first: the
/// submodules, bundles and proxies that a repository names are not looked at.
///
/// Nothing is kept between two questions, so a change on the disk is seen by the next one. Apart from the
/// files named here, nothing is read, and nothing is ever written.
#[derive(Clone, Debug)]
pub struct RealHost {
    home: String,
    cwd: String,
    git: git::ConfigFiles,
}

impl RealHost {
    /// A host with the home directory, the current directory and the `XDG_CONFIG_HOME` of this process.
    ///
    /// # Errors
    /// When one of the two directories is not known, not absolute or not UTF-8.
    pub fn from_env() -> Result<Self, HostError> {
        let home = std::env::home_dir().ok_or_else(|| HostError::new("the home directory is not known"))?;
        let cwd = std::env::current_dir()
            .map_err(|error| HostError::new(format!("the current directory is not known: {error}")))?;
        let mut host = Self::new(utf8("home directory", &home)?, utf8("current directory", &cwd)?)?;
        if let Some(config) = std::env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty()) {
            host.git.user = vec![Path::new(&config).join("git/config"), home.join(".gitconfig")];
        }
        Ok(host)
    }

    /// A host with the given home and current directory, which must be absolute and hold no `..`.
    ///
    /// The user's git configuration is `~/.config/git/config` and `~/.gitconfig` below that home directory.
    ///
    /// # Errors
    /// When a directory is not absolute, or holds `..` or a NUL.
    pub fn new(home: &str, cwd: &str) -> Result<Self, HostError> {
        let home = directory("home directory", home)?;
        let cwd = directory("current directory", cwd)?;
        let git = git::ConfigFiles {
            home: PathBuf::from(&home),
            system: SYSTEM_GIT_CONFIGS.iter().map(PathBuf::from).collect(),
            user: vec![
                Path::new(&home).join(".config/git/config"),
                Path::new(&home).join(".gitconfig"),
            ],
        };
        Ok(Self { home, cwd, git })
    }

    /// The same host with other files as git's configuration of the whole machine, the weakest first.
    ///
    /// Needed where the tool server's git was built with another prefix than usual.
    #[must_use]
    pub fn with_system_git_config(mut self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.git.system = files.into_iter().map(Into::into).collect();
        self
    }
}

impl Host for RealHost {
    fn home_dir(&self) -> &str {
        &self.home
    }

    fn current_dir(&self) -> &str {
        &self.cwd
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
        git::remote_urls(&self.git, repo, remote)
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        git::default_remote_urls(&self.git, repo)
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        git::url(&self.git, repo, url)
    }
}

fn utf8<'a>(what: &str, path: &'a Path) -> Result<&'a str, HostError> {
    path.to_str()
        .ok_or_else(|| HostError::new(format!("the {what} `{}` is not UTF-8", path.display())))
}

/// `path` without `.`, `//` and a trailing `/`.
fn directory(what: &str, path: &str) -> Result<String, HostError> {
    let refused = || {
        HostError::new(format!(
            "the {what} {path:?} is not absolute, or holds `..` or a NUL"
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
