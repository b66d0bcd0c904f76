//! Hosts that lie, block, panic, or answer megabytes: a denial, and the next call is served as if nothing had been.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use callgate_engine::host::{HostError, RealpathError};
use callgate_host::{Decision, Gate, InstanceLimits};

use crate::{Answering, builder, read};

const TIGHT: usize = 16 * 1024 * 1024;

/// A gate whose host does as `bad` does until it is told to be honest.
fn gate_with(
    bad: impl Fn(&str) -> Result<String, RealpathError> + Send + Sync + 'static,
    is_bad: &'static AtomicBool,
    limits: InstanceLimits,
) -> Gate {
    let answer = move |path: &str| match is_bad.load(Ordering::SeqCst) {
        true => bad(path),
        false => Ok(path.to_owned()),
    };
    builder(Answering(answer)).limits(limits).build().unwrap()
}

/// The rule of the denial and the beginning of its reason, and that the next call is served.
#[track_caller]
fn check(
    bad: impl Fn(&str) -> Result<String, RealpathError> + Send + Sync + 'static,
    rule: &str,
    reason: &str,
) {
    check_within(Duration::from_secs(60), bad, rule, reason);
}

#[track_caller]
fn check_within(
    deadline: Duration,
    bad: impl Fn(&str) -> Result<String, RealpathError> + Send + Sync + 'static,
    rule: &str,
    reason: &str,
) {
    let is_bad: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let limits = InstanceLimits {
        memory: TIGHT,
        deadline,
        ..InstanceLimits::default()
    };
    let gate = gate_with(bad, is_bad, limits);
    let before = gate.explain(&read("a")).unwrap();
    for _ in 0..2 {
        is_bad.store(true, Ordering::SeqCst);
        let denied = gate.evaluate(&read("a")).unwrap();
        assert_eq!(
            (&denied.decision, &*denied.rule),
            (&Decision::Deny, rule),
            "{denied:?}"
        );
        assert!(denied.reason.starts_with(reason), "{denied:?}");
        assert_eq!(gate.gate(&read("a")).unwrap().verdict, denied);
        let explained = gate.explain(&read("a")).unwrap();
        assert_eq!(explained["verdict"], serde_json::to_value(&denied).unwrap());
        is_bad.store(false, Ordering::SeqCst);
        assert_eq!(gate.explain(&read("a")).unwrap(), before);
    }
}

#[test]
fn a_host_that_lies_is_a_host_error() {
    for lie in [
        "",
        "a",
        "../../etc",
        "/agent/../etc/passwd",
        "/agent//a",
        "/agent/",
    ] {
        check(
            move |_| Ok(lie.to_owned()),
            "structural-host-error",
            "The host failed to answer: realpath answered",
        );
    }
    let failing = |_: &str| Err(RealpathError::Host(HostError::new("no")));
    check(failing, "structural-host-error", "The host failed to answer: no");
}

#[test]
fn a_host_that_panics_is_an_engine_fault() {
    check(
        |_| panic!("a host should not do that"),
        "structural-engine-fault",
        "The engine or its host failed",
    );
}

#[test]
fn a_host_that_blocks_is_an_engine_fault_once_it_answers() {
    let deadline = Duration::from_secs(1);
    let blocking = |path: &str| {
        if path.ends_with("/a") {
            thread::sleep(Duration::from_millis(1_300));
        }
        Ok(path.to_owned())
    };
    let rule = "structural-engine-fault";
    check_within(deadline, blocking, rule, "The engine took longer than 1000 ms");
}

#[test]
fn a_host_that_answers_megabytes_is_denied() {
    let path = |length: usize| Ok(format!("/{}", "x".repeat(length)));
    check(
        move |_| path(2 * TIGHT),
        "structural-engine-fault",
        "The engine needed more than",
    );
    check(
        move |_| Err(RealpathError::Host(HostError::new("x".repeat(2 * TIGHT)))),
        "structural-engine-fault",
        "",
    );
    // A path that fits is judged: it lies outside the sandbox.
    let gate = builder(Answering(move |given: &str| match given {
        "/agent/a" => path(1024 * 1024),
        _ => Ok(given.to_owned()),
    }));
    let gate = gate.build().unwrap();
    assert_ne!(gate.evaluate(&read("a")).unwrap().decision, Decision::Allow);
}

#[test]
fn faults_of_some_calls_are_not_felt_by_others_at_the_same_time() {
    let answer = |path: &str| match path.ends_with("bad") {
        true => panic!("this path is bad"),
        false => Ok(path.to_owned()),
    };
    let gate = builder(Answering(answer)).build().unwrap();
    thread::scope(|scope| {
        for worker in 0..8 {
            let gate = &gate;
            scope.spawn(move || {
                for at in 0..50 {
                    let verdict = gate.evaluate(&read(&format!("{worker}-{at}"))).unwrap();
                    assert_eq!(verdict.decision, Decision::Allow, "{verdict:?}");
                    if at % 10 == worker % 10 {
                        let verdict = gate.evaluate(&read("bad")).unwrap();
                        assert_eq!(verdict.rule, "structural-engine-fault");
                    }
                }
            });
        }
    });
}
