//! Whole engines over the real disk: links, loops, closed directories, and links that change.

#[path = "common/disk.rs"]
mod disk;
#[path = "common/engines.rs"]
mod engines;

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;
use conformance::Explain;
use disk::{Disk, decide, placed, real_host};
use engines::{Documents, rule, tool};
use serde_json::{Value, json};

/// The sandbox is `ROOT/box`; `ROOT/home/.ssh` is protected; reading within `ROOT/shared` escalates.
fn documents(root: &str) -> Documents {
    let within = json!({"paths": {"roles": ["read-path"], "within": "ROOT/shared"}});
    let tools = [
        tool(
            "filesystem/read",
            json!({"path": ["read-path"], "note": ["none"]}),
        ),
        tool("filesystem/write", json!({"path": ["write-path"]})),
        tool("filesystem/remove", json!({"path": ["delete-path"]})),
    ];
    Documents::new(placed(&json!([rule("ask", within, "escalate")]), root), &tools)
        .with(DocumentKind::Sandbox, placed(&json!("ROOT/box"), root))
        .with(DocumentKind::ProtectedPaths, json!(["~/.ssh"]))
}

fn build(root: &str, documents: &Documents) -> Engine {
    documents
        .build(&real_host(root))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// `(tool, path, verdict)` per line. The path is in the folder, or relative to the sandbox.
#[track_caller]
fn check(root: &str, engine: &Engine, cases: &[(&str, &str, &str)]) {
    for (tool, path, expected) in cases {
        let arguments = placed(&json!({"path": path}), root);
        let verdict = decide(
            engine,
            &real_host(root),
            &format!("filesystem/{tool}"),
            &arguments,
        );
        assert_eq!(verdict, *expected, "{tool} {path}");
    }
}

const SANDBOX: &str = "allow structural-sandbox-allow";
const OUTSIDE: &str = "deny default-deny";
const PROTECTED: &str = "deny structural-protected-path";
const UNRESOLVABLE: &str = "deny structural-unresolvable-value";

#[test]
fn a_link_is_judged_by_what_it_leads_to() {
    let disk = Disk::new(&[
        "box/d/",
        "box/a",
        "home/.ssh/",
        "home/.ssh/id",
        "outside/deep/",
        "shared/",
        "box/to-d -> d",
        "box/escape -> ../outside",
        "box/far -> to-d/../escape/deep",
        "box/to-shared -> ROOT/shared",
        "box/to-key -> ../home/.ssh/id",
        "outside/back -> ../box",
    ]);
    let engine = build(disk.root(), &documents(disk.root()));
    check(
        disk.root(),
        &engine,
        &[
            ("read", "ROOT/box/a", SANDBOX),
            ("read", "ROOT/box/to-d/new", SANDBOX),
            ("read", "to-d/new", SANDBOX),
            ("read", "ROOT/outside/back/a", SANDBOX),
            ("read", "ROOT/box/escape", OUTSIDE),
            ("read", "escape/x", OUTSIDE),
            ("write", "ROOT/box/far/new/file", OUTSIDE),
            ("read", "ROOT/box/to-shared/x", "escalate ask"),
            ("read", "ROOT/box/to-key", PROTECTED),
            ("read", "~/.ssh/new", PROTECTED),
            ("read", "../home/.ssh", PROTECTED),
            ("remove", "ROOT/home", PROTECTED),
            // Deleting acts on the link itself, and both paths count.
            ("remove", "ROOT/box/to-d", SANDBOX),
            ("remove", "ROOT/box/escape", OUTSIDE),
            ("remove", "ROOT/outside/back", OUTSIDE),
        ],
    );
    let note = placed(&json!({"path": "a", "note": "ROOT/box/to-key"}), disk.root());
    assert_eq!(
        decide(&engine, &real_host(disk.root()), "filesystem/read", &note),
        PROTECTED
    );
}

#[test]
fn a_dangling_link_is_judged_by_where_a_write_would_land() {
    let disk = Disk::new(&[
        "box/d/",
        "home/.ssh/",
        "outside/",
        "box/inside -> d/new",
        "box/outside -> ../outside/new",
        "box/chain -> outside",
        "box/key -> ROOT/home/.ssh/authorized_keys",
    ]);
    let engine = build(disk.root(), &documents(disk.root()));
    check(
        disk.root(),
        &engine,
        &[
            ("write", "ROOT/box/inside", SANDBOX),
            ("write", "ROOT/box/outside", OUTSIDE),
            ("write", "ROOT/box/outside/deep", OUTSIDE),
            ("write", "chain", OUTSIDE),
            ("write", "ROOT/box/key", PROTECTED),
        ],
    );
}

#[test]
fn what_has_no_canonical_form_is_denied() {
    let disk = Disk::new(&[
        "box/d/",
        "box/a",
        "outside/",
        "box/self -> self",
        "box/ping -> pong/x",
        "box/pong -> ping",
        "box/escape -> ../outside",
        "box/to-d -> d",
        "box/process -> /proc/self/cwd",
    ]);
    let foreign = disk.path("box").join(OsStr::from_bytes(b"\xff"));
    fs::create_dir(&foreign).expect("the disk takes any name");
    symlink(&foreign, disk.path("box/not-utf8")).expect("a link can be made");
    let engine = build(disk.root(), &documents(disk.root()));
    // Longer than Linux's PATH_MAX, and than its NAME_MAX.
    let long_path = format!("ROOT/box/{}a", "d/".repeat(2_048));
    let long_name = format!("ROOT/box/{}", "a".repeat(256));
    check(
        disk.root(),
        &engine,
        &[
            ("read", &long_path, UNRESOLVABLE),
            ("read", &long_name, UNRESOLVABLE),
            ("read", "ROOT/box/self", UNRESOLVABLE),
            ("read", "ROOT/box/self/x", UNRESOLVABLE),
            ("write", "ping", UNRESOLVABLE),
            ("read", "ROOT/box/not-utf8/x", UNRESOLVABLE),
            ("read", "ROOT/box/process/x", UNRESOLVABLE),
            ("read", "/proc/self/root/etc/shadow", UNRESOLVABLE),
            // The kernel leaves the sandbox here, although the text does not.
            ("read", "ROOT/box/escape/../a", UNRESOLVABLE),
            ("read", "escape/../box/a", UNRESOLVABLE),
            // Here both are the same file.
            ("read", "ROOT/box/to-d/../a", SANDBOX),
            ("read", "ROOT/box/d/../a", SANDBOX),
            ("read", "ROOT/box/d/../../outside/x", OUTSIDE),
        ],
    );
}

const FOLDER_OF_CHILD: &str = "CALLGATE_TEST_FOLDER";

/// Root may search every directory, so this test runs itself again in a child process without privileges.
#[test]
fn a_closed_directory_is_not_taken_for_a_missing_one() {
    if let Ok(root) = std::env::var(FOLDER_OF_CHILD) {
        let engine = build(&root, &documents(&root));
        return check(
            &root,
            &engine,
            &[
                ("read", "ROOT/box/a", SANDBOX),
                ("read", "ROOT/box/missing/x", SANDBOX),
                ("read", "ROOT/box/closed", SANDBOX),
                ("read", "ROOT/box/closed/out/shadow", UNRESOLVABLE),
                ("write", "closed/new", UNRESOLVABLE),
                ("read", "ROOT/box/to-closed/x", UNRESOLVABLE),
                ("write", "ROOT/box/dangling", UNRESOLVABLE),
            ],
        );
    }
    let disk = Disk::new(&[
        "home/",
        "box/closed/",
        "box/a",
        "box/closed/out -> /etc",
        "box/to-closed -> closed",
        "box/dangling -> closed/new",
    ]);
    let program = disk.path("program");
    fs::copy(std::env::current_exe().expect("this is a program"), &program).expect("it can be copied");
    let closed = disk.path("box/closed");
    let mode =
        |path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("this owns the folder");
    mode(disk.path(""), 0o755);
    mode(closed.clone(), 0o000);
    let mut child = Command::new(program);
    child
        .args(["--exact", "a_closed_directory_is_not_taken_for_a_missing_one"])
        .env(FOLDER_OF_CHILD, disk.root());
    if fs::metadata(disk.path("")).expect("the folder exists").uid() == 0 {
        child.uid(65534).gid(65534);
    }
    let output = child.output();
    mode(closed, 0o755);
    let output = output.expect("the child runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_link_that_changes_is_seen_by_the_next_evaluation() {
    let disk = Disk::new(&["home/", "one/", "two/", "outside/", "one/l -> deep", "box -> one"]);
    let fresh = build(disk.root(), &documents(disk.root()));
    let pinned = documents(disk.root()).with(DocumentKind::Options, json!({"directories": "pinned"}));
    let mut pinned = build(disk.root(), &pinned);
    let first = [
        ("read", "ROOT/one/a", SANDBOX),
        ("read", "ROOT/two/a", OUTSIDE),
        ("read", "ROOT/box/a", SANDBOX),
        ("read", "ROOT/one/l", SANDBOX),
    ];
    check(disk.root(), &fresh, &first);
    check(disk.root(), &pinned, &first);

    disk.link("box", "two");
    disk.link("one/l", "../outside");
    let second = [
        ("read", "ROOT/one/a", OUTSIDE),
        ("read", "ROOT/two/a", SANDBOX),
        ("read", "ROOT/box/a", SANDBOX),
        ("read", "ROOT/one/l", OUTSIDE),
    ];
    check(disk.root(), &fresh, &second);
    // Only the directories of the engine are pinned. A value is resolved anew each time.
    let between = [
        ("read", "ROOT/one/a", SANDBOX),
        ("read", "ROOT/two/a", OUTSIDE),
        ("read", "ROOT/box/a", OUTSIDE),
        ("read", "ROOT/one/l", OUTSIDE),
    ];
    check(disk.root(), &pinned, &between);
    pinned.refresh(&real_host(disk.root())).expect("the host answers");
    check(disk.root(), &pinned, &second);
}

#[test]
fn a_link_that_changes_widens_a_grant_only_by_its_own_name() {
    let disk = Disk::new(&["home/", "one/", "one/a", "two/", "two/a", "current -> one"]);
    let within = json!({"paths": {"roles": ["read-path"], "within": "ROOT/current"}});
    let rules = placed(&json!([rule("current", within, "allow")]), disk.root());
    let documents = Documents::new(rules, &[tool("filesystem/read", json!({"path": ["read-path"]}))]);
    let mut engine = build(disk.root(), &documents);
    let granted = "allow current";
    check(
        disk.root(),
        &engine,
        &[
            ("read", "ROOT/current/a", granted),
            ("read", "ROOT/one/a", granted),
            ("read", "ROOT/two/a", OUTSIDE),
        ],
    );

    disk.link("current", "two");
    check(
        disk.root(),
        &engine,
        &[
            ("read", "ROOT/current/a", granted),
            ("read", "ROOT/one/a", OUTSIDE),
            ("read", "ROOT/two/a", OUTSIDE),
        ],
    );
    engine.refresh(&real_host(disk.root())).expect("the host answers");
    check(
        disk.root(),
        &engine,
        &[("read", "ROOT/two/a", granted), ("read", "ROOT/one/a", OUTSIDE)],
    );
}

/// An explanation of a verdict on this disk replays on a machine without these files.
#[test]
fn a_recording_of_the_real_disk_replays() {
    let disk = Disk::new(&[
        "home/",
        "outside/",
        "box/",
        "box/escape -> ../outside",
        "box/dangling -> ../home/new",
    ]);
    let engine = build(disk.root(), &documents(disk.root()));
    for path in [
        "ROOT/box/escape/x",
        "dangling",
        "a",
        "~/.ssh",
        "ROOT/box/escape/../a",
    ] {
        let arguments: Value = placed(&json!({"path": path}), disk.root());
        let call = callgate_engine::bind::Call::from_value("filesystem", "read", &arguments);
        let explained = engine.explain_gate(&call, &real_host(disk.root()));
        let replayed = engine.explain_gate(&call, &explained.recording);
        let text = |one| serde_json::to_string(one).expect("an explanation is JSON");
        assert_eq!(text(&explained), text(&replayed), "{path}");
    }
}
