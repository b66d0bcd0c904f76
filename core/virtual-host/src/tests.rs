#[cfg(target_os = "linux")]
mod kernel;

use std::borrow::Cow;

use callgate_engine::host::{Host, RealpathError};
use serde_json::{Value, json};

use super::{Machine, VirtualHost};

fn host(machine: &Value) -> VirtualHost {
    VirtualHost::from_value(machine).unwrap_or_else(|error| panic!("{error}: {machine}"))
}

pub(super) fn linked() -> Machine {
    Machine::new("/home/u", "/srv/app")
        .dir("/srv/box/real/deep")
        .file("/srv/box/real/file")
        .file("/etc/passwd")
        .link("/srv/box/abs", "/etc")
        .link("/srv/box/rel", "real/deep")
        .link("/srv/box/up", "..")
        .link("/srv/box/back", "rel/../file")
        .link("/srv/box/high", "../../../../etc")
        .link("/srv/box/dangling", "nowhere/x")
        .link("/srv/box/empty", "./")
        .link("/srv/box/self", "self")
        .link("/srv/box/loop-a", "loop-b")
        .link("/srv/box/loop-b", "loop-a")
}

#[test]
fn realpath_walks_like_the_kernel() {
    use RealpathError::{Loop, NotFound, Other};
    let host = VirtualHost::new(linked()).expect("a machine");
    let check = |path: &str, expected: Result<&str, RealpathError>| {
        assert_eq!(host.realpath(path), expected.map(Cow::Borrowed), "{path}");
    };
    check("/", Ok("/"));
    check("/..", Ok("/"));
    check("//srv///box/", Ok("/srv/box"));
    check("/srv/box/abs/passwd", Ok("/etc/passwd"));
    check("/srv/box/rel/..", Ok("/srv/box/real"));
    check("/srv/box/rel/../file", Ok("/srv/box/real/file"));
    check("/srv/box/back", Ok("/srv/box/real/file"));
    check("/srv/box/up/app", Ok("/srv/app"));
    check("/srv/box/high/passwd", Ok("/etc/passwd"));
    check("/srv/box/empty/real", Ok("/srv/box/real"));
    check("/srv/box/dangling", Err(NotFound));
    check("/srv/box/real/missing", Err(NotFound));
    check("/srv/box/real/file/x", Err(NotFound));
    check("/srv/box/real/file/..", Err(NotFound));
    check("/srv/box/real/file/.", Err(NotFound));
    check("/srv/box/self", Err(Loop));
    check("/srv/box/loop-a/x", Err(Loop));
    check("/srv/box\0", Err(Other));
    check("srv/box", Err(Other));
    check("", Err(Other));
}

#[test]
fn the_forty_first_link_is_a_loop() {
    let chain = |length: usize| {
        let mut machine = Machine::new("/", "/").file("/end");
        for at in 0..length {
            let target = if at + 1 == length {
                "end".to_owned()
            } else {
                format!("l{}", at + 1)
            };
            machine = machine.link(format!("/l{at}"), target);
        }
        let host = VirtualHost::new(machine).expect("a machine");
        host.realpath("/l0")
    };
    assert_eq!(chain(40), Ok("/end".into()));
    assert_eq!(chain(41), Err(RealpathError::Loop));
}

#[test]
fn links_and_directories_are_recognized() {
    let host = VirtualHost::new(linked()).expect("a machine");
    let link = |path: &str| host.read_link(path).expect("an answer");
    assert_eq!(link("/srv/box/dangling"), Some("nowhere/x".to_owned()));
    assert_eq!(link("/srv/box/up/box/self"), Some("self".to_owned()));
    assert_eq!(link("/srv/box/real"), None);
    assert_eq!(link("/srv/box/gone"), None);
    let directory = |path: &str| host.is_directory(path).expect("an answer");
    assert_eq!(directory("/srv/box/rel"), Some(true));
    assert_eq!(directory("/etc/passwd"), Some(false));
    assert_eq!(directory("/srv/box/dangling"), Some(false));
}

#[test]
fn placed_errors_hold_strictly_below_their_directory() {
    let machine = json!({"home": "/", "cwd": "/", "fs": {
        "dirs": ["/a/locked", "/a/io"], "files": ["/a/locked/x", "/a/lockedx"],
        "links": {"/in": "/a/locked/x"}, "errors": {"/a/locked": "EACCES", "/a/io": "EIO"}}});
    let host = host(&machine);
    assert_eq!(host.realpath("/a/locked"), Ok("/a/locked".into()));
    assert_eq!(host.realpath("/a/lockedx"), Ok("/a/lockedx".into()));
    assert_eq!(host.realpath("/a/locked/x"), Err(RealpathError::Denied));
    assert_eq!(host.realpath("/in"), Err(RealpathError::Denied));
    assert_eq!(host.realpath("/a/io/new"), Err(RealpathError::Other));
}

#[test]
fn folding_finds_names_and_keeps_the_spelling() {
    let check = |flag: &str, entry: &str, asked: &str| {
        let mut machine = json!({"home": "/", "cwd": "/", "fs": {"files": [entry]}});
        assert_eq!(
            host(&machine).realpath(asked),
            Err(RealpathError::NotFound),
            "{asked}"
        );
        machine["fs"][flag] = Value::Bool(true);
        assert_eq!(host(&machine).realpath(asked), Ok(asked.into()), "{asked}");
    };
    check("caseInsensitive", "/home/u/.ssh/id", "/HOME/u/.SSH/id");
    check("caseInsensitive", "/home/.kube", "/home/.\u{212a}ube");
    check("caseInsensitive", "/pa\u{df}/x", "/PASS/x");
    check("normalizationInsensitive", "/caf\u{e9}", "/cafe\u{301}");
    check("normalizationInsensitive", "/cafe\u{301}", "/caf\u{e9}");
    check("ignorables", "/.ssh", "/.s\u{200c}sh");
}

#[test]
fn git_answers_as_git_would() {
    let machine = json!({"home": "/", "cwd": "/",
        "fs": {"dirs": ["/r/sub/deep", "/plain", "/bare"], "files": ["/r/file"], "links": {"/l": "/r/sub"}},
        "git": {
            "/r": {"branch": "main", "branchRemotes": {"main": "up", "gone": "missing"},
                "remotes": {"origin": "https://o/x ", "up": ["https://u/1", "gh:2"], "-x": "https://x/",
                    "https://named/": "https://elsewhere/", "blank": " "},
                "pushUrls": {"up": "ssh://push/1"}, "insteadOf": {"https://gh/": "gh:", "x:": "g"}},
            "/r/sub": {"branch": null, "branchRemotes": {}, "remotes": {"origin": "https://sub/"}},
            "/bare": {"branch": "b", "remotes": {"origin": "https://o/", "evil": "https://e/"},
                "branchRemotes": {"b": "https://t/"}, "pushDefault": "evil"}}});
    let host = host(&machine);
    let remote = |dir: &str, name: &str, expected: &[&str]| {
        assert_eq!(
            host.git_remote_urls(dir, name).expect("an answer"),
            expected,
            "{dir} {name}"
        );
    };
    remote("/r", "origin", &["https://o/x"]);
    remote("/r", "up", &["https://u/1", "https://gh/2", "ssh://push/1"]);
    remote("/r", "blank", &[""]);
    remote("/r", "-x", &[]);
    remote("/r", "origin\0", &[]);
    remote("/r", "toString", &[]);
    remote("/r/file", "origin", &[]);
    remote("/r/missing", "origin", &[]);
    remote("/plain", "origin", &[]);
    remote("/l/deep", "origin", &["https://sub/"]);
    let default = |dir: &str, expected: &[&str]| {
        assert_eq!(
            host.git_default_remote_urls(dir).expect("an answer"),
            expected,
            "{dir}"
        );
    };
    default("/r", &["https://u/1", "https://gh/2", "ssh://push/1"]);
    default("/r/sub", &["https://sub/"]);
    default("/bare", &["https://t/", "https://e/"]);
    default("/plain", &[]);
    let explicit = |dir: &str, url: &str, expected: &str| {
        assert_eq!(
            host.git_url(dir, url).expect("an answer"),
            [expected],
            "{dir} {url}"
        );
    };
    explicit("/r", "gh:a/b", "https://gh/a/b");
    explicit("/r", "https://named/", "https://elsewhere/");
    explicit("/plain", "gh:a/b", "gh:a/b");
}

#[test]
fn a_branch_whose_remote_is_unknown_falls_back_to_origin() {
    let check = |remote: &str| {
        let machine = json!({"home": "/", "cwd": "/", "fs": {"dirs": ["/r"]}, "git": {"/r": {
            "branch": "main", "branchRemotes": {"main": remote}, "remotes": {"origin": "https://o/"}}}});
        assert_eq!(
            host(&machine).git_default_remote_urls("/r").expect("an answer"),
            ["https://o/"],
            "{remote}"
        );
    };
    check("gone");
    check(".");
    check("");
}

#[test]
fn malformed_machines_are_refused() {
    let check = |machine: Value, expected: &str| {
        let error = VirtualHost::from_value(&machine)
            .err()
            .unwrap_or_else(|| panic!("accepted: {machine}"));
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(json!({"home": "/"}), "missing field `cwd`");
    check(
        json!({"home": "/", "cwd": "/", "disk": {}}),
        "unknown field `disk`",
    );
    check(
        json!({"home": "/", "cwd": "/", "fs": {"symlinks": {}}}),
        "unknown field `symlinks`",
    );
    check(
        json!({"home": "/", "cwd": "/", "git": {"/r": {"remote": {}}}}),
        "unknown field `remote`",
    );
    check(
        json!({"home": "/", "cwd": "/", "fs": {"files": ["/a/../b"]}}),
        "not an absolute path",
    );
    check(
        json!({"home": "/", "cwd": "/", "fs": {"files": ["/a", "/a/b"]}}),
        "lies below `/a`",
    );
    check(
        json!({"home": "/", "cwd": "/", "fs": {"files": ["/l/b"], "links": {"/l": "/"}}}),
        "two kinds",
    );
    check(
        json!({"home": "/", "cwd": "/", "fs": {"errors": {"/a": "EWHAT"}}}),
        "unknown error code `EWHAT`",
    );
}
