//! The files of scenarios: where they are, how they may be written, and what is said of those that are not right.

use std::fs;

use serde_json::{Value, json};

use crate::project::{Project, reading};
use crate::scenarios::{good, run, scenario};

#[test]
fn the_bundle_names_its_scenarios() {
    let project = Project::new();
    project.check(
        &["test"],
        1,
        &[],
        &[
            "there are no scenarios to run",
            "\"tests\": [\"scenarios.jsonl\"]",
        ],
    );
    fs::create_dir(project.folder.path().join("project/tests")).expect("a folder");
    project.write("tests/one.jsonl", good());
    project.write(
        "two.json",
        format!("[{}]", good().lines().next().expect("a line")),
    );
    project.edit("callgate.json", |bundle| {
        bundle["tests"] = json!(["tests/one.jsonl", "two.json"])
    });
    let (code, lines) = run(&project, &["test"]);
    assert_eq!(code, Some(0));
    assert_eq!(lines.len(), 6);
    // They are found beside the bundle, from wherever the command runs.
    let output = project.run_in("home", &["test", "--bundle", "../project"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut command = project.command("project", &["test", "-"]);
    command.stdin(fs::File::open(project.folder.path().join("project/two.json")).expect("a file"));
    let output = command.output().expect("the command runs");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("\"file\":\"standard input\""),
        "{output:?}"
    );
    // Files that are given stand for those of the bundle.
    let (_, lines) = run(&project, &["test", "two.json"]);
    assert_eq!(lines.len(), 2);
    project.check(&["eval", &reading("README.md")], 0, &["allow"], &[]);
    project.edit("callgate.json", |bundle| bundle["tests"] = json!(["none.jsonl"]));
    project.check(&["validate"], 0, &["\"valid\":true"], &[]);
    project.check(&["test"], 1, &[], &["cannot read `none.jsonl`: No such file"]);
    project.edit("callgate.json", |bundle| bundle["tests"] = json!({"a": 1}));
    project.check(
        &["test"],
        4,
        &[],
        &[
            "error[wrong-type] bundle.tests in callgate.json:1:",
            "expected the path of a file of scenarios",
        ],
    );
}

#[test]
fn files_that_are_not_right_are_named_with_their_places() {
    let project = Project::new();
    let call = reading("a");
    for (name, text, expected) in [
        (
            "empty.jsonl",
            String::new(),
            &["error[syntax] scenarios in empty.jsonl", "the file is empty"][..],
        ),
        (
            "none.json",
            "[]".to_owned(),
            &["error[missing-field] scenarios in none.json", "found no scenario"],
        ),
        (
            "comment.json",
            "// x".to_owned(),
            &["found no scenario, expected at least one"],
        ),
        (
            "number.jsonl",
            "5\n".to_owned(),
            &[
                "scenarios[0] in number.jsonl:1:1",
                "found `5`, expected an object",
            ],
        ),
        (
            "bare.jsonl",
            format!("{call}\n"),
            &["found a call, expected a scenario", "`callgate eval` judges calls"],
        ),
        (
            "key.jsonl",
            format!("{}{}", good(), scenario(&call, json!({"expects": "allow"}))),
            &[
                "error[unknown-key] scenarios[4].expects in key.jsonl:5:",
                "did you mean `expect`?",
            ],
        ),
        (
            "word.json",
            format!("[\n  {}]", scenario(&call, json!({"expect": "Allow"}))),
            &[
                "error[unknown-value] scenarios[0].expect in word.json:2:",
                "found `\"Allow\"`",
                "did you mean `allow`?",
            ],
        ),
        (
            "twice.jsonl",
            format!("{{\"call\": {call}, \"expect\": \"allow\", \"expect\": \"deny\"}}"),
            &["error[duplicate-key] scenarios[0].expect in twice.jsonl:1:"],
        ),
        (
            "rest.jsonl",
            format!(
                "{} x\n{}",
                scenario(&call, json!({"expect": "allow"})).trim(),
                good()
            ),
            &[
                "error[syntax] scenarios[0] in rest.jsonl:1:",
                "trailing characters",
            ],
        ),
        (
            "world.jsonl",
            scenario(
                &call,
                json!({"expect": "allow", "world": {"home": "/h", "cwd": "/c", "fs": {"dir": []}}}),
            ),
            &[
                "error[invalid-value] scenarios[0].world in world.jsonl:1:",
                "unknown field `dir`, expected one of `dirs`",
            ],
        ),
        (
            "home.jsonl",
            "{\"expect\": \"deny\", \"call\": {\"serverName\": \"s\", \"toolName\": \"t\"},\n \"world\": {\"home\":\n  1, \"cwd\": \"/\"}}".to_owned(),
            &["scenarios[0].world in home.jsonl:3:3", "invalid type: integer `1`, expected a string\n"],
        ),
        (
            "list.jsonl",
            scenario(&call, json!({"expect": "allow", "world": {"home": "/h", "cwd": "/c", "git": {"/c": []}}})),
            &["scenarios[0].world in list.jsonl:1:", "found `[]`, expected an object"],
        ),
        (
            "relative.jsonl",
            scenario(
                &call,
                json!({"expect": "allow", "world": {"home": "/h", "cwd": "c"}}),
            ),
            &[
                "scenarios[0].world in relative.jsonl:1:",
                "found `c` as the current directory, expected an absolute path without",
            ],
        ),
        (
            "both.jsonl",
            scenario(&call, json!({"expect": "allow", "world": {}, "recording": {}})),
            &["found `world` and `recording`, expected one of them"],
        ),
        (
            "recording.jsonl",
            scenario(&call, json!({"expect": "allow", "recording": {"homeDir": "/h"}})),
            &[
                "error[invalid-value] scenarios[0].recording in recording.jsonl:1:",
                "missing field `currentDir`",
            ],
        ),
        (
            "context.jsonl",
            scenario(&call, json!({"expect": "allow", "context": {"mod": "dev"}})),
            &[
                "error[unknown-key] scenarios[0].context.mod in context.jsonl:1:",
                "did you mean `mode`?",
            ],
        ),
        (
            "text.jsonl",
            json!({"call": "{\"serverName\": 1}", "expect": "allow"}).to_string(),
            &[
                "error[invalid-value] scenarios[0].call in text.jsonl:1:9",
                "the text is not a call: line 1, column",
            ],
        ),
        (
            "object.json",
            json!({"scenarios": {}, "wrld": {}}).to_string(),
            &[
                "expected an array of scenarios",
                "error[unknown-key] scenarios.wrld in object.json:1:",
                "did you mean `world`?",
            ],
        ),
        (
            "cut.json",
            "[{\"call\": {".to_owned(),
            &["error[syntax] scenarios in cut.json:1:11"],
        ),
    ] {
        project.write(name, text);
        project.check(&["test", name], 4, &[], expected);
    }
    project.write("latin.jsonl", b"{\"name\": \"\xe9\"}");
    project.check(
        &["test", "latin.jsonl"],
        4,
        &[],
        &["found the byte `0xe9` at offset 10"],
    );
    project.write("mark.jsonl", format!("\u{feff}{}", good()));
    project.check(&["test", "mark.jsonl"], 4, &[], &["found a byte order mark"]);
    project.check(&["test", "."], 1, &[], &["cannot read `.`: Is a directory"]);
    project.check(
        &["test", "nothing.jsonl"],
        1,
        &[],
        &["cannot read `nothing.jsonl`: No such file"],
    );
    // A file that is right is not run either.
    project.write("good.jsonl", good());
    project.check(
        &["test", "good.jsonl", "key.jsonl", "number.jsonl"],
        4,
        &[],
        &["key.jsonl:5:", "number.jsonl:1:1"],
    );
}

#[test]
fn a_call_may_be_text_that_a_document_cannot_hold() {
    let project = Project::new();
    let twice = r#"{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {"path": "a", "path": "/etc"}}"#;
    let line = json!({"call": twice, "expect": "deny", "rule": "structural-unreadable-argument"});
    project.write("s.jsonl", line.to_string());
    project.check(&["test", "s.jsonl"], 0, &["\"passed\":1"], &[]);
}

#[test]
fn tests_and_verdicts_of_the_existing_runtime_are_read() {
    let project = Project::new();
    let request: Value = serde_json::from_str(&reading("/etc/hosts")).expect("a call");
    let file = json!({
        "generatedAt": "2026-04-26T21:38:47.258Z", "constitutionHash": "b", "inputHash": "1",
        "scenarios": [{
            "description": "d", "request": request, "expectedDecision": "not-allow", "reasoning": "r", "source": "handwritten",
        }],
    });
    project.write("tests.json", file.to_string());
    let verdict = json!({"decision": "escalate", "rule": "ask-other-paths", "reason": "x", "escalatedRoles": ["read-path"]});
    project.write(
        "verdicts.jsonl",
        json!({"request": request, "verdict": verdict}).to_string(),
    );
    project.check(
        &["test", "tests.json", "verdicts.jsonl"],
        0,
        &["\"name\":\"d\"", "\"passed\":2"],
        &[],
    );
    project.write("unclear.json", json!([{"request": request}]).to_string());
    project.check(
        &["test", "unclear.json"],
        4,
        &[],
        &["expected either `expectedDecision` or `verdict`"],
    );
}
