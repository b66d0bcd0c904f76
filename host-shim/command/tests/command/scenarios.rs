//! `callgate test`: scenarios that pass and fail, and what scenarios reach.

use std::fs;

use serde_json::{Value, json};

use crate::project::{Project, reading};

/// A line of a file of scenarios.
pub(crate) fn scenario(call: &str, rest: Value) -> String {
    let call: Value = serde_json::from_str(call).expect("a call");
    let mut line = json!({"call": call});
    let members = line.as_object_mut().expect("an object");
    members.extend(rest.as_object().expect("an object").clone());
    format!("{line}\n")
}

/// The lines of JSON that the command writes, and its exit code.
pub(crate) fn run(project: &Project, arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = project.run(arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    (output.status.code(), lines.collect())
}

pub(crate) fn good() -> String {
    scenario(
        &reading("README.md"),
        json!({"name": "the project", "expect": "allow"}),
    ) + &scenario(
        &reading("~/.ssh/id_ed25519"),
        json!({"expect": "deny", "rule": "structural-protected-path"}),
    ) + &scenario(&reading("/etc/hosts"), json!({"expect": "not-allow"}))
        + &scenario(&reading("~/Documents/a"), json!({"rule": "allow-read-documents"}))
}

#[test]
fn scenarios_pass_and_fail() {
    let project = Project::new();
    project.write("good.jsonl", good());
    let (code, lines) = run(&project, &["test", "good.jsonl"]);
    assert_eq!(code, Some(0), "{lines:?}");
    let (sum, results) = lines.split_last().expect("a sum");
    assert_eq!(results.len(), 4);
    assert!(results.iter().all(|line| line["passed"] == true), "{results:?}");
    let first = &results[0];
    assert_eq!(
        (&first["file"], &first["line"]),
        (&json!("good.jsonl"), &json!(1))
    );
    assert_eq!(
        (&first["name"], &first["server"]),
        (&json!("the project"), &json!("filesystem"))
    );
    assert_eq!(first["rule"], "structural-sandbox-allow");
    assert_eq!(
        (&sum["scenarios"], &sum["passed"], &sum["failed"]),
        (&json!(4), &json!(4), &json!(0))
    );

    let bad = good()
        + &scenario(
            &reading("/etc/hosts"),
            json!({"name": "hosts", "expect": "allow"}),
        )
        + &scenario(
            &reading("/etc/hosts"),
            json!({"expect": "escalate", "rule": "other"}),
        );
    project.write("bad.jsonl", bad);
    let (code, lines) = run(&project, &["test", "good.jsonl", "bad.jsonl"]);
    assert_eq!(code, Some(1));
    let failed: Vec<&Value> = lines.iter().filter(|line| line["passed"] == false).collect();
    assert_eq!(failed.len(), 2);
    assert_eq!(
        (&failed[0]["line"], &failed[0]["name"]),
        (&json!(5), &json!("hosts"))
    );
    assert_eq!(failed[0]["explanation"]["verdict"]["rule"], "ask-other-paths");
    assert_eq!(failed[1]["expectedRule"], "other");
    assert_eq!(failed[1]["help"], "the policy has no rule `other`");
    assert_eq!(lines.last().expect("a sum")["failed"], 2);

    project.write(
        "near.jsonl",
        scenario(&reading("~/Documents/a"), json!({"rule": "allow-read-document"})),
    );
    project.check(
        &["test", "--format", "human", "near.jsonl"],
        1,
        &[
            "the policy has no rule `allow-read-document`; did you mean",
            "\nthe scenario fails\n",
        ],
        &[],
    );
    project.check(
        &["test", "--format", "human", "bad.jsonl"],
        1,
        &[
            "bad.jsonl\n  pass    1 the project",
            "FAIL    5 hosts",
            "escalate ask-other-paths expected allow\n",
            "bad.jsonl:5 hosts\n  expected allow\n  found    escalate by ask-other-paths\n",
            "expected escalate by other\n",
            "2 of 6 scenarios fail\n",
        ],
        &[],
    );
}

#[test]
fn no_disk_is_asked_unless_it_is_said() {
    let project = Project::new();
    let root = project.folder.path();
    fs::create_dir(root.join("home/.ssh")).expect("a folder");
    std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("project/way")).expect("a link");
    let line = scenario(
        &reading("way/key"),
        json!({"expect": "allow", "rule": "structural-sandbox-allow"}),
    );
    project.write("s.jsonl", line);
    let (code, _) = run(&project, &["test", "s.jsonl"]);
    assert_eq!(code, Some(0));
    let (code, lines) = run(&project, &["test", "--disk", "s.jsonl"]);
    assert_eq!(code, Some(1));
    assert_eq!(lines[0]["rule"], "structural-protected-path");
}

#[test]
fn a_scenario_may_have_a_world_and_a_context() {
    let project = Project::new();
    let world = json!({
        "home": "/home/u", "cwd": "/srv/app",
        "fs": {"files": ["/srv/app/README.md"], "links": {"/srv/app/key": "/home/u/.ssh/id_ed25519"}},
        "git": {"/srv/app": {"branch": "main", "remotes": {"origin": "https://github.com/acme/app.git"}}},
    });
    let push = json!({
        "serverName": "git", "toolName": "git_push", "arguments": {"repo_path": ".", "remote": "origin", "branch": "x"},
    });
    let linked = scenario(
        &reading("key"),
        json!({"expect": "deny", "rule": "structural-protected-path", "world": world}),
    );
    let lines = linked.clone()
        + &scenario(&reading("/srv/app/README.md"), json!({"rule": "structural-sandbox-allow", "world": world}))
        + &scenario(&push.to_string(), json!({"rule": "allow-push-own-forge", "world": world}))
        // Elsewhere the remote is not known, and the folder is another one.
        + &scenario(&push.to_string(), json!({"expect": "not-allow"}))
        + &scenario(&reading("/srv/app/README.md"), json!({"expect": "escalate"}));
    project.write("s.jsonl", lines);
    let (code, lines) = run(&project, &["test", "s.jsonl"]);
    assert_eq!(code, Some(0), "{lines:#?}");
    // The same world once for all, in the file, and as a flag.
    let all: Vec<Value> = ["key", "/srv/app/README.md"]
        .iter()
        .zip(["structural-protected-path", "structural-sandbox-allow"])
        .map(|(path, rule)| json!({"call": serde_json::from_str::<Value>(&reading(path)).expect("a call"), "rule": rule}))
        .collect();
    project.write("once.json", json!({"world": world, "scenarios": all}).to_string());
    project.check(&["test", "once.json"], 0, &["\"passed\":2"], &[]);
    project.write("bare.json", json!(all).to_string());
    project.check(&["test", "bare.json"], 1, &["\"failed\":2"], &[]);
    project.write("world.json", world.to_string());
    project.check(
        &["test", "--world", "world.json", "bare.json"],
        0,
        &["\"passed\":2"],
        &[],
    );
    project.check(
        &["test", "--world", "world.json", "--disk", "bare.json"],
        1,
        &[],
        &["cannot be used with"],
    );
}

#[test]
fn what_is_missing_in_a_world_holds_in_that_world() {
    let project = Project::new();
    let world = json!({
        "home": "/home/u", "cwd": "/srv/app", "fs": {"links": {"/srv/app/way": "/etc"}},
        "git": {"/srv/app": {"branch": "main", "remotes": {"origin": "https://github.com/acme/app.git"}}},
    });
    project.write("world.json", world.to_string());
    project.write("s.jsonl", good());
    let arguments = [
        "test",
        "--world",
        "world.json",
        "s.jsonl",
        "--write-missing",
        "missing.jsonl",
    ];
    let output = project.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (code, lines) = run(&project, &["test", "missing.jsonl"]);
    assert_eq!(code, Some(0), "{lines:#?}");
    let arguments = [
        "test",
        "--world",
        "world.json",
        "--min-coverage",
        "100",
        "s.jsonl",
        "missing.jsonl",
    ];
    let (code, lines) = run(&project, &arguments);
    assert_eq!(code, Some(0), "{:#?}", lines.last());
}

#[test]
fn a_recording_answers_again() {
    let project = Project::new();
    let root = project.folder.path();
    fs::create_dir(root.join("home/.ssh")).expect("a folder");
    std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("project/way")).expect("a link");
    let output = project.run(&["explain", &reading("way/key")]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let recording = answer["explanation"]["recording"].clone();
    fs::remove_file(root.join("project/way")).expect("a link");
    let line = scenario(
        &reading("way/key"),
        json!({"rule": "structural-protected-path", "recording": recording}),
    );
    project.write("s.jsonl", line);
    project.check(&["test", "s.jsonl"], 0, &["\"passed\":1"], &[]);
}

#[test]
fn a_rule_that_no_verdict_names_may_have_an_effect() {
    let project = Project::new();
    let rule = |name: &str, role: &str| {
        let paths = json!({"roles": [role], "within": "/srv"});
        json!({"name": name, "if": {"roles": [role], "paths": paths}, "then": "allow", "reason": "r"})
    };
    let rules = [rule("reads", "read-path"), rule("deletes", "delete-path")];
    let tool = json!({"toolName": "move", "args": {"from": ["read-path", "delete-path"]}});
    let bundle =
        json!({"policy": {"rules": rules}, "annotations": {"servers": {"files": {"tools": [tool]}}}});
    project.write("own.json", bundle.to_string());
    let call = json!({"serverName": "files", "toolName": "move", "arguments": {"from": "/srv/a"}});
    project.write(
        "s.jsonl",
        scenario(&call.to_string(), json!({"expect": "allow", "rule": "reads"})),
    );
    let said = "no verdict names the rule `deletes`; if it has no effect, `callgate lint` says so";
    let arguments = ["test", "--bundle", "own.json", "--format", "human", "s.jsonl"];
    project.check(&arguments, 0, &[said], &[]);
    // It has one.
    let output = project.run(&["lint", "--bundle", "own.json"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("never-decides"));
}

#[test]
fn what_is_missing_where_there_is_a_world_has_its_context() {
    let project = Project::in_a_world();
    let call = json!({"serverName": "modding", "toolName": "mod_read", "arguments": {"path": "root:game/rules.txt"}});
    let context = json!({"mode": "play", "command": "read"});
    project.write(
        "s.jsonl",
        scenario(&call.to_string(), json!({"expect": "allow", "context": context})),
    );
    let output = project.run(&["test", "s.jsonl", "--write-missing", "missing.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let missing = fs::read_to_string(project.folder.path().join("project/missing.jsonl")).expect("a file");
    assert!(missing.contains("\"context\":{\"mode\":\"dev\",\"command\":\"write\",\"has_contract\":true"));
    let arguments = ["test", "--min-coverage", "100", "s.jsonl", "missing.jsonl"];
    let (code, lines) = run(&project, &arguments);
    assert_eq!(code, Some(0), "{:#?}", lines.last());
}

#[test]
fn a_context_is_that_of_the_host() {
    let project = Project::in_a_world();
    let call = json!({
        "serverName": "modding", "toolName": "mod_write", "arguments": {"path": "mod:dragons/events.txt", "content": ""},
    })
    .to_string();
    let context = json!({"mode": "dev", "command": "write", "has_contract": true});
    let lines = scenario(&call, json!({"expect": "allow", "context": context}))
        + &scenario(
            &call,
            json!({"expect": "deny", "context": {"mode": "dev", "command": "write"}}),
        )
        + &scenario(&call, json!({"expect": "deny"}));
    project.write("s.jsonl", lines);
    let (code, lines) = run(&project, &["test", "s.jsonl"]);
    assert_eq!(code, Some(0), "{lines:#?}");
}

#[test]
fn a_context_that_nothing_looks_at_is_said() {
    let project = Project::new();
    let line = scenario(
        &reading("a"),
        json!({"expect": "allow", "context": {"mode": "dev"}}),
    );
    project.write("s.jsonl", line);
    project.check(
        &["test", "s.jsonl"],
        0,
        &["\"passed\":1"],
        &["the documents have no `world`, so nothing looks at the contexts"],
    );
}

#[test]
fn results_are_written_as_junit() {
    let project = Project::new();
    let lines = good()
        + &scenario(
            &reading("/etc/hosts"),
            json!({"name": "<hosts> & \"others\" \u{1b}[2J\u{0}\u{ffff}", "expect": "allow"}),
        )
        + &scenario(
            &reading("README.md"),
            json!({"name": "the project", "expect": "allow"}),
        );
    project.write("s.jsonl", lines);
    project.check(
        &["test", "s.jsonl", "--junit", "r.xml"],
        1,
        &["\"failed\":1"],
        &[],
    );
    let xml = fs::read_to_string(project.folder.path().join("project/r.xml")).expect("a file");
    for part in [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"callgate\" tests=\"6\" failures=\"1\" errors=\"0\" time=\"",
        "<testsuite name=\"s.jsonl\" tests=\"6\" failures=\"1\"",
        "<testcase classname=\"s.jsonl\" name=\"the project\" file=\"s.jsonl\" line=\"1\" time=\"0.",
        "name=\"the project (2)\"",
        "name=\"&lt;hosts&gt; &amp; &quot;others&quot; \\u{1b}[2J\\0\u{fffd}\"",
        "<failure message=\"expected allow, found escalate by ask-other-paths\" type=\"verdict\">",
        "</testsuites>\n",
    ] {
        assert!(xml.contains(part), "{part}\n{xml}");
    }
    assert!(
        xml.contains("ask-other-paths") && !xml.contains('\u{1b}'),
        "{xml}"
    );
    // Results of another run are not left where those of this one were to be.
    project.write("bad.jsonl", "5");
    project.check(
        &["test", "s.jsonl", "--junit", "no/where.xml"],
        1,
        &[],
        &["cannot write `no/where.xml`"],
    );
}

#[test]
fn what_no_scenario_reaches_is_said_and_written() {
    let project = Project::new();
    project.write("s.jsonl", good());
    let (code, lines) = run(&project, &["test", "s.jsonl"]);
    assert_eq!(code, Some(0));
    let coverage = &lines.last().expect("a sum")["coverage"];
    let rule = |name: &str| {
        let rules = coverage["rules"].as_array().expect("rules");
        rules
            .iter()
            .find(|rule| rule["rule"] == name)
            .expect("a rule")
            .clone()
    };
    assert_eq!(rule("allow-read-documents")["scenarios"], 1);
    assert_eq!(
        rule("deny-write-system"),
        json!({"rule": "deny-write-system", "scenarios": 0, "decides": true})
    );
    let unreached = coverage["unreached"].as_array().expect("regions");
    assert!(coverage["regions"].as_u64().expect("a count") > unreached.len() as u64);
    let is_unreached = |tool: &str, rule: &str| {
        unreached
            .iter()
            .any(|one| one["toolName"] == tool && one["rule"] == rule)
    };
    assert!(is_unreached("write_file", "deny-write-system"));
    assert!(!is_unreached("read_text_file", "allow-read-documents"));

    project.check(
        &["test", "--format", "human", "s.jsonl"],
        0,
        &[
            "\n\nreached: 2 of 7 rules, ",
            "\nall 4 scenarios pass\n",
            "no scenario is decided by the rule `deny-write-system`",
            "--write-missing FILE",
        ],
        &[],
    );
    project.check(
        &["test", "--min-coverage", "99", "s.jsonl"],
        1,
        &["\"failed\":0"],
        &["expected 99 % of them"],
    );
    let (_, lines) = run(&project, &["test", "--no-coverage", "s.jsonl"]);
    assert!(lines.last().expect("a sum").get("coverage").is_none());

    // One call may stand for a region of each of its arguments.
    let call = |one: &Value| format!("{}/{} {}", one["serverName"], one["toolName"], one["arguments"]);
    let calls: std::collections::BTreeSet<String> = unreached.iter().map(call).collect();
    project.check(
        &["test", "s.jsonl", "--write-missing", "missing.jsonl"],
        0,
        &["\"failed\":0"],
        &[&format!("wrote {} scenarios to `missing.jsonl`", calls.len())],
    );
    let written = fs::read_to_string(project.folder.path().join("project/missing.jsonl")).expect("a file");
    let root = project.folder.path().display().to_string();
    assert!(!written.contains(&root), "{written}");
    // Where a path cannot be written from the project's folder, the project lies in the same folder for everybody.
    let is_moved = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        line["world"] == json!({"home": "/home/user", "cwd": "/project"})
            && line["call"]["arguments"]["files"][0] == "/project/some-file"
    };
    assert!(written.lines().any(is_moved), "{written}");
    // The written scenarios run and pass, and nothing is missing any more.
    let (code, lines) = run(
        &project,
        &["test", "--min-coverage", "100", "s.jsonl", "missing.jsonl"],
    );
    assert_eq!(code, Some(0), "{lines:#?}");
    assert_eq!(lines.last().expect("a sum")["coverage"]["unreached"], json!([]));
    // Also in another checkout of another user.
    let other = Project::new();
    other.write("missing.jsonl", &written);
    let (code, lines) = run(&other, &["test", "missing.jsonl"]);
    assert_eq!(code, Some(0), "{lines:#?}");

    project.check(
        &["test", "s.jsonl", "--write-missing", "missing.jsonl"],
        1,
        &[],
        &["found `missing.jsonl`, expected no such file"],
    );
    project.check(
        &[
            "test",
            "s.jsonl",
            "missing.jsonl",
            "--write-missing",
            "more.jsonl",
        ],
        0,
        &["\"failed\":0"],
        &["no region is missing, so `more.jsonl` is not written"],
    );
    assert!(!project.folder.path().join("project/more.jsonl").exists());
}

/// A path lies where it leads in the world of its scenario, whoever is at home there.
#[test]
fn a_scenario_reaches_regions_in_its_own_world() {
    let project = Project::new();
    let world = json!({
        "home": "/home/other", "cwd": "/srv/elsewhere", "fs": {"links": {"/srv/elsewhere/way": "/home/other/.ssh/id"}},
    });
    let line = scenario(
        &reading("way"),
        json!({"rule": "structural-protected-path", "world": world}),
    );
    project.write("s.jsonl", line);
    let (code, lines) = run(&project, &["test", "s.jsonl"]);
    assert_eq!(code, Some(0), "{lines:#?}");
    let coverage = &lines.last().expect("a sum")["coverage"];
    let unreached = coverage["unreached"].as_array().expect("regions");
    let count = coverage["regions"].as_u64().expect("a count");
    assert_eq!(count - unreached.len() as u64, 1, "{coverage}");
    assert_eq!(coverage["outside"], 0);
    let is_key =
        |one: &Value| one["toolName"] == "read_text_file" && one["places"][0]["is"] == "under ~/.ssh";
    assert!(!unreached.iter().any(is_key));
    assert!(!unreached.is_empty());
}
