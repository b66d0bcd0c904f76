//! The disk that most tests look values up on, and how they do.

use super::disk::Disk;
use crate::path::Unresolvable;

/// Links that exist, dangle and lead nowhere, places of a process, and directories that fail.
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

/// The disk on which most tests look values up.
pub(super) fn sample() -> Disk {
    Disk::new(DISK.iter().copied())
}

/// Every name on that disk.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    DISK.iter()
        .flat_map(|entry| entry.split([' ', '/']))
        .filter(|name| !name.is_empty() && *name != "->" && !name.starts_with('!'))
}

/// Resolves `value` against `/srv/app`; a failure is its message, that of the host before all others.
pub(super) fn resolved(disk: &Disk, value: &str) -> Result<String, String> {
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

#[track_caller]
pub(super) fn check(cases: &[(&str, Result<&str, Unresolvable>)]) {
    let disk = sample();
    for (value, expected) in cases {
        let expected = match expected {
            Ok(path) => Ok((*path).to_owned()),
            Err(why) => Err(why.to_string()),
        };
        assert_eq!(resolved(&disk, value), expected, "{value:?}");
    }
}

pub(super) fn refused(reason: Unresolvable) -> Result<&'static str, Unresolvable> {
    Err(reason)
}
