use serde_json::{Value, json};

use super::replay;
use crate::doubles::Fake;
use crate::hosts::NativeSubject;
use crate::subject::{Need, Operation, Outcome, Surroundings};

fn file(case: Value) -> String {
    json!({"format": "cases/1", "name": "g", "says": "s", "engine": {}, "cases": [case]}).to_string()
}

#[track_caller]
fn check(expect: Value, outcome: Outcome, passes: bool) {
    let mut fake = Fake::new(|_, operation| {
        assert!(matches!(operation, Operation::Gate { .. }));
        outcome.clone()
    });
    let case = json!({"op": "gate", "call": {"serverName": "s", "toolName": "t"}, "expect": expect});
    let report = replay(&mut fake, "c.jsonl", &file(case), &mut |_| {}).expect("a report");
    assert_eq!(
        (report.total().passed, report.total().failed),
        (usize::from(passes), usize::from(!passes)),
        "{expect}"
    );
}

#[test]
fn all_that_is_expected_must_hold() {
    let gated = json!({
        "verdict": {"decision": "deny", "rule": "r", "reason": "because of x"}, "argsForTransport": {"a": 1},
    });
    let answer = || Outcome::Answer(gated.clone());
    for (expect, passes) in [
        (
            json!({"decision": "deny", "rule": "r", "reason": "because of x", "transport": {"a": 1}}),
            true,
        ),
        (json!({"decision": "allow"}), false),
        (json!({"decision": "deny", "rule": "s"}), false),
        (json!({"reasonHas": ["because", "x"]}), true),
        (json!({"reasonHas": ["because", "y"]}), false),
        (json!({"transport": {}}), false),
        (json!({"answer": gated}), true),
        (json!({"answer": {}}), false),
        (json!({"holds": {"verdict": {"rule": "r"}}}), true),
        (json!({"holds": {"verdict": {"rule": "s"}}}), false),
        (json!({"holds": {"other": null}}), false),
        (json!({"refused": []}), false),
        (json!({"lines": []}), false),
    ] {
        check(expect, answer(), passes);
    }
    let lines = || Outcome::Answer(json!(["error: a", "warning: b"]));
    check(json!({"lines": ["error", "warning: b"]}), lines(), true);
    check(json!({"lines": ["error"]}), lines(), false);
    check(json!({"lines": ["error", "error"]}), lines(), false);
    let refused = || Outcome::Refused("no such thing".to_owned());
    check(json!({"refused": ["such"]}), refused(), true);
    check(json!({"refused": ["other"]}), refused(), false);
    check(json!({"decision": "deny"}), refused(), false);
    check(
        json!({"decision": "deny"}),
        Outcome::Fault("trap".to_owned()),
        false,
    );
}

#[test]
fn malformed_lines_are_refused() {
    for case in [
        json!({"op": "gate", "expect": {"decision": "deny"}}),
        json!({"op": "construct", "expect": {}}),
        json!({"op": "construct", "expect": {"decison": "deny"}}),
        json!({"op": "semantics", "expect": {"answer": null}, "server": "s"}),
        json!({"op": "gate", "call": {}, "address": "x", "expect": {"decision": "deny"}}),
        json!({"op": "resolv", "address": "x", "expect": {"answer": null}}),
    ] {
        let mut fake = Fake::new(|_, _| Outcome::Answer(Value::Null));
        let replayed = replay(&mut fake, "c.jsonl", &file(case.clone()), &mut |_| {});
        assert!(replayed.is_err(), "{case}");
    }
}

#[test]
fn a_recording_must_come_again_exactly() {
    let explanation = json!({"verdict": {"decision": "deny"}, "steps": []});
    let line = json!({
        "format": "cases/1",
        "engine": {"compiledPolicy": {"rules": []}},
        "recording": {"homeDir": "/", "currentDir": "/", "exchanges": []},
        "cases": [{"op": "explain", "call": {"serverName": "s", "toolName": "t"}, "expect": {"answer": explanation}}],
    });
    let check = |verdict: &str, explanation: Value, failed: usize| {
        let mut fake = Fake::new(|batch, operation| {
            assert!(matches!(batch.surroundings, Surroundings::Recording(_)));
            Outcome::Answer(match operation {
                Operation::Evaluate { .. } => json!({"decision": verdict}),
                _ => explanation.clone(),
            })
        });
        let report = replay(&mut fake, "r.jsonl", &line.to_string(), &mut |_| {}).expect("a report");
        assert_eq!(
            (report.total().passed, report.total().failed),
            (1 - failed, failed)
        );
    };
    check("deny", explanation.clone(), 0);
    check(
        "deny",
        json!({"verdict": {"decision": "deny"}, "steps": ["another"]}),
        1,
    );
    check("allow", explanation.clone(), 1);
    for (key, value) in [
        ("format", json!("cases/2")),
        ("machine", json!({"home": "/", "cwd": "/"})),
    ] {
        let mut malformed = line.clone();
        malformed[key] = value;
        let mut fake = Fake::new(|_, _| Outcome::Answer(Value::Null));
        let replayed = replay(&mut fake, "r.jsonl", &malformed.to_string(), &mut |_| {});
        assert!(replayed.is_err(), "{key}");
    }
}

/// A group with a world, in which the root `r` is `/srv/r` and visible in the mode `m`.
fn with_world(cases: Value) -> String {
    let line = json!({
        "format": "cases/1", "name": "n",
        "machine": {"home": "/home/u", "cwd": "/", "fs": {"files": ["/srv/r/a"]}},
        "engine": {
            "compiledPolicy": {"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": []},
            "toolAnnotations": {"generatedAt": "", "servers": {}},
            "world": {
                "roots": {"r": "/srv/r"},
                "visibility": [{"mode": "m", "root": "r", "subdirectory": null, "when": []}],
                "operations": [],
            },
        },
        "cases": cases,
    });
    line.to_string()
}

fn resolving(expect: Value) -> String {
    with_world(
        json!([{"why": "w", "op": "resolve", "address": "root:r/a", "context": {"mode": "m"}, "expect": expect}]),
    )
}

#[test]
fn a_case_of_a_world_is_held_to_what_it_expects() {
    let check = |expect: Value, expected: (usize, usize)| {
        let report = replay(&mut NativeSubject, "f", &resolving(expect.clone()), &mut |_| {});
        let total = report.expect("a report").total();
        assert_eq!((total.passed, total.failed), expected, "{expect}");
    };
    let code = |code: &str| json!({"holds": {"reply": {"code": code}}});
    check(code("WA-RES-S-001"), (1, 0));
    check(code("WA-RES-I-001"), (0, 1));
    check(json!({"holds": {"hostPath": "/srv/r/a"}}), (1, 0));
    check(json!({"holds": {"other": null}}), (0, 1));
}

#[test]
fn what_names_the_host_is_found() {
    let check = |message: &str, failed: usize| {
        let mut fake =
            Fake::new(|_, _| Outcome::Answer(json!({"reply": {"message": message}, "hostPath": "/srv/r/a"})));
        let report = replay(&mut fake, "f", &resolving(json!({"holds": {}})), &mut |_| {}).expect("a report");
        assert_eq!(report.total().failed, failed, "{message}");
    };
    check("fine", 0);
    check("at /srv/r/a", 1);
    check("in /home/u", 1);
}

#[test]
fn a_host_without_functions_is_not_asked_for_them() {
    let function = json!({"op": "expandTilde", "args": ["~"], "expect": {"answer": "/home/u"}});
    let mut fake = Fake::new(|_, _| Outcome::Answer(json!("/home/u"))).without(Need::Functions);
    let report = replay(&mut fake, "f", &file(function), &mut |_| {}).expect("a report");
    assert_eq!(
        (report.total().passed, report.total().not_offered),
        (0, 1),
        "{report}"
    );
}
