//! Questions that neither vectors nor adversarial cases settle, answered the safe way.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a failing test stops where it fails"
)]

#[path = "settled/arguments.rs"]
mod arguments;
#[path = "common/engines.rs"]
mod engines;
#[path = "settled/git.rs"]
mod git;
#[path = "settled/rules.rs"]
mod rules;
#[path = "settled/sent.rs"]
mod sent;

use callgate_compat::{ApprovalPattern, ApprovalWhitelist, Escalation};
use callgate_engine::bind::{Arguments, Call};
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::host::{Host, Question, Recording};
use callgate_engine::judge::Explanation;
use callgate_engine::policy::Ceiling;
use callgate_engine::role::RoleId;
use callgate_engine::world::Context;
use callgate_host::VirtualHost;
use conformance::Explain;
use engines::{Documents, rule, tool};
use serde_json::{Value, json};

fn host(fs: &Value) -> VirtualHost {
    let world = json!({"home": "/home/u", "cwd": "/srv", "fs": fs, "git": {}});
    VirtualHost::from_value(&world).expect("a world")
}

fn explain(documents: &Documents, arguments: &Value, host: &dyn Host) -> Explanation {
    let engine = documents.build(host).expect("the documents are good");
    let request = json!({"serverName": "s", "toolName": "read", "arguments": arguments}).to_string();
    engine.explain(&Call::from_json(&request).expect("a call"), host)
}

fn within(directory: &str) -> Value {
    json!({"paths": {"roles": ["read-path"], "within": directory}})
}

/// A recording answers as its host did, and so also keeps how the host's disk compares names.
#[test]
fn a_recording_is_of_a_disk_that_compares_as_the_hosts_did() {
    let recording = callgate_engine::host::Recording::new("/h", "/c", Vec::new()).ignoring_path_case(true);
    let read =
        serde_json::to_value(&recording).and_then(serde_json::from_value::<callgate_engine::host::Recording>);
    let read = read.expect("a recording can be read again");
    assert!(read.ignores_path_case());
    assert_eq!(read, recording);
}

/// An approval covers whole arguments. If values of the role are nested deeper, none is offered and none matches.
#[test]
fn an_approval_does_not_cover_values_that_it_cannot_see() {
    let host = host(&json!({"dirs": ["/srv/app"], "files": ["/etc/shadow"]}));
    let annotation = |names: &[&str]| -> Vec<(String, Vec<RoleId>)> {
        let roles = |name: &&str| ((*name).to_owned(), vec![RoleId::WRITE_PATH]);
        names.iter().map(roles).collect()
    };
    let (flat, deep) = (annotation(&["path"]), annotation(&["path", "/edits/*/path"]));
    let arguments = json!({"path": "/srv/app", "edits": [{"path": "/etc/shadow"}]});
    let arguments = Arguments::from_value(&arguments);
    let escalation = |annotation| Escalation {
        server: "s",
        tool: "edit",
        arguments: &arguments,
        annotation,
        roles: Some(&[RoleId::WRITE_PATH]),
    };
    let offered = |annotation| -> Vec<ApprovalPattern> {
        callgate_compat::extract_whitelist_candidates(&escalation(annotation), "e", "r", &host)
            .expect("candidates")
    };
    let mut approvals = ApprovalWhitelist::default();
    approvals
        .add(offered(&flat).remove(0))
        .expect("the pattern is constrained");
    let found = |annotation| approvals.find(&escalation(annotation), &host).expect("an answer");
    assert_eq!(found(&flat), Some(0));
    assert_eq!(found(&deep), None);
    assert!(offered(&deep).is_empty());
}

/// In an engine with a world no reason holds a path of the host, and removing what an address names removes what it
/// holds.
#[test]
fn an_address_can_be_removed_and_hides_its_path() {
    let annotated = json!([
        {"toolName": "read", "serverName": "s", "comment": "", "args": {"at": ["address"], "path": ["read-path"]}, "kind": "read"},
        {"toolName": "remove", "serverName": "s", "comment": "", "args": {"at": ["address"]}, "kind": "delete"},
    ]);
    let world = json!({
        "roots": {"repo": "/hidden/repo"}, "mounts": {},
        "visibility": [{"mode": "m", "root": "repo", "subdirectory": null, "when": []}],
        "operations": [{"mode": "m", "root": "repo", "subdirectory": null, "rules": [{"commands": [["read", "x"], ["remove", "x"]], "when": []}]}],
    });
    let documents = Documents::new(json!([rule("yes", json!({"server": ["s"]}), "allow")]), &[])
        .with(
            DocumentKind::Annotations,
            json!({"generatedAt": "", "servers": {"s": {"inputHash": "", "tools": annotated}}}),
        )
        .with(DocumentKind::ProtectedPaths, json!(["/hidden/repo/.git"]))
        .with(DocumentKind::World, world);
    let host = host(
        &json!({"dirs": ["/hidden/repo/.git", "/hidden/repo/src"], "links": {"/srv/link": "/hidden/repo/.git"}}),
    );
    let engine = documents.build(&host).expect("the documents are good");
    for (tool, arguments, expected) in [
        ("read", json!({"at": "root:repo/src"}), "yes"),
        (
            "read",
            json!({"at": "root:repo/.git"}),
            "structural-protected-path",
        ),
        (
            "read",
            json!({"at": "root:repo/src", "path": "link/config"}),
            "structural-protected-path",
        ),
        (
            "read",
            json!({"at": "root:repo/src", "other": "./link"}),
            "structural-protected-path",
        ),
        ("remove", json!({"at": "root:repo/src"}), "yes"),
        ("remove", json!({"at": "root:repo/"}), "structural-protected-path"),
    ] {
        let request = json!({"serverName": "s", "toolName": tool, "arguments": arguments});
        let request = request.to_string();
        let context = Context::from_value(&json!({"mode": "m", "command": "x"}));
        let call = Call::from_json(&request).expect("a call");
        let found = engine.explain(&call.within(context), &host);
        assert_eq!(
            found.verdict.rule, expected,
            "{request}: {}",
            found.verdict.reason
        );
        let said = serde_json::to_string(&found.for_agent()).expect("an explanation");
        assert!(!said.contains("/hidden"), "{request}: {said}");
    }
}

/// Relative patterns of a ceiling start from its own first root in an intersection too, though that has another first root.
#[test]
fn an_intersection_does_not_move_relative_patterns() {
    let host = host(&json!({"dirs": ["/srv/app/src", "/srv/app/sub/src"]}));
    let load = |value: &Value| Ceiling::load(DocumentSource::Value(value)).expect("a ceiling");
    let patterns = json!([{"tool": "read", "arg_patterns": ["src/**"], "arg_key": "path"}]);
    let (outer, inner) = (
        json!({"workspace_roots": ["/srv/app"], "tool_arg_constraints": patterns}),
        json!({"workspace_roots": ["/srv/app/sub"]}),
    );
    let both = load(&outer)
        .intersect(&load(&inner))
        .expect("the roots lie within each other");
    let both = serde_json::to_value(&both).expect("a ceiling is JSON");
    assert_eq!(both["tool_arg_constraints"][0]["workspace_root"], "/srv/app");
    let decision = |ceiling: &Value, path: &str| {
        let documents = Documents::new(
            json!([rule("yes", json!({}), "allow")]),
            &[tool("s/read", json!({"path": ["read-path"]}))],
        )
        .with(DocumentKind::Ceiling, ceiling.clone())
        .with(DocumentKind::Options, json!({"workspaceRoots": "sandbox"}));
        explain(&documents, &json!({"path": path}), &host)
            .verdict
            .decision
            .as_str()
            .to_owned()
    };
    for (path, of_host, of_both) in [
        ("/srv/app/src/a", "allow", "deny"),
        ("/srv/app/sub/src/a", "deny", "deny"),
        ("/srv/app/sub/a", "deny", "deny"),
    ] {
        assert_eq!(decision(&outer, path), of_host, "{path}");
        assert_eq!(decision(&both, path), of_both, "{path}");
    }
    let wide = json!({"workspace_roots": ["/srv/app"], "tool_arg_constraints": [
        {"tool": "read", "arg_patterns": ["sub/src/**"], "arg_key": "path"}]});
    let both = load(&wide)
        .intersect(&load(&inner))
        .expect("the roots lie within each other");
    let both = serde_json::to_value(&both).expect("a ceiling is JSON");
    assert_eq!(decision(&both, "/srv/app/sub/src/a"), "allow");
    assert_eq!(decision(&both, "/srv/app/sub/sub/src/a"), "deny");
}

/// The first value that cannot be judged ends the judgement; those after it are shown in their order, without a canonical form.
#[test]
fn values_that_were_not_reached_are_explained_in_order() {
    let documents = Documents::new(json!([]), &[tool("s/read", json!({"path": ["read-path"]}))]);
    let host = host(&json!({}));
    let explained = explain(&documents, &json!({"path": ["/a", "", "/b", "/c"]}), &host);
    assert_eq!(&*explained.verdict.rule, "structural-unresolvable-value");
    let shown: Vec<&str> = explained.values.iter().map(|value| &*value.argument).collect();
    assert_eq!(shown, ["/path/0", "/path/1", "/path/2", "/path/3"]);
}
