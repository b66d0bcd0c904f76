//! The documents as a whole: the calls that they allow.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::project::Project;

/// The rows of a tool.
fn rows(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let output = project.run(arguments);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines
        .flat_map(|tool| tool["rows"].as_array().expect("rows").clone())
        .collect()
}

#[test]
fn a_map_shows_what_each_tool_may_do() {
    let project = Project::new();
    let found = rows(&project, &["map", "--tool", "filesystem/read_text_file"]);
    let is = |row: &Value| row["places"][0]["is"].to_string();
    let open = found
        .iter()
        .find(|row| row["rule"] == "allow-read-documents")
        .expect("a row");
    assert_eq!(open["decision"], "allow");
    assert!(is(open).contains("/Documents"), "{open}");
    let secret = found
        .iter()
        .find(|row| row["rule"] == "structural-protected-path");
    assert!(
        is(secret.expect("a row")).contains("matching `**/.env`"),
        "{found:?}"
    );
    // Each row has a call that shows it.
    for row in found {
        let call = json!({
            "serverName": "filesystem", "toolName": "read_text_file", "arguments": row["arguments"],
        });
        project.write("call.jsonl", call.to_string());
        let output = project.run(&["eval", "--engine", "native", "call.jsonl"]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["decision"], row["decision"], "{row} {answer}");
        assert_eq!(answer["rule"], row["rule"], "{row} {answer}");
    }
}

#[test]
fn a_map_says_who_can_reach_something() {
    let project = Project::new();
    let found = rows(&project, &["map", "--to", "/etc/passwd"]);
    assert!(
        found
            .iter()
            .any(|row| row["decision"] == "deny" && row["rule"] == "deny-write-system")
    );
    assert!(
        found
            .iter()
            .any(|row| row["decision"] == "escalate" && row["rule"] == "ask-other-paths")
    );
    for row in &found {
        assert_eq!(row["places"][0]["is"], json!(["`/etc/passwd`"]), "{row}");
    }
    let allowed = rows(
        &project,
        &[
            "map",
            "--to",
            "/etc/passwd",
            "--only",
            "allow",
            "--tool",
            "filesystem/*",
        ],
    );
    assert!(allowed.is_empty(), "{allowed:?}");
    let disk = rows(&project, &["map", "--to", "/etc/passwd", "--disk"]);
    assert!(
        disk.iter().any(|row| row["rule"] == "deny-write-system"),
        "{disk:?}"
    );
}

#[test]
fn a_map_is_written_for_people_too() {
    let project = Project::new();
    project.check(
        &["map", "--format", "human"],
        0,
        &[
            "filesystem/write_file",
            "deny-write-system",
            "what matches `**/.env`",
        ],
        // It is not known if a directory that `move_file` removes holds an `.env`.
        &["for 1 tool the regions are not exact"],
    );
    project.check(
        &["map", "--format", "md", "--tool", "write_file"],
        0,
        &[
            "| tool | when | verdict | rule |",
            "| filesystem/write_file | path (write-path): under /etc | deny |",
        ],
        &[],
    );
    project.check(
        &["map", "--tool", "no_such"],
        1,
        &[],
        &["no annotated tool is called `no_such`"],
    );
    project.check(
        &["tools", "--format", "md"],
        1,
        &[],
        &["only map and diff answer in Markdown"],
    );
}

#[test]
fn a_diff_shows_what_becomes_looser_with_a_call_that_shows_it() {
    let project = Project::new();
    let mut policy = project.read("policy.json");
    project.write("old.json", policy.to_string());
    project.check(
        &[
            "diff",
            "old.json",
            "policy.json",
            "--format",
            "human",
            "--fail-on",
            "any",
        ],
        0,
        &["Both judge every call alike."],
        &[],
    );
    let rules = policy["rules"].as_array_mut().expect("rules");
    rules.retain(|rule| rule["name"] != "deny-write-system" && rule["name"] != "allow-read-documents");
    project.write("new.json", policy.to_string());
    let output = project.run(&["diff", "old.json", "new.json", "--fail-on", "looser"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let (sum, tools) = lines.split_last().expect("a sum");
    assert_eq!(
        (&sum["equal"], &sum["unknown"]),
        (&json!(false), &json!(0)),
        "{sum}"
    );
    let find = |tool: &str| tools.iter().find(|one| one["toolName"] == tool).expect("a tool");
    let written = &find("write_file")["looser"][0];
    assert_eq!(
        written["before"],
        json!({"decision": "deny", "rule": "deny-write-system"})
    );
    assert_eq!(
        written["after"],
        json!({"decision": "escalate", "rule": "ask-other-paths"})
    );
    assert_eq!(written["places"][0]["is"], json!(["under /etc"]));
    let read = &find("read_text_file")["stricter"][0];
    assert_eq!(read["before"]["decision"], "allow", "{read}");
    for (policy, expected) in [("old.json", &written["before"]), ("new.json", &written["after"])] {
        let call = json!({
            "serverName": "filesystem", "toolName": "write_file", "arguments": written["arguments"],
        });
        project.write("call.jsonl", call.to_string());
        let output = project.run(&[
            "eval",
            "-b",
            ".",
            "--policy",
            policy,
            "--engine",
            "native",
            "call.jsonl",
        ]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["decision"], expected["decision"], "{policy} {answer}");
    }
    project.check(
        &["diff", "old.json", "new.json", "--format", "md"],
        0,
        &["| looser | filesystem/write_file | path (write-path): under /etc | deny (deny-write-system) |"],
        &[],
    );
    project.check(
        &["diff", "old.json", "no-such.json"],
        4,
        &[],
        &["cannot read `no-such.json`"],
    );
}

#[test]
fn a_diff_that_does_not_know_fails() {
    let project = Project::new();
    for (name, path) in [("old", "/srv/*/key"), ("new", "/srv/*/keys/a*")] {
        let mut bundle = project.read("callgate.json");
        bundle["protectedPaths"] = json!([path]);
        project.write(&format!("{name}.json"), bundle.to_string());
    }
    project.check(
        &["diff", "old.json", "new.json", "--format", "human"],
        1,
        &[
            "unknown",
            "which paths the protected pattern `/srv/*/keys/a*` matches",
        ],
        &[],
    );
}

#[test]
fn statements_are_proven_refuted_or_not_known() {
    let project = Project::new();
    project.edit("callgate.json", |bundle| {
        bundle["invariants"] = json!([
            {"name": "no writing to /etc", "never": {"decision": "allow", "roles": "write-path", "within": "/etc"}},
            {"name": "keys stay", "always": {"decision": "deny", "server": "filesystem", "within": "~/.ssh"}},
            {"name": "no asking", "never": {"decision": "escalate", "tool": "write_file"}},
            {"name": "main", "never": {"decision": ["allow", "escalate"], "tool": "git_push", "roles": "branch-name", "values": "main"}},
            {"never": {"decision": "allow", "tool": "no_such_tool"}},
        ]);
    });
    let output = project.run(&["check"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let found: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let results: Vec<&Value> = found.iter().map(|one| &one["result"]).collect();
    assert_eq!(
        results,
        ["proven", "proven", "refuted", "proven", "empty"],
        "{text}"
    );
    assert_eq!(found[4]["name"], "invariants[4]");
    project.write("call.jsonl", found[2]["call"].to_string());
    project.check(
        &["eval", "--engine", "native", "call.jsonl"],
        3,
        &["escalate"],
        &[],
    );

    project.check(
        &["check", "--format", "human"],
        2,
        &[
            "proven  no writing to /etc",
            "refuted no asking",
            "escalate by ask-other-paths: {",
        ],
        &[],
    );
    // Every host reads the key, and a misspelled statement is a fault.
    project.check(&["validate"], 0, &["\"valid\":true"], &[]);
    project.edit("callgate.json", |bundle| {
        bundle["invariants"] = json!([{"never": {"decision": "allow", "role": "write-path"}}]);
    });
    project.check(&["check"], 4, &[], &["unknown-key", "invariants[0].never.role"]);
    project.edit("callgate.json", |bundle| {
        bundle["protectedPaths"] = json!(["/srv/*/key"]);
        bundle["invariants"] =
            json!([{"always": {"decision": "deny", "server": "filesystem", "within": "/etc/shadow"}}]);
    });
    project.check(&["check"], 2, &["refuted"], &[]);
}

/// The cases of `tests/analysis`, which the npm package answers too. `GOLDEN=write` keeps new answers; look at them first.
#[test]
fn what_is_kept_is_answered() {
    const QUESTIONS: &[(&str, &[&str])] = &[
        ("map", &["map"]),
        ("map-disk", &["map", "--disk"]),
        ("lint", &["lint"]),
        ("check", &["check"]),
        ("check-disk", &["check", "--disk"]),
        ("diff", &["diff", "old.json", "callgate.json"]),
    ];
    // The package takes no layers.
    const OF_LAYERS: &[(&str, &[&str])] = &[
        ("map-above", &["map", "--above", "organisation.json"]),
        (
            "diff-above",
            &[
                "diff",
                "old.json",
                "callgate.json",
                "--above",
                "organisation.json",
            ],
        ),
    ];
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/analysis");
    let cases = fs::read_dir(cases).expect("a folder");
    let folders: Vec<_> = cases.map(|case| case.expect("a case").path()).collect();
    assert!(folders.len() > 1, "{folders:?}");
    for folder in folders {
        let of_layers = match folder.join("organisation.json").exists() {
            true => OF_LAYERS,
            false => &[],
        };
        for (name, arguments) in QUESTIONS.iter().chain(of_layers) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
            command.args(*arguments).args(["--world", "world.json"]);
            let output = command.current_dir(&folder).output().expect("the command runs");
            let found = String::from_utf8(output.stdout).expect("UTF-8");
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert_eq!(complaint, "", "{} {name}", folder.display());
            let kept = folder.join(format!("{name}.jsonl"));
            if std::env::var_os("GOLDEN").is_some_and(|how| how == "write") {
                fs::write(&kept, &found).expect("a file");
            }
            let expected = fs::read_to_string(&kept).unwrap_or_default();
            assert_eq!(found, expected, "{} {name}", folder.display());
        }
    }
}
