//! Whole engines over real git repositories: the verdict depends on where a push or fetch really goes.

#[path = "common/disk.rs"]
mod disk;
#[path = "common/engines.rs"]
mod engines;
#[path = "common/input.rs"]
mod input;

use std::fs;
use std::process::Command;

use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;
use disk::{Disk, decide, placed, real_host};
use engines::{Documents, rule, tool};
use input::skip;
use serde_json::{Value, json};

/// Good is `github.com`, bad is `evil.test`.
const ORIGIN: &str = "[remote \"origin\"]\nurl = https://github.com/acme/app.git\n";
const FORK: &str = "[remote \"fork\"]\nurl = git@evil.test:acme/app.git\n";

/// A repository at `ROOT/box/repo` on the branch `main` with one commit; `None` if git is not installed.
fn repository() -> Option<Disk> {
    let disk = Disk::new(&["home/", "box/repo/"]);
    let made = git(&disk, &["init", "--quiet", "--initial-branch=main"])
        && git(&disk, &["commit", "--quiet", "--allow-empty", "--message=first"]);
    if !made {
        skip("git does not run");
    }
    made.then_some(disk)
}

/// Appends to a file; `ROOT` is the folder.
fn append(disk: &Disk, name: &str, more: &str) {
    let before = fs::read_to_string(disk.path(name)).unwrap_or_default();
    fs::write(disk.path(name), before + &more.replace("ROOT", disk.root())).expect("a file can be written");
}

fn git(disk: &Disk, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(disk.path("box/repo"))
        .env_clear();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", disk.path("home"));
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "a")
            .env(format!("GIT_{role}_EMAIL"), "a@b");
    }
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .status()
        .is_ok_and(|status| status.success())
}

fn tools() -> Vec<Value> {
    let args = json!({"path": ["read-path"], "remote": ["git-remote-url"], "branch": ["branch-name"]});
    ["git/push", "git/fetch", "git/pull"]
        .map(|name| tool(name, args.clone()))
        .to_vec()
}

/// An engine that allows everything, with only `github.com` in the server's allowlist.
fn by_allowlist(disk: &Disk) -> Engine {
    let documents = Documents::new(
        json!([rule("all", json!({"server": ["git"]}), "allow")]),
        &tools(),
    )
    .with(DocumentKind::DomainAllowlists, json!({"git": ["github.com"]}));
    build(disk, documents)
}

fn about(allowed: &str) -> Value {
    json!({"domains": {"roles": ["git-remote-url"], "allowed": [allowed]}})
}

/// An engine with a rule that denies `evil.test`, and one that allows everything else.
fn by_denial(disk: &Disk) -> Engine {
    let rules = json!([
        rule("evil", about("evil.test"), "deny"),
        rule("rest", json!({"server": ["git"]}), "allow")
    ]);
    build(disk, Documents::new(rules, &tools()))
}

/// An engine whose only rule allows `github.com`.
fn by_grant(disk: &Disk) -> Engine {
    build(
        disk,
        Documents::new(json!([rule("good", about("github.com"), "allow")]), &tools()),
    )
}

fn build(disk: &Disk, documents: Documents) -> Engine {
    let documents = documents.with(DocumentKind::Sandbox, placed(&json!("ROOT/box"), disk.root()));
    documents
        .build(&real_host(disk.root()))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Checks the verdicts on every tool by the allowlist, by the deny rule and by the allow rule.
#[track_caller]
fn check(disk: &Disk, remote: Value, expected: [&str; 3]) {
    let mut arguments = placed(&json!({"path": "ROOT/box/repo", "branch": "main"}), disk.root());
    if !remote.is_null() {
        arguments["remote"] = remote.clone();
    }
    let host = real_host(disk.root());
    for tool in ["git/push", "git/fetch", "git/pull"] {
        let engines = [by_allowlist(disk), by_denial(disk), by_grant(disk)];
        let verdicts = engines.map(|engine| decide(&engine, &host, tool, &arguments));
        assert_eq!(verdicts, expected, "{tool} {remote}");
    }
}

const GOOD: [&str; 3] = ["allow all", "allow rest", "allow good"];
const EVIL: [&str; 3] = [
    "escalate structural-domain-escalate",
    "deny evil",
    "deny default-deny",
];
/// A path: no rule grants a remote without a host.
const UNKNOWN: [&str; 3] = ["deny default-deny", "deny default-deny", "deny default-deny"];

#[test]
fn a_remote_is_what_its_name_stands_for() {
    let Some(disk) = repository() else { return };
    append(&disk, "box/repo/.git/config", &format!("{ORIGIN}{FORK}"));
    check(&disk, json!("origin"), GOOD);
    check(&disk, json!("fork"), EVIL);
    check(&disk, Value::Null, GOOD);
    check(&disk, json!(""), GOOD);
    check(&disk, json!([]), GOOD);
    check(&disk, json!("https://github.com/a/b"), GOOD);
    check(&disk, json!(["origin", "fork"]), EVIL);
    // Git treats an unknown name as a path.
    check(&disk, json!("nowhere"), UNKNOWN);
    // Git takes it for an option.
    check(
        &disk,
        json!("--upload-pack=id"),
        ["deny structural-unresolvable-value"; 3],
    );
}

#[test]
fn a_push_url_counts() {
    let Some(disk) = repository() else { return };
    append(
        &disk,
        "box/repo/.git/config",
        &format!("{ORIGIN}pushurl = https://evil.test/x\n"),
    );
    check(&disk, json!("origin"), EVIL);
    check(&disk, Value::Null, EVIL);
    check(&disk, json!("https://github.com/acme/app.git"), GOOD);
}

#[test]
fn every_url_of_a_remote_counts() {
    let Some(disk) = repository() else { return };
    append(
        &disk,
        "box/repo/.git/config",
        &format!("{ORIGIN}url = https://evil.test/x\n"),
    );
    check(&disk, json!("origin"), EVIL);
    check(&disk, Value::Null, EVIL);
}

#[test]
fn rewritten_urls_count() {
    for key in ["insteadOf", "pushInsteadOf"] {
        for file in ["box/repo/.git/config", "home/.gitconfig"] {
            let Some(disk) = repository() else { return };
            append(&disk, "box/repo/.git/config", ORIGIN);
            append(
                &disk,
                file,
                &format!("[url \"https://evil.test/\"]\n{key} = https://github.com/\n"),
            );
            check(&disk, json!("https://github.com/a/b"), EVIL);
            check(&disk, json!("origin"), EVIL);
            check(&disk, Value::Null, EVIL);
            // It is sent without its port, and git rewrites what is sent.
            check(&disk, json!("https://github.com:443/a/b"), EVIL);
        }
    }
}

#[test]
fn the_default_remote_is_where_a_push_goes_too() {
    for config in [
        "[remote]\npushDefault = fork\n",
        "[branch \"main\"]\npushRemote = fork\n",
        "[branch \"main\"]\nremote = fork\n",
        "[include]\npath = ROOT/home/included\n",
    ] {
        let Some(disk) = repository() else { return };
        append(&disk, "home/included", "[remote]\npushDefault = fork\n");
        append(&disk, "box/repo/.git/config", &format!("{ORIGIN}{FORK}{config}"));
        check(&disk, Value::Null, EVIL);
        check(&disk, json!("origin"), GOOD);
    }
}

#[test]
fn a_detached_head_has_no_branch_to_follow() {
    let Some(disk) = repository() else { return };
    append(
        &disk,
        "box/repo/.git/config",
        &format!("{ORIGIN}{FORK}[branch \"main\"]\nremote = fork\n"),
    );
    check(&disk, Value::Null, EVIL);
    assert!(git(&disk, &["checkout", "--quiet", "--detach"]));
    check(&disk, Value::Null, GOOD);
    append(&disk, "box/repo/.git/config", "[remote]\npushDefault = fork\n");
    check(&disk, Value::Null, EVIL);
}

#[test]
fn a_repository_without_remotes_grants_no_domain() {
    let Some(disk) = repository() else { return };
    // A default remote that nobody can tell meets every restriction.
    check(&disk, Value::Null, EVIL);
    check(&disk, json!("origin"), UNKNOWN);
    check(&disk, json!("https://github.com/a/b"), GOOD);
}

#[test]
fn a_configuration_that_git_would_not_read_denies() {
    let Some(disk) = repository() else { return };
    append(
        &disk,
        "box/repo/.git/config",
        &format!("{ORIGIN}[remote \"origin\"\n"),
    );
    let failed = "deny structural-host-error";
    check(&disk, Value::Null, [failed; 3]);
    check(&disk, json!("origin"), [failed; 3]);
}

#[test]
fn a_configuration_that_includes_a_fifo_holds_up_no_verdict() {
    let Some(disk) = repository() else { return };
    let fifo = Command::new("mkfifo")
        .arg(disk.path("box/repo/.git/pipe"))
        .status();
    if !fifo.is_ok_and(|status| status.success()) {
        return skip("mkfifo does not run");
    }
    append(
        &disk,
        "box/repo/.git/config",
        &format!("{ORIGIN}[include]\npath = pipe\n"),
    );
    let failed = "deny structural-host-error";
    let begun = std::time::Instant::now();
    check(&disk, json!("origin"), [failed; 3]);
    assert!(begun.elapsed().as_secs() < 3, "{:?}", begun.elapsed());
}

/// The real git moves `main` by a push of another branch, where the configuration says so; the verdict knows it.
#[test]
fn a_push_that_the_configuration_sends_to_a_denied_branch_is_denied() {
    let main =
        json!({"lists": [{"roles": ["branch-name"], "allowed": ["main"], "matchType": "identifiers"}]});
    let rules = json!([rule("no-main", main, "deny"), rule("all", json!({}), "allow")]);
    let refspec = "[remote \"origin\"]\npush = refs/heads/feature:refs/heads/main\n";
    let upstream = "[branch \"feature\"]\nremote = origin\nmerge = refs/heads/main\n";
    for (configuration, expected) in [
        (refspec.to_owned(), "deny no-main"),
        (format!("{upstream}[push]\ndefault = upstream\n"), "deny no-main"),
        (format!("{upstream}[push]\ndefault = tracking\n"), "deny no-main"),
        (format!("{upstream}[push]\ndefault = current\n"), "allow all"),
        (upstream.to_owned(), "allow all"),
        (String::new(), "allow all"),
    ] {
        let Some(disk) = repository() else { return };
        git(&disk, &["checkout", "--quiet", "-b", "feature"]);
        append(&disk, "box/repo/.git/config", &format!("{ORIGIN}{configuration}"));
        let engine = build(&disk, Documents::new(rules.clone(), &tools()));
        for branch in [
            json!("feature"),
            json!("refs/heads/feature"),
            json!("HEAD"),
            json!(null),
        ] {
            let arguments = json!({"path": "ROOT/box/repo", "remote": "origin", "branch": branch});
            let arguments = placed(&arguments, disk.root());
            let verdict = decide(&engine, &real_host(disk.root()), "git/push", &arguments);
            assert_eq!(verdict, expected, "{branch} with {configuration}");
        }
        let arguments = placed(&json!({"path": "ROOT/box/repo"}), disk.root());
        let verdict = decide(&engine, &real_host(disk.root()), "git/push", &arguments);
        assert_eq!(verdict, expected, "a push without arguments with {configuration}");
    }
}
