//! Each warning about what the engine does on purpose.

use serde_json::{Value, json};

use super::*;
use crate::document::{Json, Node};
use crate::limits::Limits;
use crate::{annotation, policy};

/// Compares the warnings about one rule, each by the words that tell it from the others.
fn check(effect: &str, conditions: Value, sandbox: &[&str], gated: &[&str], expected: &[&str]) {
    let policy = json!({"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": [{
        "name": "n", "description": "", "principle": "", "if": conditions, "then": effect, "reason": "",
    }]});
    let (report, registry) = (Report::default(), Registry::default());
    let policy = policy::read(
        &Node::document(&Json::from(&policy), "p", &report),
        &registry,
        &Limits::default(),
    );
    let annotations = annotations(&report);
    assert!(!report.has_errors());
    let servers = Servers::default();
    let gated: Vec<(Box<str>, Vec<Box<str>>)> = gated
        .iter()
        .map(|server| ((*server).into(), Vec::new()))
        .collect();
    let sandbox: Vec<Box<str>> = sandbox.iter().map(|directory| (*directory).into()).collect();
    let sandbox = Sandboxed {
        directories: &sandbox,
        ..by_default(&servers)
    };
    let found = overridden(&policy, "p", &registry, &annotations, &sandbox, &gated);
    assert_eq!(found.len(), expected.len(), "{conditions} {found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.to_string().contains(expected), "{found}");
    }
}

fn by_default(servers: &Servers) -> Sandboxed<'_> {
    Sandboxed {
        directories: &[],
        servers,
        roles: RoleSet::SANDBOX_SAFE,
        order: SandboxOrder::BeforeRules,
        is_careful: false,
    }
}

/// A tool with a URL, one with a remote and one without either.
fn annotations(report: &Report) -> Annotations {
    let tool = |server: &str, name: &str, args: Value| json!({"toolName": name, "serverName": server, "comment": "", "args": args});
    let annotations = json!({"generatedAt": "", "servers": {
        "fetch": {"inputHash": "", "tools": [tool("fetch", "http_fetch", json!({"url": ["fetch-url"]}))]},
        "git": {"inputHash": "", "tools": [
            tool("git", "git_status", json!({"path": ["read-path"]})),
            tool("git", "git_push", json!({"remote": ["git-remote-url"]})),
        ]},
    }});
    annotation::read(
        &Node::document(&Json::from(&annotations), "annotations", report),
        &Registry::default(),
        annotation::HARN_SERVER,
    )
}

#[test]
fn each_behaviour_that_is_kept_is_warned_of() {
    let within = |dir: &str| json!({"paths": {"roles": ["read-path"], "within": dir}});
    let (sandbox, introspection) = ("within the sandbox", "`list_allowed_directories`");
    for (conditions, place, denied, asked) in [
        (
            json!({"tool": ["git_reset"]}),
            &["/box"][..],
            &[sandbox][..],
            &[][..],
        ),
        (json!({"tool": ["git_reset"]}), &[], &[], &[]),
        (json!({"server": ["fetch"]}), &["/box"], &[], &[]),
        (json!({"roles": ["fetch-url"]}), &["/box"], &[], &[]),
        (
            json!({"roles": ["delete-history"], "server": ["git"]}),
            &["/box"],
            &[sandbox],
            &[],
        ),
        (within("/box/secret"), &["/box/"], &[sandbox], &[sandbox]),
        (within("/box"), &["/box"], &[sandbox], &[sandbox]),
        (within("~/box/x"), &["~/box"], &[sandbox], &[sandbox]),
        (within("/"), &["/box"], &[], &[]),
        (within("/boxer"), &["/box"], &[], &[]),
        (within("~/x"), &["/box"], &[], &[]),
        (within("/b/x"), &["/a", "/b"], &[sandbox], &[sandbox]),
        (within("/a/b"), &["/a", "/a/b"], &[sandbox], &[sandbox]),
        (within("/"), &["/a", "/b"], &[], &[]),
        (within("/c"), &["/a", "/b"], &[], &[]),
        (json!({"tool": ["git_reset"]}), &["/a", "/b"], &[sandbox], &[]),
        (
            json!({"domains": {"roles": ["git-remote-url"], "allowed": ["x"]}}),
            &["/box"],
            &[],
            &[],
        ),
        (
            json!({"tool": ["list_allowed_directories"]}),
            &[],
            &[introspection],
            &[introspection],
        ),
        (
            json!({"server": ["filesystem"]}),
            &[],
            &[introspection],
            &[introspection],
        ),
        (json!({"server": ["git"]}), &[], &[], &[]),
    ] {
        check("deny", conditions.clone(), place, &[], denied);
        check("escalate", conditions, place, &[], asked);
    }
    let (fetch, push) = (
        "every domain to `http_fetch` on `fetch`",
        "every domain to `git_push` on `git`",
    );
    for (conditions, gated, expected) in [
        (json!({"tool": ["git_push"]}), &[][..], &[push][..]),
        (json!({"tool": ["git_push"]}), &["fetch"], &[push]),
        (json!({"tool": ["git_push"]}), &["fetch", "git"], &[]),
        (json!({"tool": ["git_status"]}), &[], &[]),
        (json!({"server": ["git"]}), &[], &[push]),
        (json!({"server": ["fetch", "git"]}), &[], &[fetch]),
        (json!({"server": ["filesystem"]}), &[], &[]),
        (json!({"roles": ["git-remote-url"]}), &[], &[]),
        (within("/"), &[], &[]),
    ] {
        check("allow", conditions, &["/"], gated, expected);
    }
    let patterns = json!([
        "x.org:22",
        "x.org",
        "::1",
        "[::1]:80",
        "x.org:8080/a",
        "x:y",
        "x:"
    ]);
    let ports = ["allowed[0]: found `x.org:22`", "allowed[3]", "allowed[4]"];
    check(
        "allow",
        json!({"domains": {"roles": ["fetch-url"], "allowed": patterns}}),
        &[],
        &[],
        &ports,
    );
}

/// The warnings about rules, each given by its effect and conditions, under the careful defaults; the server `kube` has a sandbox.
fn warnings(rules: &[(&str, Value)]) -> Vec<String> {
    let rule = |(effect, conditions): &(&str, Value)| json!({"name": "n", "if": conditions, "then": effect, "reason": ""});
    let policy = json!({"rules": rules.iter().map(rule).collect::<Vec<_>>()});
    let tool = |name: &str, args: Value| json!({"toolName": name, "args": args});
    let annotations = json!({"servers": {
        "kube": {"tools": [
            tool("pods", json!({"namespace": "none"})),
            tool("apply", json!({"file": "read-path"})),
        ]},
        "git": {"tools": [
            {"toolName": "git_push", "kind": "fetch", "args": {"repo": "read-path"}},
            tool("git_clone", json!({"url": "git-remote-url", "path": "write-path"})),
        ]},
    }});
    let (report, registry) = (Report::default(), Registry::default());
    let policy = policy::read(
        &Node::document(&Json::from(&policy), "p", &report),
        &registry,
        &Limits::default(),
    );
    let annotations = annotation::read(
        &Node::document(&Json::from(&annotations), "annotations", &report),
        &registry,
        annotation::HARN_SERVER,
    );
    assert!(!report.has_errors());
    let servers = Servers {
        sandboxed: vec!["kube".into(), "git".into()],
        ..Servers::default()
    };
    let sandbox = Sandboxed {
        directories: &["/box".into()],
        is_careful: true,
        ..by_default(&servers)
    };
    let found = overridden(&policy, "p", &registry, &annotations, &sandbox, &[]);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_rule_about_a_server_with_a_sandbox_is_not_heard_there() {
    let about = |server: &str| json!({"server": server});
    let found = warnings(&[("escalate", about("kube"))]);
    let [one] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert!(
        one.contains("does not restrict calls of `apply` on `kube` whose paths lie in the sandbox"),
        "{one}"
    );
    for (effect, conditions) in [
        // It is heard everywhere.
        ("deny", about("kube")),
        // Who names roles asks about what lies outside.
        ("escalate", json!({"server": "kube", "roles": "read-path"})),
        ("escalate", json!({"server": "kube", "tool": "apply"})),
        // What acts, or names something else, is judged by rules as well.
        ("escalate", about("git")),
        ("escalate", about("other")),
    ] {
        assert_eq!(
            warnings(&[(effect, conditions.clone())]),
            [""; 0],
            "{effect} {conditions}"
        );
    }
}

#[test]
fn what_a_rule_before_decides_is_not_allowed_by_a_later_one() {
    let rest = || ("allow", json!({"server": "git"}));
    let open = "every domain to `git_clone` on `git`";
    for (before, is_open) in [
        (vec![], true),
        (
            vec![("escalate", json!({"server": "git", "roles": "git-remote-url"}))],
            false,
        ),
        (
            vec![("deny", json!({"roles": ["git-remote-url", "fetch-url"]}))],
            false,
        ),
        (vec![("escalate", json!({"tool": "git_clone"}))], false),
        (
            vec![("escalate", json!({"server": "git", "roles": "write-path"}))],
            true,
        ),
        (vec![("escalate", json!({"tool": "git_push"}))], true),
        (
            vec![(
                "allow",
                json!({"domains": {"roles": "git-remote-url", "allowed": ["x.org"]}}),
            )],
            true,
        ),
    ] {
        let rules: Vec<(&str, Value)> = before.into_iter().chain([rest()]).collect();
        let found = warnings(&rules);
        assert_eq!(
            found.iter().any(|one| one.contains(open)),
            is_open,
            "{rules:?} {found:?}"
        );
    }
}

#[test]
fn allowlists_with_ports_are_warned_of_too() {
    let allowlists = [("a-b".into(), vec!["*".into(), "x.org:443".into()])];
    let found = overridden(
        &Policy::default(),
        "p",
        &Registry::default(),
        &Annotations::default(),
        &by_default(&Servers::default()),
        &allowlists,
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, "domainAllowlists[\"a-b\"][1]");
    assert_eq!(found[0].code, Code::Overridden);
}
