//! Worlds: places by address, with contexts.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::project::{Project, call};

/// A project of the example's world, in a folder of its own.
fn project() -> Project {
    let project = Project::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/world");
    let folder = project.folder.path().join("project");
    copy(&example, &folder);
    project
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry").path();
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            fs::copy(&entry, &target).expect("a copy");
        }
    }
}

fn writing(path: &str) -> String {
    call("modding", "mod_write", json!({"path": path, "content": ""}))
}

#[test]
fn a_context_stands_beside_the_call() {
    let project = project();
    let call = writing("mod:dragons/events.txt");
    let with = |context: &str, code, stdout: &str| {
        project.check(&["eval", "--context", context, &call], code, &[stdout], &[]);
        project.check(
            &["explain", "--context", context, &call],
            code,
            &["operations"],
            &[],
        );
    };
    with(
        r#"{"mode": "dev", "command": "write", "has_contract": true}"#,
        0,
        "project/mods/dragons/events.txt",
    );
    with(
        r#"{"mode": "dev", "command": "write"}"#,
        2,
        "EN-WRITE-D-002: The conditions for writing here are not met: has_contract",
    );
    with(
        r#"{"mode": "play", "command": "write", "has_contract": true}"#,
        2,
        "EN-WRITE-D-001",
    );
    project.check(&["eval", &call], 2, &["WA-SYS-I-001"], &[]);
    project.check(
        &["eval", "--context", "[]", &call],
        1,
        &[],
        &["`--context`: expected an object"],
    );
}

#[test]
fn what_a_call_says_of_its_context_counts_where_the_operator_says_so() {
    let project = project();
    let mut call: Value = serde_json::from_str(&writing("mod:dragons/events.txt")).expect("a call");
    call["context"] = json!({"mode": "dev", "command": "write", "has_contract": true});
    let call = call.to_string();
    project.check(&["eval", &call], 2, &["WA-SYS-I-001"], &[]);
    project.check(&["eval", "--contexts", &call], 0, &["allow-places"], &[]);
    project.check(
        &["eval", "--contexts", "--context", "{}", &call],
        1,
        &[],
        &["cannot be used with"],
    );
    project.check(
        &["eval", "--contexts", "calls.jsonl"],
        2,
        &["deny-diary", "ask-delete"],
        &[],
    );
    let recorded = [
        "explain",
        "--contexts",
        "--record",
        "recorded.jsonl",
        "calls.jsonl",
    ];
    project.check(&recorded, 2, &["WA-RES-I-001"], &[]);
    project.check(&["replay", "recorded.jsonl"], 0, &["passed"], &[]);
}

#[test]
fn places_are_resolved_and_only_the_operator_sees_where_they_are() {
    let project = project();
    let folder = project.folder.path().display().to_string();
    let (play, address) = (r#"{"mode": "play"}"#, "ROOT_MODS:/dragons/events.txt");
    let resolve = ["resolve", "--context", play, address];
    project.check(
        &resolve,
        0,
        &[r#""resolved":"root:mods/dragons/events.txt""#],
        &[],
    );
    let answer = project.run(&resolve);
    assert!(!String::from_utf8_lossy(&answer.stdout).contains(&folder));
    project.check(
        &["resolve", "--host-path", "--context", play, address],
        0,
        &["project/mods/dragons/events.txt"],
        &[],
    );
    for (address, code) in [
        ("root:notes/diary.md", "WA-RES-I-003"),
        ("root:game/none", "WA-RES-I-004"),
        ("../secrets", "WA-RES-I-001"),
    ] {
        project.check(&["resolve", "--context", play, address], 2, &[code], &[]);
    }
    let missing = ["resolve", "--may-be-missing", "--context", play, "root:game/none"];
    project.check(&missing, 0, &["WA-RES-S-001"], &[]);
    project.check(&["resolve", "root:game/rules.txt"], 2, &["WA-SYS-I-001"], &[]);
}

#[test]
fn operations_are_enforced() {
    let project = project();
    let enforce = |more: &[&str], code, stdout: &str| {
        let mut arguments = vec![
            "enforce",
            "--mode",
            "dev",
            "--tool",
            "mod_write",
            "--command",
            "write",
        ];
        arguments.extend(more);
        project.check(&arguments, code, &[stdout], &[]);
    };
    enforce(&["--root", "mods"], 2, r#""failed_conditions":["has_contract"]"#);
    enforce(
        &["--root", "mods", "--context", r#"{"has_contract": true}"#],
        0,
        "EN-WRITE-S-001",
    );
    enforce(&["--root", "game"], 2, "EN-WRITE-D-001");
    enforce(
        &[
            "--root",
            "mods",
            "--subdirectory",
            "dragons",
            "--address",
            "root:game/rules.txt",
        ],
        2,
        "WA-RES-I-001",
    );
    let bare = Project::new();
    let asked = ["resolve", "root:x/y"];
    bare.check(&asked, 1, &[], &["the documents have no world"]);
}

#[test]
fn faults_of_a_world_have_their_file_and_place() {
    let project = project();
    project.check(&["validate", "--strict"], 0, &[r#""valid":true"#], &[]);
    project.edit("world.json", |world| {
        world["operations"][4]["rules"][0]["when"] = json!(["has_contact"]);
    });
    project.check(
        &["validate"],
        4,
        &[
            "world.json",
            "world.operations[4].rules[0].when[0]",
            "did you mean `has_contract`?",
        ],
        &[],
    );
    project.edit("world.json", |world| {
        world["operations"][4]["rules"][0]["when"] = json!([]);
        world["visibility"].as_array_mut().expect("rows").pop();
    });
    project.check(&["validate"], 0, &["one-sided-place", "world.operations[4]"], &[]);
    project.check(&["validate", "--strict"], 4, &["one-sided-place"], &[]);
}
