//! What neither vectors nor adversarial cases ask, settled the safe way.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a failing test stops where it fails"
)]

#[path = "common/engines.rs"]
mod engines;

use callgate_core::{
    ApprovalPattern, ApprovalWhitelist, Arguments, Call, Escalation, Explanation, Host, Part, RoleId,
};
use callgate_host::VirtualHost;
use engines::{Documents, rule, tool};
use serde_json::{Value, json};

fn host(fs: &Value) -> VirtualHost {
    let world = json!({"home": "/home/u", "cwd": "/srv", "fs": fs, "git": {}});
    VirtualHost::from_world(&world).expect("a world")
}

fn explain(documents: &Documents, arguments: &Value, host: &dyn Host) -> Explanation {
    let engine = documents.build(host).expect("the documents are good");
    let request = json!({"serverName": "s", "toolName": "read", "arguments": arguments}).to_string();
    engine.explain(&Call::from_json(&request).expect("a call"), host)
}

fn within(directory: &str) -> Value {
    json!({"paths": {"roles": ["read-path"], "within": directory}})
}

/// On a disk that does not tell `A` from `a`, a rule that denies a directory is heard about its other spellings;
/// one that allows a directory allows the one that it names.
#[test]
fn another_spelling_of_a_denied_directory_is_not_allowed() {
    let documents = Documents::new(
        json!([
            rule("no", within("/d/Private"), "deny"),
            rule("yes", within("/d"), "allow")
        ]),
        &[tool("s/read", json!({"path": ["read-path"]}))],
    );
    let host = host(&json!({"dirs": ["/d/Private", "/d/private-not"], "caseInsensitive": true}));
    for (path, sensitive, insensitive) in [
        ("/d/Private/x", "deny", "deny"),
        ("/d/PRIVATE/x", "allow", "deny"),
        ("/d/private", "allow", "deny"),
        ("/d/private-not", "allow", "allow"),
        ("/D/x", "deny", "deny"),
    ] {
        for (case, pinned, expected) in [
            ("sensitive", "fresh", sensitive),
            ("insensitive", "fresh", insensitive),
            ("insensitive", "pinned", insensitive),
        ] {
            let options = json!({"pathCase": case, "directories": pinned});
            let documents = documents.clone().with(Part::Options, options);
            let found = explain(&documents, &json!({"path": path}), &host);
            assert_eq!(found.verdict["decision"], expected, "{path} {case} {pinned}");
        }
    }
}

/// A recording answers as its host did, so also how the host's disk compares names.
#[test]
fn a_recording_is_of_a_disk_that_compares_as_the_hosts_did() {
    let recording = callgate_core::Recording::new("/h", "/c", Vec::new()).ignoring_path_case(true);
    let read = serde_json::to_value(&recording).and_then(serde_json::from_value::<callgate_core::Recording>);
    let read = read.expect("a recording can be read again");
    assert!(read.ignores_path_case());
    assert_eq!(read, recording);
}

/// An approval looks at whole arguments. Where values of the role lie deeper, it neither is offered nor matches.
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
        callgate_core::extract_whitelist_candidates(&escalation(annotation), "e", "r", &host)
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

/// A protected path in an argument without a role is found whatever stands beside it in the array, also what cannot be
/// read.
#[test]
fn nothing_in_an_array_hides_a_protected_path() {
    let documents = Documents::new(json!([]), &[tool("s/read", json!({"path": ["read-path"]}))])
        .with(Part::ProtectedPaths, json!(["/secret"]));
    let host = host(&json!({"files": ["/secret/key"]}));
    let engine = documents.build(&host).expect("the documents are good");
    let deep = "[".repeat(200) + &"]".repeat(200);
    for (note, found) in [
        (r#"["/secret/key"]"#.to_owned(), true),
        (r#"["x", "\u002fsecret/key"]"#.to_owned(), true),
        (r#"[{"a": 1, "a": 2}, "/secret/key"]"#.to_owned(), true),
        (format!(r#"["/secret/key", {deep}]"#), true),
        (
            r#"["/secrets", "secret/key", "\ud800/secret/key"]"#.to_owned(),
            false,
        ),
        (r#"[["/secret/key"]]"#.to_owned(), false),
    ] {
        let request =
            format!(r#"{{"serverName": "s", "toolName": "read", "arguments": {{"note": {note}}}}}"#);
        let call = Call::from_json(&request).expect("a call");
        let rule = engine.evaluate(&call, &host).rule;
        assert_eq!(rule == "structural-protected-path", found, "{note}: {rule}");
    }
}

/// A rule that denies a directory without a canonical form, a link to itself, denies nothing that lies elsewhere.
#[test]
fn a_denied_directory_that_leads_nowhere_is_no_other() {
    let documents = Documents::new(
        json!([
            rule("no", within("/loop/in"), "deny"),
            rule("yes", within("/d"), "allow")
        ]),
        &[tool("s/read", json!({"path": ["read-path"]}))],
    );
    let host = host(&json!({"dirs": ["/d"], "links": {"/loop": "/loop"}}));
    for directories in ["fresh", "pinned"] {
        let documents = documents
            .clone()
            .with(Part::Options, json!({"directories": directories}));
        for (path, expected) in [
            ("/d/x", "yes"),
            ("/d/loop/in", "yes"),
            ("/loop/in/x", "structural-unresolvable-value"),
        ] {
            let found = explain(&documents, &json!({"path": path}), &host);
            assert_eq!(found.verdict["rule"], expected, "{path} {directories}");
        }
    }
}
