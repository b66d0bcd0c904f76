//! Suggestions that would allow a call.

use serde_json::{Value, json};

use crate::project::Project;

#[test]
fn an_explanation_suggests_the_smallest_rule() {
    let project = Project::new();
    let call = json!({"serverName": "filesystem", "toolName": "write_file", "arguments": {"path": "/etc/motd", "content": "x"}});
    let call = call.to_string();
    let output = project.run(&["explain", "--suggest", &call]);
    assert_eq!(output.status.code(), Some(2));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let suggestion = &answer["suggestion"];
    assert_eq!(suggestion["before"], "deny-write-system", "{suggestion}");
    assert_eq!(
        suggestion["rules"][0]["if"],
        json!({"server": "filesystem", "tool": "write_file", "paths": {"roles": ["write-path"], "within": "/etc/motd"}})
    );
    let looser = suggestion["looser"].as_array().expect("tools");
    assert_eq!(looser.len(), 1, "{suggestion}");
    assert_eq!(looser[0]["toolName"], "write_file");
    assert_eq!(
        looser[0]["looser"][0]["places"][0]["is"],
        json!(["under /etc/motd"])
    );
    // It works, and changes what it says.
    let before = project.read("policy.json");
    project.write("old.json", before.to_string());
    project.edit("policy.json", |policy| {
        let rules = policy["rules"].as_array_mut().expect("rules");
        let at = suggestion["at"].as_u64().expect("a place") as usize;
        rules.insert(at, suggestion["rules"][0].clone());
    });
    project.check(&["eval", "--engine", "native", &call], 0, &["allow"], &[]);
    let diff = project.run(&["diff", "old.json", "policy.json"]);
    let text = String::from_utf8(diff.stdout).expect("UTF-8");
    let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["looser"], looser[0]["looser"], "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    // A call that is allowed needs nothing, and one that no rule allows needs something else.
    let output = project.run(&["explain", "--suggest", &call]);
    assert!(
        !String::from_utf8(output.stdout)
            .expect("UTF-8")
            .contains("suggestion")
    );
    let secret = call.replace("/etc/motd", "~/.ssh/id");
    project.check(
        &["explain", "--suggest", "--format", "human", &secret],
        2,
        &[
            "no rule allows it, because of structural-protected-path. What to do instead:",
            "narrow `protectedPaths`",
        ],
        &[],
    );
    let other = call.replace("/etc/motd", "/srv/a");
    project.check(
        &["explain", "--suggest", "--format", "human", &other],
        3,
        &[
            "this rule would allow it, if it stands before `ask-other-paths`:",
            "\"within\": \"/srv/a\"",
            "looser   path (write-path): under /srv/a",
        ],
        &[],
    );
}

#[test]
fn suggestions_for_calls_begin_with_the_most_frequent() {
    let project = Project::new();
    let call = |tool: &str, path: &str| {
        json!({"serverName": "filesystem", "toolName": tool, "arguments": {"path": path}}).to_string()
    };
    let calls = [
        call("read_text_file", "~/.ssh/id"),
        call("read_text_file", "/srv/logs/a"),
        call("read_text_file", "/srv/logs/b"),
        call("read_text_file", "a.txt"),
        call("read_text_file", "/srv/logs/a"),
        "{".to_owned(),
    ];
    project.write("calls.jsonl", calls.join("\n"));
    let output = project.run(&["suggest", "calls.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!((&lines[0]["count"], &lines[1]["count"]), (&json!(3), &json!(1)));
    assert_eq!(
        lines[0]["suggestion"]["rules"][0]["if"]["paths"]["within"],
        "/srv/logs"
    );
    assert_eq!(lines[0]["suggestion"]["before"], "ask-other-paths");
    assert_eq!(lines[1]["suggestion"]["advice"], "noRule");
    assert_eq!(lines[1]["suggestion"]["rule"], "structural-protected-path");
    assert_eq!((&lines[2]["allowed"], &lines[2]["left"]), (&json!(1), &json!(0)));
    assert_eq!(lines[2]["unknown"][0]["place"], "calls.jsonl:6");
    project.check(
        &["suggest", "--most", "1", "--format", "human", "calls.jsonl"],
        0,
        &[
            "3 calls of filesystem/read_text_file: escalate by ask-other-paths",
            "\"within\": \"/srv/logs\"",
            "looser   path (read-path): under /srv/logs",
            "1 more kind of calls, which --most shows",
        ],
        &[],
    );
    project.check(
        &["suggest", "no-such.jsonl"],
        1,
        &[],
        &["cannot read `no-such.jsonl`"],
    );
}

#[test]
fn calls_of_one_kind_share_a_suggestion_and_all_of_them_can_be_taken() {
    let project = Project::new();
    project.write(
        "web.json",
        json!({
            "policy": {"rules": []},
            "options": {"strict": true},
            "protectedPaths": ["/srv/keep"],
            "annotations": {"servers": {
                "web": {"tools": [{"toolName": "get", "args": {"url": "fetch-url"}}]},
                "files": {"tools": [{"toolName": "get", "args": {"path": "read-path"}}]},
            }},
        })
        .to_string(),
    );
    let call = |server: &str, name: &str, value: &str| {
        json!({"serverName": server, "toolName": "get", "arguments": {name: value}}).to_string()
    };
    let calls = [
        call("web", "url", "https://docs.rs/a"),
        call("web", "url", "http://localhost:3000/x"),
        call("web", "url", "https://docs.rs/b"),
        call("files", "path", "/srv/a/x"),
        call("files", "path", "/var/b/x"),
    ];
    project.write("calls.jsonl", calls.join("\n"));
    let suggested = || -> Vec<Value> {
        let output = project.run(&["suggest", "--bundle", "web.json", "calls.jsonl"]);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect()
    };
    let lines = suggested();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    let rules = |line: &Value| line["suggestion"]["rules"].as_array().cloned().expect("rules");
    let (web, files) = (rules(&lines[0]), rules(&lines[1]));
    assert_eq!(web.len(), 1, "{web:#?}");
    assert_eq!(
        web[0]["if"]["domains"]["allowed"],
        json!(["docs.rs", "localhost"])
    );
    let within = |rule: &Value| rule["if"]["paths"]["within"].clone();
    assert_eq!(
        files.iter().map(within).collect::<Vec<_>>(),
        ["/srv/a/x", "/var/b/x"]
    );
    // Taken together they make a policy without a warning, which allows all of it.
    project.edit("web.json", |bundle| {
        bundle["policy"]["rules"] = web.iter().chain(&files).cloned().collect();
    });
    project.check(
        &["validate", "--bundle", "web.json"],
        0,
        &[r#""warnings":[]"#],
        &[],
    );
    assert_eq!(suggested()[0]["allowed"], 5);
    // What no rule allows stands by itself.
    let more = [
        call("files", "path", "/srv/keep/x"),
        call("files", "path", "/opt/c"),
    ];
    project.write("calls.jsonl", more.join("\n"));
    let lines = suggested();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert_eq!(
        lines[0]["suggestion"]["rules"][0]["if"]["paths"]["within"],
        "/opt/c"
    );
    assert_eq!(lines[1]["suggestion"]["rule"], "structural-protected-path");
}

#[test]
fn suggestions_for_calls_in_a_world_are_for_their_contexts() {
    let project = Project::in_a_world();
    let call = |tool: &str, path: &str, context: Value| {
        json!({"serverName": "modding", "toolName": tool, "arguments": {"path": path}, "context": context})
            .to_string()
    };
    let contract = json!({"mode": "dev", "command": "delete", "has_contract": true});
    let calls = [
        call("mod_delete", "mod:dragons/events.txt", contract.clone()),
        call("mod_delete", "mod:dragons/events.txt", contract.clone()),
        call(
            "mod_write",
            "mod:dragons/events.txt",
            json!({"mode": "dev", "command": "write"}),
        ),
        call(
            "mod_read",
            "root:game/rules.txt",
            json!({"mode": "play", "command": "read"}),
        ),
    ];
    project.write("calls.jsonl", calls.join("\n"));
    let suggested = |arguments: &[&str]| -> Vec<Value> {
        let output = project.run(&[&["suggest", "calls.jsonl"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    let lines = suggested(&["--contexts"]);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert_eq!(
        (&lines[0]["count"], &lines[0]["rule"]),
        (&json!(2), &json!("ask-delete"))
    );
    let suggestion = &lines[0]["suggestion"];
    assert_eq!(suggestion["before"], "ask-delete", "{suggestion:#}");
    assert_eq!(suggestion["rules"][0]["if"]["tool"], "mod_delete");
    let looser = &suggestion["looser"][0];
    assert_eq!(looser["unknown"], json!([]), "{looser:#}");
    assert_eq!(looser["looser"][0]["context"], contract);
    assert_eq!(lines[1]["suggestion"]["rule"], "structural-operation");
    assert_eq!(lines[2]["allowed"], 1);
    // It works.
    project.edit("policy.json", |policy| {
        let at = suggestion["at"].as_u64().expect("a place") as usize;
        let rules = policy["rules"].as_array_mut().expect("rules");
        rules.insert(at, suggestion["rules"][0].clone());
    });
    let lines = suggested(&["--contexts"]);
    assert_eq!(lines.last().expect("a line")["allowed"], 3);
    // One context for all of them, as a guard has.
    let lines = suggested(&["--context", &contract.to_string()]);
    assert_eq!(lines.last().expect("a line")["allowed"], 2, "{lines:#?}");
    project.check(
        &["suggest", "calls.jsonl", "--context", "[]"],
        1,
        &[],
        &["`--context`:"],
    );
}
