//! The arguments that are sent to servers.

use super::*;

/// The arguments that the gate of `s/read` sends, in a sandbox at `/d`, if it does not deny the call.
fn sent(documents: &Documents, options: Value, arguments: &Value, host: &dyn Host) -> Option<Value> {
    let documents = documents
        .clone()
        .with(DocumentKind::Sandbox, json!("/d"))
        .with(DocumentKind::Options, options);
    let engine = documents.build(host).expect("the documents are good");
    let request = json!({"serverName": "s", "toolName": "read", "arguments": arguments}).to_string();
    let call = Call::from_json(&request).expect("a call");
    let response = engine.gate(&call, host);
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
/// below. A value that is not one path is not a base.
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
