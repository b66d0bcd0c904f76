//! The answers of the installed git.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// Git in an isolated environment.
pub(crate) struct Git {
    pub(crate) home: PathBuf,
    pub(crate) system: PathBuf,
    /// The directory in which it is started.
    pub(crate) directory: PathBuf,
    /// The protocols by which it may connect.
    pub(crate) protocols: &'static str,
}

/// Git's answer.
#[derive(Debug)]
pub(crate) enum Said {
    /// The URLs that it would connect to, or the current branch.
    Answer {
        all: Vec<String>,
        /// `true` if there are no others.
        is_whole: bool,
        /// The URLs that it would push to, without the user names, which git does not print.
        pushes: Vec<String>,
    },
    /// It refuses, with this message.
    Refused(String),
}

/// Git's messages if there is nothing to connect to.
const NOTHING: &[&str] = &[
    "not a git repository (or any",
    "No remote configured to list refs from",
    "No configured push destination",
    "No such remote",
    "no push configured",
];

/// The installed git, by its path: a program that is looked for in an environment of its own is started by a fork of this process,
/// which took a quarter of the test's processor time.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|folder| folder.join("git"));
    places.find(|place| place.is_file()).unwrap_or("git".into())
});

pub(crate) fn is_installed() -> bool {
    let status = Command::new(&*PROGRAM)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

impl Git {
    pub(crate) fn branch(&self) -> Said {
        match self.lines(&["branch", "--show-current"]) {
            Ok(all) => whole(all),
            Err(why) => Said::Refused(why),
        }
    }

    /// A remote, by name. `git remote` does not know a remote that only the user's own files define.
    pub(crate) fn remote(&self, name: &str) -> Said {
        if let Ok(mut all) = self.lines(&["remote", "get-url", "--all", "--", name]) {
            let push = self.lines(&["remote", "get-url", "--all", "--push", "--", name]);
            all.extend(push.unwrap_or_default());
            return whole(all);
        }
        let mut said = self.url(name);
        if let Said::Answer { all, pushes, .. } = &mut said {
            // A name without a URL stands for itself.
            all.retain(|one| one != name);
            pushes.retain(|one| one != name);
        }
        said
    }

    /// A fetch and a push without an argument.
    pub(crate) fn default(&self) -> Said {
        let pushes = self.pushes(None);
        match self.lines(&["ls-remote", "--get-url"]) {
            Ok(all) => part(all, pushes),
            Err(why) => self.default_or(why, pushes),
        }
    }

    /// An explicit URL.
    pub(crate) fn url(&self, url: &str) -> Said {
        match self.lines(&["ls-remote", "--get-url", "--", url]) {
            Ok(all) => part(all, self.pushes(Some(url))),
            Err(why) => Said::Refused(why),
        }
    }

    /// An empty answer if git says that there is nothing to connect to, otherwise a refusal.
    fn default_or(&self, why: String, pushes: Vec<String>) -> Said {
        if NOTHING.iter().any(|nothing| why.contains(nothing)) {
            part(Vec::new(), pushes)
        } else {
            Said::Refused(why)
        }
    }

    /// The URLs that git says it pushes to, before it fails because no protocol is allowed.
    fn pushes(&self, remote: Option<&str>) -> Vec<String> {
        let mut arguments = vec!["push", "-v", "--dry-run", "--all"];
        arguments.extend(remote);
        let output = self.run(&arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        text.lines()
            .filter_map(|line| Some(line.strip_prefix("Pushing to ")?.to_owned()))
            .collect()
    }

    /// The lines that git prints, or its message if it fails.
    fn lines(&self, arguments: &[&str]) -> Result<Vec<String>, String> {
        let output = self.run(arguments);
        if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(text.split_terminator('\n').map(str::to_owned).collect())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Command::new(&*PROGRAM)
            .args(arguments)
            .current_dir(&self.directory)
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_SYSTEM", &self.system)
            .env("GIT_ALLOW_PROTOCOL", self.protocols)
            .stdin(Stdio::null())
            .output()
            .expect("git starts")
    }
}

fn whole(all: Vec<String>) -> Said {
    Said::Answer {
        all,
        is_whole: true,
        pushes: Vec::new(),
    }
}

fn part(all: Vec<String>, pushes: Vec<String>) -> Said {
    Said::Answer {
        all,
        is_whole: false,
        pushes,
    }
}

/// `url` as git prints it when pushing: without the user name before an `@` (`transport_anonymize_url`).
pub(crate) fn anonymous(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    match url[start..].split_once('@') {
        Some((user, rest)) if !user.contains('/') && (start > 0 || rest.contains(':')) => {
            format!("{}{rest}", &url[..start])
        }
        _ => url.to_owned(),
    }
}
