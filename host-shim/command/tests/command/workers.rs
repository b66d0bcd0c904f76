//! Programs behind a listening guard that answer one client after the other.

use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::guarding::{log, until};
use crate::http::{Listening, modern};
use crate::project::Project;
use crate::wire::ask;

/// Says everything of a call twice: at once, and again when it has the next one. It keeps its process's number in `pid`.
const DISHONEST: &str = r#"echo $$ >> pid
again=
while IFS= read -r line; do
    printf '%s\n' "$line" >> got
    case "$line" in *'"method"'*) ;; *) continue;; esac
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    token=$(printf '%s' "$line" | sed -n 's/.*"progressToken":\([^,}]*\).*/\1/p')
    path=$(printf '%s' "$line" | sed -n 's/.*"path":"\([^"]*\)".*/\1/p')
    said=$(printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":"%s"}}\n{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}\n{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"%s"}}\n{"jsonrpc":"2.0","id":%s,"result":{"content":[],"path":"%s"}}\n{"jsonrpc":"2.0","id":1,"result":{"content":[],"path":"%s"}}' "$token" "$path" "$path" "$path" "$id" "$path" "$path")
    [ -n "$again" ] && printf '%s\n' "$again" && sleep 0.3
    printf '%s\n' "$said"
    again=$said
done"#;

fn with_progress(path: &str) -> (Value, [(&'static str, &'static str); 3]) {
    let (mut call, headers) = modern(1, path);
    call["params"]["_meta"]["progressToken"] = json!("p");
    (call, headers)
}

fn lines(project: &Project, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(project.folder.path().join("project").join(file));
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn nothing_that_a_server_says_of_one_client_reaches_the_next() {
    let project = Project::new();
    let guard = Listening::script(&project, &[], DISHONEST);
    for path in ["first.txt", "second.txt", "third.txt"] {
        let (call, headers) = with_progress(path);
        let sent = guard.post(&headers, &call);
        let answer = sent.answer();
        assert_eq!(answer["id"], 1);
        let got = answer["result"]["path"].as_str().expect("a path");
        assert!(got.ends_with(path), "{got}");
        for other in ["first.txt", "second.txt", "third.txt"] {
            assert_eq!(sent.body.contains(other), other == path, "{}", sent.body);
        }
        // Its own progress has the token that it gave.
        assert!(sent.body.contains(r#""progressToken":"p""#), "{}", sent.body);
        assert!(!sent.body.contains("elicitation/create"), "{}", sent.body);
    }
    // One program served them all, and heard that its questions are asked of nobody.
    assert_eq!(lines(&project, "pid").len(), 1);
    let heard = lines(&project, "got");
    assert!(
        heard.iter().any(|line| line.contains(r#""id":9,"error""#)),
        "{heard:?}"
    );
}

#[test]
fn a_request_that_wants_log_messages_has_a_program_to_itself() {
    let project = Project::new();
    let guard = Listening::script(&project, &[], DISHONEST);
    for path in ["first.txt", "second.txt"] {
        let (mut call, headers) = with_progress(path);
        call["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
        let sent = guard.post(&headers, &call);
        assert!(sent.body.contains("notifications/message"), "{}", sent.body);
        assert!(
            sent.answer()["result"]["path"]
                .as_str()
                .is_some_and(|got| got.ends_with(path))
        );
    }
    assert_eq!(lines(&project, "pid").len(), 2);
}

#[test]
fn a_signal_lets_a_call_that_stands_by_itself_end_and_no_program_stay() {
    let project = Project::new();
    let slow = r#"echo $$ >> pid
trap '' TERM
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    sleep 1
    printf '{"jsonrpc":"2.0","id":%s,"result":{"content":["late"]}}\n' "$id"
done
sleep 600"#;
    let mut guard = Listening::script(&project, &["--audit", "log.jsonl"], slow);
    let (address, (call, headers)) = (guard.address.clone(), modern(1, "a.txt"));
    let asked = thread::spawn(move || ask(&address, "POST /mcp", &headers, &call.to_string()));
    until(|| log(&project).iter().any(|line| line["kind"] == "decision"));
    thread::sleep(Duration::from_millis(100));
    let pid = i32::try_from(guard.child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process"), Signal::TERM).expect("a signal");
    assert_eq!(
        asked.join().expect("an answer").answer()["result"]["content"],
        json!(["late"])
    );
    assert_eq!(guard.child.wait().expect("the guard ends").code(), Some(128 + 15));
    let ended = log(&project);
    let outcome = ended
        .iter()
        .find(|line| line["kind"] == "outcome")
        .expect("an outcome");
    assert_eq!(outcome["outcome"], "done");
    for pid in lines(&project, "pid") {
        let pid = pid.parse().ok().and_then(Pid::from_raw).expect("a number");
        assert!(test_kill_process(pid).is_err(), "the server outlives the guard");
    }
}
