//! The things that analyses look at besides the documents, and their notes on those that they do not look at.

use std::fs;

use serde_json::{Value, json};

use crate::project::Project;

/// Writes a bundle, and a world in which `/bin` is a link and a repository has a branch and a remote.
fn written(project: &Project, name: &str, bundle: &Value) {
    project.write(name, bundle.to_string());
    let world = json!({
        "home": "/home/u", "cwd": "/r",
        "fs": {"dirs": ["/r", "/usr/bin"], "links": {"/bin": "/usr/bin"}},
        "git": {"/r": {"branch": "dev", "remotes": {"origin": "https://github.com/acme/w.git"}}},
    });
    project.write("world.json", world.to_string());
}

fn lines(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let output = project.run(arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn what_is_not_looked_at_is_not_proven() {
    let project = Project::new();
    let rules = json!([
        {"name": "main", "if": {"lists": [{"roles": "branch-name", "allowed": ["main"], "matchType": "identifiers"}]},
         "then": "deny", "reason": "r"},
        {"name": "ours", "if": {"domains": {"roles": "git-remote-url", "allowed": ["github.com/acme/*"]}},
         "then": "allow", "reason": "r"},
        {"name": "repository", "if": {"paths": {"roles": "write-history", "within": "/r"}}, "then": "allow", "reason": "r"},
        {"name": "usr", "if": {"paths": {"roles": "read-path", "within": "/usr"}}, "then": "allow", "reason": "r"},
    ]);
    let bundle = json!({
        "policy": {"rules": rules},
        "annotations": {"servers": {
            "files": {"tools": [{"toolName": "read", "args": {"path": "read-path"}}]},
            "git": {"tools": [
                {"toolName": "push", "args": {"path": "write-history", "remote": "git-remote-url", "branch": "branch-name"}},
            ]},
        }},
        "invariants": [
            {"name": "bin", "never": {"decision": "allow", "within": "/bin"}},
            {"name": "origin", "never": {"decision": "allow", "tool": "push", "roles": "git-remote-url", "values": "origin"}},
            {"name": "head", "never": {"decision": "allow", "tool": "push", "roles": "branch-name", "values": "HEAD"}},
            {"name": "main", "never": {"decision": "allow", "tool": "push", "roles": "branch-name", "values": "refs/heads/main"}},
        ],
    });
    written(&project, "bundle.json", &bundle);
    let results = |more: &[&str]| -> Vec<Value> {
        let arguments = [&["check", "-b", "bundle.json", "--world", "world.json"], more].concat();
        let found = lines(&project, &arguments);
        found
            .iter()
            .map(|one| json!([one["name"], one["result"], one["on"]]))
            .collect()
    };
    let disk = "a disk without links";
    assert_eq!(
        results(&[]),
        [
            json!(["bin", "proven", disk]),
            json!(["origin", "unknown", null]),
            json!(["head", "unknown", null]),
            json!(["main", "proven", null]),
        ]
    );
    let looked = results(&["--disk"]);
    assert_eq!(looked[0], json!(["bin", "refuted", null]));
    assert_eq!(looked[1], json!(["origin", "refuted", null]));
    assert_eq!(looked[2], json!(["head", "refuted", null]));
    assert_eq!(looked[3], json!(["main", "proven", null]));
    project.check(
        &[
            "check",
            "-b",
            "bundle.json",
            "--world",
            "world.json",
            "--format",
            "human",
        ],
        1,
        &[
            "proven  bin",
            "on a disk without links",
            "which URL the remote `origin` is",
        ],
        &[],
    );
}

#[test]
fn a_rule_about_a_link_is_found_where_the_disk_is_looked_at() {
    let project = Project::new();
    let rule = |within: &str, effect: &str| {
        let paths = json!({"roles": "read-path", "within": within});
        json!({"name": within, "if": {"paths": paths}, "then": effect, "reason": "r"})
    };
    let bundle = |rules: Value| {
        json!({
            "policy": {"rules": rules},
            "annotations": {"servers": {"files": {"tools": [{"toolName": "read", "args": {"path": "read-path"}}]}}},
        })
    };
    written(
        &project,
        "new.json",
        &bundle(json!([rule("/usr/bin", "allow"), rule("/bin", "deny")])),
    );
    written(&project, "old.json", &bundle(json!([rule("/usr/bin", "allow")])));
    let idle = |more: &[&str]| -> Vec<Value> {
        let arguments = [&["lint", "-b", "new.json", "--world", "world.json"], more].concat();
        let found = lines(&project, &arguments).into_iter();
        let idle = found.filter(|one| one["code"] == "never-decides");
        idle.map(|one| one["path"].clone()).collect()
    };
    assert!(idle(&[]).is_empty());
    assert_eq!(idle(&["--disk"]), [json!("policy.rules[1]")]);
    let equal = |more: &[&str]| {
        let arguments = [&["diff", "old.json", "new.json", "--world", "world.json"], more].concat();
        lines(&project, &arguments).pop().expect("a sum")["equal"].clone()
    };
    assert_eq!((equal(&[]), equal(&["--disk"])), (json!(false), json!(true)));
}

#[test]
fn the_tools_of_a_trusted_server_have_a_row_of_their_own() {
    let project = Project::new();
    project.edit("callgate.json", |bundle| {
        bundle["trustedServers"] = json!(["ops"])
    });
    project.check(
        &["map", "--tool", "ops/*"],
        0,
        &[
            r#""serverName":"ops","toolName":"*""#,
            r#""decision":"allow","rule":"trusted-server""#,
        ],
        &[],
    );
    project.check(
        &[
            "map",
            "--to",
            "/etc/passwd",
            "--only",
            "allow",
            "--format",
            "human",
        ],
        0,
        &["ops/*", "every call; by trusted-server"],
        &[],
    );
}

#[test]
fn a_proxy_domain_reaches_its_host() {
    let project = Project::new();
    let list = json!({"roles": "proxy-domain", "allowed": ["evil.test"], "matchType": "identifiers"});
    let bundle = json!({
        "policy": {"rules": [{"name": "evil", "if": {"lists": [list]}, "then": "allow", "reason": "r"}]},
        "annotations": {"servers": {"proxy": {"tools": [{"toolName": "open", "args": {"domain": "proxy-domain"}}]}}},
    });
    project.write("bundle.json", bundle.to_string());
    for target in ["evil.test", "https://evil.test/x", "git@evil.test:a/b"] {
        let found = lines(&project, &["map", "-b", "bundle.json", "--to", target]);
        assert_eq!(found[0]["rows"][0]["decision"], "allow", "{target} {found:?}");
        assert_eq!(
            found[0]["rows"][0]["arguments"]["domain"], "evil.test",
            "{target}"
        );
    }
}

#[test]
fn markdown_has_no_colours() {
    let project = Project::new();
    let mut policy = project.read("policy.json");
    project.write("old.json", policy.to_string());
    policy["rules"].as_array_mut().expect("rules").remove(0);
    project.write("new.json", policy.to_string());
    for arguments in [
        &["diff", "old.json", "new.json", "--format", "md"][..],
        &[
            "diff", "old.json", "old.json", "--format", "md", "--color", "always",
        ],
        &["map", "--format", "md", "--color", "always"],
    ] {
        let output = project.run(arguments);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(!text.is_empty() && !text.contains('\u{1b}'), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn calls_are_read_from_a_pipe() {
    let project = Project::new();
    let call = json!({"serverName": "filesystem", "toolName": "write_file", "arguments": {"path": "/etc/motd", "content": "x"}});
    let folder = project.folder.path().join("project");
    let pipe = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let writer = std::thread::spawn(move || fs::write(pipe, format!("{call}\n")));
    project.check(
        &["suggest", "--format", "human", "pipe"],
        0,
        &["1 call of filesystem/write_file: deny by deny-write-system"],
        &[],
    );
    writer.join().expect("a thread").expect("it is read");
    project.write("empty.jsonl", "");
    project.check(
        &["suggest", "--format", "human", "empty.jsonl"],
        0,
        &["found no call that was not allowed"],
        &[],
    );
}
