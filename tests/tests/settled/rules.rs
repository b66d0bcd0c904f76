//! Which rules are heard, and about which values.

use super::*;

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

/// A directory that a rule allows is asked about where it may hold the value, by either name; a recording tells an engine that is
/// built from it enough to judge alike.
#[test]
fn directories_that_rules_allow_are_asked_about_near_the_value() {
    let allowed = (0..40).map(|at| rule(&format!("r{at}"), within(&format!("/d{at}")), "allow"));
    let kept = rule("kept", within("/kept"), "deny");
    let linked = rule("linked", within("/link"), "allow");
    let documents = Documents::new(
        [kept].into_iter().chain(allowed).chain([linked]).collect(),
        &[tool("s/read", json!({"path": ["read-path"]}))],
    );
    let host = host(&json!({"dirs": ["/real", "/d7", "/kept"], "links": {"/link": "/real"}}));
    for (path, expected, near) in [
        ("/d7/x", "r7", "/d7"),
        ("/real/x", "linked", "/link"),
        ("/link/x", "linked", "/link"),
        ("/elsewhere/x", "default-deny", "/kept"),
    ] {
        let arguments = json!({"path": path});
        let found = explain(&documents, &arguments, &host);
        assert_eq!(found.verdict.rule, expected, "{path}");
        let exchanges = found.recording.exchanges();
        let asked = |path: &str| {
            let mut questions = exchanges.iter().map(|one| &one.question);
            questions.any(|question| *question == Question::realpath(path))
        };
        assert!(asked("/kept") && asked(near) && !asked("/d3"), "{path}");
        let again = explain(&documents, &arguments, &found.recording);
        let text = |one| serde_json::to_string(one).expect("an explanation is JSON");
        assert_eq!(text(&again), text(&found), "{path}");
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
            (json!({"a": ["x", "z", "y"]}), "ask"),
        ],
    );
    let of = |role: &str, allowed: &[&str]| json!({"roles": [role], "allowed": allowed, "matchType": "identifiers"});
    let pair = json!({"lists": [of("email-body", &["x", "y"]), of("commit-message", &["m"])]});
    check(
        json!([rule("pair", pair, "allow"), rule("rest", json!({}), "deny")]),
        &[
            (json!({"a": ["x", "y"], "b": "m"}), "pair"),
            (json!({"a": ["x", "z"], "b": "m"}), "rest"),
            (json!({"a": ["x", "y"], "b": "n"}), "rest"),
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
