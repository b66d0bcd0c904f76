//! Many calls, and large ones. What they cost in time is measured by `cargo bench`.

use std::fs;
use std::io::Write as _;
use std::thread;

use crate::guarding::Guarded;
use crate::project::Project;

/// A server that answers at once, whatever it is asked. With `-u` in place of `stdbuf`, `sed` would read byte by byte.
const ANSWERS: &str = r#"exec env LC_ALL=C stdbuf -oL sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\).*$/{"jsonrpc":"2.0","id":\1,"result":{"content":[]}}/p'"#;

fn writing(id: usize, content: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"write_file","arguments":{{"path":"a.txt","content":"{content}"}}}}}}"#
    )
}

/// A line of what the kernel says of the guard, in bytes.
fn memory(guarded: &Guarded, name: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", guarded.child.id())).expect("a process");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .expect("a line");
    let kilobytes = line
        .split_whitespace()
        .nth(1)
        .and_then(|number| number.parse::<usize>().ok());
    kilobytes.expect("a number") * 1024
}

/// Sends messages while their answers are read, and checks that there is one for each.
fn all_answered(guarded: &mut Guarded, messages: Vec<String>) {
    let count = messages.len();
    let mut to = guarded.to.take().expect("an input");
    let writer = thread::spawn(move || {
        messages
            .iter()
            .for_each(|message| writeln!(to, "{message}").expect("the guard reads"));
        to
    });
    for _ in 0..count {
        let answer = guarded.receive();
        assert!(answer["result"]["content"].is_array(), "{answer}");
    }
    guarded.to = Some(writer.join().expect("they are written"));
}

#[test]
fn a_thousand_calls_are_in_flight() {
    let project = Project::new();
    // It answers when all are there, the last one first.
    let patient = r#"for at in $(seq 1000); do read -r line; done
        for at in $(seq 1000 -1 1); do echo "{\"jsonrpc\":\"2.0\",\"id\":$at,\"result\":{\"content\":[]}}"; done; cat"#;
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl"], patient);
    all_answered(&mut guarded, (1..=1000).map(|id| writing(id, "x")).collect());
    assert_eq!(guarded.end().0, Some(0));
    project.check(
        &["audit", "stats", "log.jsonl"],
        0,
        &[r#""outcomes":{"done":1000}"#],
        &[],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_large_argument_is_held_twice_at_most() {
    const SIZE: usize = 4_000_000;
    for content in ["x".repeat(SIZE), r"a line of text\n".repeat(SIZE / 16)] {
        let project = Project::new();
        // An instance of the component has copies of its own.
        let flags = ["--audit", "log.jsonl", "--engine", "native"];
        let mut guarded = Guarded::start(&project, &flags, ANSWERS);
        all_answered(&mut guarded, (1..50).map(|id| writing(id, "x")).collect());
        let before = memory(&guarded, "VmHWM");
        (50..53).for_each(|id| all_answered(&mut guarded, vec![writing(id, &content)]));
        let more = memory(&guarded, "VmHWM") - before;
        // Buffers of the process that have nothing to do with the argument come on top.
        assert!(
            more < 2 * SIZE + 1_000_000,
            "{more} bytes for an argument of {SIZE}"
        );
        assert_eq!(guarded.end().0, Some(0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn calls_leave_nothing_behind() {
    const CALLS: usize = 5_000;
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &["--audit", "log.jsonl"], ANSWERS);
    let mut next = 0;
    let mut round = |guarded: &mut Guarded| {
        for _ in 0..CALLS / 100 {
            let mut messages = Vec::new();
            for _ in 0..100 {
                next += 1;
                messages.push(writing(next, "x"));
            }
            all_answered(guarded, messages);
        }
        memory(guarded, "VmRSS")
    };
    let first = round(&mut guarded);
    let second = round(&mut guarded);
    let third = round(&mut guarded);
    assert!(third < first + 1_000_000, "{first}, {second}, {third} bytes");
    assert_eq!(guarded.end().0, Some(0));
}
