//! Every message that a new user meets: what was found, where, and what to do.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use crate::project::{Project, reading};

#[track_caller]
fn check(output: &Output, code: i32, expected: &[&str]) {
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(code), "{said}");
    for part in expected {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
}

#[test]
fn a_folder_is_a_bundle() {
    let project = Project::new();
    let good = reading("a");
    check(
        &project.run_in("", &["eval", "--bundle", "project", &good]),
        0,
        &["\"allow\""],
    );
    check(
        &project.run_in("", &["validate", "-b", "project/"]),
        0,
        &["\"valid\":true"],
    );
    check(
        &project.run_in("", &["validate", "-v", "-b", "project"]),
        0,
        &["note: the bundle is `", "/project/callgate.json`"],
    );
    check(
        &project.run_in("", &["eval", "-b", "home", &good]),
        4,
        &[
            "error: the folder `home` has no `callgate.json`",
            "help: `callgate init home` writes one",
        ],
    );
    check(
        &project.run_in("", &["eval", "-b", "nothing", &good]),
        4,
        &[
            "error: cannot read `nothing`: No such file",
            "help: expected a bundle, or a folder with a `callgate.json`",
        ],
    );
    // A bundle above is named, and not used.
    fs::create_dir(project.folder.path().join("project/below")).expect("a folder");
    check(
        &project.run_in("project/below", &["eval", &good]),
        4,
        &[
            "error: there are no documents: the current folder has no `callgate.json`",
            "/project` has one: --bundle takes it",
        ],
    );
    check(
        &project.run_in("home", &["eval", &good]),
        4,
        &["`callgate init` writes a bundle"],
    );
}

#[test]
fn calls_that_cannot_be_read_say_what_is_expected() {
    let project = Project::new();
    let expected = "help: expected a call as JSON, a file of calls, or - for standard input";
    project.write("empty.json", "");
    project.write("marked.jsonl", format!("\u{feff}{}", reading("a")));
    project.write("many.json", format!("{}\n{}\n", reading("a"), reading("b")));
    project.write("array.json", format!("[{}]", reading("a")));
    for (calls, code, said) in [
        (
            "filesystem/read_text_file",
            1,
            &["cannot read `filesystem/read_text_file`", expected][..],
        ),
        (
            ".",
            1,
            &[
                "cannot read `.`: Is a directory",
                "a folder with documents is given by --bundle",
            ],
        ),
        (
            "empty.json",
            1,
            &["found no call in empty.json, expected at least one"],
        ),
        (
            "marked.jsonl",
            1,
            &[
                "\"line\":1",
                "begins with a byte order mark; save it as UTF-8 without one",
            ],
        ),
        (
            "many.json",
            1,
            &["\"line\":2", "call it NAME.jsonl if there is one a line"],
        ),
        (
            "array.json",
            1,
            &[
                "found an array, expected a call",
                "each call on a line of its own",
            ],
        ),
        (
            r#"{"serverName": "git", "name": "x"}"#,
            1,
            &[
                "`toolName` is missing",
                "found `name`, which is what MCP calls it",
            ],
        ),
        (
            r#"{"severName": "git", "toolName": "x"}"#,
            1,
            &[
                "`serverName` is missing",
                "found `severName`; did you mean `serverName`?",
            ],
        ),
        (
            r#"{"serverName": "git", "toolName": null}"#,
            1,
            &["`toolName` is `null`, expected a string, the tool's name"],
        ),
        (
            r#"{"serverName": "filesytem", "toolName": "x"}"#,
            2,
            &["Unknown tool: filesytem/x", "did you mean `filesystem`?"],
        ),
        (
            r#"{"serverName": "git", "toolName": "git_pusch"}"#,
            2,
            &["did you mean `git_push`?"],
        ),
        (
            r#"{"serverName": "mail", "toolName": "send"}"#,
            2,
            &["no annotation names this server; there are `fetch`, `filesystem`, `git`"],
        ),
        (
            r#"{"serverName": "git", "toolName": "bisect"}"#,
            2,
            &["the annotations do not describe this tool of the server"],
        ),
    ] {
        check(&project.run(&["eval", calls]), code, said);
        check(&project.run(&["explain", "--format", "human", calls]), code, &[]);
    }
    let secret = project.folder.path().join("project/secret.jsonl");
    fs::write(&secret, reading("a")).expect("a file");
    fs::set_permissions(&secret, Permissions::from_mode(0o000)).expect("no permission");
    // A privileged user reads it all the same.
    if fs::read(&secret).is_err() {
        check(
            &project.run(&["eval", "secret.jsonl"]),
            1,
            &["cannot read `secret.jsonl`: Permission denied", expected],
        );
        check(
            &project.run(&["eval", "-b", "secret.jsonl", "calls.jsonl"]),
            1,
            &["cannot read `secret.jsonl`: Permission denied"],
        );
    }
}

#[test]
fn flags_and_subcommands_that_there_are_not_are_named() {
    let project = Project::new();
    let good = &*reading("a");
    for (arguments, said) in [
        (
            &["evl", good][..],
            &["unrecognized subcommand 'evl'", "'eval'"][..],
        ),
        (
            &["eval", "--engine", "jit", good],
            &["invalid value 'jit' for '--engine <ENGINE>'", "native"],
        ),
        (
            &["eval", "--color", "red", good],
            &["[possible values: auto, always, never]"],
        ),
        (&["eval", "--context", "{", good], &["`--context`: not JSON"]),
        (&["eval", "one", "two"], &["unexpected argument 'two' found"]),
        (
            &["replay", "calls.jsonl"],
            &["calls.jsonl:1: ", "`callgate explain --record` writes recordings"],
        ),
    ] {
        let output = project.run(arguments);
        assert!(
            matches!(output.status.code(), Some(1 | 4)),
            "{arguments:?}: {output:?}"
        );
        let said_on_stderr = String::from_utf8_lossy(&output.stderr);
        for part in said {
            assert!(
                said_on_stderr.contains(part),
                "{arguments:?}: {part:?} is not in:\n{said_on_stderr}"
            );
        }
    }
}

#[test]
fn a_bundle_without_its_parts_says_how_to_give_them() {
    let project = Project::new();
    project.write("bare.json", "{\"description\": \"nothing yet\"}");
    check(
        &project.run(&["eval", "-b", "bare.json", &reading("a")]),
        4,
        &[
            "missing",
            "the bundle's key `policy`, or --policy FILE",
            "the bundle's key `annotations`, or --annotations FILE",
        ],
    );
}

#[test]
fn documents_that_cannot_be_read_say_why() {
    let project = Project::new();
    let good = reading("a");
    project.write("empty.json", " \n");
    project.write("marked.json", "\u{feff}{}");
    project.write("number.json", "5");
    project.write(
        "missing.json",
        r#"{"policy": "gone.json", "annotations": "annotations.json"}"#,
    );
    project.write(
        "folder.json",
        r#"{"policy": ".", "annotations": "annotations.json"}"#,
    );
    for (bundle, code, said) in [
        (
            "empty.json",
            4,
            &["empty.json", "the file is empty, expected a JSON document"][..],
        ),
        (
            "marked.json",
            4,
            &["marked.json", "found a byte order mark at offset 0"],
        ),
        ("number.json", 4, &["number.json", "expected a bundle"]),
        (
            "missing.json",
            4,
            &["gone.json`: No such file", "as the bundle or a flag names it"],
        ),
        (
            "folder.json",
            4,
            &["Is a directory", "as the bundle or a flag names it"],
        ),
    ] {
        check(&project.run(&["eval", "-b", bundle, &good]), code, said);
        check(&project.run(&["validate", "-b", bundle]), code, said);
    }
    let options = project.run(&["eval", "--options", "{\"strikt\": 1}", &good]);
    check(
        &options,
        4,
        &["options.strikt in --options", "did you mean `strict`?"],
    );
}

#[test]
fn directories_that_there_are_not_are_faults() {
    let project = Project::new();
    let good = reading("a");
    for (flag, path, said) in [
        (
            "--cwd",
            "nowhere",
            "cannot use the directory `nowhere`: No such file",
        ),
        (
            "--home",
            "nobody",
            "cannot use the directory `nobody`: No such file",
        ),
        (
            "--cwd",
            "policy.json",
            "cannot use `policy.json`: it is not a directory",
        ),
    ] {
        check(&project.run(&["eval", flag, path, &good]), 1, &[said]);
    }
}

#[test]
fn an_explanation_says_where_the_rule_is_explained() {
    let project = Project::new();
    let explain = |call: &str| project.run(&["explain", "--format", "human", call]);
    let page = "help: `callgate help structural-rules` says";
    check(&explain(&reading("~/.ssh/id")), 2, &[page]);
    let allowed = explain(&reading("a"));
    assert!(!String::from_utf8_lossy(&allowed.stdout).contains(page));
}

#[test]
fn answers_for_a_person_fit_eighty_columns() {
    let project = Project::new();
    project.write(
        "broken.jsonl",
        format!(
            "{}\n{{\"serverName\": \"filesystem\", \"name\": \"read_text_file\"}}\n",
            reading("~/.ssh/id")
        ),
    );
    for arguments in [
        &["eval", "calls.jsonl"][..],
        &["eval", "broken.jsonl"],
        &["explain", "calls.jsonl"],
    ] {
        let mut all = arguments.to_vec();
        all.extend(["--format", "human"]);
        let text = String::from_utf8(project.run(&all).stdout).expect("UTF-8");
        assert!(text.lines().count() > 4, "{text}");
        for line in text.lines() {
            // One word, such as a path, is not broken.
            let words = line.trim_start_matches(['│', '├', '└', '─', '✓', '✗', ' ']);
            let is_one_word = !words.trim().contains(' ');
            assert!(line.chars().count() <= 80 || is_one_word, "{line}");
        }
    }
}
