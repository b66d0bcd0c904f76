//! Values and the paths that they resolve to.

use super::disk::{Disk, canonical};
use super::sample::{check, refused, resolved, sample};
use crate::host::HostError;
use crate::path::*;

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
fn what_was_found_missing_before_changes_no_answer() {
    let values = [
        "/srv/sb/none/a",
        "/srv/box/none/b",
        "/srv/sb/none/b/c",
        "/srv/sb/none",
        "/srv/sb/nonesuch",
        "/srv/box/dangling/a",
        "/srv/box/dangling/b",
        "/srv/sb/dangling/c",
        "/srv/box/dangling-missing/a",
        "/srv/box/dangling-missing/b",
        "/proc/none/a",
        "/proc/none/b",
        "/srv/box/cwd/none/a",
        "/srv/box/cwd/none/b",
        "/nowhere/at/all",
        "/nowhere/else",
    ];
    let disk = sample();
    for order in [values.to_vec(), values.into_iter().rev().collect()] {
        disk.evaluate(|resolver| {
            for value in order {
                let found = resolver.resolve(value, "/srv/app");
                let found = found.map(|path| path.to_string()).map_err(|why| why.to_string());
                assert_eq!(found, resolved(&sample(), value), "{value}");
            }
        });
    }
}

#[test]
fn below_what_is_missing_nothing_is_asked() {
    let disk = sample();
    disk.evaluate(|resolver| {
        let first = resolver
            .resolve("/srv/sb/none/0", "/")
            .map(|path| path.to_string());
        assert_eq!(first, Ok("/srv/box/none/0".to_owned()));
        let asked = disk.asked.borrow().len();
        for at in 1..100 {
            let found = resolver.resolve(&format!("/srv/sb/none/{at}"), "/");
            assert_eq!(
                found.map(|path| path.to_string()),
                Ok(format!("/srv/box/none/{at}"))
            );
        }
        assert_eq!(disk.asked.borrow().len(), asked);
    });
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
        ("/.vol/1/2", refused(Unresolvable::OtherNames)),
        ("/srv/../.nofollow/srv/box", refused(Unresolvable::OtherNames)),
        ("/srv/.vol/x", Ok("/srv/.vol/x")),
        ("/proc/cpuinfo", Ok("/proc/cpuinfo")),
        ("/dev/null", Ok("/dev/null")),
        ("/srv/box/proc/self", Ok("/srv/box/proc/self")),
    ]);
    assert_eq!(
        resolved(&sample(), "/srv/down/x"),
        Err("the network is gone".to_owned())
    );
    assert_eq!(
        resolved(&Disk::default(), "/a"),
        Err(Unresolvable::NoAncestor.to_string())
    );
}

#[test]
fn a_link_has_a_place_of_its_own() {
    let disk = sample();
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
    let disk = sample();
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
