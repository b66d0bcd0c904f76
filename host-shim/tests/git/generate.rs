//! Generates repositories without git.

use std::fs;
use std::os::unix::fs::{lchown, symlink};
use std::path::{Path, PathBuf};

use super::config::{Config, REMOTES, sections};
use super::heads;
use super::random::Random;

/// A repository, or what looks like one, and the questions about it.
pub(crate) struct Generated {
    /// The directory that the questions are about.
    pub(crate) directory: PathBuf,
    /// The directory in which git is started: the same, or its parent.
    pub(crate) started_in: PathBuf,
    pub(crate) names: Vec<String>,
    pub(crate) urls: Vec<String>,
    /// `true` if an empty URL may discard those before it, which depends on the version of git.
    pub(crate) has_empty_urls: bool,
    layout: Layout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Plain,
    LinkedGit,
    GitFile,
    Worktree,
    Bare,
    Nested,
    ThroughLink,
    Nothing,
}

const URLS: &[&str] = &[
    "https://github.com/a/b",
    "gh:a/b",
    "git@h.example:x",
    "/srv/x",
    "w/x",
    "x:y",
    "origin",
    "nick",
];

/// Writes the repository with this number to `place`.
pub(crate) fn generate(place: &Path, number: u64) -> Generated {
    let random = &mut Random::new(number);
    let layout = match random.below(20) {
        0..9 => Layout::Plain,
        9..11 => Layout::LinkedGit,
        11 => Layout::GitFile,
        12..14 => Layout::Worktree,
        14..16 => Layout::Bare,
        16 => Layout::Nested,
        17..19 => Layout::ThroughLink,
        _ => Layout::Nothing,
    };
    let mut writer = Writer {
        place,
        random,
        has_empty_urls: false,
        is_odd: number % 2 == 1,
    };
    let (work, git_dir) = writer.layout(layout);
    writer.configurations(&git_dir);
    let (directory, started_in) = writer.asked(layout, &work);
    writer.owners(&work, &git_dir);
    let mut names = vec!["origin".to_owned()];
    names.push(writer.random.of(REMOTES).to_owned());
    Generated {
        directory,
        started_in,
        names,
        urls: vec![writer.random.of(URLS).to_owned()],
        has_empty_urls: writer.has_empty_urls,
        layout,
    }
}

impl Generated {
    /// The contents of `place` for a message, large files left out.
    pub(crate) fn shown(&self, place: &Path) -> String {
        let mut text = format!("{:?}, asked about {}\n", self.layout, self.directory.display());
        show(place, &mut text);
        text
    }
}

fn show(folder: &Path, text: &mut String) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("the entry can be read").path())
        .collect();
    entries.sort();
    for path in entries {
        let metadata = fs::symlink_metadata(&path).expect("it is there");
        if metadata.is_dir() {
            show(&path, text);
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path).expect("it is a link");
            text.push_str(&format!("{} -> {}\n", path.display(), target.display()));
        } else {
            let content = fs::read(&path).expect("it can be read");
            text.push_str(&format!("{}: \"{}\"\n", path.display(), content.escape_ascii()));
        }
    }
}

struct Writer<'a> {
    place: &'a Path,
    random: &'a mut Random,
    has_empty_urls: bool,
    /// `true` if the repository may have syntax that git does not know, or refuses.
    is_odd: bool,
}

impl Writer<'_> {
    /// Makes the directories of a repository, and returns its work tree and its git directory.
    fn layout(&mut self, layout: Layout) -> (PathBuf, PathBuf) {
        let work = self.place.join("work");
        for folder in ["work/sub/deep", "home/.config/git", "elsewhere"] {
            create(&self.place.join(folder));
        }
        symlink("../elsewhere/three", self.place.join("three")).expect("a link can be made");
        symlink("elsewhere", self.place.join("linked")).expect("a link can be made");
        let git_dir = match layout {
            Layout::Plain | Layout::ThroughLink => work.join(".git"),
            Layout::LinkedGit => self.place.join("real/real.git"),
            Layout::GitFile => self.place.join("real/modules/sub"),
            Layout::Worktree => {
                let main = self.place.join("main/.git");
                self.repository(&main);
                let own = main.join("worktrees/w");
                create(&own);
                write(
                    &own.join("commondir"),
                    self.random.of(&[
                        &b"../..\n"[..],
                        b"../..",
                        b"../..\r\n",
                        b"../..\n\n",
                        b"..",
                        b"\n",
                    ]),
                );
                heads::write_head(self.random, &own, &main);
                write(
                    &work.join(".git"),
                    format!("gitdir: {}\n", own.display()).as_bytes(),
                );
                return (work, own);
            }
            Layout::Bare => self.place.join("bare"),
            Layout::Nested => {
                let outer = self.place.join(".git");
                self.repository(&outer);
                self.config(&outer.join("config"), 3, true);
                work.join(".git")
            }
            Layout::Nothing => return (work.clone(), self.place.join("elsewhere")),
        };
        self.repository(&git_dir);
        match layout {
            Layout::LinkedGit => symlink("../real/real.git", work.join(".git")).expect("a link can be made"),
            Layout::GitFile => {
                let content = self.random.of(&[
                    &b"gitdir: ../real/modules/sub\n"[..],
                    b"gitdir: ../real/modules/sub",
                    b"gitdir: ../real/modules/sub\r\n\n",
                    b"gitdir:../real/modules/sub",
                    b"gitdir: ../none",
                    b"gitdir:  ../real/modules/sub",
                    b"gitdir: \n",
                    b"",
                    b"gitdir: ../real/modules/sub ",
                    b"gitdir: ../real/modules/sub/.",
                    b"gitdir: ../real/modules/sub\n",
                ]);
                write(&work.join(".git"), content);
            }
            Layout::Nested => self.damage(&git_dir),
            Layout::ThroughLink => symlink("work", self.place.join("link")).expect("a link can be made"),
            Layout::Plain | Layout::Worktree | Layout::Bare | Layout::Nothing => {}
        }
        (work, git_dir)
    }

    fn repository(&mut self, git_dir: &Path) {
        for folder in ["objects", "refs/heads"] {
            create(&git_dir.join(folder));
        }
        heads::write_head(self.random, git_dir, git_dir);
    }

    /// Removes something that makes a directory a repository.
    fn damage(&mut self, git_dir: &Path) {
        let objects = git_dir.join("objects");
        match self.random.below(6) {
            0 => fs::remove_dir(&objects).expect("it is empty"),
            1 => {
                fs::remove_dir(&objects).expect("it is empty");
                symlink("../nowhere", &objects).expect("a link can be made");
            }
            2 => {
                fs::remove_dir(&objects).expect("it is empty");
                symlink("refs", &objects).expect("a link can be made");
            }
            3 => fs::rename(git_dir.join("refs"), git_dir.join("other")).expect("it is there"),
            4 => write(
                &git_dir.join("commondir"),
                self.random.of(&[&b""[..], b"../none", b"."]),
            ),
            _ => {
                fs::remove_dir_all(git_dir).expect("it is there");
                create(git_dir);
            }
        }
    }

    fn configurations(&mut self, git_dir: &Path) {
        let common = if git_dir.ends_with("worktrees/w") {
            git_dir.join("../..")
        } else {
            git_dir.to_owned()
        };
        let count = 2 + self.random.below(5);
        self.config(&common.join("config"), count, true);
        if self.random.is(20) {
            self.config(&git_dir.join("config.worktree"), 2, true);
        }
        let place = self.place;
        if self.random.is(30) {
            self.config(&place.join("system"), 1, false);
        }
        if self.random.is(40) {
            self.config(&place.join("home/.gitconfig"), 2, true);
        }
        if self.random.is(15) {
            self.config(&place.join("home/.config/git/config"), 1, false);
        }
        for folder in [
            place.to_owned(),
            place.join("home"),
            place.join("work"),
            place.join("elsewhere"),
            common.clone(),
        ] {
            for name in ["one", "two", "three"] {
                if self.random.is(40) && !folder.join(name).is_symlink() {
                    self.config(&folder.join(name), 1, false);
                }
            }
        }
        if self.random.is(4) {
            let legacy = common.join(self.random.of(&["remotes", "branches"]));
            create(&legacy);
            write(
                &legacy.join(self.random.of(&["origin", "up", "w"])),
                b"URL: /legacy\n",
            );
        }
    }

    /// Writes a configuration file. A repository's own usually begins as git writes it.
    fn config(&mut self, path: &Path, count: usize, is_odd: bool) {
        let Config {
            bytes,
            has_empty_urls,
        } = sections(self.random, count, is_odd && self.is_odd);
        self.has_empty_urls |= has_empty_urls;
        let start = if path.ends_with("config") && self.random.is(85) {
            self.random.of(&[
                &b"[core]\n\trepositoryformatversion = 0\n"[..],
                b"[core]\n\trepositoryformatversion = 0\n",
                b"[core]\n\trepositoryformatversion = 0\n",
                b"[core]\n\trepositoryformatversion = 0\n[extensions]\nworktreeConfig = true\n",
                b"[core]\n\trepositoryformatversion = 1\n[extensions]\nworktreeConfig = 1\n",
                b"[core]\n\trepositoryformatversion = 1\n",
            ])
        } else {
            b""
        };
        let place = self.place.to_str().expect("the folder is UTF-8");
        let text = replace(&[start, &bytes].concat(), b"WORK", b"PLACE/work");
        write(path, &replace(&text, b"PLACE", place.as_bytes()));
    }

    /// The directory that the questions are about, and the one in which git is started.
    fn asked(&mut self, layout: Layout, work: &Path) -> (PathBuf, PathBuf) {
        let same = |path: PathBuf| (path.clone(), path);
        match layout {
            Layout::Bare => {
                let bare = self.place.join("bare");
                same(if self.random.is(50) {
                    bare
                } else {
                    bare.join("objects")
                })
            }
            Layout::ThroughLink => {
                let link = self.place.join("link");
                same(if self.random.is(50) {
                    link
                } else {
                    link.join("sub")
                })
            }
            Layout::Plain
            | Layout::LinkedGit
            | Layout::GitFile
            | Layout::Worktree
            | Layout::Nested
            | Layout::Nothing => match self.random.below(10) {
                0 | 1 => same(work.join("sub")),
                2 => same(work.join("sub/deep")),
                3 => (work.join("not/yet"), work.to_owned()),
                4 => {
                    write(&work.join("file"), b"x");
                    (work.join("file"), work.to_owned())
                }
                5 if work.join(".git/refs").is_dir() => same(work.join(".git")),
                _ => same(work.to_owned()),
            },
        }
    }

    /// Makes another user the owner of something. The configuration may declare it safe.
    fn owners(&mut self, work: &Path, git_dir: &Path) {
        if !rustix::process::geteuid().is_root() || !self.random.is(8) {
            return;
        }
        let given = match self.random.below(4) {
            0 => work.to_owned(),
            1 => work.join(".git"),
            2 => git_dir.to_owned(),
            _ => git_dir.join("config"),
        };
        if given.is_symlink() || given.exists() {
            lchown(&given, Some(12_345), None).expect("root may change a file's owner");
        }
        let place = self.place.display();
        let allowed = match self.random.below(10) {
            0 => "*".to_owned(),
            1 => work.display().to_string(),
            2 => format!("{}/", work.display()),
            3 => ".".to_owned(),
            4 => format!("{place}/*"),
            5 => format!("{place}/wo/*"),
            6 => format!("{place}/link"),
            7 => "~/../work".to_owned(),
            8 => format!("{}\ndirectory =", work.display()),
            _ => git_dir.display().to_string(),
        };
        let path = self.place.join("home/.gitconfig");
        let before = fs::read(&path).unwrap_or_default();
        write(
            &path,
            &[format!("[safe]\ndirectory = {allowed}\n").as_bytes(), &before].concat(),
        );
    }
}

fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(byte) = rest.first() {
        if let Some(after) = rest.strip_prefix(from) {
            replaced.extend_from_slice(to);
            rest = after;
        } else {
            replaced.push(*byte);
            rest = &rest[1..];
        }
    }
    replaced
}

fn create(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder can be made");
}

fn write(path: &Path, content: &[u8]) {
    fs::write(path, content).expect("a file can be written");
}
