//! The end of a guard whose client does not read what it is told, and of streams on which nothing more comes.

use std::fs;
use std::io::{BufRead as _, Read as _};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::guarding::{Guarded, until};
use crate::http::{Listening, call};
use crate::project::Project;
use crate::wire::{ask, open};

const ASKING: [&str; 4] = ["--ask", "600", "--state", "../state"];

/// A server that answers `initialize`, and says more than any pipe holds once its client has begun. `said` grows with it.
const FLOOD: &str = r#"echo $$ > pid
while IFS= read -r line; do
    case "$line" in
        *'"initialize"'*) printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}\n';;
        *'"notifications/initialized"'*)
            words=$(printf '%4000s' '')
            while :; do
                printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"%s"}}\n' "$words"
                printf x >> said
            done;;
    esac
done"#;

fn begun() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// Waits until the server cannot say any more, and a question waits for a person.
fn until_stuck(project: &Project) {
    let said = || {
        let said = fs::metadata(project.folder.path().join("project/said"));
        said.map(|file| file.len()).unwrap_or_default()
    };
    until(|| {
        let before = said();
        thread::sleep(Duration::from_millis(300));
        before > 0 && said() == before
    });
    until(|| {
        let output = project.run(&["approvals", "--state", "../state"]);
        let listed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        listed["questions"]
            .as_array()
            .is_some_and(|questions| questions.len() == 1)
    });
}

/// Ends a guard with one signal, in far less time than a client has to read.
fn ends(child: &mut Child) -> ExitStatus {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process"), Signal::TERM).expect("a signal");
    let deadline = Instant::now() + Duration::from_secs(45);
    loop {
        if let Some(status) = child.try_wait().expect("the guard is asked") {
            return status;
        }
        assert!(Instant::now() < deadline, "the guard does not end");
        thread::sleep(Duration::from_millis(50));
    }
}

fn has_ended(project: &Project) -> bool {
    let pid = fs::read_to_string(project.folder.path().join("project/pid")).expect("a process");
    !Path::new("/proc").join(pid.trim()).exists()
}

#[test]
fn a_client_that_does_not_read_keeps_neither_the_guard_nor_its_server() {
    let project = Project::new();
    let mut guarded = Guarded::start(&project, &ASKING, FLOOD);
    guarded.send(&begun());
    guarded.send(&call(1, "/etc/hosts"));
    until_stuck(&project);
    assert_eq!(ends(&mut guarded.child).code(), Some(128 + 15));
    assert!(has_ended(&project));
}

#[test]
fn nor_does_one_over_http() {
    let project = Project::new();
    let mut guard = Listening::script(&project, &ASKING, FLOOD);
    let session = guard.begin();
    let named = [("mcp-session-id", &*session)];
    assert_eq!(guard.post(&named, &begun()).status(), 202);
    let _unread = open(
        &guard.address,
        "POST /mcp",
        &named,
        &call(1, "/etc/hosts").to_string(),
    );
    until_stuck(&project);
    assert_eq!(ends(&mut guard.child).code(), Some(128 + 15));
    assert!(has_ended(&project));
}

#[test]
fn the_stream_of_a_call_that_is_cancelled_ends() {
    let project = Project::new();
    // It begins a session, says something of each call, and answers none.
    let silent = r#"while IFS= read -r line; do
    case "$line" in
        *initialize*) printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}\n';;
        *tools/call*) printf '{"jsonrpc":"2.0","method":"notifications/message","params":{}}\n';;
    esac
done"#;
    let guard = Listening::script(&project, &[], silent);
    let session = guard.begin();
    let named = [("mcp-session-id", &*session)];
    for id in 1..=3 {
        let mut stream = open(
            &guard.address,
            "POST /mcp",
            &named,
            &call(id, "a.txt").to_string(),
        );
        let mut head = String::new();
        stream.read_line(&mut head).expect("a status");
        assert!(head.contains("200"), "{head}");
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        assert_eq!(guard.post(&named, &cancelled).status(), 202);
        // To its end.
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("an end");
        assert!(rest.contains("notifications/message"), "{rest}");
    }
    // One that has not begun to answer.
    let waits = r#"while IFS= read -r line; do
    case "$line" in
        *initialize*) printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}\n';;
        *tools/call*) echo x >> called;;
    esac
done"#;
    let guard = Listening::script(&project, &[], waits);
    let session = guard.begin();
    let (address, text) = (guard.address.clone(), call(1, "a.txt").to_string());
    let name = session.clone();
    let asked = thread::spawn(move || ask(&address, "POST /mcp", &[("mcp-session-id", &name)], &text));
    until(|| project.folder.path().join("project/called").exists());
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let answer = guard.post(&[("mcp-session-id", &session)], &cancelled);
    assert_eq!(answer.status(), 202);
    let ended = asked.join().expect("an answer");
    assert!([200, 202].contains(&ended.status()), "{ended:?}");
}
