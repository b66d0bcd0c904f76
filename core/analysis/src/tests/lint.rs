//! Doubts, each by its code and place.

use serde_json::{Value, json};

use super::arbitrary::{self, Home};
use crate::{Finding, lint_policy, lint_tools};
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;

type Documents = Vec<(DocumentKind, Value)>;

fn documents(more: &[(DocumentKind, Value)]) -> Documents {
    let mut documents = more.to_vec();
    for (kind, value) in [
        (
            DocumentKind::Policy,
            json!({"rules": [{"name": "all", "if": {}, "then": "allow", "reason": ""}]}),
        ),
        (DocumentKind::Annotations, arbitrary::annotations()),
    ] {
        if documents.iter().all(|(known, _)| *known != kind) {
            documents.push((kind, value));
        }
    }
    documents
}

fn parts(documents: &Documents) -> Vec<(DocumentKind, DocumentSource<'_>)> {
    let parts = documents.iter();
    parts
        .map(|(kind, value)| (*kind, DocumentSource::Value(value)))
        .collect()
}

/// Of the findings those with one of these codes, as `code place`.
#[track_caller]
fn check(found: &[Finding], codes: &[&str], expected: &[&str]) {
    let meant = found
        .iter()
        .filter(|one| codes.contains(&one.diagnostic.code.as_str()));
    let shown: Vec<String> = meant
        .map(|one| format!("{} {}", one.diagnostic.code.as_str(), one.diagnostic.path))
        .collect();
    assert_eq!(shown, expected, "{found:#?}");
}

const ENTRIES: &[&str] = &["covered", "never-matches", "unused-list"];

#[track_caller]
fn check_entries(more: &[(DocumentKind, Value)], expected: &[&str]) {
    let documents = documents(more);
    check(
        &lint_policy(&parts(&documents), &Home, None, &|_| {}).unwrap(),
        ENTRIES,
        expected,
    );
}

fn rules(conditions: Value, effect: &str) -> (DocumentKind, Value) {
    let rule = json!({"name": "n", "if": conditions, "then": effect, "reason": ""});
    (DocumentKind::Policy, json!({"rules": [rule]}))
}

#[test]
fn what_an_allowlist_lets_pass_is_not_unconditional() {
    let codes = ["unconditional", "unread-role"];
    for (allowlists, expected) in [
        (
            json!({}),
            &[
                "unconditional policy.rules[0]",
                "unread-role annotations.servers.fetch.tools[0].args.url",
            ][..],
        ),
        (json!({"fetch": ["good.test"]}), &[]),
    ] {
        let tools = json!([{"toolName": "get", "args": {"url": "fetch-url"}}]);
        let documents = documents(&[
            rules(json!({"server": "fetch"}), "allow"),
            (
                DocumentKind::Annotations,
                json!({"servers": {"fetch": {"tools": tools}}}),
            ),
            (DocumentKind::DomainAllowlists, allowlists),
        ]);
        let found = lint_policy(&parts(&documents), &Home, None, &|_| {}).unwrap();
        check(&found, &codes, expected);
    }
}

#[test]
fn a_pattern_that_another_one_covers_has_no_effect() {
    for (roles, allowed, effect, expected) in [
        (
            json!("fetch-url"),
            json!(["a.test", "b.test", "*.c.test"]),
            "allow",
            &[][..],
        ),
        (
            json!("fetch-url"),
            json!(["api.a.test", "*.a.test"]),
            "allow",
            &["covered 0"],
        ),
        (
            json!("fetch-url"),
            json!(["*.b.a.test", "*.a.test", "A.test"]),
            "allow",
            &["covered 0", "covered 2"],
        ),
        (
            json!("fetch-url"),
            json!(["a.test", "A.test."]),
            "deny",
            &["covered 1"],
        ),
        // A `*` allows no address, and denies every one.
        (
            json!("fetch-url"),
            json!(["*", "127.0.0.1", "a.test"]),
            "allow",
            &["covered 2"],
        ),
        (
            json!("fetch-url"),
            json!(["*", "127.0.0.1"]),
            "deny",
            &["covered 1"],
        ),
        (
            json!("git-remote-url"),
            json!(["github.com/acme/*", "github.com/acme/w"]),
            "allow",
            &["covered 1"],
        ),
        (
            json!("git-remote-url"),
            json!(["github.com/acme/w", "github.com/acme/v"]),
            "deny",
            &[],
        ),
        (
            json!(["fetch-url", "git-remote-url"]),
            json!(["a.test/w", "b.test"]),
            "allow",
            &[],
        ),
    ] {
        let expected: Vec<String> = expected
            .iter()
            .map(|one| {
                let (code, at) = one.split_once(' ').unwrap();
                format!("{code} policy.rules[0].if.domains.allowed[{at}]")
            })
            .collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_entries(
            &[rules(
                json!({"domains": {"roles": roles, "allowed": allowed}}),
                effect,
            )],
            &expected,
        );
    }
    check_entries(
        &[(
            DocumentKind::DomainAllowlists,
            json!({"fetch": ["*.a.test", "a.test"], "git": ["a.test"]}),
        )],
        &["covered domainAllowlists.fetch[1]"],
    );
}

#[test]
fn an_entry_that_stands_there_twice_has_no_effect() {
    let list = |kind: &str, role: &str, allowed: Value| {
        rules(
            json!({"lists": [{"roles": role, "allowed": allowed, "matchType": kind}]}),
            "deny",
        )
    };
    check_entries(
        &[list("identifiers", "github-owner", json!(["acme", "w", "ACME"]))],
        &["covered policy.rules[0].if.lists[0].allowed[2]"],
    );
    check_entries(
        &[list("identifiers", "branch-name", json!(["main", "Main"]))],
        &[],
    );
    check_entries(
        &[list("emails", "email-address", json!(["A@b.test", "a@b.test"]))],
        &["covered policy.rules[0].if.lists[0].allowed[1]"],
    );
}

#[test]
fn lists_are_held_against_the_rules_that_name_them() {
    let list = |values: &[&str]| json!({"values": values, "manualAdditions": [], "manualRemovals": []});
    let lists = json!({"lists": {
        "sites": list(&["*.a.test", "a.test", "b.test"]), "idle": list(&["x"]), "more": list(&["b.test"]),
    }});
    let (_, mut policy) = rules(
        json!({"domains": {"roles": "fetch-url", "allowed": ["@sites", "x.a.test", "@more"]}}),
        "allow",
    );
    policy["listDefinitions"] =
        json!([{"name": "sites", "type": "domains"}, {"name": "gone", "type": "emails"}]);
    check_entries(
        &[(DocumentKind::Policy, policy), (DocumentKind::Lists, lists)],
        &[
            "covered policy.rules[0].if.domains.allowed[1]",
            "covered lists.lists.sites",
            "unused-list lists.lists.idle",
            "unused-list policy.listDefinitions[1]",
        ],
    );
}

#[test]
fn a_path_within_another_one_has_no_effect() {
    let protected = json!([
        "/srv/app/secrets",
        "/etc/ssh",
        "~/.ssh",
        "/etc",
        "**/.env",
        "/srv",
        "/etc/"
    ]);
    check_entries(
        &[(DocumentKind::ProtectedPaths, protected.clone())],
        &[
            "covered protectedPaths[0]",
            "covered protectedPaths[1]",
            "covered protectedPaths[6]",
        ],
    );
    // The sandbox excepts from `/srv`, and not from what is in it.
    check_entries(
        &[
            (DocumentKind::ProtectedPaths, protected),
            (DocumentKind::Sandbox, json!("/srv/app")),
        ],
        &["covered protectedPaths[1]", "covered protectedPaths[6]"],
    );
    check_entries(
        &[(
            DocumentKind::Ceiling,
            json!({"workspace_roots": ["/srv/app", "/srv", "/srv/b"]}),
        )],
        &["covered ceiling.workspace_roots[2]"],
    );
}

#[test]
fn a_rule_that_decides_nothing_is_said_with_what_does() {
    let within = |name: &str, within: &str, effect: &str| {
        let paths = json!({"roles": "read-path", "within": within});
        json!({"name": name, "if": {"server": "filesystem", "paths": paths}, "then": effect, "reason": "r"})
    };
    let said = |rules: Value, more: &[(DocumentKind, Value)]| -> Vec<(String, String, bool)> {
        let mut more = more.to_vec();
        more.push((DocumentKind::Policy, json!({"rules": rules})));
        let documents = documents(&more);
        let found = lint_policy(&parts(&documents), &Home, None, &|_| {}).unwrap();
        let idle = found
            .into_iter()
            .filter(|one| one.diagnostic.code.as_str() == "never-decides");
        idle.map(|one| (one.diagnostic.path, one.diagnostic.message, one.call.is_some()))
            .collect()
    };
    let one = |at: usize, message: &str| vec![(format!("policy.rules[{at}]"), message.to_owned(), true)];
    let sandbox = (DocumentKind::Sandbox, json!("/srv/app"));
    let protected = (DocumentKind::ProtectedPaths, json!(["/etc"]));
    let decided = "decides nothing: what it matches is decided by";
    assert_eq!(
        said(
            json!([within("in", "/srv/app/in", "escalate")]),
            std::slice::from_ref(&sandbox)
        ),
        one(0, &format!("the rule `in` {decided} `structural-sandbox-allow`"))
    );
    assert_eq!(
        said(json!([within("key", "/etc/key", "allow")]), &[protected, sandbox]),
        one(
            0,
            &format!("the rule `key` {decided} `structural-protected-path`")
        )
    );
    assert_eq!(
        said(
            json!([within("x", "/srv", "allow"), within("x", "/srv/a", "deny")]),
            &[]
        ),
        one(1, &format!("the rule `x` {decided} another rule of that name"))
    );
    let no_such = json!([{"name": "n", "if": {"server": "none"}, "then": "allow", "reason": "r"}]);
    let none = said(no_such, &[]);
    assert_eq!(
        none[0].1,
        "the rule `n` matches no call of any annotated tool, expected some"
    );
}

#[test]
fn what_is_always_denied_is_said_where_it_is_certain() {
    let rule = rules(json!({"server": "fetch"}), "allow");
    let documents = documents(&[rule, (DocumentKind::ProtectedPaths, json!(["/srv/*/key"]))]);
    let found = lint_policy(&parts(&documents), &Home, None, &|_| {}).unwrap();
    let servers = ["filesystem", "git", "github", "mail", "notes"];
    let denied: Vec<&Finding> = found
        .iter()
        .filter(|one| one.diagnostic.code.as_str() == "always-denied")
        .collect();
    for (one, server) in denied.iter().zip(servers) {
        assert!(one.diagnostic.message.contains(&format!("`{server}/")), "{one:?}");
    }
    assert_eq!(denied.len(), servers.len());
}

#[test]
fn a_servers_tools_are_held_against_their_annotations() {
    let annotations = json!({"servers": {"s": {"tools": [
        {"toolName": "read_file", "args": {"path": "none", "head": "none"},
         "inputSchema": {"properties": {"path": {"type": "string"}, "head": {"type": "number"}}}},
        {"toolName": "write_file", "args": {"path": "write-path"}},
        {"toolName": "old", "args": {}},
    ]}}});
    let documents = documents(&[(DocumentKind::Annotations, annotations)]);
    let text = json!({"type": "string"});
    let tools = json!({"tools": [
        {"name": "read_file", "inputSchema": {"properties": {"path": text, "head": text}}},
        {"name": "write_file", "inputSchema": {"properties": {"path": text, "source_path": text}}},
        {"name": "fetch", "inputSchema": {"properties": {"url": text}}},
    ]});
    let found = lint_tools(&parts(&documents), &Home, "s", DocumentSource::Value(&tools)).unwrap();
    let codes = [
        "new-tool",
        "gone-tool",
        "new-argument",
        "gone-argument",
        "changed-schema",
        "missing-role",
    ];
    let place = "annotations.servers.s.tools";
    check(
        &found,
        &codes,
        &[
            &format!("changed-schema {place}[0].args.head"),
            &format!("new-argument {place}[1]"),
            "new-tool annotations.servers.s",
            &format!("gone-tool {place}[2]"),
            &format!("missing-role {place}[0].args.path"),
            &format!("missing-role {place}[1]"),
        ],
    );
    let call = found
        .iter()
        .find(|one| one.diagnostic.code.as_str() == "missing-role");
    assert_eq!(
        call.unwrap().call.as_ref().unwrap()["arguments"]["path"],
        "/etc/passwd"
    );
    assert!(
        lint_tools(
            &parts(&documents),
            &Home,
            "s",
            DocumentSource::Value(&json!({"tools": 5}))
        )
        .is_err()
    );
}

#[test]
fn a_text_that_looks_like_a_path_is_said() {
    let texts = |names: &[&str]| {
        let properties = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "string"})));
        json!({"properties": properties.collect::<serde_json::Map<_, _>>()})
    };
    let tools = json!([
        {"toolName": "write_file", "args": {"path": "text", "content": "text"}, "inputSchema": texts(&["path", "content"])},
        {"toolName": "read_file", "args": {"file_path": "text"}},
        // What is said of these fits.
        {"toolName": "edit_file", "args": {"path": "write-path", "old_text": "text"}},
        {"toolName": "list_files", "args": {"path": "none"}},
    ]);
    let documents = documents(&[(
        DocumentKind::Annotations,
        json!({"servers": {"files": {"tools": tools}}}),
    )]);
    check(
        &lint_policy(&parts(&documents), &Home, None, &|_| {}).unwrap(),
        &["missing-role"],
        &[
            "missing-role annotations.servers.files.tools[0].args.path",
            "missing-role annotations.servers.files.tools[1].args.file_path",
        ],
    );
}

#[test]
fn a_tool_that_reads_a_tree_is_said() {
    let annotations = json!({"servers": {"files": {"tools": [
        {"toolName": "search", "args": {"path": {"roles": "read-path", "reach": "tree"}}},
        {"toolName": "read", "args": {"path": "read-path"}},
        {"toolName": "copy", "args": {"path": {"roles": ["read-path", "write-path"], "reach": "tree"}}},
    ]}}});
    let found = |protected: Value, effect: &str| {
        let rule = json!({"name": "all", "if": {"roles": "read-path"}, "then": effect, "reason": ""});
        let documents = documents(&[
            (DocumentKind::Annotations, annotations.clone()),
            (DocumentKind::ProtectedPaths, protected),
            (DocumentKind::Policy, json!({"rules": [rule]})),
        ]);
        lint_policy(&parts(&documents), &Home, None, &|_| {}).unwrap()
    };
    let place = "reads-below annotations.servers.files.tools[0].args.path";
    check(&found(json!(["**/.env"]), "allow"), &["reads-below"], &[place]);
    check(&found(json!(["**/.env"]), "escalate"), &["reads-below"], &[]);
    check(&found(json!([]), "allow"), &["reads-below"], &[]);
}
