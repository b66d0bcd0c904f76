//! Limits of memory, time and fuel, and what pinned directories are resolved by.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use callgate_engine::config::DocumentKind;
use callgate_engine::host::RealpathError;
use callgate_host::{Decision, GateError, InstanceLimits};

use crate::{Answering, builder, read};

fn honest(path: &str) -> Result<String, RealpathError> {
    Ok(path.to_owned())
}

fn refused(limits: InstanceLimits) -> String {
    match builder(Answering(honest)).limits(limits).build() {
        Err(error @ GateError::Engine(_)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the limits are too tight for any document"),
    }
}

#[test]
fn documents_that_meet_a_limit_are_an_error_that_says_which() {
    let usual = InstanceLimits::default();
    let limits = InstanceLimits {
        memory: 128 * 1024,
        ..usual.clone()
    };
    let error = refused(limits);
    assert_eq!(
        error,
        "The engine needed more than 131072 bytes of memory while it loaded the documents"
    );
    let limits = InstanceLimits {
        load_deadline: Duration::from_millis(500),
        ..usual
    };
    let slow = |path: &str| {
        std::thread::sleep(Duration::from_millis(700));
        Ok(path.to_owned())
    };
    let pinned = builder(Answering(slow)).part(DocumentKind::Options, r#"{"directories": "pinned"}"#);
    let error = pinned.limits(limits).build().err().map(|error| error.to_string());
    let expected = "The engine took longer than 500 ms while it loaded the documents";
    assert_eq!(error.as_deref(), Some(expected));
}

#[test]
fn a_call_without_enough_fuel_is_denied_and_one_with_it_is_not() {
    for (fuel, rule) in [
        (1_000, "structural-engine-fault"),
        (10_000_000, "structural-sandbox-allow"),
    ] {
        let limits = InstanceLimits {
            fuel: Some(fuel),
            ..InstanceLimits::default()
        };
        let gate = builder(Answering(honest)).limits(limits).build().unwrap();
        for _ in 0..3 {
            let verdict = gate.evaluate(&read("a")).unwrap();
            assert_eq!(verdict.rule, rule, "{verdict:?}");
        }
    }
}

#[test]
fn a_large_call_is_judged_and_leaves_nothing_behind() {
    let limits = InstanceLimits {
        memory: 256 * 1024 * 1024,
        ..InstanceLimits::default()
    };
    let gate = builder(Answering(honest)).limits(limits).build().unwrap();
    let large = format!(
        r#"{{"serverName": "filesystem", "toolName": "write_file", "arguments": {{"path": "a", "content": "{}"}}}}"#,
        "x".repeat(32 * 1024 * 1024)
    );
    for _ in 0..4 {
        assert_eq!(gate.evaluate(&large).unwrap().decision, Decision::Allow);
        assert_eq!(gate.evaluate(&read("a")).unwrap().decision, Decision::Allow);
    }
}

#[test]
fn text_that_is_no_call_is_an_error_with_its_place() {
    let gate = builder(Answering(honest)).build().unwrap();
    let native = builder(Answering(honest)).engine(callgate_host::EngineKind::Native);
    let native = native.build().unwrap();
    for text in [
        "",
        "{",
        "[]",
        r#"{"serverName": "a"}"#,
        "{\"serverName\": 5,\n \"toolName\": \"b\"}",
    ] {
        let error = gate.evaluate(text).unwrap_err();
        assert_eq!(error, native.evaluate(text).unwrap_err());
        assert_eq!(gate.gate(text).unwrap_err(), error);
        assert_eq!(gate.explain(text).unwrap_err(), error);
    }
}

#[test]
fn pinned_directories_are_those_of_the_moment_of_building_in_every_instance() {
    // The sandbox is a link that leads elsewhere each time that somebody looks.
    let looks = AtomicUsize::new(0);
    let answer = move |path: &str| match path.strip_prefix("/agent") {
        Some("") => Ok(format!("/real-{}", looks.fetch_add(1, Ordering::SeqCst))),
        Some(_) => Ok("/real-0/a".to_owned()),
        None if path == "/panic" => panic!("this ends the instance"),
        None => Ok(path.to_owned()),
    };
    let gate = builder(Answering(answer))
        .part(DocumentKind::Options, r#"{"directories": "pinned"}"#)
        .build()
        .unwrap();
    for _ in 0..3 {
        let verdict = gate.evaluate(&read("/agent/a")).unwrap();
        assert_eq!(verdict.rule, "structural-sandbox-allow", "{verdict:?}");
        assert_eq!(
            gate.evaluate(&read("/panic")).unwrap().rule,
            "structural-engine-fault"
        );
    }
}
