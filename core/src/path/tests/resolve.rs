use std::borrow::Cow;

use proptest::prelude::*;

use super::disk::{Disk, canonical};
use crate::host::{Facts, HostError};
use crate::limits::Limits;
use crate::path::lexical::is_collapsed;
use crate::path::*;

const DISK: &[&str] = &[
    "/etc/passwd",
    "/etc/cron.d/",
    "/home/u/.ssh/id_rsa",
    "/home/u/.ssh/later -> /home/u/.ssh/not-yet",
    "/home/u/Documents/plan.txt",
    "/home/u/Documents/l -> /srv/box/a.txt",
    "/srv/app/notes.txt",
    "/srv/box/a.txt",
    "/srv/box/src/main.rs",
    "/srv/box/src/deep/",
    "/srv/box-old/x",
    // Links that exist.
    "/srv/box/inner -> src",
    "/srv/box/file.lnk -> src/main.rs",
    "/srv/box/escape -> /etc",
    "/srv/box/slashes -> //etc/./cron.d/..//",
    "/srv/box/up -> ..",
    "/srv/box/root -> /",
    "/srv/box/keys -> /home/u/.ssh",
    "/srv/box/hop -> src/deep",
    "/srv/box/through -> hop/../main.rs",
    "/srv/box/chain -> chain2",
    "/srv/box/chain2 -> ./chain3",
    "/srv/box/chain3 -> /home/u/Documents",
    "/srv/sb -> box",
    "/srv/other/a.txt -> /srv/box/a.txt",
    "/srv/other/d/",
    "/srv/box/to-other -> ../other/d",
    // Links that dangle.
    "/srv/box/dangling -> /etc/cron.d/new",
    "/srv/box/dangling-in -> nowhere/inside",
    "/srv/box/dangling-up -> ../.profile",
    "/srv/box/dangling-chain -> dangling-hop",
    "/srv/box/dangling-hop -> escape/new",
    "/srv/box/dangling-file -> a.txt/below",
    "/srv/box/dangling-physical -> hop/../new",
    "/srv/box/dangling-missing -> nowhere/../new",
    "/srv/box/dangling-up-missing -> /home/u/nope/a/b",
    // Links that lead nowhere.
    "/srv/box/loop -> loop",
    "/srv/box/loop-a -> loop-b",
    "/srv/box/loop-b -> loop-a",
    "/srv/box/dangling-to-loop -> nowhere/../loop",
    // Places of a process.
    "/proc/self -> 4242",
    "/proc/4242/cwd -> /srv/box",
    "/proc/4242/mounts",
    "/proc/mounts -> self/mounts",
    "/proc/cpuinfo",
    "/dev/null",
    "/dev/fd -> /proc/self/fd",
    "/srv/box/cwd -> /proc/self/cwd",
    "/srv/box/cwd2 -> cwd",
    "/srv/box/fd -> ../../dev/fd/3",
    // Directories that fail.
    "/srv/locked/ !denied",
    "/srv/strange/ !not-utf8",
    "/srv/broken/ !other",
    "/srv/down/ !the network is gone",
];

/// Resolves `value` against `/srv/app`; a failure is its message, that of the host before all others.
fn resolved(disk: &Disk, value: &str) -> Result<String, String> {
    disk.evaluate(|resolver| {
        let resolved = resolver.resolve(value, "/srv/app");
        match resolver.facts.failure() {
            Some(error) => Err(error.to_string()),
            None => resolved
                .map(|path| path.to_string())
                .map_err(|why| why.to_string()),
        }
    })
}

fn check(cases: &[(&str, Result<&str, Unresolvable>)]) {
    let disk = Disk::new(DISK.iter().copied());
    for (value, expected) in cases {
        let expected = match expected {
            Ok(path) => Ok((*path).to_owned()),
            Err(why) => Err(why.to_string()),
        };
        assert_eq!(resolved(&disk, value), expected, "{value:?}");
    }
}

fn refused(reason: Unresolvable) -> Result<&'static str, Unresolvable> {
    Err(reason)
}

#[test]
fn what_exists_is_where_the_host_says() {
    check(&[
        ("/", Ok("/")),
        ("/srv/box/a.txt", Ok("/srv/box/a.txt")),
        ("/srv//box/./a.txt", Ok("/srv/box/a.txt")),
        ("/srv/box/src/", Ok("/srv/box/src")),
        ("notes.txt", Ok("/srv/app/notes.txt")),
        (".", Ok("/srv/app")),
        ("~", Ok("/home/u")),
        ("~/Documents/plan.txt", Ok("/home/u/Documents/plan.txt")),
        ("/srv/box/inner/main.rs", Ok("/srv/box/src/main.rs")),
        ("/srv/box/file.lnk", Ok("/srv/box/src/main.rs")),
        ("/srv/box/escape/passwd", Ok("/etc/passwd")),
        ("/srv/box/escape/", Ok("/etc")),
        ("/srv/box/escape/.", Ok("/etc")),
        ("/srv/box/slashes/passwd", Ok("/etc/passwd")),
        ("/srv/box/root/etc/passwd", Ok("/etc/passwd")),
        ("/srv/box/keys/id_rsa", Ok("/home/u/.ssh/id_rsa")),
        ("/srv/box/through", Ok("/srv/box/src/main.rs")),
        ("/srv/box/chain/plan.txt", Ok("/home/u/Documents/plan.txt")),
        ("/srv/sb/a.txt", Ok("/srv/box/a.txt")),
        ("/srv/sb/sb", Ok("/srv/box/sb")),
    ]);
}

#[test]
fn what_does_not_exist_continues_its_deepest_ancestor() {
    check(&[
        ("/srv/box/new", Ok("/srv/box/new")),
        ("/srv/box/new/a/b", Ok("/srv/box/new/a/b")),
        ("/nowhere", Ok("/nowhere")),
        ("/nowhere/at/all", Ok("/nowhere/at/all")),
        ("new", Ok("/srv/app/new")),
        ("/srv/box/escape/a/b/c/d/e/f/g/h", Ok("/etc/a/b/c/d/e/f/g/h")),
        ("/srv/box/up/app/new", Ok("/srv/app/new")),
        ("/srv/sb/src/new.txt", Ok("/srv/box/src/new.txt")),
        ("/srv/box/a.txt/below/a/file", Ok("/srv/box/a.txt/below/a/file")),
        ("/srv/box/back\\slash", Ok("/srv/box/back\\slash")),
        ("/srv/box/%2e%2e/x", Ok("/srv/box/%2e%2e/x")),
        ("/srv/box/\n", Ok("/srv/box/\n")),
        ("/srv/Box/a.txt", Ok("/srv/Box/a.txt")),
    ]);
}

#[test]
fn a_dangling_link_means_its_target() {
    check(&[
        ("/srv/box/dangling", Ok("/etc/cron.d/new")),
        ("/srv/box/dangling/a/b", Ok("/etc/cron.d/new/a/b")),
        ("/srv/sb/dangling", Ok("/etc/cron.d/new")),
        ("/srv/box/dangling-in", Ok("/srv/box/nowhere/inside")),
        ("/srv/box/dangling-up", Ok("/srv/.profile")),
        ("/srv/box/dangling-chain/x", Ok("/etc/new/x")),
        ("/srv/box/dangling-file", Ok("/srv/box/a.txt/below")),
        ("/srv/box/dangling-physical", Ok("/srv/box/src/new")),
        ("/srv/box/dangling-up-missing", Ok("/home/u/nope/a/b")),
        ("/srv/box/keys/later", Ok("/home/u/.ssh/not-yet")),
        ("/srv/box/dangling-missing", refused(Unresolvable::BrokenLink)),
        ("/srv/box/dangling-to-loop", refused(Unresolvable::BrokenLink)),
    ]);
}

#[test]
fn a_link_to_a_file_as_a_directory_is_broken() {
    for target in ["/c/.", "c/./."] {
        let disk = Disk::new([format!("/b -> {target}").as_str(), "/c"]);
        let answer = disk.evaluate(|resolver| resolver.resolve("/b", "/"));
        assert_eq!(answer, Err(Unresolvable::BrokenLink), "{target}");
    }
    let disk = Disk::new(["/b -> new/."]);
    let answer = disk.evaluate(|resolver| resolver.resolve("/b", "/"));
    assert_eq!(answer.as_ref().map(CanonicalPath::as_str), Ok("/new"));
}

#[test]
fn two_readings_of_a_parent_must_agree() {
    let ambiguous = || refused(Unresolvable::Ambiguous);
    check(&[
        ("/srv/box/src/../a.txt", Ok("/srv/box/a.txt")),
        ("/srv/box/src/deep/../../../box/a.txt", Ok("/srv/box/a.txt")),
        ("/srv/box/a.txt/../src", Ok("/srv/box/src")),
        ("/srv/box/zz/../new.txt", Ok("/srv/box/new.txt")),
        ("/srv/box/zz/yy/../../new.txt", Ok("/srv/box/new.txt")),
        ("/srv/box/zz/../inner/new.txt", Ok("/srv/box/src/new.txt")),
        ("../box/a.txt", Ok("/srv/box/a.txt")),
        ("../../../etc/passwd", Ok("/etc/passwd")),
        ("/../../etc/passwd", Ok("/etc/passwd")),
        ("/srv/box/inner/../a.txt", Ok("/srv/box/a.txt")),
        ("/srv/box/inner/..", Ok("/srv/box")),
        ("/srv/sb/../app", Ok("/srv/app")),
        ("/srv/box/root/../srv/box", ambiguous()),
        ("/srv/box/escape/../a.txt", ambiguous()),
        ("/srv/box/escape/../new", ambiguous()),
        ("/srv/box/escape/cron.d/../../new", ambiguous()),
        ("/srv/box/hop/../main.rs", ambiguous()),
        ("/srv/box/dangling/../x", ambiguous()),
        ("/srv/box/keys/../.ssh/id_rsa", ambiguous()),
        ("/srv/box/loop/../a.txt", refused(Unresolvable::Loop)),
        ("/srv/locked/x/../../box/a.txt", refused(Unresolvable::Denied)),
        (
            "/proc/self/../../srv/box/a.txt",
            refused(Unresolvable::ProcessRelative),
        ),
    ]);
}

#[test]
fn what_cannot_be_known_is_unresolvable() {
    let of_a_process = || refused(Unresolvable::ProcessRelative);
    check(&[
        ("", refused(Unresolvable::Empty)),
        ("~bob/x", refused(Unresolvable::NamedHome)),
        ("File:///etc/passwd", refused(Unresolvable::FileUri)),
        ("/etc/passwd\0/../../srv/box/x", refused(Unresolvable::Nul)),
        ("/srv/box/loop", refused(Unresolvable::Loop)),
        ("/srv/box/loop/new", refused(Unresolvable::Loop)),
        ("/srv/box/loop-a/x/y", refused(Unresolvable::Loop)),
        ("/srv/locked", Ok("/srv/locked")),
        ("/srv/locked/x", refused(Unresolvable::Denied)),
        ("/srv/locked/x/y/z", refused(Unresolvable::Denied)),
        ("/srv/strange/x", refused(Unresolvable::NotUtf8)),
        ("/srv/broken/x", refused(Unresolvable::Other)),
        ("/proc/self", of_a_process()),
        ("/proc/self/cwd/a.txt", of_a_process()),
        ("/proc/./thread-self/x", of_a_process()),
        ("/proc/7/root/etc/passwd", of_a_process()),
        ("/proc/mounts", of_a_process()),
        ("/dev/fd/3", of_a_process()),
        ("/dev/stdin", of_a_process()),
        ("/srv/box/cwd", of_a_process()),
        ("/srv/box/cwd/a.txt", of_a_process()),
        ("/srv/box/cwd2/new", of_a_process()),
        ("/srv/sb/cwd2/a.txt", of_a_process()),
        ("/srv/box/fd", of_a_process()),
        ("/proc/cpuinfo", Ok("/proc/cpuinfo")),
        ("/dev/null", Ok("/dev/null")),
        ("/srv/box/proc/self", Ok("/srv/box/proc/self")),
    ]);
    assert_eq!(
        resolved(&Disk::new(DISK.iter().copied()), "/srv/down/x"),
        Err("the network is gone".to_owned())
    );
    assert_eq!(
        resolved(&Disk::default(), "/a"),
        Err(Unresolvable::NoAncestor.to_string())
    );
}

#[test]
fn a_component_that_no_file_system_takes_is_unresolvable() {
    let disk = Disk::new(DISK.iter().copied());
    let value = format!("/srv/box/escape/{}", "n".repeat(300));
    assert_eq!(resolved(&disk, &value), Err(Unresolvable::Other.to_string()));
    let value = "/a".repeat(16_385);
    let too_long = Unresolvable::TooLong {
        bytes: 32_770,
        limit: 32_768,
    };
    assert_eq!(resolved(&disk, &value), Err(too_long.to_string()));
    assert_eq!(disk.asked.borrow().len(), 1);
}

#[test]
fn the_links_of_one_walk_are_counted_together() {
    for (count, expected) in [
        (40, Ok("/srv/new/below".to_owned())),
        (41, Err(Unresolvable::Loop.to_string())),
    ] {
        let chain: Vec<String> = (1..count)
            .map(|at| format!("/srv/l{at} -> l{}", at + 1))
            .collect();
        let last = format!("/srv/l{count} -> new");
        let disk = Disk::new(chain.iter().map(String::as_str).chain([last.as_str()]));
        assert_eq!(resolved(&disk, "/srv/l1/below"), expected, "{count}");
    }
}

/// A host whose `realpath` finds nothing and whose every name is a link to itself with one name more.
struct Endless;

impl crate::host::Host for Endless {
    fn home_dir(&self) -> &str {
        "/"
    }
    fn current_dir(&self) -> &str {
        "/"
    }
    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, crate::host::RealpathError> {
        if path == "/" {
            return Ok("/".into());
        }
        Err(crate::host::RealpathError::NotFound)
    }
    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        Ok(Some(format!("{path}x/x")))
    }
    fn git_remote_urls(&self, _repo: &str, _remote: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }
    fn git_default_remote_urls(&self, _repo: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }
}

#[test]
fn links_without_end_are_given_up() {
    let mut facts = Facts::new(&Endless, false);
    let limits = Limits::default();
    let mut resolver = Resolver {
        facts: &mut facts,
        home: "/",
        limits: &limits,
        path_case: PathCase::Sensitive,
    };
    let too_many = Unresolvable::TooManyLinks { limit: 40 };
    assert_eq!(resolver.resolve("/a", "/"), Err(too_many));
}

#[test]
fn the_host_is_asked_no_more_than_needed() {
    let disk = Disk::new(DISK.iter().copied());
    for (value, expected) in [
        ("/srv/box/a.txt", &["realpath /srv/box/a.txt"][..]),
        ("/../srv/box//a.txt", &["realpath /srv/box/a.txt"]),
        (
            "/srv/box/new",
            &[
                "realpath /srv/box/new",
                "realpath /srv/box",
                "readLink /srv/box/new",
            ],
        ),
        (
            "/srv/box/src/../new",
            &[
                "realpath /srv/box/new",
                "realpath /srv/box",
                "readLink /srv/box/new",
                "realpath /srv/box/src",
            ],
        ),
        (
            "/srv/sb/src/main.rs",
            &["realpath /srv/sb/src/main.rs", "readLink /srv/sb"],
        ),
    ] {
        disk.asked.borrow_mut().clear();
        resolved(&disk, value).unwrap();
        assert_eq!(*disk.asked.borrow(), expected, "{value:?}");
    }
}

#[test]
fn many_missing_names_cost_few_questions() {
    let disk = Disk::new(DISK.iter().copied());
    let tail = "/a".repeat(16_000);
    assert_eq!(
        resolved(&disk, &format!("/srv/box/escape{tail}")),
        Ok(format!("/etc{tail}"))
    );
    assert!(
        disk.asked.borrow().len() < 60,
        "{} questions",
        disk.asked.borrow().len()
    );

    let existing = "/a".repeat(100);
    let deep = Disk::new([format!("{existing}/").as_str()]);
    for missing in 1..100 {
        let tail = "/b".repeat(missing);
        let value = format!("{existing}{tail}");
        assert_eq!(resolved(&deep, &value), Ok(value.clone()));
    }
}

#[test]
fn a_link_has_a_place_of_its_own() {
    let disk = Disk::new(DISK.iter().copied());
    for (value, expected) in [
        ("/srv/box/escape", Ok(Some("/srv/box/escape"))),
        ("/srv/box/escape/", Ok(Some("/srv/box/escape"))),
        ("/srv/box/escape/.", Ok(Some("/srv/box/escape"))),
        ("/srv/sb/escape", Ok(Some("/srv/box/escape"))),
        ("/srv/box/dangling", Ok(Some("/srv/box/dangling"))),
        ("/srv/sb/dangling-chain", Ok(Some("/srv/box/dangling-chain"))),
        ("/srv/box/src/../escape", Ok(Some("/srv/box/escape"))),
        ("/srv/box/inner/..", Ok(None)),
        ("/srv/box/inner/main.rs", Ok(None)),
        ("/srv/box/a.txt", Ok(None)),
        ("/srv/box/new", Ok(None)),
        ("/srv/box/dangling/new", Ok(None)),
        ("/", Ok(None)),
        ("~/Documents/l", Ok(Some("/home/u/Documents/l"))),
        // Both readings are the file `/srv/box/a.txt`, and two different entries.
        ("/srv/box/to-other/../a.txt", Err(Unresolvable::Ambiguous)),
        ("/srv/locked/x", Err(Unresolvable::Denied)),
        ("~bob", Err(Unresolvable::NamedHome)),
    ] {
        let found = disk.evaluate(|resolver| resolver.entry(value, "/srv/app"));
        let found = found.map(|entry| entry.map(|path| path.to_string()));
        assert_eq!(found, expected.map(|entry| entry.map(str::to_owned)), "{value:?}");
    }
    assert_eq!(
        resolved(&disk, "/srv/box/to-other/../a.txt"),
        Ok("/srv/box/a.txt".to_owned())
    );
}

#[test]
fn the_plain_function_answers_with_text() {
    let disk = Disk::new(DISK.iter().copied());
    for (value, expected) in [
        ("/srv/sb/new", Ok("/srv/box/new")),
        ("", Ok("/srv/app")),
        ("~bob/x", Ok("/srv/app/~bob/x")),
        ("~/../x\0", Ok("/home/x\0")),
        ("/srv/box/escape/../a.txt", Ok("/srv/box/a.txt")),
        ("/srv/box/loop/./x", Ok("/srv/box/loop/x")),
        ("/srv/down/x", Err(HostError::new("the network is gone"))),
    ] {
        let found = disk.evaluate(|resolver| {
            let text = resolver.resolve_or_lexical(value, "/srv/app");
            resolver.facts.check(text)
        });
        assert_eq!(found.as_deref().map_err(Clone::clone), expected, "{value:?}");
    }
}

#[test]
fn a_parent_is_one_name_up() {
    for (path, expected) in [("/", "/"), ("/a", "/"), ("/a/b", "/a")] {
        assert_eq!(canonical(path).parent(), canonical(expected), "{path:?}");
    }
}

/// Values that are likely to meet the disk's links, and arbitrary text.
fn any_value() -> impl Strategy<Value = String> {
    let names: Vec<&str> = DISK
        .iter()
        .flat_map(|entry| entry.split([' ', '/']))
        .filter(|name| !name.is_empty() && *name != "->" && !name.starts_with('!'))
        .chain(["..", "..", ".", "", "new", "zz"])
        .collect();
    let path = prop::collection::vec(prop::sample::select(names), 0..6).prop_map(|names| names.join("/"));
    let start = prop::sample::select(vec!["", "/", "~/", "/srv/box/", "/srv/sb/"]);
    prop_oneof![
        4 => (start, path).prop_map(|(start, path)| format!("{start}{path}")),
        1 => "\\PC{0,12}",
        1 => any::<String>(),
    ]
}

/// A disk of up to twelve links, some of which form chains, loops and escapes.
fn any_disk() -> impl Strategy<Value = Disk> {
    let target = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "..", "."]), 1..4);
    let link = ("[abc]{1}", "[abc]{1}", any::<bool>(), target);
    prop::collection::vec(link, 0..12).prop_map(|links| {
        let entries: Vec<String> = links
            .into_iter()
            .map(|(directory, name, rooted, target)| {
                let root = if rooted { "/" } else { "" };
                format!("/{directory}/{directory}{name} -> {root}{}", target.join("/"))
            })
            .collect();
        Disk::new(entries.iter().map(String::as_str).chain(["/a/", "/b/c/", "/c"]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn an_answer_is_canonical_whatever_the_value(value in any_value()) {
        let disk = Disk::new(DISK.iter().copied());
        if let Ok(path) = disk.evaluate(|resolver| resolver.resolve(&value, "/srv/app")) {
            prop_assert!(is_collapsed(path.as_str()), "{value:?} is {path}");
            let again = disk.evaluate(|resolver| resolver.resolve(path.as_str(), "/elsewhere"));
            prop_assert_eq!(again, Ok(path));
        }
    }

    #[test]
    fn a_new_name_stays_within_its_directory(value in any_value()) {
        let disk = Disk::new(DISK.iter().copied());
        let directory = disk.evaluate(|resolver| resolver.resolve(&value, "/srv/app"));
        let below = disk.evaluate(|resolver| resolver.resolve(&format!("{value}/not-there"), "/srv/app"));
        if let (Ok(directory), Ok(below)) = (directory, below) {
            prop_assert_eq!(&below.parent(), &directory);
            prop_assert!(below.is_within(&directory));
        }
    }

    #[test]
    fn an_answer_is_what_the_kernel_reaches(
        disk in any_disk(),
        names in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "aa", "ab", "bb", "bc", ".."]), 0..6),
    ) {
        use crate::host::Host;
        let value = format!("/{}", names.join("/"));
        if let Ok(path) = disk.evaluate(|resolver| resolver.resolve(&value, "/")) {
            // The disk walks physically: where it reaches something, the answer is that.
            if let Ok(real) = disk.realpath(&value) {
                prop_assert_eq!(path.as_str(), real);
            } else {
                prop_assert!(!disk.holds(path.as_str()) || value.contains(".."), "{value} is {path}");
            }
        }
    }
}
