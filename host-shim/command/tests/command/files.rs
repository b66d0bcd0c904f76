//! Replaying, beginning a project, and what the command says of itself.

use std::fs;

use serde_json::{Value, json};

use crate::project::Project;

#[test]
fn recordings_replay_and_a_changed_one_fails() {
    let project = Project::new();
    let output = project.run(&["explain", "--record", "kept.jsonl", "calls.jsonl"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    // Nothing of the project is needed any more.
    project.write("policy.json", "");
    let calls = include_str!("../../../examples/bundle/calls.jsonl")
        .lines()
        .count();
    project.check(
        &["replay", "kept.jsonl"],
        0,
        &[&format!("{calls} passed, 0 failed\n")],
        &[],
    );

    let kept = fs::read_to_string(project.folder.path().join("project/kept.jsonl")).expect("a recording");
    let mut line: Value = serde_json::from_str(kept.lines().next().expect("a line")).expect("JSON");
    line["cases"][0]["expect"]["answer"]["verdict"]["decision"] = json!("deny");
    project.write("changed.jsonl", line.to_string());
    project.check(&["replay", "changed.jsonl"], 1, &["\n0 passed, 1 failed\n"], &[]);
    project.check(
        &["replay", "--format", "json", "changed.jsonl"],
        1,
        &[r#"{"total":{"passed":0,"failed":1},"differences":[{"place":"changed.jsonl:1","#],
        &[],
    );
}

#[test]
fn init_writes_one_bundle_that_works_in_any_project() {
    let project = Project::new();
    project.check(
        &["init", "new", "--format", "human"],
        0,
        &[
            "wrote new/callgate.json\n",
            "cd new\n",
            "callgate eval calls.jsonl",
            "npx callgate",
        ],
        &[],
    );
    project.check(
        &["init", "it's", "--format", "human"],
        0,
        &["cd 'it'\\''s'\n"],
        &[],
    );
    let bundle = project.folder.path().join("project/new/callgate.json");
    let lines = fs::read_to_string(&bundle).expect("a bundle").lines().count();
    assert!(lines <= 30, "{lines} lines");
    let run = |arguments: &[&str]| {
        let output = project.run_in("project/new", arguments);
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let valid = "{\"valid\":true,\"errors\":[],\"warnings\":[]}\n";
    assert_eq!(run(&["validate", "--strict"]), valid);
    let judged = run(&["eval", "calls.jsonl"]);
    let verdicts: Vec<String> = judged
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).expect("JSON");
            let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
            format!("{} {}", text("decision"), text("rule"))
        })
        .collect();
    let expected = [
        "allow structural-sandbox-allow",
        "allow structural-sandbox-allow",
        "allow read-documents",
        "escalate ask-to-read",
        "deny keep-the-system",
        "escalate ask-to-write",
        "deny structural-protected-path",
        "deny structural-protected-path",
        "deny structural-protected-path",
        "deny structural-unknown-argument",
        "deny structural-unknown-tool",
    ];
    assert_eq!(verdicts, expected);
}

#[test]
fn init_keeps_what_is_there() {
    let project = Project::new();
    project.write("callgate.json", "mine");
    project.check(&["init"], 1, &[], &["`./callgate.json`", "--force overwrites"]);
    let bundle = project.folder.path().join("project/callgate.json");
    assert_eq!(fs::read(bundle).expect("a file"), b"mine");
    project.check(&["init", "--force"], 0, &["\"./callgate.json\""], &[]);
    project.check(&["validate"], 0, &["\"valid\":true"], &[]);
}

#[test]
fn init_makes_no_sandbox_of_a_home() {
    let project = Project::new();
    for directory in ["../home", ".."] {
        let said = ["your home directory lies in", "~/.config/callgate"];
        project.check(&["init", directory], 1, &[], &said);
    }
    assert!(!project.folder.path().join("home/callgate.json").exists());
    project.check(&["init", "../home", "--force"], 0, &["callgate.json"], &[]);
    project.check(
        &["init", "../home/.config/callgate"],
        0,
        &["\"cd ../home/.config/callgate\""],
        &[],
    );
}

#[test]
fn every_document_has_a_schema() {
    let project = Project::new();
    project.check(
        &["schema", "policy"],
        0,
        &["\"title\": \"Callgate: policy\"", "\"$defs\""],
        &[],
    );
    project.check(
        &["schema", "polcy"],
        1,
        &[],
        &["invalid value 'polcy'", "'policy'"],
    );
    project.check(&["schema"], 1, &[], &["required"]);
    let output = project.run(&["schema", "--write", "schemas"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for name in [
        "bundle",
        "policy",
        "annotations",
        "lists",
        "options",
        "ceiling",
        "world",
        "roles",
        "call",
    ] {
        assert!(
            project.read(&format!("schemas/{name}.json")).is_object(),
            "{name}"
        );
    }
}

#[test]
fn the_package_ships_the_schema_of_the_log() {
    let shipped = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../js/schemas/audit.json");
    let output = Project::new().run(&["schema", "audit"]);
    assert!(
        fs::read(shipped).expect("a schema") == output.stdout,
        "js/schemas/audit.json is not the schema: `callgate schema --write js/schemas`"
    );
}

#[test]
fn help_version_and_completions_are_there() {
    let project = Project::new();
    for command in [
        "eval",
        "explain",
        "validate",
        "replay",
        "init",
        "schema",
        "completions",
    ] {
        project.check(&["--help"], 0, &[command, "Exit codes:"], &[]);
        project.check(&[command, "--help"], 0, &["Usage: callgate", command], &[]);
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        project.check(
            &["completions", shell],
            0,
            &["callgate", "container-workspace-dir"],
            &[],
        );
    }
    project.check(
        &["help"],
        0,
        &[
            "Judge:",
            "Write:",
            "Guard:",
            "Look back:",
            "Topics (callgate help TOPIC):",
            "structural-rules",
        ],
        &[],
    );
    project.check(
        &["help", "eval"],
        0,
        &["Usage: callgate eval", "\"server\", \"tool\""],
        &[],
    );
    project.check(
        &["help", "evl"],
        1,
        &[],
        &["no topic `evl`", "help: did you mean `eval`?"],
    );
    project.check(&["help", "polices"], 1, &[], &["did you mean `policy`?"]);
    project.check(
        &["--version"],
        0,
        &[concat!("callgate ", env!("CARGO_PKG_VERSION"), "\n")],
        &[],
    );
}

#[test]
fn reference_pages_are_shown_as_text_and_as_markdown() {
    let project = Project::new();
    for page in callgate_core::docs::PAGES {
        let written = project.run(&["help", page.topic]).stdout;
        assert_eq!(String::from_utf8(written).expect("UTF-8"), page.text);
        let shown = project.run(&["help", "--format", "human", page.topic]).stdout;
        let shown = String::from_utf8(shown).expect("UTF-8");
        assert!(
            !shown.contains("```") && !shown.contains("\n|") && !shown.contains("\n#"),
            "{shown}"
        );
        let blocks = shown.lines().filter(|line| line.starts_with("    "));
        assert!(blocks.count() > 3, "{shown}");
        for line in shown.lines().filter(|line| !line.starts_with("    ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
