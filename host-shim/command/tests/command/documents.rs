//! Messages about faulty documents, flags and files.

use serde_json::{Value, json};

use crate::project::{Project, reading};

#[test]
fn bad_flags_and_files_are_faults() {
    let project = Project::new();
    project.write("empty.jsonl", "\n \n");
    let good = &*reading("a");
    for (arguments, stderr) in [
        (
            &["eval"][..],
            "found no call in standard input, expected at least one",
        ),
        (&["evla", good], "unrecognized subcommand 'evla'"),
        (&["eval", "--polcy", "x", good], "--policy"),
        (
            &["eval", "--format", "xml", good],
            "[possible values: human, json, md]",
        ),
        (
            &["eval", "--allow-domain", "fetch", good],
            "invalid value 'fetch' for '--allow-domain <SERVER=PATTERN>'",
        ),
        (
            &["eval", "--prepared", "--container-workspace-dir", "/w", good],
            "cannot be used with",
        ),
        (
            &["eval", "--world", "w", "--home", "/", good],
            "cannot be used with",
        ),
        (
            &["eval", "nothing.jsonl"],
            "cannot read `nothing.jsonl`: No such file",
        ),
        (&["eval", "."], "cannot read `.`: Is a directory"),
        (
            &["eval", "empty.jsonl"],
            "found no call in empty.jsonl, expected at least one",
        ),
        (
            &["explain", "--record", "no/where", good],
            "cannot write `no/where`: No such file",
        ),
        (&["replay"], "<FILES>"),
        (
            &["replay", "nothing.jsonl"],
            "cannot read `nothing.jsonl`: No such file",
        ),
        (
            &["init"],
            "found `./callgate.json`, `./calls.jsonl`, expected no such file",
        ),
        (&["completions", "cmd"], "invalid value 'cmd'"),
    ] {
        project.check(arguments, 1, &[], &[stderr]);
    }
}

#[test]
fn documents_that_cannot_be_read_are_invalid() {
    let project = Project::new();
    project.write("names.json", r#"{"policy": "gone.json", "annotations": {}}"#);
    std::fs::create_dir(project.folder.path().join("project/folder")).expect("a folder");
    let commands: &[&[&str]] = &[
        &["eval", "{}"],
        &["explain", "{}"],
        &["validate"],
        &["lint"],
        &["map"],
        &["tools"],
        &["guard", "--server", "s", "--", "cat"],
    ];
    for command in commands {
        let (name, rest) = command.split_first().expect("a command");
        for (bundle, expected) in [
            ("gone.json", "cannot read `gone.json`: No such file"),
            ("names.json", "cannot read `gone.json`: No such file"),
            ("folder", "the folder `folder` has no `callgate.json`"),
        ] {
            let arguments = [&[*name, "--bundle", bundle], rest].concat();
            project.check(&arguments, 4, &[], &[expected, "help: "]);
        }
    }
    for (arguments, expected) in [
        (
            &["eval", "--policy", ".", "--annotations", "annotations.json", "{}"][..],
            "cannot read `.`: Is a directory",
        ),
        (
            &["eval", "--world", "gone.json", "{}"],
            "cannot read `gone.json`: No such file",
        ),
    ] {
        project.check(arguments, 4, &[], &[expected]);
    }
    let output = project.run_in("home", &["validate"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("expected `--bundle FILE`"),
        "{output:?}"
    );
}

#[test]
fn invalid_documents_are_named_with_place_value_and_expectation() {
    let project = Project::new();
    project.write("bare.json", "{}");
    project.write("syntax.json", "{\"policy\" 5}");
    project.write("array.json", "[]");
    project.write("latin.json", b"{\"description\": \"\xe9\"}");
    project.write("keys.json", r#"{"polcy": "policy.json", "annotations": 5}"#);
    project.write(
        "twice.json",
        r#"{"policy": {"rules": [], "rules": []}, "annotations": "annotations.json"}"#,
    );
    project.write("world.json", r#"{"home": "/h", "cwd": "/c", "fs": {"dir": []}}"#);
    let good = &*reading("a");
    for (arguments, stderr) in [
        (
            &["eval", "-b", "syntax.json", good][..],
            &["error[syntax] bundle in syntax.json:1:11", "expected `:`"][..],
        ),
        (
            &["eval", "-b", "array.json", good],
            &["found no object, expected a bundle"],
        ),
        (
            &["eval", "-b", "latin.json", good],
            &["found the byte `0xe9` at offset 17, expected JSON in UTF-8"],
        ),
        (
            &["eval", "-b", "keys.json", good],
            &[
                "error[unknown-key] bundle.polcy in keys.json",
                "found the key `polcy`, expected one of `policy`",
                "did you mean `policy`?",
                "found `5`, expected the path of a file",
            ],
        ),
        (
            &["eval", "-b", "twice.json", good],
            &["error[duplicate-key] policy.rules in twice.json:1:"],
        ),
        (
            &["eval", "-b", "bare.json", good],
            &["error[missing-field] policy in bare.json:1:1\n"],
        ),
        (&["eval", "--options", "{", good], &["error[syntax] options"]),
        (
            &["eval", "--options", "{\"strct\": true}", good],
            &["options.strct", "did you mean `strict`?"],
        ),
        (
            &["eval", "--protected-path", "~root", good],
            &[
                "protectedPaths[9]",
                "found `\"~root\"`",
                "expected an absolute path",
            ],
        ),
        (
            &["eval", "--policy", "policy.json", good],
            &["`annotations` is missing"],
        ),
        (
            &["eval", "--world", "world.json", good],
            &["world.json: unknown field `dir`, expected one of `dirs`"],
        ),
        (
            &["eval", "--world", "array.json", good],
            &["array.json: expected an object, a world"],
        ),
        (&["replay", "array.json"], &["array.json:1: "]),
        (
            &["replay", "latin.json"],
            &["latin.json: expected JSON Lines in UTF-8"],
        ),
    ] {
        project.check(arguments, 4, &[], stderr);
    }
}

#[test]
fn validate_shows_every_diagnostic_with_help() {
    let project = Project::new();
    project.check(
        &["validate"],
        0,
        &["{\"valid\":true,\"errors\":[],\"warnings\":[]}\n"],
        &[],
    );
    project.edit("policy.json", |policy| {
        policy["rules"][3]["if"]["roles"][0] = json!("read_path")
    });
    project.edit("annotations.json", |annotations| {
        annotations["version"] = json!(2)
    });
    project.check(
        &["validate", "--format", "human"],
        4,
        &[
            "error[unknown-role] policy.rules[3].if.roles[0] in policy.json:1:",
            "found `\"read_path\"`, expected a role",
            "help: did you mean `read-path`?\n",
            "warning[unknown-key] annotations.version in annotations.json:1:",
            "invalid: 1 error, 1 warning\n",
        ],
        &[],
    );
    let output = project.run(&["validate"]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    assert_eq!(answer["valid"], json!(false));
    assert_eq!(answer["errors"][0]["path"], json!("policy.rules[3].if.roles[0]"));
    assert_eq!(answer["errors"][0]["help"], json!("did you mean `read-path`?"));
    assert_eq!(answer["errors"][0]["file"], json!("policy.json"));
    assert_eq!(answer["warnings"][0]["code"], json!("unknown-key"));

    project.edit("policy.json", |policy| {
        policy["rules"][3]["if"]["roles"][0] = json!("read-path")
    });
    project.check(&["validate"], 0, &["\"valid\":true"], &[]);
    project.check(
        &["validate", "--strict"],
        4,
        &["\"valid\":false,\"errors\":[]"],
        &[],
    );
    project.check(
        &["eval", "--format", "human", &reading("a")],
        0,
        &["1 warning about the documents"],
        &[],
    );
}
