use serde_json::{Value, json};

use super::{Suite, merge};
use crate::doubles::Fake;
use crate::hosts::BatchHost;
use crate::report::Report;
use crate::subject::{Batch, Surroundings};
use crate::subject::{Need, Operation, Outcome, Subject, SubjectKind};

fn data(name: &str) -> String {
    let path = format!("{}/adversarial/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn verdict(decision: &str) -> Outcome {
    Outcome::Answer(json!({"decision": decision, "rule": "r", "reason": "because"}))
}

fn case(id: &str, level: &str, must: &Value) -> Value {
    json!({"id": id, "class": "control-fs", "level": level, "why": "", "source": "own", "host": "any",
        "setup": "plain", "must": must,
        "input": {"fn": "evaluate", "request": {"serverName": "s", "toolName": "t", "arguments": {}}}})
}

const SETUPS: &str = r#"{"_base": {"world": {"home": "/", "cwd": "/", "fs": {"dirs": ["/base"]}}},
    "plain": {"doc": "", "engine": {"protectedPaths": ["/p"], "allowedDirectory": null}}}"#;

fn run(case: &Value, departures: &str, decision: &str) -> Report {
    let suite = Suite::read("cases", SETUPS, &case.to_string(), departures).expect("a suite");
    suite
        .replay(&mut Fake::new(|_, _| verdict(decision)), &mut |_| {})
        .expect("a report")
}

#[test]
fn worlds_merge_deeply() {
    let mut world = json!({"home": "/h", "fs": {"dirs": ["/a"], "links": {"/l": "/a"}}});
    merge(
        &mut world,
        &json!({"home": "/i", "fs": {"dirs": ["/b"], "links": {"/m": "/b"}}, "git": {}}),
    );
    let expected =
        json!({"home": "/i", "fs": {"dirs": ["/a", "/b"], "links": {"/l": "/a", "/m": "/b"}}, "git": {}});
    assert_eq!(world, expected);
}

#[test]
fn engines_are_patched_and_told_what_the_case_needs() {
    let mut patched = case("a", "must", &json!("deny"));
    patched["class"] = json!("arg-unknown");
    patched["engine"] = json!({"protectedPaths": {"$array": ["/p%i", 2]}, "trustedServers": []});
    patched["world"] = json!({"fs": {"caseInsensitive": true}});
    let suite = Suite::read("cases", SETUPS, &patched.to_string(), "").expect("a suite");
    let mut seen = Vec::new();
    let mut fake = Fake::new(|batch: &Batch, _: &Operation| {
        seen.push(batch.clone());
        verdict("deny")
    });
    assert_eq!(
        suite
            .replay(&mut fake, &mut |_| {})
            .expect("a report")
            .total()
            .passed,
        2,
        "once under each set of defaults"
    );
    let parts = json!(seen[0].engine);
    assert_eq!(
        parts,
        json!({"protectedPaths": r#"["/p0","/p1"]"#, "trustedServers": "[]",
            "options": r#"{"compatibility":"careful","unknownArguments":"deny","pathCase":"insensitive"}"#})
    );
    let Surroundings::Machine(world) = &seen[0].surroundings else {
        panic!("{seen:?}");
    };
    assert_eq!(world["fs"], json!({"dirs": ["/base"], "caseInsensitive": true}));
}

#[test]
fn departures_are_kept_true() {
    let departure = r#"{"id": "a", "reason": "documented"}"#;
    let check = |departures: &str, decision: &str, expected: [usize; 3]| {
        let total = run(&case("a", "should", &json!("deny")), departures, decision).total();
        assert_eq!(
            [total.passed, total.failed, total.departed],
            expected,
            "{departures} {decision}"
        );
    };
    check("", "deny", [2, 0, 0]);
    check("", "allow", [0, 2, 0]);
    check(departure, "allow", [0, 0, 2]);
    check(departure, "deny", [0, 2, 0]);
    let refused = |case: Value| Suite::read("cases", SETUPS, &case.to_string(), departure).is_err();
    assert!(refused(case("a", "must", &json!("deny"))), "a must cannot depart");
    assert!(
        refused(case("b", "should", &json!("deny"))),
        "the departure's case is gone"
    );
}

#[test]
fn malformed_cases_are_refused() {
    let check = |case: &Value| {
        assert!(
            Suite::read("cases", SETUPS, &case.to_string(), "").is_err(),
            "{case}"
        )
    };
    let mut wrong = case("a", "must", &json!("deny"));
    wrong["setup"] = json!("none");
    check(&wrong);
    check(&case("a", "must", &json!("maybe")));
    check(&case("a", "could", &json!("deny")));
    let mut wrong = case("a", "must", &json!("deny"));
    wrong["needs"] = json!("a crystal ball");
    check(&wrong);
}

/// A native subject whose host offers only the minimum.
struct Bare;

impl Subject for Bare {
    fn name(&self) -> &str {
        "bare"
    }

    fn kind(&self) -> SubjectKind {
        SubjectKind::Native
    }

    fn offers(&self, _need: Need) -> bool {
        false
    }

    fn run(&mut self, batch: &Batch) -> Vec<Outcome> {
        batch.operations.iter().map(|_| verdict("deny")).collect()
    }
}

#[test]
fn the_committed_cases_can_be_asked() {
    let suite = Suite::read("cases.jsonl", &data("setups.json"), &data("cases.jsonl"), "");
    let suite = suite.expect("a suite");
    let mut batches = 0;
    let mut fake = Fake::new(|batch: &Batch, operation: &Operation| {
        batches += 1;
        let Surroundings::Machine(world) = &batch.surroundings else {
            panic!("{batch:?}");
        };
        assert!(BatchHost::of(&batch.surroundings).is_ok(), "{world}");
        match operation {
            Operation::Gate { .. } => Outcome::Refused(String::new()),
            _ => verdict("deny"),
        }
    });
    let report = suite.replay(&mut fake, &mut |_| {}).expect("a report");
    // Except cases that must be allowed or escalated or be an error, and scripts, which allow in between.
    let other = |disagreement: &super::Disagreement| {
        let must = &disagreement.expected["must"];
        *must != json!({"decision": "allow"})
            && *must != json!({"decision": "escalate"})
            && *must != json!("error")
    };
    let wrong: Vec<String> = report
        .disagreements
        .iter()
        .filter(|one| other(one))
        .map(ToString::to_string)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let total = report.total();
    assert_eq!(
        total.passed + total.failed + total.not_offered + total.departed,
        suite
            .cases
            .iter()
            .map(|(_, case)| case.defaults().len())
            .sum::<usize>()
    );
    assert!(batches > suite.cases.len() - total.not_offered - 1);
    let bare = suite.replay(&mut Bare, &mut |_| {}).expect("a report");
    assert!(
        bare.total().not_offered > total.not_offered,
        "what is needed and not offered is not due"
    );
}
