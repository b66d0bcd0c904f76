//! Calls that the policy counts.

use std::fs;
use std::path::Path;
use std::time::Duration;

use callgate_engine::judge::StructuralRule;
use serde_json::{Value, json};

use super::{call, client, gate, relay_with, to_client};
use crate::relay::*;
use crate::{Answer, Answerer, Asking, Counts, Queue};

/// Two calls an hour, and nothing outside once something inside was read.
const POLICY: &str = r#"{"counters": [
    {"name": "waits", "if": {"tool": "wait"}, "seconds": 3600},
    {"name": "reads", "if": {"paths": {"roles": "read-path", "within": "/work"}}, "seconds": 3600}
], "rules": [
    {"name": "two-an-hour", "if": {"tool": "wait", "counts": {"waits": {"atMost": 1}}}, "then": "allow", "reason": "r"},
    {"name": "no-run", "if": {"tool": "run", "counts": {"reads": {"atLeast": 1}}}, "then": "deny", "reason": "r"},
    {"name": "run", "if": {"tool": "run"}, "then": "allow", "reason": "r"}
]}"#;

const WAIT: &str = r#"{"name":"wait","arguments":{}}"#;
const RUN: &str = r#"{"name":"run","arguments":{"command":"x"}}"#;
const READ: &str = r#"{"name":"read","arguments":{"path":"/work/a"}}"#;
const OUTSIDE: &str = r#"{"name":"read","arguments":{"path":"/etc/a"}}"#;

fn counting(folder: &Path, observe: bool) -> Relay {
    let relay = relay_with(|options| {
        options.counts = Some(Counts::new(folder.join("state")));
        options.audit = Some(folder.join("log"));
        options.observe = observe;
    });
    relay.guard.reload(gate(POLICY), None).unwrap();
    relay
}

/// The rule that answers in the server's place; `None` for a call that is sent.
fn decided(relay: &mut Relay, id: u32, params: &str) -> Option<String> {
    match client(relay, &call(&id.to_string(), params)) {
        Delivery::ToServer(_) => None,
        step => {
            let rule = &to_client(step)["result"]["_meta"]["callgate/rule"];
            Some(rule.as_str().unwrap().to_owned())
        }
    }
}

fn unknown() -> Option<String> {
    Some(StructuralRule::UnknownCount.as_str().to_owned())
}

fn contexts(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("log")).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let decisions = lines.filter(|line| line["kind"] == "decision");
    decisions.map(|line| line["context"].clone()).collect()
}

#[test]
fn what_is_sent_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut relay = counting(folder.path(), false);
    assert_eq!(decided(&mut relay, 1, WAIT), None);
    // Another guard of the same folder sees it.
    let mut other = counting(folder.path(), false);
    assert_eq!(decided(&mut other, 1, WAIT), None);
    assert_eq!(decided(&mut relay, 2, WAIT).as_deref(), Some("default-deny"));
    assert_eq!(decided(&mut relay, 3, RUN), None);
    // What is denied was not done.
    assert_eq!(decided(&mut relay, 4, OUTSIDE).as_deref(), Some("default-deny"));
    assert_eq!(decided(&mut relay, 5, RUN), None);
    assert_eq!(decided(&mut relay, 6, READ), None);
    assert_eq!(decided(&mut relay, 7, RUN).as_deref(), Some("no-run"));
    let said = contexts(folder.path());
    let counts = |waits: u64, reads: u64| json!({"counts": {"waits": waits, "reads": reads}});
    let expected = [(0, 0), (1, 0), (2, 0), (2, 0), (2, 0), (2, 0), (2, 0), (2, 1)];
    assert_eq!(said, expected.map(|(waits, reads)| counts(waits, reads)));
}

#[test]
fn a_person_is_asked_where_nobody_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut relay = relay_with(|_| ());
    relay.guard.reload(gate(POLICY), None).unwrap();
    assert_eq!(decided(&mut relay, 1, WAIT), unknown());
    assert_eq!(decided(&mut relay, 2, READ), None);
    let mut relay = counting(folder.path(), false);
    assert_eq!(decided(&mut relay, 1, WAIT), None);
    fs::write(folder.path().join("state/counts.json"), "{").unwrap();
    assert_eq!(decided(&mut relay, 2, WAIT), unknown());
    assert_eq!(decided(&mut relay, 3, RUN), unknown());
    // A call that counts and cannot be counted is none that may be forgotten.
    assert_eq!(decided(&mut relay, 4, READ), unknown());
    assert_eq!(decided(&mut relay, 5, OUTSIDE).as_deref(), Some("default-deny"));
    fs::remove_file(folder.path().join("state/counts.json")).unwrap();
    assert_eq!(decided(&mut relay, 6, READ), None);
}

#[test]
fn what_a_person_approves_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let queue = Queue::open(folder.path().join("state")).unwrap();
    let mut relay = relay_with(|options| {
        options.counts = Some(Counts::new(folder.path().join("state")));
        options.asking = Some(Asking {
            queue: queue.clone(),
            patience: Duration::from_secs(600),
            forms: false,
            command: None,
        });
    });
    let policy = POLICY.replace(r#""then": "deny""#, r#""then": "escalate""#);
    relay.guard.reload(gate(&policy), None).unwrap();
    let answer = |answer: Answer| {
        let questions = queue.questions().unwrap();
        let [question] = &*questions else { panic!() };
        assert!(queue.answer(&question.id, answer, Answerer::Terminal).unwrap());
    };
    assert_eq!(decided(&mut relay, 1, READ), None);
    assert_eq!(client(&mut relay, &call("2", RUN)), Delivery::Nowhere);
    // Nobody else waits for the file while a person is asked.
    assert_eq!(decided(&mut relay, 3, WAIT), None);
    answer(Answer::Once);
    assert_eq!(relay.settled(), [Delivery::ToServer(call("2", RUN))]);
    // One that cannot be counted is sent if a person allows it.
    fs::write(folder.path().join("state/counts.json"), "{").unwrap();
    assert_eq!(client(&mut relay, &call("4", WAIT)), Delivery::Nowhere);
    answer(Answer::Once);
    assert_eq!(relay.settled(), [Delivery::ToServer(call("4", WAIT))]);
}

#[test]
fn who_observes_counts_what_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let mut relay = counting(folder.path(), true);
    for id in 1..4 {
        assert_eq!(decided(&mut relay, id, OUTSIDE), None);
        assert_eq!(decided(&mut relay, 10 + id, WAIT), None);
    }
    let said = contexts(folder.path());
    assert_eq!(said.last().unwrap()["counts"], json!({"waits": 2, "reads": 0}));
}

#[test]
fn a_service_counts_what_it_lets_pass() {
    let folder = tempfile::tempdir().unwrap();
    let relay = counting(folder.path(), false);
    let rule = || relay.decide("wait", "{}").unwrap().verdict.rule.into_owned();
    assert_eq!(
        [rule(), rule(), rule()],
        ["two-an-hour", "two-an-hour", "default-deny"]
    );
}
