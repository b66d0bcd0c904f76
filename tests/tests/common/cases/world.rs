//! Machines, and values that may refer to something on them.

use callgate_host::{Machine, Repository, Urls};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

const DIRS: &[&str] = &[
    "/box",
    "/box/in",
    "/secret",
    "/secret/key",
    "/home/u",
    "/home/u/.ssh",
    "/out",
    "/srv/app",
];
const FILES: &[&str] = &["/box/a", "/box/in/a", "/secret/key/a", "/out/a", "/home/u/.ssh/a"];
const LINKS: &[&str] = &["/box/l", "/box/in/l", "/out/l", "/home/u/l", "/srv/app/l"];
const TARGETS: &[&str] = &[
    "/box",
    "/secret",
    "/secret/key",
    "/out",
    "..",
    "../out",
    "a",
    "l",
    "/box/l",
    "/out/l",
    "/home/u/.ssh",
    "/none",
    "/secret/none",
    "../../secret",
    "/",
    "in/../../secret",
];
const HOSTS: &[&str] = &["good.test", "evil.test", "api.good.test", "github.com"];

/// Directories, files and links, and a repository in each of two directories.
pub(crate) fn world() -> impl Strategy<Value = Machine> {
    let links = prop::collection::btree_map(select(LINKS), select(TARGETS), 0..4);
    let url = || prop::option::of(git_url());
    let repository = || {
        (url(), url(), prop::option::of(select(vec!["origin", "fork"]))).prop_map(|(origin, fork, push)| {
            let named = [("origin", origin), ("fork", fork)];
            Repository {
                branch: Some("main".to_owned()),
                remotes: named
                    .into_iter()
                    .filter_map(|(name, url)| Some((name.to_owned(), Urls::One(url?))))
                    .collect(),
                push_default: push.map(str::to_owned),
                ..Repository::default()
            }
        })
    };
    (links, repository(), repository()).prop_map(|(links, inside, outside)| {
        let mut world = Machine::new("/home/u", "/srv/app")
            .repository("/box", inside)
            .repository("/out", outside);
        world.fs.dirs.extend(DIRS.iter().map(|dir| (*dir).to_owned()));
        world.fs.files.extend(FILES.iter().map(|file| (*file).to_owned()));
        world.fs.links.extend(
            links
                .into_iter()
                .map(|(link, target)| (link.to_owned(), target.to_owned())),
        );
        world
    })
}

/// A path that may exist in the world.
pub(crate) fn path() -> impl Strategy<Value = String> {
    let begin = select(
        [
            DIRS,
            FILES,
            LINKS,
            &["~", "~/.ssh", ".", "..", "in", "/", "/BOX", "/Secret"],
        ]
        .concat(),
    );
    let tail = select(vec![
        "",
        "",
        "",
        "/a",
        "/none/x",
        "/..",
        "/../secret",
        "/l",
        "/l/..",
        "/",
        "/./in",
        "//a",
    ]);
    prop_oneof![
        12 => (begin, tail).prop_map(|(begin, tail)| format!("{begin}{tail}")),
        6 => select(vec!["/box/a", "/box/in/a", "in/a", "./a", "/box/in/new"]).prop_map(str::to_owned),
        1 => select(vec!["", "~bob/x", "/proc/self/cwd", "/box/\0", "file:///box"]).prop_map(str::to_owned),
    ]
}

fn url() -> impl Strategy<Value = String> {
    let scheme = select(vec![
        "https://",
        "https://",
        "http://",
        "HTTPS://u:p@",
        "ftp://",
        "",
    ]);
    let tail = select(vec!["", "/", "/x?q=/", ":8080/", "./"]);
    prop_oneof![
        10 => (scheme, select(HOSTS), tail).prop_map(|(scheme, host, tail)| format!("{scheme}{host}{tail}")),
        1 => select(vec!["", "not a url", "file:///x", "http://127.0.0.1/", "http://localhost", "https://EVIL.test"])
            .prop_map(str::to_owned),
    ]
}

fn git_url() -> impl Strategy<Value = String> {
    let begin = select(vec!["https://", "ssh://git@", "git@"]);
    let tail = select(vec!["/o/r.git", "/o/r", ":o/r"]);
    prop_oneof![
        6 => (begin, select(HOSTS), tail).prop_map(|(begin, host, tail)| format!("{begin}{host}{tail}")),
        2 => select(vec!["origin", "fork"]).prop_map(str::to_owned),
        1 => select(vec!["", "ext::sh -c x", "/out", "--all"]).prop_map(str::to_owned),
    ]
}

fn word() -> impl Strategy<Value = String> {
    select(vec![
        "acme",
        "ACME",
        "evil",
        "main",
        "dev",
        "eve@evil.test",
        "Bob@good.test",
        "x",
    ])
    .prop_map(str::to_owned)
}

/// A string, usually one that suits some kind of role.
pub(super) fn fitting(kind: &str) -> BoxedStrategy<String> {
    match kind {
        "fetch-url" => url().boxed(),
        "git-remote-url" => git_url().boxed(),
        "github-owner" | "branch-name" | "email-address" | "none" => word().boxed(),
        _ => path().boxed(),
    }
}

/// The value of an argument: a string, an array, or rarely something else.
pub(super) fn argument(roles: &[String]) -> BoxedStrategy<Value> {
    let kind = roles.first().map_or("none", String::as_str).to_owned();
    let one = || prop_oneof![9 => fitting(&kind), 1 => prop_oneof![path(), url(), word()]];
    prop_oneof![
        8 => one().prop_map(Value::from),
        6 => prop::collection::vec(one(), 0..4).prop_map(Value::from),
        1 => select(vec![Value::Null, json!(1), json!(true), json!({"path": "/secret"}), json!([["/secret"]])]),
    ]
    .boxed()
}
