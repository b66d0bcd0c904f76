//! Forms that arguments may have.

use super::*;

/// A protected path in an argument without a role is found whatever else the array contains, even values that cannot be
/// read.
#[test]
fn nothing_in_an_array_hides_a_protected_path() {
    let documents = Documents::new(json!([]), &[tool("s/read", json!({"path": ["read-path"]}))])
        .with(DocumentKind::ProtectedPaths, json!(["/secret"]));
    let host = host(&json!({"files": ["/secret/key"]}));
    let engine = documents.build(&host).expect("the documents are good");
    let deep = "[".repeat(20) + &"]".repeat(20);
    for (note, found) in [
        (r#"["/secret/key"]"#.to_owned(), true),
        (r#"["x", "\u002fsecret/key"]"#.to_owned(), true),
        (r#"[{"a": 1, "a": 2}, "/secret/key"]"#.to_owned(), true),
        (format!(r#"["/secret/key", {deep}]"#), true),
        (
            r#"["/secrets", "secret/key", "\ud800/secret/key"]"#.to_owned(),
            false,
        ),
        (r#"[["/secret/key"]]"#.to_owned(), true),
    ] {
        let request =
            format!(r#"{{"serverName": "s", "toolName": "read", "arguments": {{"note": {note}}}}}"#);
        let call = Call::from_json(&request).expect("a call");
        let rule = engine.evaluate(&call, &host).rule;
        assert_eq!(rule == "structural-protected-path", found, "{note}: {rule}");
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

/// A value of another type than the annotation or the schema describes is unreadable, before any rule.
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
        // A schema may say it twice.
        "required": ["path", "message", "path"],
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
        json!({"path": "x", "edits": null}),
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
