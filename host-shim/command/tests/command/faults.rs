//! Whatever fails around the guard, no call is forwarded for it, none is left without an answer, and the log has them all.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::guarding::{ECHO, Guarded, log, until};
use crate::project::Project;

const LOG: [&str; 2] = ["--audit", "log.jsonl"];

fn reading(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "read_text_file", "arguments": {"path": "a.txt"}}})
}

fn cancel(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

fn of_kind(project: &Project, kind: &str) -> Vec<Value> {
    log(project)
        .into_iter()
        .filter(|line| line["kind"] == kind)
        .collect()
}

fn outcomes(project: &Project) -> Vec<String> {
    let lines = of_kind(project, "outcome");
    lines
        .iter()
        .map(|line| line["outcome"].as_str().expect("an outcome").to_owned())
        .collect()
}

#[test]
fn a_server_that_hangs_hears_that_a_call_is_taken_back() {
    let project = Project::new();
    let hangs = r#"while IFS= read -r line; do printf '%s\n' "$line" >> got; done"#;
    let mut guarded = Guarded::start(&project, &LOG, hangs);
    guarded.send(&reading(1));
    guarded.send(&cancel(1));
    until(|| outcomes(&project) == ["cancelled"]);
    // Nothing is waited for any more.
    let begin = Instant::now();
    assert_eq!(guarded.end().0, Some(0));
    assert!(begin.elapsed() < Duration::from_secs(9), "{:?}", begin.elapsed());
    let got = fs::read_to_string(project.folder.path().join("project/got")).expect("lines");
    assert!(got.contains("notifications/cancelled"), "{got}");
}

#[test]
fn a_call_to_a_server_that_hangs_ends_when_the_client_leaves() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &LOG, "while read -r line; do :; done; sleep 600");
    guarded.send(&reading(1));
    until(|| of_kind(&project, "decision").len() == 1);
    assert_eq!(guarded.end().0, Some(0));
    assert_eq!(outcomes(&project), ["no-answer"]);
}

#[test]
fn what_a_server_answers_twice_or_too_late_is_not_passed_on() {
    let project = Project::new();
    // It answers what it was not asked, an earlier call again, and one that was taken back.
    let eager = r#"while IFS= read -r line; do
        case "$line" in
            *cancelled*) echo '{"jsonrpc":"2.0","id":2,"result":{"content":["late"]}}';;
            *'"id":1,'*) for i in 1 2; do echo '{"jsonrpc":"2.0","id":1,"result":{"content":["first"]}}'; done
                echo '{"jsonrpc":"2.0","id":7,"result":{"content":["denied"]}}';;
            *'"id":3,'*) echo '{"jsonrpc":"2.0","id":3,"result":{"content":["third"]}}';;
        esac
    done"#;
    let mut guarded = Guarded::start(&project, &LOG, eager);
    let asked = |guarded: &mut Guarded, message: &Value| {
        guarded.send(message);
        guarded.receive()
    };
    let denied = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "read_text_file", "arguments": {"path": "~/.ssh/id"}}});
    assert_eq!(asked(&mut guarded, &denied)["result"]["isError"], true);
    assert_eq!(
        asked(&mut guarded, &reading(1))["result"]["content"],
        json!(["first"])
    );
    guarded.send(&reading(2));
    until(|| of_kind(&project, "decision").len() == 3);
    guarded.send(&cancel(2));
    // Until the server has answered it late, its id is that of a call that was taken back.
    assert_eq!(
        asked(&mut guarded, &reading(3))["result"]["content"],
        json!(["third"])
    );
    let (code, said) = guarded.end();
    assert_eq!(code, Some(0));
    assert!(
        said.contains("the server answered 1, which does not wait"),
        "{said}"
    );
    assert!(
        said.contains("the server answered 7, which does not wait"),
        "{said}"
    );
    assert!(!said.contains("answered 2"), "{said}");
    assert_eq!(outcomes(&project), ["done", "cancelled", "done"]);
}

#[test]
fn what_a_server_says_that_is_no_message_is_not_passed_on() {
    let project = Project::new();
    let rubbish = r#"echo 'listening on stdio'; printf '\377\376\n'; echo '[{"jsonrpc":"2.0","id":1,"result":{}}]'
        echo '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}'; echo; echo '{"id":1,"result":{}}'
        while IFS= read -r line; do
            echo '{"jsonrpc":"2.0","id":1,"id":1,"result":{}}'
            echo '{"jsonrpc":"2.0","id":1,"result":{"content":["good"]}}'
            printf '{"jsonrpc":"2.0","id":2,"res'
        done"#;
    let mut guarded = Guarded::start(&project, &LOG, rubbish);
    guarded.send(&reading(1));
    assert_eq!(guarded.receive()["result"]["content"], json!(["good"]));
    let (code, said) = guarded.end();
    assert_eq!(code, Some(0));
    assert_eq!(said.matches("it is not passed on").count(), 6, "{said}");
}

#[test]
fn a_log_that_cannot_be_written_stops_calls_until_it_can() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &LOG, ECHO);
    assert_eq!(guarded.ask(1, "a.txt")["result"], json!({"content": []}));
    let path = project.folder.path().join("project/log.jsonl");
    let kept = path.with_extension("kept");
    fs::rename(&path, &kept).expect("a log");
    symlink("/dev/full", &path).expect("a device");
    let answer = guarded.ask(2, "a.txt");
    assert_eq!(answer["result"]["_meta"]["callgate/rule"], "structural-audit");
    fs::remove_file(&path).expect("a link");
    fs::rename(&kept, &path).expect("a log");
    assert_eq!(guarded.ask(3, "a.txt")["result"], json!({"content": []}));
    guarded.end();
    project.check(&["audit", "verify", "log.jsonl"], 0, &[r#""broken":[]"#], &[]);
    let got = fs::read_to_string(project.folder.path().join("project/got")).expect("lines");
    assert_eq!(got.lines().count(), 2);
    project.check(
        &["guard", "--server", "s", "--audit", "/dev/full", "--", "cat"],
        1,
        &[],
        &["cannot write the log `/dev/full`: it is not a regular file"],
    );
}

#[test]
fn a_log_that_is_cut_while_the_guard_runs_stops_calls_until_it_is_moved_away() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &LOG, ECHO);
    let asked = |guarded: &mut Guarded, id| guarded.ask(id, "a.txt")["result"].clone();
    assert_eq!(asked(&mut guarded, 1), json!({"content": []}));
    let path = project.folder.path().join("project/log.jsonl");
    let text = fs::read_to_string(&path).expect("a log");
    let kept: String = text.split_inclusive('\n').take(2).collect();
    fs::write(&path, kept).expect("a log");
    for id in [2, 3] {
        let answer = asked(&mut guarded, id);
        assert_eq!(answer["_meta"]["callgate/rule"], "structural-audit");
    }
    let broken = [r#""line":3"#, "a line was changed, added or removed"];
    project.check(&["audit", "verify", "log.jsonl"], 2, &broken, &[]);
    fs::rename(&path, path.with_extension("1")).expect("a log");
    assert_eq!(asked(&mut guarded, 4), json!({"content": []}));
    let (_, said) = guarded.end();
    assert!(said.contains("the log is not whole"), "{said}");
    project.check(
        &["audit", "verify", "log.jsonl"],
        2,
        &[r#""broken":[],"beginsAfter":"sha256:"#],
        &[],
    );
    let got = fs::read_to_string(project.folder.path().join("project/got")).expect("lines");
    assert_eq!(got.lines().count(), 2);
}

#[test]
fn a_log_that_may_not_grow_is_a_full_disk() {
    let project = Project::new();
    let answers = r#"while read -r line; do id=${line#*'"id":'}
        echo "{\"jsonrpc\":\"2.0\",\"id\":${id%%,*},\"result\":{\"content\":[]}}"; done"#;
    // Four blocks of 512 bytes.
    let limited = r#"ulimit -f 4; exec "$0" "$@""#;
    let mut command = project.command("project", &[]);
    let guard = command.get_program().to_owned();
    command = Command::new("sh");
    command
        .args(["-c", limited])
        .arg(guard)
        .args([
            "guard",
            "--server",
            "filesystem",
            "--audit",
            "log.jsonl",
            // wasmtime's memory is a file, which may not grow either.
            "--engine",
            "native",
            "--",
            "sh",
            "-c",
            answers,
        ])
        .current_dir(project.folder.path().join("project"));
    let mut guarded = Guarded::begin(command);
    let rules: Vec<Value> = (1..20)
        .map(|id| guarded.ask(id, "a.txt")["result"]["_meta"]["callgate/rule"].clone())
        .collect();
    assert_eq!(rules.first(), Some(&Value::Null));
    assert_eq!(rules.last(), Some(&json!("structural-audit")), "{rules:?}");
    assert_eq!(guarded.end().0, Some(0));
    // Nothing half is in it.
    project.check(&["audit", "verify", "log.jsonl"], 0, &[r#""broken":[]"#], &[]);
}

#[test]
fn a_policy_that_vanishes_still_holds() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &LOG, ECHO);
    assert_eq!(guarded.ask(3, "a.txt")["result"], json!({"content": []}));
    for name in ["policy.json", "callgate.json"] {
        fs::remove_file(project.folder.path().join("project").join(name)).expect("a document");
    }
    until(|| !of_kind(&project, "reload").is_empty());
    assert!(of_kind(&project, "reload")[0]["refused"].is_string());
    assert_eq!(guarded.ask(1, "a.txt")["result"], json!({"content": []}));
    assert_eq!(guarded.ask(2, "~/.ssh/id")["result"]["isError"], true);
    assert_eq!(guarded.end().0, Some(0));
}

#[test]
fn a_signal_loses_no_call() {
    let project = Project::new();
    // It answers the first call after a second, the next fifty at once then, and the rest never.
    let slow = r#"for at in $(seq 100); do read -r line; done; sleep 1
        for at in $(seq 50); do echo "{\"jsonrpc\":\"2.0\",\"id\":$at,\"result\":{\"content\":[]}}"; done; exit"#;
    let mut guarded = Guarded::start(&project, &LOG, slow);
    (1..=100).for_each(|id| guarded.send(&reading(id)));
    until(|| of_kind(&project, "decision").len() == 100);
    let guard = i32::try_from(guarded.child.id()).ok().and_then(Pid::from_raw);
    kill_process(guard.expect("a process"), Signal::TERM).expect("a signal");
    let mut answers: Vec<Value> = (0..100).map(|_| guarded.receive()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let ids: Vec<u64> = answers
        .iter()
        .filter_map(|answer| answer["id"].as_u64())
        .collect();
    assert_eq!(ids, (1..=100).collect::<Vec<u64>>());
    assert_eq!(
        answers
            .iter()
            .filter(|answer| answer["error"].is_object())
            .count(),
        50
    );
    assert_eq!(guarded.end().0, Some(128 + 15));
    let mut ended: Vec<Value> = of_kind(&project, "outcome")
        .iter()
        .map(|line| line["id"].clone())
        .collect();
    ended.sort_by_key(Value::to_string);
    let mut decided: Vec<Value> = of_kind(&project, "decision")
        .iter()
        .map(|line| line["id"].clone())
        .collect();
    decided.sort_by_key(Value::to_string);
    assert_eq!(ended, decided);
    let unanswered = outcomes(&project)
        .iter()
        .filter(|outcome| *outcome == "no-answer")
        .count();
    assert_eq!(unanswered, 50);
    project.check(&["audit", "verify", "log.jsonl"], 0, &[r#""broken":[]"#], &[]);
}

#[test]
fn a_signal_denies_calls_that_wait_to_be_sent() {
    let project = Project::new();
    let signal = |guarded: &Guarded| {
        let guard = i32::try_from(guarded.child.id()).ok().and_then(Pid::from_raw);
        kill_process(guard.expect("a process"), Signal::TERM).expect("a signal");
    };
    let check = |mut guarded: Guarded, path: &str, has_begun: fn(&Project) -> bool| {
        let mut reading = reading(1);
        reading["params"]["arguments"]["path"] = json!(path);
        guarded.send(&reading);
        until(|| has_begun(&project));
        signal(&guarded);
        let answer = guarded.receive();
        assert_eq!(answer["result"]["_meta"]["callgate/rule"], "structural-stopped");
        assert_eq!(guarded.end().0, Some(128 + 15));
        let decided = of_kind(&project, "decision");
        let last = decided.last().expect("a decision");
        assert_eq!(
            (&last["decision"], &last["rule"]),
            (&json!("deny"), &json!("structural-stopped"))
        );
    };
    // For a person.
    let flags = [&LOG[..], &["--ask", "600", "--state", "../state"]].concat();
    let asked = |project: &Project| !of_kind(project, "decision").is_empty();
    check(Guarded::start(&project, &flags, ECHO), "/etc/hosts", asked);
    // For the list of tools of a server that does not give it.
    let tools = r#"[{"name": "read_text_file", "description": "Reads."}]"#;
    project.write("tools.json", tools);
    let pin = ["pin", "tools.json", "--server", "filesystem", "--accept"];
    project.check(&pin, 0, &[r#""change":"new""#], &[]);
    let flags = [&LOG[..], &["--lock", "callgate.lock"]].concat();
    let silent = r#"while IFS= read -r line; do printf '%s\n' "$line" >> got; done"#;
    let listed = |project: &Project| project.folder.path().join("project/got").exists();
    check(Guarded::start(&project, &flags, silent), "a.txt", listed);
    assert!(
        !fs::read_to_string(project.folder.path().join("project/got"))
            .expect("lines")
            .contains("tools/call")
    );
    project.check(&["audit", "verify", "log.jsonl"], 0, &[r#""broken":[]"#], &[]);
}

#[test]
fn half_a_line_and_too_long_a_line_are_no_calls() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &LOG, ECHO);
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"write_file","arguments":{{"path":"a","content":"{}"}}}}}}"#,
        "x".repeat(21 * 1024 * 1024)
    );
    let to = guarded.to.as_mut().expect("an input");
    writeln!(to, "{long}").expect("the guard reads");
    let refused = guarded.receive();
    assert_eq!(refused["error"]["code"], -32700);
    assert!(
        refused["error"]["message"]
            .to_string()
            .contains("more than 20971520 bytes")
    );
    assert_eq!(guarded.ask(2, "a.txt")["result"], json!({"content": []}));
    let to = guarded.to.as_mut().expect("an input");
    write!(to, "{}", reading(3)).expect("the guard reads");
    assert_eq!(guarded.end().0, Some(0));
    assert_eq!(of_kind(&project, "decision").len(), 1);
    let got = fs::read_to_string(project.folder.path().join("project/got")).expect("lines");
    assert_eq!(got.lines().count(), 1);
}
