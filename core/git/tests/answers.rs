//! The answers about one small repository, and what is read for them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use callgate_git::{Error, Files, Found, Git, Kind, Known, Places};

/// Files by their paths; whatever is above a file is a directory.
struct Disk {
    files: BTreeMap<&'static str, String>,
    /// The paths that were read whole, in order.
    reads: RefCell<Vec<String>>,
}

impl Disk {
    fn new(files: &[(&'static str, &str)]) -> Self {
        Self {
            files: files
                .iter()
                .map(|(path, text)| (*path, (*text).to_owned()))
                .collect(),
            reads: RefCell::default(),
        }
    }

    fn kind(&self, path: &[u8]) -> Option<Kind> {
        let path = text(path);
        let directory = format!("{}/", path.trim_end_matches('/'));
        if self.files.contains_key(path) {
            Some(Kind::File)
        } else if self.files.keys().any(|file| file.starts_with(&directory)) {
            Some(Kind::Directory)
        } else {
            None
        }
    }
}

fn text(path: &[u8]) -> &str {
    std::str::from_utf8(path).unwrap_or("not UTF-8")
}

impl Files for Disk {
    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error> {
        let found = |kind| Found {
            kind,
            is_own: true,
            device: 1,
        };
        Ok(self.kind(path).map(found))
    }

    fn read(&self, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let path = text(path);
        // The first bytes of a `HEAD` show if it is one.
        if limit > 255 {
            self.reads.borrow_mut().push(path.to_owned());
        }
        Ok(self.files.get(path).map(|text| text.clone().into_bytes()))
    }

    fn is_searchable(&self, path: &[u8]) -> Result<bool, Error> {
        Ok(self.kind(path) == Some(Kind::Directory))
    }
}

const REPOSITORY: &[(&str, &str)] = &[
    ("/etc/passwd", ""),
    ("/repo/.git/HEAD", "ref: refs/heads/topic\n"),
    (
        "/repo/.git/config",
        "[core]\n\trepositoryFormatVersion = 0\n[remote \"origin\"]\n\turl = gh:acme/app.git\n",
    ),
    ("/repo/.git/objects/x", ""),
    ("/repo/.git/refs/x", ""),
    (
        "/home/u/.gitconfig",
        "[url \"https://github.com/\"]\n\tinsteadOf = gh:\n",
    ),
];

fn places() -> Places {
    Places::new("/home/u", "/home/u/.config", false)
}

#[test]
fn every_question_is_answered_from_one_reading() {
    let (disk, places) = (Disk::new(REPOSITORY), places());
    let mut known = Known::default();
    let mut git = Git::new(&disk, &places, &mut known);
    let url = ["https://github.com/acme/app.git".to_owned()];
    assert_eq!(git.remote_urls("/repo", "origin").unwrap(), url);
    let once = disk.reads.borrow().clone();
    assert_eq!(git.default_remote_urls("/repo").unwrap(), url);
    // The reading is kept while there is no `Git`.
    let mut git = Git::new(&disk, &places, &mut known);
    assert_eq!(git.urls("/repo", "gh:acme/app.git").unwrap(), url);
    assert_eq!(git.branch("/repo").unwrap().as_deref(), Some("topic"));
    let mut reads = disk.reads.borrow().clone();
    assert!(once.contains(&"/repo/.git/config".to_owned()), "{once:?}");
    reads.sort();
    let count = reads.len();
    reads.dedup();
    assert_eq!(reads.len(), count, "each file is read once: {reads:?}");
}

#[test]
fn with_nothing_known_the_files_are_read_anew() {
    let (mut disk, places) = (Disk::new(REPOSITORY), places());
    assert_eq!(
        Git::new(&disk, &places, &mut Known::default())
            .branch("/repo")
            .unwrap()
            .as_deref(),
        Some("topic")
    );
    disk.files
        .insert("/repo/.git/HEAD", "ref: refs/heads/main\n".to_owned());
    assert_eq!(
        Git::new(&disk, &places, &mut Known::default())
            .branch("/repo")
            .unwrap()
            .as_deref(),
        Some("main")
    );
}

#[test]
fn a_branch_needs_a_repository() {
    let places = places();
    let mut disk = Disk::new(REPOSITORY);
    let error = Git::new(&disk, &places, &mut Known::default())
        .branch("/etc")
        .unwrap_err();
    assert_eq!(
        error.message(),
        "`/etc` is not in a git repository, so it has no branch"
    );
    assert!(
        Git::new(&disk, &places, &mut Known::default())
            .default_remote_urls("/etc")
            .unwrap()
            .is_empty()
    );
    // A detached head has no branch, which is not an error.
    disk.files.insert("/repo/.git/HEAD", "0".repeat(40) + "\n");
    assert_eq!(
        Git::new(&disk, &places, &mut Known::default())
            .branch("/repo")
            .unwrap(),
        None
    );
}

/// The refs that a push updates in a repository with this configuration.
fn pushed(configuration: &str, remote: &str, reference: &str) -> Result<Option<Vec<String>>, Error> {
    let mut disk = Disk::new(REPOSITORY);
    let config = disk.files.entry("/repo/.git/config").or_default();
    config.push_str(configuration);
    let places = places();
    Git::new(&disk, &places, &mut Known::default()).push_refs("/repo", remote, reference)
}

#[test]
fn a_push_updates_what_the_configuration_says() {
    #[track_caller]
    fn check(configuration: &str, remote: &str, reference: &str, expected: &[&str]) {
        let refs = pushed(configuration, remote, reference).unwrap().unwrap();
        assert_eq!(refs, expected, "{configuration}");
    }
    let mapped = "push = refs/heads/topic:refs/heads/main\n";
    check(mapped, "origin", "topic", &["refs/heads/main"]);
    check(mapped, "origin", "refs/heads/topic", &["refs/heads/main"]);
    check(mapped, "origin", "HEAD", &["refs/heads/main"]);
    check(mapped, "", "", &["refs/heads/main"]);
    check(mapped, "origin", "other", &[]);
    check(mapped, "https://github.com/acme/app.git", "topic", &[]);
    check(
        "push = refs/heads/*:refs/heads/x/*\n",
        "origin",
        "topic",
        &["refs/heads/x/topic"],
    );
    check("push = refs/heads/*:refs/heads/*\n", "origin", "topic", &[]);
    let tracking = "[branch \"topic\"]\nremote = origin\nmerge = refs/heads/main\n";
    let with = |mode: &str| format!("{tracking}[push]\ndefault = {mode}\n");
    for mode in ["upstream", "tracking"] {
        check(&with(mode), "origin", "topic", &["refs/heads/main"]);
        check(&with(mode), "origin", "", &["refs/heads/main"]);
    }
    for mode in ["simple", "current", "nothing"] {
        check(&with(mode), "origin", "topic", &[]);
        check(&with(mode), "origin", "", &[]);
    }
    check(tracking, "origin", "topic", &[]);
    check(&with("matching"), "origin", "topic", &[]);
}
