//! Questions that neither vectors nor adversarial cases settle, answered the safe way.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a failing test stops where it fails"
)]

#[path = "common/engines.rs"]
mod engines;

use callgate_core::{
    ApprovalPattern, ApprovalWhitelist, Arguments, Call, Ceiling, Context, DocumentKind, DocumentSource,
    Escalation, Explanation, Host, RoleId,
};
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

/// On a disk that does not distinguish `A` from `a`, a rule that denies a directory applies to its other spellings too;
/// a rule that allows one allows only the spelling that it names.
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
            let documents = documents.clone().with(DocumentKind::Options, options);
            let found = explain(&documents, &json!({"path": path}), &host);
            assert_eq!(
                found.verdict.decision.as_str(),
                expected,
                "{path} {case} {pinned}"
            );
        }
    }
}

/// A recording answers as its host did, and so also keeps how the host's disk compares names.
#[test]
fn a_recording_is_of_a_disk_that_compares_as_the_hosts_did() {
    let recording = callgate_core::Recording::new("/h", "/c", Vec::new()).ignoring_path_case(true);
    let read = serde_json::to_value(&recording).and_then(serde_json::from_value::<callgate_core::Recording>);
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

/// A protected path in an argument without a role is found whatever else the array contains, even values that cannot be
/// read.
#[test]
fn nothing_in_an_array_hides_a_protected_path() {
    let documents = Documents::new(json!([]), &[tool("s/read", json!({"path": ["read-path"]}))])
        .with(DocumentKind::ProtectedPaths, json!(["/secret"]));
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

/// A rule that denies a directory without a canonical form (a link to itself) does not deny paths elsewhere.
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
            .with(DocumentKind::Options, json!({"directories": directories}));
        for (path, expected) in [
            ("/d/x", "yes"),
            ("/d/loop/in", "yes"),
            ("/loop/in/x", "structural-unresolvable-value"),
        ] {
            let found = explain(&documents, &json!({"path": path}), &host);
            assert_eq!(found.verdict.rule, expected, "{path} {directories}");
        }
    }
}

/// A restricting rule that matches only some values of a role counts as a match but does not end the search: a
/// stricter rule after it counts too. The same holds if the tool has no resource role.
#[test]
fn a_rule_that_some_values_meet_does_not_keep_a_later_one_from_being_heard() {
    let both = json!({"lists": [
        {"roles": ["email-body"], "allowed": ["x"], "matchType": "identifiers"},
        {"roles": ["commit-message"], "allowed": ["m"], "matchType": "identifiers"},
    ]});
    let documents = Documents::new(
        json!([
            rule("ask", both.clone(), "escalate"),
            rule("no", both, "deny"),
            rule("rest", json!({}), "allow")
        ]),
        &[tool(
            "s/read",
            json!({"a": ["email-body"], "b": ["commit-message"]}),
        )],
    );
    let host = host(&json!({}));
    for (a, b, expected) in [
        (json!("x"), json!("m"), "ask"),
        (json!("y"), json!("m"), "rest"),
        (json!(["x", "y"]), json!(["m", "n"]), "no"),
        (json!(["y"]), json!(["m", "n"]), "rest"),
    ] {
        let found = explain(&documents, &json!({"a": a, "b": b}), &host);
        assert_eq!(found.verdict.rule, expected, "{a} {b}");
    }
}

/// Each value is judged as if it were alone, together with all values of other roles: a rule that allows one value does
/// not hide a rule that restricts the next.
#[test]
fn a_value_that_is_allowed_hides_none_beside_it() {
    let listed = |roles: &[&str], allowed: &[&str]| json!({"lists": [{"roles": roles, "allowed": allowed, "matchType": "identifiers"}]});
    let tool = tool("s/read", json!({"a": ["email-body"], "b": ["commit-message"]}));
    let host = host(&json!({}));
    let check = |rules: Value, cases: &[(Value, &str)]| {
        let documents = Documents::new(rules, std::slice::from_ref(&tool));
        for (arguments, expected) in cases {
            let found = explain(&documents, arguments, &host);
            assert_eq!(found.verdict.rule, *expected, "{arguments}");
        }
    };
    check(
        json!([
            rule("x", listed(&["email-body"], &["x"]), "allow"),
            rule("ask", listed(&["email-body"], &["y"]), "escalate"),
            rule("rest", json!({}), "allow")
        ]),
        &[
            (json!({"a": "x"}), "x"),
            (json!({"a": "y"}), "ask"),
            (json!({"a": ["x", "y"]}), "ask"),
            (json!({"a": ["y", "x"]}), "ask"),
            (json!({"a": ["x", "z"]}), "rest"),
        ],
    );
    check(
        json!([
            rule(
                "both",
                listed(&["email-body", "commit-message"], &["x", "m"]),
                "allow"
            ),
            rule("ask", listed(&["email-body"], &["x"]), "escalate"),
            rule("rest", json!({}), "allow")
        ]),
        &[
            (json!({"a": "x", "b": "m"}), "both"),
            (json!({"a": "x", "b": "z"}), "ask"),
            (json!({"a": ["x", "y"], "b": "z"}), "ask"),
            (json!({"a": ["z", "y"], "b": "z"}), "rest"),
        ],
    );
}

/// A rule with several kinds of conditions matches if all of them hold.
#[test]
fn a_rule_needs_each_of_its_conditions() {
    let condition = json!({
        "domains": {"roles": ["fetch-url"], "allowed": ["*.good.test"]},
        "lists": [{"roles": ["fetch-url"], "allowed": ["a.good.test", "b.test"], "matchType": "domains"}],
    });
    let documents = Documents::new(
        json!([rule("yes", condition, "allow")]),
        &[tool("s/read", json!({"url": ["fetch-url"]}))],
    );
    let host = host(&json!({}));
    for (url, expected) in [
        ("https://a.good.test/", "yes"),
        ("https://b.good.test/", "default-deny"),
        ("https://b.test/", "default-deny"),
    ] {
        let found = explain(&documents, &json!({"url": url}), &host);
        assert_eq!(found.verdict.rule, expected, "{url}");
    }
}

/// JSON in a string is refused under every role of a resource and every role that a rule names, since servers unpack it;
/// it is a text like any other elsewhere, and under the defaults of the existing runtime.
#[test]
fn json_in_a_string_is_not_a_name() {
    let roles = json!({"path": ["read-path"], "to": ["email-address"], "message": ["commit-message"], "note": ["none"]});
    let rules = json!([
        rule(
            "no",
            json!({"roles": ["email-address"], "tool": ["other"]}),
            "deny"
        ),
        rule("yes", within("/srv"), "allow")
    ]);
    let documents = Documents::new(rules, &[tool("s/read", roles)]);
    let host = host(&json!({"dirs": ["/srv"]}));
    let runtime = documents
        .clone()
        .with(DocumentKind::Options, json!({"compatibility": "runtime"}));
    for (arguments, expected) in [
        (
            json!({"path": "[\"/etc/shadow\"]"}),
            Some("\"path\": \"[\\\"/etc/shadow\\\"]\": is a JSON array in a string"),
        ),
        (
            json!({"path": ["x", " {\"a\": NaN}"]}),
            Some("is a JSON object in a string"),
        ),
        (
            json!({"path": "x", "to": "null"}),
            Some("is a JSON null in a string"),
        ),
        (
            json!({"path": "[draft] notes.txt", "to": "[a]", "message": "[]", "note": "null"}),
            None,
        ),
    ] {
        let found = explain(&documents, &arguments, &host).verdict;
        match expected {
            Some(expected) => {
                assert_eq!(found.rule, "structural-unresolvable-value", "{arguments}");
                assert!(found.reason.contains(expected), "{}", found.reason);
            }
            None => assert_eq!(found.rule, "yes", "{arguments}"),
        }
        let rule = explain(&runtime, &arguments, &host).verdict.rule;
        assert_eq!(rule, "yes", "{arguments}");
    }
}

/// An engine that denies a git tool's calls for the branch `main`, and allows every other one.
fn no_main() -> Documents {
    let main =
        json!({"lists": [{"roles": ["branch-name"], "allowed": ["main"], "matchType": "identifiers"}]});
    let push = json!({"path": ["write-history"], "remote": ["git-remote-url"], "branch": ["branch-name"]});
    Documents::new(
        json!([rule("no-main", main, "deny"), rule("all", json!({}), "allow")]),
        &[tool("git/push", push.clone()), tool("other/push", push)],
    )
}

fn decision(documents: &Documents, host: &dyn Host, name: &str, arguments: &Value) -> String {
    let engine = documents.build(host).expect("the documents are good");
    let (server, tool) = name.split_once('/').expect("a server and a tool");
    let call = Call::from_value(server, tool, arguments);
    let verdict = engine.evaluate(&call, host);
    assert_eq!(
        engine.gate(&call, None, host).verdict.decision,
        verdict.decision,
        "{name} {arguments}"
    );
    verdict.decision.as_str().to_owned()
}

/// A restriction on a branch holds for every spelling that git takes for it, and for what only git can tell.
#[test]
fn a_denied_branch_is_denied_in_every_spelling() {
    let world = json!({
        "home": "/home/u", "cwd": "/srv", "fs": {"dirs": ["/on-main", "/on-feature", "/detached", "/none"]},
        "git": {
            "/on-main": {"branch": "main", "remotes": {"origin": "https://a.test/x"}},
            "/on-feature": {"branch": "feature", "remotes": {"origin": "https://a.test/x"}},
            "/detached": {"branch": null, "remotes": {"origin": "https://a.test/x"}},
        },
    });
    let host = VirtualHost::from_value(&world).expect("a world");
    let documents = no_main();
    #[track_caller]
    fn check(documents: &Documents, host: &dyn Host, name: &str, place: &str, branch: Value, expected: &str) {
        let mut arguments = json!({"path": place, "remote": "origin"});
        if branch != json!("(absent)") {
            arguments["branch"] = branch.clone();
        }
        let found = decision(documents, host, name, &arguments);
        assert_eq!(found, expected, "{name} {place} {branch}");
    }
    for branch in [
        "main",
        "refs/heads/main",
        "heads/main",
        "HEAD:main",
        "feature:main",
        "+main",
        ":main",
        "+HEAD:refs/heads/main",
        "@",
        "tags/main",
        "ma*",
        "main~0",
        "x:HEAD",
    ] {
        check(
            &documents,
            &host,
            "git/push",
            "/on-feature",
            json!(branch),
            "deny",
        );
    }
    for branch in [
        "feature",
        "refs/heads/feature",
        "main:feature",
        "mainline",
        "feature/main",
    ] {
        check(&documents, &host, "git/push", "/on-main", json!(branch), "allow");
    }
    for branch in [json!("HEAD"), json!(""), json!(null), json!("(absent)")] {
        check(&documents, &host, "git/push", "/on-main", branch.clone(), "deny");
        check(
            &documents,
            &host,
            "git/push",
            "/on-feature",
            branch.clone(),
            "allow",
        );
        check(&documents, &host, "git/push", "/detached", branch.clone(), "deny");
        check(&documents, &host, "git/push", "/none", branch.clone(), "deny");
        check(&documents, &host, "other/push", "/on-feature", branch, "deny");
    }
    // The existing runtime compares the text.
    let runtime = no_main().with(DocumentKind::Options, json!({"compatibility": "runtime"}));
    check(&runtime, &host, "git/push", "/on-main", json!("main"), "deny");
    check(
        &runtime,
        &host,
        "git/push",
        "/on-main",
        json!("refs/heads/main"),
        "allow",
    );
    check(
        &runtime,
        &host,
        "git/push",
        "/on-main",
        json!("(absent)"),
        "allow",
    );
}

/// Where the default remote cannot be told, every restriction on remotes holds and no grant does.
#[test]
fn an_unknown_default_remote_meets_restrictions_only() {
    let world = json!({
        "home": "/home/u", "cwd": "/good", "fs": {"dirs": ["/good", "/evil", "/bare"], "files": ["/evil/src/a"]},
        "git": {
            "/good": {"branch": "main", "remotes": {"origin": "https://good.test/x"}},
            "/evil": {"branch": "main", "remotes": {"origin": "https://evil.test/x"}},
            "/bare": {"branch": "main", "remotes": {}},
        },
    });
    let host = VirtualHost::from_value(&world).expect("a world");
    let tools = [tool(
        "git/fetch",
        json!({"path": ["read-path"], "files": ["read-path"], "remote": ["git-remote-url"]}),
    )];
    let on = |domain: &str| json!({"domains": {"roles": ["git-remote-url"], "allowed": [domain]}});
    let paths = rule("paths", json!({"roles": ["read-path"]}), "allow");
    let deny = Documents::new(
        json!([
            rule("no-evil", on("evil.test"), "deny"),
            paths,
            rule("all", json!({}), "allow")
        ]),
        &tools,
    );
    let grant = Documents::new(json!([rule("good", on("good.test"), "allow"), paths]), &tools);
    for (arguments, denying, granting) in [
        (json!({"path": "/good"}), "allow", "allow"),
        (json!({"path": "/evil"}), "deny", "deny"),
        (json!({"path": "/good", "files": ["/evil/src/a"]}), "deny", "deny"),
        (
            json!({"path": "/good", "files": ["/evil/src/new"]}),
            "deny",
            "deny",
        ),
        (json!({"path": "/bare"}), "deny", "deny"),
        (json!({}), "deny", "deny"),
        (json!({"path": "/good", "remote": "origin"}), "allow", "allow"),
        (
            json!({"files": ["/evil"], "path": "/good", "remote": "origin"}),
            "deny",
            "deny",
        ),
    ] {
        assert_eq!(
            decision(&deny, &host, "git/fetch", &arguments),
            denying,
            "{arguments}"
        );
        assert_eq!(
            decision(&grant, &host, "git/fetch", &arguments),
            granting,
            "{arguments}"
        );
    }
}

/// What stands where the annotation or the schema describes something else is unreadable, before any rule.
#[test]
fn an_argument_of_another_shape_is_unreadable() {
    let mut stored = tool(
        "s/read",
        json!({"path": ["read-path"], "/edits/*/path": ["write-path"], "/at/0/x": ["read-path"], "to": ["email-address"],
            "message": ["commit-message"]}),
    );
    stored["inputSchema"] = json!({
        "properties": {
            "path": {"type": ["string", "array"], "items": {"type": "string"}},
            "to": {"type": "string"},
            "message": {"type": "string"},
            "edits": {}, "at": {},
        },
        "required": ["path", "message"],
    });
    let rules = json!([
        rule(
            "no",
            json!({"roles": ["email-address"], "tool": ["other"]}),
            "deny"
        ),
        rule("yes", json!({}), "allow")
    ]);
    let documents = Documents::new(rules, &[stored]);
    let host = host(&json!({"dirs": ["/srv"]}));
    let runtime = documents
        .clone()
        .with(DocumentKind::Options, json!({"compatibility": "runtime"}));
    let check = |mut arguments: Value, expected: &str, in_runtime: bool| {
        if arguments.get("path").is_none() {
            arguments["path"] = json!("/srv/x");
        }
        for (documents, is_refused) in [(&documents, true), (&runtime, in_runtime)] {
            let found = explain(documents, &arguments, &host).verdict;
            if is_refused {
                assert_eq!(found.rule, "structural-unreadable-argument", "{arguments}");
                assert_eq!(found.reason, format!("Unreadable argument: argument {expected}"));
            } else {
                assert_eq!(found.rule, "yes", "{arguments}");
            }
        }
    };
    let shape = |edits: Value| json!({"edits": edits});
    check(
        shape(json!("x")),
        "`edits` is a string, expected an array or object",
        true,
    );
    check(
        shape(json!(null)),
        "`edits` is null, expected an array or object",
        true,
    );
    check(
        shape(json!(["x"])),
        "`edits` holds a string at `/0`, expected an object",
        true,
    );
    check(
        shape(json!({"path": "/etc"})),
        "`edits` holds a string at `/path`, expected an object",
        true,
    );
    check(
        shape(json!([[{"path": "x"}]])),
        "`edits` holds an array at `/0`, expected an object",
        true,
    );
    check(
        shape(json!([{"path": {"x": 1}}])),
        "`edits` is an object, expected a string or an array of strings",
        true,
    );
    check(
        json!({"at": [1]}),
        "`at` holds an integer at `/0`, expected an object",
        true,
    );
    check(
        json!({"at": true}),
        "`at` is a boolean, expected an array or object",
        true,
    );
    check(
        json!({"path": 1}),
        "`path` is an integer, expected a string or an array",
        false,
    );
    check(
        json!({"path": null}),
        "`path` is null, expected a string or an array",
        false,
    );
    check(
        json!({"path": ["x", 1.5]}),
        "`path` holds an item that is a number, expected a string",
        false,
    );
    check(
        json!({"to": ["a@b"]}),
        "`to` is an array, expected a string",
        false,
    );
    check(
        json!({"to": {"a": "a@b"}}),
        "`to` is an object, expected a string",
        false,
    );
    let passed = [
        json!({"path": "x"}),
        json!({"path": "x", "message": {}, "edits": [{}, {"x": 1}], "at": []}),
    ];
    for arguments in passed {
        let found = explain(&documents, &arguments, &host).verdict;
        assert_eq!(found.rule, "yes", "{arguments}: {}", found.reason);
    }
    let found = explain(&documents, &json!({"to": "a@b"}), &host).verdict;
    let expected =
        "Unreadable argument: argument `path` is missing, expected a value, since the tool requires it";
    assert_eq!(found.reason, expected);
    assert_eq!(
        explain(&runtime, &json!({"to": "a@b"}), &host).verdict.rule,
        "yes"
    );
}

/// What the gate of `s/read` sends, in a sandbox at `/d`, if it does not deny the call.
fn sent(documents: &Documents, options: Value, arguments: &Value, host: &dyn Host) -> Option<Value> {
    let documents = documents
        .clone()
        .with(DocumentKind::AllowedDirectory, json!("/d"))
        .with(DocumentKind::Options, options);
    let engine = documents.build(host).expect("the documents are good");
    let request = json!({"serverName": "s", "toolName": "read", "arguments": arguments}).to_string();
    let call = Call::from_json(&request).expect("a call");
    let response = engine.gate(&call, None, host);
    let sent = response.arguments().expect("the arguments are an object");
    (response.verdict.decision.as_str() != "deny")
        .then(|| serde_json::from_str(&sent).expect("what is sent is JSON"))
}

/// A server reads relative paths in its own working directory, so the gate sends the places that it judged.
#[test]
fn relative_paths_are_sent_as_the_places_that_were_judged() {
    let documents = Documents::new(
        json!([rule("yes", json!({}), "allow")]),
        &[tool("s/read", json!({"path": ["read-path"]}))],
    );
    let host = host(&json!({"dirs": ["/d/in"], "links": {"/d/l": "in"}}));
    for (path, canonical, as_given, deny) in [
        ("x", Some("/d/x"), Some("x"), None),
        ("./l/x", Some("/d/in/x"), Some("./l/x"), None),
        ("../x", Some("/x"), Some("../x"), None),
        ("/d/l/x", Some("/d/in/x"), Some("/d/in/x"), Some("/d/in/x")),
        ("~/x", Some("/home/u/x"), Some("/home/u/x"), Some("/home/u/x")),
    ] {
        let arguments = json!({"path": path});
        for (options, expected) in [
            (json!({}), canonical),
            (json!({"compatibility": "runtime"}), as_given),
            (json!({"relativePaths": "as-given"}), as_given),
            (
                json!({"compatibility": "runtime", "relativePaths": "canonical"}),
                canonical,
            ),
            (json!({"relativePaths": "deny"}), deny),
        ] {
            let found = sent(&documents, options.clone(), &arguments, &host);
            assert_eq!(
                found,
                expected.map(|path| json!({"path": path})),
                "{path} {options}"
            );
        }
    }
}

/// Removing acts on a link, so the link's own place is sent, whatever role stands first; all else follows the link.
#[test]
fn a_removed_link_is_sent_as_its_own_place() {
    let host = host(
        &json!({"dirs": ["/d/in", "/d/real"], "links": {"/d/l": "in", "/d/up": "real", "/d/real/gone": "/none"}}),
    );
    for roles in [
        json!(["delete-path"]),
        json!(["read-path", "delete-path"]),
        json!(["write-path"]),
    ] {
        let documents = Documents::new(
            json!([rule("yes", json!({}), "allow")]),
            &[tool("s/read", json!({"path": roles}))],
        );
        let removes = roles != json!(["write-path"]);
        for (path, link, target) in [
            ("l", "/d/l", "/d/in"),
            ("/d/up/gone", "/d/real/gone", "/none"),
            ("/d/l/x", "/d/in/x", "/d/in/x"),
        ] {
            let expected = if removes { link } else { target };
            let arguments = json!({"path": path});
            let found = sent(&documents, json!({}), &arguments, &host);
            assert_eq!(found, Some(json!({"path": expected})), "{roles} {path}");
            assert_eq!(
                sent(&documents, json!({}), &json!({"path": expected}), &host),
                found
            );
        }
    }
}

/// Paths may start from the path in another argument: they are judged from there, and sent relative to it where they lie
/// below. What is not one path is no base.
#[test]
fn paths_may_be_relative_to_another_argument() {
    let files = json!({"roles": ["read-path", "delete-path"], "relativeTo": "repo"});
    let stored = tool(
        "s/read",
        json!({
            "files": files, "repo": ["read-path"],
            "chained": {"roles": ["read-path"], "relativeTo": "files"},
            "lost": {"roles": ["read-path"], "relativeTo": "note"}, "note": ["none"],
        }),
    );
    let rules = json!([
        rule(
            "no",
            json!({"paths": {"roles": ["delete-path"], "within": "/d/secret"}}),
            "deny"
        ),
        rule("yes", json!({}), "allow")
    ]);
    let documents = Documents::new(rules, &[stored]);
    let host = host(&json!({
        "dirs": ["/d/repo/in", "/d/secret"], "links": {"/d/l": "repo", "/d/repo/gone": "in/x", "/d/repo/out": "/d/in"},
    }));
    let repo = |files: Value| json!({"files": files, "repo": "l"});
    for (given, expected) in [
        (json!("a"), json!("a")),
        (json!(["in/../a", "./in/x", "."]), json!(["a", "in/x", "."])),
        (json!("/d/l/in/x"), json!("in/x")),
        (json!("../x"), json!("/d/x")),
        (json!("out/x"), json!("/d/in/x")),
        (json!("gone"), json!("gone")),
        (json!("./-x"), json!("./-x")),
        (json!("in/../~bob"), json!("./~bob")),
        (json!("./[1]"), json!("./[1]")),
        (json!("./:(top)x"), json!("./:(top)x")),
        (json!("./null"), json!("./null")),
    ] {
        let expected = json!({"files": expected, "repo": "/d/repo"});
        let found = sent(&documents, json!({}), &repo(given), &host);
        assert_eq!(found.as_ref(), Some(&expected));
        assert_eq!(sent(&documents, json!({}), &expected, &host), found);
    }
    for arguments in [
        repo(json!("../secret")),
        json!({"files": "a"}),
        json!({"files": "/d/repo/a", "repo": ["/d/repo"]}),
        json!({"files": "a", "repo": "~nobody"}),
        json!({"files": "a", "repo": "/d/repo", "chained": "x"}),
        json!({"lost": "a", "note": "/d"}),
    ] {
        assert_eq!(
            sent(&documents, json!({}), &arguments, &host),
            None,
            "{arguments}"
        );
    }
    let lost = explain(&documents, &json!({"files": "a", "repo": 1}), &host)
        .verdict
        .reason;
    assert_eq!(
        lost,
        "Unreadable argument: argument `files` is relative to `repo`, expected one path there"
    );
}

/// A server that sees the disk under other names gets its own, and nothing that has none there.
#[test]
fn servers_get_their_own_names_of_what_was_judged() {
    let stored = tool(
        "s/read",
        json!({"path": ["read-path"], "repo": ["read-path"], "files": {"roles": ["read-path"], "relativeTo": "repo"}}),
    );
    let documents = Documents::new(json!([rule("yes", json!({}), "allow")]), &[stored]);
    let host = host(&json!({"dirs": ["/d/in", "/e/x", "/real"], "links": {"/d/l": "/e", "/mount": "/real"}}));
    let names = json!({"/d": "/work", "/e": "/work/e", "/mount": "/m"});
    let options = json!({"serverPaths": {"s": names, "other": {"/": "/"}}});
    for (path, expected) in [
        ("in/a", Some("/work/in/a")),
        ("/d", Some("/work")),
        ("/d/l/x", Some("/work/e/x")),
        ("/real/a", Some("/m/a")),
        ("/mount", Some("/m")),
        ("/d/e/x", None),
        ("/dd", None),
        ("/etc/x", None),
    ] {
        let found = sent(&documents, options.clone(), &json!({"path": path}), &host);
        assert_eq!(found, expected.map(|path| json!({"path": path})), "{path}");
    }
    let found = sent(
        &documents,
        options,
        &json!({"repo": "/d", "files": ["a", "/e/x"]}),
        &host,
    );
    assert_eq!(found, Some(json!({"repo": "/work", "files": ["a", "/work/e/x"]})));
}

/// Work is bounded by a count, the same in every host; a call beyond it is denied, and so is a host name that cannot be
/// looked up.
#[test]
fn a_call_beyond_a_limit_is_denied() {
    let host = host(&json!({}));
    let url = || tool("s/read", json!({"url": ["fetch-url"], "to": ["email-address"]}));
    let rules: Vec<Value> = (0..40)
        .map(|at| {
            let allowed = json!([format!("u{at}@y.test")]);
            let list =
                json!({"lists": [{"roles": ["email-address"], "allowed": allowed, "matchType": "emails"}]});
            rule(&format!("l{at}"), list, "escalate")
        })
        .chain([rule("yes", json!({"server": ["s"]}), "allow")])
        .collect();
    let documents = Documents::new(json!(rules), &[url()]);
    let narrow = documents
        .clone()
        .with(DocumentKind::Options, json!({"limits": {"steps": 1_000}}));
    let mails = |count: usize| -> Value { (0..count).map(|at| json!(format!("u{at}@x.test"))).collect() };
    let labels = format!("https://{}x.test/", "a.".repeat(124));
    for (arguments, expected, narrowed) in [
        (json!({"to": "a@x.test"}), "yes", "yes"),
        (json!({"to": mails(100)}), "yes", "structural-limit"),
        (json!({"to": mails(10_000)}), "yes", "structural-limit"),
        (
            json!({"to": mails(16_385)}),
            "structural-limit",
            "structural-limit",
        ),
        (json!({"url": "https://x.test/"}), "yes", "yes"),
        (json!({"url": labels.replacen("a.", "", 2)}), "yes", "yes"),
        (json!({"url": labels}), "structural-limit", "structural-limit"),
    ] {
        let shown = arguments.to_string().chars().take(60).collect::<String>();
        assert_eq!(
            explain(&documents, &arguments, &host).verdict.rule,
            expected,
            "{shown}"
        );
        assert_eq!(
            explain(&narrow, &arguments, &host).verdict.rule,
            narrowed,
            "{shown}, narrow"
        );
    }
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
            DocumentKind::ToolAnnotations,
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
