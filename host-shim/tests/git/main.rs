//! Compares the real host's answers about git with those of the installed git, over generated repositories.
//!
//! Each repository is made from a seed and written to the disk without git: heads, configurations and includes with
//! syntax and white space that git accepts or refuses, worktrees, bare and linked repositories, other owners, broken
//! files. Git is then asked in an isolated environment:
//!
//! - if git answers, ours is the same, or an error for one of the reasons in [`STRICTER`];
//! - if git refuses, ours is an error.
//!
//! The refs that a push updates are compared in [`pushes`], over configurations of a repository that git made.

mod config;
mod generate;
mod heads;
mod node;
mod oracle;
mod pushes;
mod random;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use callgate_engine::host::Host;
use callgate_host::RealHost;
use generate::Generated;
use oracle::{Git, Said};
use tempfile::TempDir;

const REPOSITORIES: usize = 5_000;

/// Why our answer may be an error although git answers: a part of the error's message, and the reason.
const STRICTER: &[(&str, &str)] = &[
    (
        "includes a file on an unknown condition",
        "a later version of git may know the condition",
    ),
    (
        "expected an absolute or relative path",
        "only git knows the directory of another user, or its own prefix",
    ),
    ("legacy file", "git 3 no longer reads it"),
    ("git would start the program", "git connects through a program"),
    ("not UTF-8", "our answers are text"),
    ("empty URL", "git connects to nothing"),
    (
        "the branch cannot be read from",
        "git would continue without a branch",
    ),
    (
        "belongs to another user",
        "`ls-remote` continues without the repository",
    ),
    ("found a NUL byte", "git ends the text there"),
    ("depends on how git is started", "`PWD` is not known"),
    (
        "has an unexpected value",
        "only some commands of git read the key",
    ),
    (
        "is not a directory",
        "only some commands of git read the work tree",
    ),
    ("not a regular file", "git skips what it cannot read"),
    ("too many links", "git skips what it cannot read"),
    (
        "which git refuses where another condition is on such URLs",
        "only some commands of git read the condition",
    ),
    ("does not name a directory", "git would search further up"),
    ("Permission denied", "git would search further up"),
    (
        "is a bare repository",
        "`ls-remote` continues without the repository",
    ),
    (
        "git would refuse the repository",
        "`ls-remote` continues without the repository",
    ),
];

#[test]
fn git_connects_only_to_what_the_answers_say() {
    if !oracle::is_installed() {
        eprintln!("skipped: git does not run");
        return;
    }
    let count = match std::env::var("CALLGATE_GIT_REPOSITORIES") {
        Ok(text) => text.parse().expect("a number of repositories"),
        Err(_) => REPOSITORIES,
    };
    let started = Instant::now();
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    let folder = new_folder();
    let root = folder.path().canonicalize().expect("the folder is there");
    let workers = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let place = root.join(number.to_string());
                    let counted = examine(&place, number as u64);
                    tally
                        .lock()
                        .expect("no thread panics while it holds the lock")
                        .add(counted);
                    fs::remove_dir_all(&place).expect("the repository can be removed");
                }
            });
        }
    });
    let tally = tally
        .into_inner()
        .expect("no thread panics while it holds the lock");
    eprintln!("{count} repositories in {:.1?}: {tally}", started.elapsed());
    assert!(
        tally.faults.is_empty(),
        "{} faults:\n{}",
        tally.faults.len(),
        tally.shown_faults()
    );
    if count >= REPOSITORIES {
        assert!(tally.agreed > count, "most questions have an answer: {tally}");
        assert!(tally.refused > count / 20, "git refuses some: {tally}");
    }
}

/// A folder for thousands of repositories: in memory, where the system has a place for that.
fn new_folder() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory
        .or_else(|_| tempfile::tempdir())
        .expect("a folder for the repositories")
}

/// The results of comparing some repositories.
#[derive(Default)]
struct Tally {
    questions: usize,
    agreed: usize,
    refused: usize,
    stricter: BTreeMap<&'static str, usize>,
    faults: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.questions += other.questions;
        self.agreed += other.agreed;
        self.refused += other.refused;
        self.faults.extend(other.faults);
        for (reason, count) in other.stricter {
            *self.stricter.entry(reason).or_default() += count;
        }
    }

    fn shown_faults(&self) -> String {
        let some: Vec<&str> = self.faults.iter().take(5).map(String::as_str).collect();
        some.join("\n")
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} questions, {} with git's answer, {} refused by both, {} stricter:",
            self.questions,
            self.agreed,
            self.refused,
            self.stricter.values().sum::<usize>()
        )?;
        for (part, count) in &self.stricter {
            let reason = STRICTER
                .iter()
                .find(|(known, _)| known == part)
                .map_or("", |(_, why)| why);
            writeln!(formatter, "  {count} `{part}`: {reason}")?;
        }
        Ok(())
    }
}

/// Writes one repository, and compares the answers about it.
fn examine(place: &Path, number: u64) -> Tally {
    let generated = generate::generate(place, number);
    let home = place.join("home");
    let host = RealHost::new(text(&home), text(&home))
        .expect("the folder is absolute")
        .with_system_git_config([place.join("system")]);
    let git = Git {
        home,
        system: place.join("system"),
        directory: generated.started_in.clone(),
        protocols: "none",
    };
    let repository = text(&generated.directory);
    let mut examination = Examination {
        tally: Tally::default(),
        number,
        place,
        generated: &generated,
    };
    examination.compare(
        "branch",
        &git.branch(),
        host.git_branch(repository).map(|branch| {
            Some(branch)
                .filter(|branch| !branch.is_empty())
                .into_iter()
                .collect()
        }),
    );
    for name in &generated.names {
        examination.compare(name, &git.remote(name), host.git_remote_urls(repository, name));
    }
    examination.compare(
        "(default)",
        &git.default(),
        host.git_default_remote_urls(repository),
    );
    for url in &generated.urls {
        examination.compare(url, &git.url(url), host.git_url(repository, url));
    }
    examination.tally
}

struct Examination<'a> {
    tally: Tally,
    number: u64,
    place: &'a Path,
    generated: &'a Generated,
}

impl Examination<'_> {
    fn compare(
        &mut self,
        what: &str,
        git: &Said,
        ours: Result<Vec<String>, callgate_engine::host::HostError>,
    ) {
        self.tally.questions += 1;
        // A URL that contains line feeds is several lines of git's output.
        let ours = ours.map(|urls| {
            urls.iter()
                .flat_map(|url| url.split('\n'))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        let fault = match (git, &ours) {
            (Said::Refused(_), Err(_)) => {
                self.tally.refused += 1;
                return;
            }
            (Said::Refused(why), Ok(_)) => Some(format!("git refuses: {why}")),
            (
                Said::Answer {
                    all,
                    is_whole,
                    pushes,
                },
                Ok(ours),
            ) => {
                // `all` is a group of remotes. It has the URLs of its members, which `git remote` does not print.
                let is_whole = *is_whole && !self.generated.has_empty_urls && what != "all";
                let is_pushed = |one: &String| {
                    ours.iter()
                        .any(|url| url == one || oracle::anonymous(url) == *one)
                };
                let is_same = pushes.iter().all(is_pushed)
                    && all.iter().all(|one| ours.contains(one))
                    && (!is_whole || ours.iter().all(|one| all.contains(one)));
                if is_same {
                    self.tally.agreed += 1;
                    return;
                }
                Some(format!("git says {all:?}, and pushes to {pushes:?}"))
            }
            (Said::Answer { all, .. }, Err(error)) => {
                match STRICTER.iter().find(|(part, _)| error.message.contains(part)) {
                    Some((part, _)) => {
                        *self.tally.stricter.entry(part).or_default() += 1;
                        return;
                    }
                    None => Some(format!("git says {all:?}")),
                }
            }
        };
        if let Some(git) = fault {
            self.tally.faults.push(format!(
                "repository {}, {what}: {git}, ours is {ours:?}\n{}",
                self.number,
                self.generated.shown(self.place)
            ));
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the folder is UTF-8")
}
