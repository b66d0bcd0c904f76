//! Branches and remotes.

use super::*;

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
        engine.gate(&call, host).verdict.decision,
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

/// Git's configuration of pushes is asked once, where a restriction looks at a branch, and is recorded.
#[test]
fn what_a_push_updates_is_asked_where_it_counts_and_replays() {
    let world = json!({
        "home": "/home/u", "cwd": "/srv", "fs": {"dirs": ["/repo"]},
        "git": {"/repo": {
            "branch": "feature", "remotes": {"origin": "https://a.test/x"},
            "pushRefspecs": {"origin": "refs/heads/feature:refs/heads/main"},
        }},
    });
    let host = VirtualHost::from_value(&world).expect("a world");
    let engine = no_main().build(&host).expect("the documents are good");
    let asks = |recording: &Recording| {
        let asked = recording.exchanges().iter();
        asked
            .filter(|one| matches!(one.question, Question::GitPushRefs { .. }))
            .count()
    };
    for (branch, decision, questions) in [
        ("feature", "deny", 1),
        ("main", "deny", 0),
        ("ma*n", "deny", 0),
        ("topic", "allow", 1),
        ("feature:topic", "allow", 0),
    ] {
        let arguments = json!({"path": "/repo", "remote": "origin", "branch": branch});
        let call = Call::from_value("git", "push", &arguments);
        let explained = engine.explain(&call, &host);
        assert_eq!(explained.verdict.decision.as_str(), decision, "{branch}");
        assert_eq!(asks(&explained.recording), questions, "{branch}");
        let text = serde_json::to_string(&explained.recording).expect("a recording can be written");
        let recording: Recording = serde_json::from_str(&text).expect("a recording can be read again");
        let again = engine.explain(&call, &recording);
        assert_eq!(again.verdict.decision.as_str(), decision, "{branch}");
    }
    // A host that does not answer denies.
    let topic = json!({"path": "/repo", "remote": "origin", "branch": "topic"});
    let topic = Call::from_value("git", "push", &topic);
    let asked = engine.explain(&topic, &host).recording;
    let others = asked
        .exchanges()
        .iter()
        .filter(|one| !matches!(one.question, Question::GitPushRefs { .. }));
    let silent = Recording::new("/home/u", "/srv", others.cloned().collect());
    let verdict = engine.evaluate(&topic, &silent);
    assert_eq!(verdict.decision.as_str(), "deny");
    assert_eq!(verdict.rule, "structural-host-error");
    // Nothing restricts a branch, so nothing is asked.
    let all = Documents::new(
        json!([rule("all", json!({}), "allow")]),
        &[tool(
            "git/push",
            json!({"path": ["write-history"], "remote": ["git-remote-url"], "branch": ["branch-name"]}),
        )],
    );
    let engine = all.build(&host).expect("the documents are good");
    assert_eq!(asks(&engine.explain(&topic, &host).recording), 0);
}
