use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::{Departures, Group, replay};
use crate::doubles::Fake;
use crate::hosts::BatchHost;
use crate::subject::{Outcome, Surroundings};

fn files() -> Vec<(String, String)> {
    let folder = format!("{}/vectors", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).expect("the folder of recorded cases");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| !path.ends_with("departures.jsonl"));
    paths.sort();
    let name = |path: &std::path::Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    paths
        .iter()
        .map(|path| (name(path), std::fs::read_to_string(path).expect("a file")))
        .collect()
}

/// The recorded answers, group by group.
fn recorded(text: &str) -> VecDeque<Outcome> {
    let groups = text.lines().map(|line| Group::read(line).expect("a group"));
    groups
        .flat_map(|group| group.cases.iter().map(|case| case.recorded()).collect::<Vec<_>>())
        .map(|answer| match answer.get("throws") {
            Some(error) => Outcome::Refused(error.to_string()),
            None => Outcome::Answer(answer),
        })
        .collect()
}

#[test]
fn the_recorded_engine_fails_where_this_one_must_differ() {
    let mut failures: BTreeMap<String, usize> = BTreeMap::new();
    for (name, text) in files() {
        let mut outcomes = recorded(&text);
        let cases = outcomes.len();
        let mut fake = Fake::new(|batch, _| {
            let Surroundings::Machine(world) = &batch.surroundings else {
                panic!("{batch:?}");
            };
            assert!(BatchHost::of(&batch.surroundings).is_ok(), "{world}");
            outcomes.pop_front().expect("an outcome for each case")
        });
        let mut groups = 0;
        let report = replay(&mut fake, &name, &text, &Departures::default(), &mut |progress| {
            groups += 1;
            assert_eq!(progress.done, groups);
        });
        let report = report.expect("a report");
        assert_eq!(groups, text.lines().count());
        assert_eq!(report.total().passed + report.total().failed, cases, "{name}");
        for disagreement in &report.disagreements {
            let op = disagreement.input["op"].as_str().expect("an operation");
            let op = disagreement.input["name"].as_str().unwrap_or(op);
            let kind = if disagreement.case.starts_with("probe-") {
                "probe"
            } else {
                op
            };
            *failures
                .entry(format!("{kind} {}", disagreement.tags.join(" ")))
                .or_default() += 1;
        }
    }
    let count = |key: &str| failures.get(key).copied().unwrap_or(0);
    assert_eq!(count("isWithinDirectory root-directory"), 11);
    assert_eq!(count("normalizeUrl normalize-url-slash"), 32);
    assert!(
        !failures.keys().any(|key| key.starts_with("evaluate")),
        "{failures:?}"
    );
    let flipped = |key: &&String| !key.starts_with("probe") && !key.ends_with(" ");
    assert!(
        failures
            .keys()
            .all(|key| key.starts_with("probe") || flipped(&key)),
        "{failures:?}"
    );
    let probes: usize = failures
        .iter()
        .filter(|(key, _)| key.starts_with("probe"))
        .map(|(_, n)| n)
        .sum();
    assert_eq!(probes, 50, "{failures:?}");
}

fn group(case: &Value) -> String {
    json!({"format": "vectors/1", "name": "g", "cases": [case]}).to_string()
}

#[test]
fn an_answer_out_of_turn_is_a_disagreement_with_all_it_takes() {
    let text = group(&json!({"op": "normalizeUrl", "args": ["http://h/"], "expect": "http://h"}));
    let mut fake = Fake::new(|_, _| Outcome::Answer(json!("http://h/")));
    let report = replay(&mut fake, "f.jsonl", &text, &Departures::default(), &mut |_| {}).expect("a report");
    assert_eq!(report.total().failed, 1);
    let line = report.disagreements[0].to_string();
    let told: Value = serde_json::from_str(&line).expect("one line of JSON");
    assert_eq!(told["place"], "f.jsonl:1");
    assert_eq!(told["case"], "g[0]");
    assert_eq!(told["world"]["cwd"], "/srv/app");
    assert_eq!(
        told["input"],
        json!({"op": "function", "name": "normalizeUrl", "args": ["http://h/"]})
    );
    assert_eq!(told["expected"]["recorded"], "http://h");
    assert_eq!(told["got"], json!({"answer": "http://h/"}));
    assert!(report.to_string().ends_with("\n0 passed, 1 failed"), "{report}");
}

#[test]
fn silence_is_a_fault() {
    struct Silent;
    impl super::Subject for Silent {
        fn name(&self) -> &str {
            "silent"
        }
        fn kind(&self) -> crate::SubjectKind {
            crate::SubjectKind::Native
        }
        fn offers(&self, _need: crate::Need) -> bool {
            true
        }
        fn run(&mut self, _batch: &super::Batch) -> Vec<Outcome> {
            Vec::new()
        }
    }
    let text = group(&json!({"op": "expandTilde", "args": ["~"], "expect": {"throws": "Error"}}));
    let report =
        replay(&mut Silent, "f.jsonl", &text, &Departures::default(), &mut |_| {}).expect("a report");
    assert_eq!(report.total().failed, 1);
}

#[test]
fn malformed_files_are_refused() {
    let check = |text: &str, expected: &str| {
        let mut fake = Fake::new(|_, _| Outcome::Answer(Value::Null));
        let error = replay(&mut fake, "f.jsonl", text, &Departures::default(), &mut |_| {})
            .expect_err("an error")
            .to_string();
        assert!(
            error.starts_with("f.jsonl") && error.contains(expected),
            "{error}"
        );
    };
    check("{", "EOF");
    check(
        r#"{"format": "vectors/2", "name": "g", "cases": []}"#,
        "unknown format",
    );
    check(&group(&json!({"op": "evaluate", "expect": {}})), "no `request`");
    check(&group(&json!({"op": "expandTilde", "expect": "/"})), "no `args`");
    check(
        &group(&json!({"op": "expandTilde", "args": ["~"], "expects": "/"})),
        "unknown field",
    );
    check(
        &group(&json!({"op": "expandTilde", "args": ["~"], "weakness": "new"})),
        "no rule says",
    );
    check(
        &group(&json!({"op": "construct", "safer": "x"})),
        "no rule says what the probe",
    );
}
