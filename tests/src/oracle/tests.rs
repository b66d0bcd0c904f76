use std::path::Path;

use super::*;
use crate::hosts::NativeSubject;

fn questions(seed: u64) -> Questions {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("configuration/approvals.jsonl");
    Questions::new(&[file], seed).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_seed_asks_the_same_questions() {
    let first: Vec<Batch> = questions(7).take(20).collect();
    assert_eq!(questions(7).take(20).collect::<Vec<_>>(), first);
    assert_ne!(questions(8).take(20).collect::<Vec<_>>(), first);
}

#[test]
fn a_batch_is_the_same_on_the_other_side() {
    for batch in questions(1).take(20) {
        let line = serde_json::to_string(&batch).expect("a batch is JSON");
        assert_eq!(
            serde_json::from_str::<Batch>(&line).expect("it is a batch"),
            batch
        );
    }
}

#[test]
fn the_questions_are_worth_asking() {
    let mut compared = Compared::default();
    for batch in questions(1).take(100) {
        for (operation, answer) in batch.operations.iter().zip(NativeSubject.run(&batch)) {
            compared.count(operation, &answer);
        }
    }
    for decision in ["allow", "deny", "escalate"] {
        let count = compared
            .verdicts
            .iter()
            .filter(|(row, _)| row.starts_with(decision));
        assert!(count.map(|(_, count)| count).sum::<usize>() > 20, "{compared:?}");
    }
}

#[test]
fn another_order_of_members_is_a_difference() {
    let answer = |text: &str| Outcome::Answer(serde_json::from_str(text).expect("it is JSON"));
    assert!(is_same(&answer(r#"{"a":1,"b":2}"#), &answer(r#"{"a":1,"b":2}"#)));
    assert!(!is_same(&answer(r#"{"a":1,"b":2}"#), &answer(r#"{"b":2,"a":1}"#)));
    assert!(!is_same(&answer("1"), &Outcome::Refused("no".to_owned())));
}

#[test]
fn an_exception_covers_its_own_differences_alone() {
    let exception: Exception = serde_json::from_str(
        r#"{"why": "w", "before": {"decision": "escalate", "rule": "r"}, "after": {"decision": "deny"}, "documents": "\"key\""}"#,
    )
    .expect("it is an exception");
    let value = |decision: &str, rule: &str| serde_json::json!({"decision": decision, "rule": rule});
    let verdict = |decision: &str, rule: &str| Outcome::Answer(value(decision, rule));
    let gated = Outcome::Answer(serde_json::json!({"verdict": value("escalate", "r"), "arguments": {}}));
    let documents = r#"{"key": 1}"#;
    assert!(exception.covers(documents, &verdict("escalate", "r"), &verdict("deny", "x")));
    assert!(exception.covers(documents, &gated, &verdict("deny", "x")));
    assert!(!exception.covers(documents, &verdict("escalate", "other"), &verdict("deny", "x")));
    assert!(!exception.covers(documents, &verdict("escalate", "r"), &verdict("allow", "x")));
    assert!(!exception.covers("{}", &gated, &verdict("deny", "x")));
    assert!(!exception.covers(
        documents,
        &Outcome::Refused("unknown key".to_owned()),
        &verdict("deny", "x")
    ));
}

#[test]
fn documents_that_the_other_build_refused_are_excepted_by_their_text() {
    let exception: Exception = serde_json::from_str(r#"{"why": "w", "documents": "newer", "refused": true}"#)
        .expect("it is an exception");
    let refused = Outcome::Refused("unknown key `newer`".to_owned());
    let answer = Outcome::Answer(serde_json::json!({"decision": "allow", "rule": "r"}));
    assert!(exception.covers(r#"{"newer": 1}"#, &refused, &answer));
    assert!(!exception.covers(r#"{"older": 1}"#, &refused, &answer));
    assert!(!exception.covers(r#"{"newer": 1}"#, &answer, &refused));
}
