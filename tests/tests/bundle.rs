//! The bundles of the project keep what their pages and SECURITY.md promise: the example, and the one that `callgate init` writes,
//! which has no tool of git.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a failing test stops where it fails"
)]

use std::path::Path;
use std::sync::Arc;

use callgate_host::{CallText, EngineKind, Gate, VirtualHost};
use serde_json::{Value, json};

const EXAMPLE: &str = "host-shim/examples/bundle";
const INIT: &str = "core/authoring/src/start/usual";

/// A gate with the example, on a machine that has its folder, with `branch` checked out there.
fn gate(branch: &str) -> Gate {
    gate_of(EXAMPLE, branch)
}

fn gate_of(bundle: &str, branch: &str) -> Gate {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(bundle);
    let folder = folder.canonicalize().expect("the bundle's folder");
    let work = folder.to_string_lossy();
    let within =
        |names: &[&str]| -> Vec<String> { names.iter().map(|name| format!("{work}/{name}")).collect() };
    let remotes = json!({"origin": "https://github.com/acme/app"});
    let machine = json!({
        "home": "/home/u", "cwd": work,
        "fs": {
            "dirs": within(&["src", "nested/.git/hooks", ".git/hooks"]),
            "files": within(&[".env", "nested/.env", ".git/config", "callgate.json", "policy.json"]),
            "links": {format!("{work}/src/link"): "/home/u/.ssh"},
        },
        "git": {&*work: {"branch": branch, "branchRemotes": {}, "remotes": remotes}},
    });
    let host = VirtualHost::from_value(&machine).expect("a machine");
    let gate = Gate::builder()
        .engine(EngineKind::Native)
        .bundle(folder.join("callgate.json"))
        .host(Arc::new(host));
    gate.build().unwrap_or_else(|error| panic!("{error}"))
}

fn verdict(gate: &Gate, server: &str, tool: &str, arguments: &Value) -> (String, String) {
    let call = json!({"serverName": server, "toolName": tool, "arguments": arguments}).to_string();
    let verdict = gate.gate(CallText::from(&*call)).expect("a call").verdict;
    (verdict.decision.as_str().to_owned(), verdict.rule.into_owned())
}

/// Every spelling of a push to `main` that git understands, from another branch and from `main` itself.
#[test]
fn no_push_reaches_the_main_branch() {
    let spellings = [
        "main",
        "master",
        "refs/heads/main",
        "heads/main",
        "HEAD:main",
        "HEAD:refs/heads/main",
        "feature:main",
        "feature:refs/heads/main",
        "feature:heads/main",
        "+main",
        "+feature:main",
        "+HEAD:refs/heads/main",
        ":main",
        ":refs/heads/main",
        "+:main",
        "main:main",
        "refs/heads/*:refs/heads/*",
        "+refs/heads/*:refs/heads/*",
        "@:main",
        "main~1:main",
        ":",
        "+:",
        "refs/heads/ma*:refs/heads/ma*",
        "--all",
        "--mirror",
        "tags/v1:main",
    ];
    for branch in ["main", "feature"] {
        let (example, init) = (gate(branch), gate_of(INIT, branch));
        for spelling in spellings {
            let push =
                json!({"repo_path": ".", "remote": "https://github.com/acme/app.git", "branch": spelling});
            let (decision, rule) = verdict(&example, "git", "git_push", &push);
            assert_eq!(decision, "deny", "{spelling} on {branch}: {rule}");
            let (decision, rule) = verdict(&init, "git", "git_push", &push);
            assert_eq!(decision, "deny", "{spelling} on {branch}: {rule}");
        }
    }
    let gate_on_main = gate("main");
    for current in [
        json!({"repo_path": "."}),
        json!({"repo_path": ".", "branch": "HEAD"}),
        json!({"repo_path": ".", "branch": "@"}),
        json!({"repo_path": ".", "branch": ""}),
    ] {
        let (decision, rule) = verdict(&gate_on_main, "git", "git_push", &current);
        assert_eq!(decision, "deny", "{current} on main: {rule}");
    }
    let gate = gate("feature");
    for branch in [
        "feature",
        "refs/heads/feature",
        "HEAD",
        "feature:feature",
        "main:feature",
    ] {
        let push = json!({"repo_path": ".", "remote": "https://github.com/acme/app.git", "branch": branch});
        assert_eq!(verdict(&gate, "git", "git_push", &push).0, "allow", "{branch}");
    }
}

/// Files that run programs or hold secrets are out of reach, in nested projects as well.
#[test]
fn hooks_configurations_and_secrets_are_protected() {
    let example = gate("feature");
    for (tool, arguments) in [
        (
            "write_file",
            json!({"path": ".git/hooks/post-commit", "content": "x"}),
        ),
        (
            "write_file",
            json!({"path": "nested/.git/hooks/post-commit", "content": "x"}),
        ),
        ("write_file", json!({"path": ".git/config", "content": "x"})),
        ("write_file", json!({"path": "new/.git/config", "content": "x"})),
        ("write_file", json!({"path": "callgate.json", "content": "x"})),
        ("edit_file", json!({"path": "policy.json", "edits": []})),
        ("read_text_file", json!({"path": ".env"})),
        ("read_text_file", json!({"path": "nested/.env"})),
        ("read_text_file", json!({"path": "src/link/id"})),
        ("read_text_file", json!({"path": "~/.ssh/id"})),
        ("move_file", json!({"source": ".git", "destination": "src/git"})),
        (
            "move_file",
            json!({"source": "src", "destination": "nested/.git/hooks"}),
        ),
    ] {
        let (decision, rule) = verdict(&example, "filesystem", tool, &arguments);
        assert_eq!(
            (&*decision, &*rule),
            ("deny", "structural-protected-path"),
            "{tool} {arguments}"
        );
    }
    let init = gate_of(INIT, "feature");
    for path in [
        ".git/config",
        "nested/.git/hooks/post-commit",
        "callgate.json",
        ".env",
        "~/.ssh/id",
    ] {
        let write = json!({"path": path, "content": "x"});
        let rule = verdict(&init, "filesystem", "write_file", &write).1;
        assert_eq!(rule, "structural-protected-path", "{path}");
    }
    let staged = json!({"repo_path": ".", "files": ["nested/.env"]});
    assert_eq!(
        verdict(&example, "git", "git_add", &staged).1,
        "structural-protected-path"
    );
    let plain = json!({"path": "src/main.rs", "content": "x"});
    assert_eq!(verdict(&example, "filesystem", "write_file", &plain).0, "allow");
}
