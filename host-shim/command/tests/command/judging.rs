//! Calls in, verdicts and explanations out.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use serde_json::json;

use crate::project::{Project, call, reading};

#[test]
fn every_exit_code_has_its_answer() {
    let project = Project::new();
    project.write(
        "escalating.jsonl",
        format!("{}\n\n{}\n", reading("a"), reading("/tmp/a")),
    );
    project.write(
        "denied.jsonl",
        format!("{}\n{}\n", reading("~/.ssh/a"), reading("/tmp/a")),
    );
    project.write("faulty.jsonl", format!("{}\nno call\n", reading("~/.ssh/a")));
    project.write(
        "one.json",
        "{\n  \"serverName\": \"fetch\",\n  \"toolName\": \"x\"\n}\n",
    );
    for (calls, code, stdout) in [
        (
            &*reading("a"),
            0,
            r#""decision":"allow","rule":"structural-sandbox-allow","#,
        ),
        (
            &*reading("~/.ssh/a"),
            2,
            r#""decision":"deny","rule":"structural-protected-path","#,
        ),
        (&*reading("/tmp/a"), 3, r#""escalatedRoles":["read-path"],"#),
        ("escalating.jsonl", 3, r#""decision":"escalate""#),
        ("denied.jsonl", 2, r#""decision":"escalate""#),
        (
            "faulty.jsonl",
            1,
            r#"{"line":2,"error":{"line":2,"column":2,"message":"#,
        ),
        ("one.json", 2, "Unknown tool: fetch/x"),
        ("calls.jsonl", 2, "structural-unknown-tool"),
    ] {
        project.check(&["eval", calls], code, &[stdout], &[]);
        project.check(&["explain", calls], code, &["{"], &[]);
    }
    let human = |calls| ["eval", "--format", "human", calls];
    project.check(
        &human("calls.jsonl"),
        2,
        &["\n15 calls: 6 allow, 2 escalate, 7 deny\n"],
        &[],
    );
    project.check(
        &human("faulty.jsonl"),
        1,
        &["\n2 calls: 1 deny, 1 in error\n"],
        &[],
    );
}

#[test]
fn a_malformed_call_says_where_and_what_was_expected() {
    let project = Project::new();
    for (calls, stdout) in [
        (
            "{",
            r#"{"line":1,"error":{"line":1,"column":1,"message":"not JSON: EOF while parsing an object"}}"#,
        ),
        (
            "[1]",
            "found an array, expected a call `{serverName, toolName, arguments}`",
        ),
        (
            r#"{"toolName": "t", "serverName": 5}"#,
            r#""column":33,"message":"`serverName` is `5`, expected a string, the server's name"#,
        ),
        (r#"{"serverName": "s"}"#, "`toolName` is missing, expected `{"),
        (
            r#"{"serverName": "s", "toolName": "t", "input": {"path": "a"}}"#,
            r#""column":47,"message":"found `input` and no `arguments`, expected the arguments under that name"#,
        ),
        (r#"{"toolName": "t"}"#, "`serverName` is missing, expected `{"),
        (
            "{\"serverName\": \"s\",\n \"toolName\": }",
            r#"{"line":1,"error":{"line":2,"column":14,"#,
        ),
        (
            r#"{"serverName": "s", "serverName": "t"}"#,
            "`serverName` occurs twice",
        ),
        (r#"{"serverName": "s", "toolName": "t"} x"#, "trailing characters"),
    ] {
        project.check(&["eval", calls], 1, &[stdout], &[]);
        project.check(&["eval", "--format", "human", calls], 1, &["error    line "], &[]);
    }
}

#[test]
fn a_stream_is_answered_line_by_line_and_survives_bad_lines() {
    let project = Project::new();
    let mut command = project.command("project", &["eval", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut ask = |line: &[u8], expected: &str| {
        stdin
            .write_all(line)
            .and_then(|()| stdin.write_all(b"\n"))
            .expect("the command listens");
        let mut answer = String::new();
        stdout.read_line(&mut answer).expect("an answer");
        assert!(answer.starts_with(expected), "{answer}");
    };
    let judged = |line: usize, decision: &str| {
        format!(r#"{{"line":{line},"server":"filesystem","tool":"read_text_file","decision":"{decision}""#)
    };
    ask(reading("a").as_bytes(), &judged(1, "allow"));
    ask(b"{", r#"{"line":2,"error":{"line":2,"column":1,"message":"#);
    ask(
        b"\xff",
        r#"{"line":3,"error":{"line":3,"message":"found the byte `0xff` at offset 0, expected JSON in UTF-8"}}"#,
    );
    ask(
        &vec![b' '; 16 * 1024 * 1024 + 1],
        r#"{"line":4,"error":{"line":4,"message":"found more than 16777216 bytes, expected a call"#,
    );
    let empty_lines_before = format!("\n \n{}", reading("/tmp/a"));
    ask(empty_lines_before.as_bytes(), &judged(7, "escalate"));
    ask(b"[]\r", r#"{"line":8,"error":{"line":8,"#);
    ask(
        format!("{}\r", reading("~/.ssh/a")).as_bytes(),
        &judged(9, "deny"),
    );
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("the end");
    assert_eq!(rest, "");
    assert_eq!(child.wait().expect("an end").code(), Some(1));
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let project = Project::new();
    project.write("many.jsonl", format!("{}\n", reading("a")).repeat(5000));
    for arguments in [
        &["eval", "many.jsonl"][..],
        &["explain", "--format", "human", "many.jsonl"],
        &["explain", "many.jsonl"],
    ] {
        let mut command = project.command("project", arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn a_gate_forwards_what_it_judged() {
    let project = Project::new();
    let inside = fs::canonicalize(project.folder.path().join("project/policy.json")).expect("a file");
    let inside = inside.with_file_name("a").display().to_string();
    let call = reading("/box/x/../a");
    project.check(
        &["eval", "--container-workspace-dir", "/box", &call],
        0,
        &[
            r#""decision":"allow","#,
            &format!(r#","arguments":{{"path":"{inside}"}}}}"#),
        ],
        &[],
    );
    let human = ["eval", "--container-workspace-dir=/box", "--format=human", &call];
    project.check(&human, 0, &["\n         path is sent as \""], &[]);
    let list = call.replace(r#"{"path":"/box/x/../a"}"#, "[]");
    project.check(&["eval", &list], 2, &["structural-unreadable-argument"], &[]);
    let denied = project.run(&["eval", &list]);
    assert!(!String::from_utf8_lossy(&denied.stdout).contains("\"arguments\":"));
}

#[test]
fn flags_lie_over_the_bundle() {
    let project = Project::new();
    let fetch = call("fetch", "fetch", json!({"url": "https://a.example.org/x"}));
    let other = call("mail", "send", json!({}));
    for (flags, call, code) in [
        (&[][..], &fetch, 3),
        (&["--allow-domain", "fetch=*.example.org"], &fetch, 0),
        (&[], &other, 2),
        (&["--trust", "mail"], &other, 0),
        (&["--protected-path", "a"], &reading("a/b"), 2),
        (&["--sandbox", "a"], &reading("../b"), 3),
        (&["--sandbox", "a"], &reading("a/b"), 0),
        (&["--home", "."], &reading("~/a"), 0),
        (&["--cwd", "/tmp"], &reading("a"), 0),
        (&["--prepared"], &reading("a"), 0),
        (&["--prepared", "--cwd", "/tmp"], &reading("a"), 3),
        (
            &["--policy", "policy.json", "--annotations", "annotations.json"],
            &reading("a"),
            3,
        ),
        (
            &["--options", "{}"],
            &reading("a").replace("}}", r#","more":1}}"#),
            2,
        ),
        (
            &["--options", r#"{"unknownArguments": "ignore"}"#],
            &reading("a").replace("}}", r#","more":1}}"#),
            0,
        ),
    ] {
        let arguments: Vec<&str> = ["eval"]
            .into_iter()
            .chain(flags.iter().copied())
            .chain([call.as_str()])
            .collect();
        let output = project.run(&arguments);
        assert_eq!(output.status.code(), Some(code), "{flags:?} {call}: {output:?}");
    }
}

#[test]
fn timings_name_the_parts_that_there_are() {
    let project = Project::new();
    let call = reading("a");
    let engines = [("native", ["reading documents", "loading documents"], false)];
    for (engine, parts, has_component) in engines {
        let output = project.run(&["eval", "--timings", "--engine", engine, &call]);
        let shown = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(parts.iter().all(|part| shown.contains(part)), "{engine}: {shown}");
        assert_eq!(shown.contains("component"), has_component, "{engine}: {shown}");
        assert!(shown.contains("ready"), "{engine}: {shown}");
    }
}

#[test]
fn a_world_takes_the_disk_s_place() {
    let project = Project::new();
    let world = json!({"home": "/home/u", "cwd": "/work", "fs": {"dirs": ["/work/box", "/home/u/Documents"], "links":
        {"/work/box/out": "/home/u/.ssh"}}});
    project.write("world.json", world.to_string());
    for (path, code) in [
        ("a", 0),
        ("out/id", 2),
        ("../box/a", 0),
        ("~/Documents/x", 0),
        ("/work/x", 3),
    ] {
        let flags = [
            "eval",
            "--world",
            "world.json",
            "--sandbox",
            "box",
            &reading(path),
        ];
        assert_eq!(project.run(&flags).status.code(), Some(code), "{path}");
    }
}

#[test]
fn an_explanation_is_a_tree_that_is_safe_to_show() {
    let project = Project::new();
    let call = reading("~/Documents/../Documents/a");
    let tree = [
        "allow filesystem/read_text_file\n├─ because allow-read-documents: Documents may be read\n",
        "│  └─ /path as read-path: `~/Documents/../Documents/a` →",
        "/home/Documents/a`\n",
        "├─ role read-path\n│  └─ all values together: allow by allow-read-documents\n",
        "✓ allow-read-documents (allow)",
    ];
    let asked = |end| tree.into_iter().chain([end]).collect::<Vec<_>>();
    let short = ["explain", "--format", "human", &call];
    project.check(&short, 0, &asked(" questions (-v shows them)\n"), &[]);
    let long = ["explain", "-v", "--format", "human", &call];
    let bundle = ["note: the bundle is `", "/project/callgate.json`\n"];
    project.check(
        &long,
        0,
        &asked("└─ the host was asked\n   ├─ realpath /"),
        &bundle,
    );
    let driving = reading("/tmp/\u{1b}[2J\u{202e}\nallow");
    for command in ["eval", "explain"] {
        let output = project.run(&[command, "--format", "human", &driving]);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        let coloured = project.run(&[command, "--format", "human", "--color", "always", &reading("a")]);
        assert!(String::from_utf8_lossy(&coloured.stdout).contains("\u{1b}[1m\u{1b}[32mallow"));
    }
}
