//! A home directory on the disk, and questions to git about it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use callgate_engine::host::{Host, HostError};
use tempfile::TempDir;

use super::super::super::RealHost;

/// A home directory with a repository.
pub(super) struct World {
    _folder: TempDir,
    home: PathBuf,
    pub(super) host: RealHost,
}

impl World {
    /// A repository `repo` on the unborn branch `main`, with `config` appended to its configuration.
    pub(super) fn new(config: &str) -> Self {
        let world = Self::bare_of_repositories();
        world.git(".", &["init", "--quiet", "--initial-branch=main", "repo"]);
        world.append("repo/.git/config", config);
        world
    }

    pub(super) fn bare_of_repositories() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let text = home.to_str().unwrap();
        let host = RealHost::new(text, text).unwrap();
        Self {
            _folder: folder,
            host: host.with_system_git_config([home.join("system")]),
            home,
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(super) fn append(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = text.replace("HOME", self.home.to_str().unwrap());
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + &text).unwrap();
    }

    /// Runs git in `directory`. Returns the lines of both of its outputs, and `true` if it succeeded.
    pub(super) fn run(&self, directory: &str, arguments: &[&str]) -> (bool, Vec<String>) {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.path(directory))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.home)
            .env("GIT_CONFIG_SYSTEM", self.path("system"))
            .env("GIT_ALLOW_PROTOCOL", "file")
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@b")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@b")
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        let lines = String::from_utf8(text)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        (output.status.success(), lines)
    }

    #[track_caller]
    pub(super) fn git(&self, directory: &str, arguments: &[&str]) -> Vec<String> {
        let (succeeded, lines) = self.run(directory, arguments);
        assert!(succeeded, "git {arguments:?}: {lines:?}");
        lines
    }

    /// The URLs that git says it pushes to.
    pub(super) fn pushes_to(&self, directory: &str, remote: Option<&str>) -> BTreeSet<String> {
        let mut arguments = vec!["push", "-v", "--dry-run", "--all"];
        arguments.extend(remote);
        let (_, lines) = self.run(directory, &arguments);
        lines
            .iter()
            .filter_map(|line| Some(line.strip_prefix("Pushing to ")?.to_owned()))
            .collect()
    }

    pub(super) fn named(&self, directory: &str, name: &str) -> Result<Vec<String>, HostError> {
        self.host.git_remote_urls(&self.text(directory), name)
    }

    /// Compares our answer for every remote that git lists in `directory` with git's own.
    #[track_caller]
    pub(super) fn check_named(&self, directory: &str) {
        let names = self.git(directory, &["remote"]);
        assert!(!names.is_empty(), "a check of nothing");
        for name in names {
            let fetch = self.run(directory, &["remote", "get-url", "--all", &name]);
            let push = self.run(directory, &["remote", "get-url", "--push", "--all", &name]);
            let mut git: BTreeSet<String> = [fetch, push]
                .into_iter()
                .filter(|(succeeded, _)| *succeeded)
                .flat_map(|(_, lines)| lines)
                .collect();
            // That command does not know remotes that the user's own files define.
            if git.is_empty() {
                git = self.pushes_to(directory, Some(&name));
                git.extend(self.git(directory, &["ls-remote", "--get-url", &name]));
            }
            let ours: BTreeSet<String> = self.named(directory, &name).unwrap().into_iter().collect();
            // To git a remote without a URL stands for its own name; our answer leaves that out.
            if ours.is_empty() {
                git.remove(&name);
            }
            assert_eq!(git, ours, "{name} in {directory}");
        }
    }

    /// Checks that the answer for an explicit URL is where git fetches from and where it pushes to.
    #[track_caller]
    pub(super) fn check_url(&self, directory: &str, url: &str) {
        let mut git: BTreeSet<String> = self.pushes_to(directory, Some(url));
        git.extend(self.git(directory, &["ls-remote", "--get-url", url]));
        let ours = self.host.git_url(&self.text(directory), url).unwrap();
        assert_eq!(git, ours.into_iter().collect(), "{url}");
    }

    /// Checks that the answer without an argument is `expected`, and contains where git would fetch from and push to.
    #[track_caller]
    pub(super) fn check_default(&self, directory: &str, expected: &[&str]) {
        let ours: BTreeSet<String> = self
            .host
            .git_default_remote_urls(&self.text(directory))
            .unwrap()
            .into_iter()
            .collect();
        assert_eq!(ours, expected.iter().map(|url| (*url).to_owned()).collect());
        let mut git = self.pushes_to(directory, None);
        if let (true, lines) = self.run(directory, &["ls-remote", "--get-url"]) {
            // If there is no remote, git prints the name that it looked for.
            git.extend(lines.into_iter().filter(|line| line != "origin"));
        }
        assert!(ours.is_superset(&git), "git: {git:?}, ours: {ours:?}");
    }

    #[track_caller]
    pub(super) fn check_refused(&self, directory: &str, name: &str, part: &str) {
        let error = self.named(directory, name).unwrap_err();
        assert!(error.message.contains(part), "{}", error.message);
    }
}
