//! Calls that stand for others are what is said of them: cases in which the first that comes to mind is not.

use serde_json::Value;

use super::arbitrary::{self, Documents};
use crate::imagined::Imagined;
use crate::{Outcome, asked, check_invariants};
use callgate_engine::config::DocumentKind;

/// Each has documents, and statements with what is known of them.
const CASES: &str = include_str!("representatives.json");

#[test]
fn statements_are_proven_or_refuted_by_calls_that_are_what_they_stand_for() {
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let statements = case["statements"].as_array().unwrap();
        let each = statements.iter().map(|one| one["statement"].clone());
        let mut documents: Documents = vec![(DocumentKind::Invariants, each.collect())];
        let kinds = DocumentKind::ALL.iter();
        documents
            .extend(kinds.filter_map(|kind| Some((*kind, case["documents"].get(kind.as_str())?.clone()))));
        let engine = arbitrary::engine(&documents).unwrap();
        let found = check_invariants(&engine, None, &|_| {});
        for (statement, found) in statements.iter().zip(found) {
            let outcome = match &found.outcome {
                Outcome::Proven { .. } => "proven",
                Outcome::Refuted { call, decision, .. } => {
                    let text = |key: &str| call[key].as_str().unwrap();
                    let (server, tool) = (text("serverName"), text("toolName"));
                    let asked = asked::call(server, tool, &call["arguments"], call.get("context"));
                    let imagined = Imagined::new(&engine, None);
                    assert_eq!(imagined.judge(&asked).decision.as_str(), *decision, "{call}");
                    "refuted"
                }
                Outcome::Unknown { .. } => "unknown",
                Outcome::Empty => "empty",
            };
            if statement["expect"] != outcome {
                wrong.push(format!("{}: {}: {found:?}", case["name"], statement["statement"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
