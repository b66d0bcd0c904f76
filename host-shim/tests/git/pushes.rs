//! Compares what the real host says that a push updates with what the installed git would push, over generated
//! configurations.
//!
//! One repository with a few branches, a tag and a symbolic reference gets a configuration for each seed, and git is asked
//! by `git push --dry-run --porcelain` to a bare repository beside it. Every branch that git would update must be the one
//! that was named, or one that the answer says.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use callgate_engine::host::Host;
use callgate_host::RealHost;

use super::oracle::{self, Git};
use super::random::Random;
use super::text;

const CONFIGURATIONS: usize = 400;

const MODES: &[&str] = &[
    "simple", "current", "upstream", "upstream", "tracking", "matching", "nothing", "Upstream",
];

const REFSPECS: &[&str] = &[
    "refs/heads/feature:refs/heads/main",
    "+refs/heads/feature:refs/heads/main",
    "refs/heads/feature:main",
    "refs/heads/feature:heads/main",
    "feature:main",
    "feature",
    "main",
    "refs/heads/main",
    "HEAD",
    "@",
    "HEAD:main",
    "HEAD:refs/heads/main",
    "@:refs/heads/main",
    ":",
    "+:",
    ":refs/heads/main",
    "^refs/heads/main",
    "^refs/heads/feature",
    "refs/heads/*:refs/heads/*",
    "refs/heads/*:refs/heads/x/*",
    "refs/heads/fea*:refs/heads/mai*",
    "refs/heads/*ture:refs/heads/*in",
    "refs/heads/feature*:refs/heads/main*",
    "refs/heads/*:refs/for/*",
    "refs/*:refs/*",
    "refs/tags/*:refs/heads/*",
    "refs/tags/rel:refs/heads/main",
    "refs/heads/alias",
    "alias",
    "alias:refs/heads/y",
    "refs/heads/alias:refs/heads/z",
    "refs/remotes/*:refs/heads/*",
    "feature:",
    "",
    "a:b:c",
];

/// The refspecs to push; empty for a push without one.
const REFERENCES: &[&str] = &[
    "",
    "feature",
    "refs/heads/feature",
    "heads/feature",
    "+feature",
    "HEAD",
    "main",
    "topic",
    "alias",
    "rel",
    "origin",
    "origin/main",
    "none",
];

#[test]
fn git_pushes_only_to_what_the_answers_say() {
    if !oracle::is_installed() {
        eprintln!("skipped: git does not run");
        return;
    }
    let folder = super::new_folder();
    let pushes = Pushes::new(folder.path().canonicalize().expect("the folder is there"));
    let mut tally = Tally::default();
    for number in 0..CONFIGURATIONS {
        let random = &mut Random::new(number as u64);
        let configuration = pushes.configure(random);
        for reference in REFERENCES {
            let remote = match *reference {
                "" => random.of(&["", "origin", "other", "../remote.git"]),
                _ => random.of(&["origin", "origin", "other", "../remote.git"]),
            };
            pushes.compare(remote, reference, &configuration, &mut tally);
        }
    }
    eprintln!("{tally:?}");
    assert!(
        tally.faults.is_empty(),
        "{} faults:\n{}",
        tally.faults.len(),
        tally
            .faults
            .iter()
            .take(5)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
    assert!(tally.elsewhere > CONFIGURATIONS / 4, "{tally:?}");
    assert!(tally.plain > CONFIGURATIONS, "{tally:?}");
}

#[derive(Debug, Default)]
struct Tally {
    /// Git updates a branch of another name, and the answer says so.
    elsewhere: usize,
    /// Git updates the branch that was named, and the answer says nothing else.
    plain: usize,
    /// The answer says more than git updates.
    broader: usize,
    /// Git pushes, and the answer is that it cannot be told.
    untold: usize,
    /// Git pushes, and the answer is an error.
    refused: usize,
    /// Git does not push.
    nothing: usize,
    faults: Vec<String>,
}

struct Pushes {
    root: PathBuf,
    git: Git,
    host: RealHost,
}

impl Pushes {
    fn new(root: PathBuf) -> Self {
        let work = root.join("work");
        for folder in ["home", "work"] {
            fs::create_dir(root.join(folder)).expect("a folder can be made");
        }
        let host = RealHost::new(text(&root.join("home")), text(&work))
            .expect("the folder is absolute")
            .with_system_git_config([root.join("system")]);
        let git = Git {
            home: root.join("home"),
            system: root.join("system"),
            directory: work,
            protocols: "file",
        };
        let pushes = Self { root, git, host };
        for arguments in [
            &["init", "-q", "--bare", "../remote.git"][..],
            &["init", "-q", "--bare", "../other.git"],
            &["init", "-q", "-b", "main"],
            &[
                "-c",
                "user.name=u",
                "-c",
                "user.email=u@x.test",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "one",
            ],
            &["push", "-q", "../remote.git", "main", "main:feature", "main:m"],
            &["push", "-q", "../other.git", "main", "main:topic"],
            &[
                "-c",
                "user.name=u",
                "-c",
                "user.email=u@x.test",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "two",
            ],
            &["branch", "feature"],
            &["branch", "topic"],
            &["tag", "rel"],
            &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
            &["update-ref", "refs/remotes/origin/main", "HEAD"],
            &[
                "symbolic-ref",
                "refs/remotes/origin/HEAD",
                "refs/remotes/origin/main",
            ],
        ] {
            let output = pushes.git.run(arguments);
            assert!(output.status.success(), "{arguments:?}: {output:?}");
        }
        pushes
    }

    /// Writes a configuration and a head, and returns the text of both.
    fn configure(&self, random: &mut Random) -> String {
        let mut config = "[core]\n\trepositoryformatversion = 0\n".to_owned();
        let mut home = String::new();
        for name in ["origin", "other"] {
            let url = if name == "origin" { "remote" } else { "other" };
            config.push_str(&format!("[remote \"{name}\"]\n\turl = ../{url}.git\n"));
            let place = if random.is(20) { &mut home } else { &mut config };
            place.push_str(&format!("[remote \"{name}\"]\n"));
            if random.is(45) {
                for _ in 0..1 + random.below(2) {
                    place.push_str(&format!("\tpush = {}\n", random.of(REFSPECS)));
                }
            }
            if random.is(6) {
                place.push_str(random.of(&["\tmirror = true\n", "\tmirror\n", "\tmirror = false\n"]));
            }
        }
        if random.is(5) {
            config.push_str("[remote \"../remote.git\"]\n\tpush = refs/heads/*:refs/heads/main\n");
        }
        for branch in ["feature", "main", "topic"] {
            config.push_str(&format!("[branch \"{branch}\"]\n"));
            if random.is(70) {
                config.push_str(&format!(
                    "\tremote = {}\n",
                    random.of(&["origin", "origin", "other", "."])
                ));
            }
            for _ in 0..[1, 1, 1, 0, 2][random.below(5)] {
                let merge = random.of(&[
                    "refs/heads/main",
                    "refs/heads/feature",
                    "main",
                    "refs/tags/rel",
                    "heads/m",
                ]);
                config.push_str(&format!("\tmerge = {merge}\n"));
            }
            if random.is(20) {
                config.push_str(&format!(
                    "\tpushRemote = {}\n",
                    random.of(&["origin", "other", "../remote.git"])
                ));
            }
        }
        if random.is(20) {
            config.push_str(&format!(
                "[remote]\n\tpushDefault = {}\n",
                random.of(&["origin", "other"])
            ));
        }
        if random.is(75) {
            let place = if random.is(30) { &mut home } else { &mut config };
            place.push_str(&format!("[push]\n\tdefault = {}\n", random.of(MODES)));
        }
        let head = random.of(&["feature", "feature", "main", "topic", "alias", "(detached)"]);
        let content = match head {
            "(detached)" => fs::read_to_string(self.root.join("work/.git/refs/heads/main")),
            branch => Ok(format!("ref: refs/heads/{branch}\n")),
        };
        let write = |path: &str, content: &str| {
            fs::write(self.root.join(path), content).expect("a file can be written");
        };
        write("work/.git/config", &config);
        write("home/.gitconfig", &home);
        write("work/.git/HEAD", &content.expect("the branch is there"));
        format!("on {head}\n{home}{config}")
    }

    fn compare(&self, remote: &str, reference: &str, configuration: &str, tally: &mut Tally) {
        let work = self.root.join("work");
        let mut arguments = vec!["push", "--dry-run", "--porcelain"];
        arguments.extend([remote, reference].iter().filter(|one| !one.is_empty()));
        let pushed = branches(&self.git.run(&arguments));
        let host = &self.host;
        let named = reference.strip_prefix('+').unwrap_or(reference);
        let ours = host.git_push_refs(text(&work), remote, named);
        let own = match named {
            "" | "HEAD" => host.git_branch(text(&work)).unwrap_or_default(),
            _ => named.to_owned(),
        };
        let own = full(&own);
        let others: Vec<&String> = pushed.iter().filter(|branch| **branch != own).collect();
        match &ours {
            _ if pushed.is_empty() => tally.nothing += 1,
            Err(_) => tally.refused += 1,
            Ok(None) => tally.untold += 1,
            Ok(Some(refs)) => {
                let is_said = |branch: &&String| {
                    let spelled =
                        |one: &String| full(one) == **branch || format!("refs/heads/{one}") == **branch;
                    refs.iter().any(spelled)
                };
                if !others.iter().all(is_said) {
                    tally.faults.push(format!(
                        "git push {remote} {reference} updates {pushed:?}, ours is {ours:?}\n{configuration}"
                    ));
                } else if !others.is_empty() {
                    tally.elsewhere += 1;
                } else if refs.is_empty() {
                    tally.plain += 1;
                } else {
                    tally.broader += 1;
                }
            }
        }
    }
}

/// The branches that git says it would update, by their full names.
fn branches(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text
        .lines()
        .filter_map(|line| line.split('\t').nth(1)?.rsplit_once(':'));
    let refs = lines.map(|(_, destination)| destination.to_owned());
    refs.filter(|destination| destination.starts_with("refs/heads/"))
        .collect()
}

/// A branch as git takes it from a short name.
fn full(name: &str) -> String {
    let below = ["refs/heads/", "heads/"]
        .iter()
        .find_map(|start| name.strip_prefix(start));
    format!("refs/heads/{}", below.unwrap_or(name))
}
