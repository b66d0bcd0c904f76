//! Compares an outcome with what a case demands.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compare::is_verdict;
use crate::subject::{Operation, Outcome};

/// The demand of a case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Must {
    /// A denial, an escalation or a typed error.
    NotAllow,
    /// A denial or a typed error.
    Deny,
    /// A typed error.
    Error,
    /// A verdict or a typed error.
    NoCrash,
    /// That verdict.
    Decision(Decision),
}

/// The decision of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Decision {
    Allow,
    Escalate,
    Deny,
}

/// Returns `true` if `outcome` is what `must` demands. The answer `null`, from a step that evaluates nothing, only shows
/// that nothing crashed.
pub(super) fn met(must: &Must, outcome: &Outcome) -> bool {
    let decision = match outcome {
        Outcome::Fault(_) => return false,
        Outcome::Refused(_) => return !matches!(must, Must::Decision(_)),
        Outcome::Answer(Value::Null) => return *must == Must::NoCrash,
        Outcome::Answer(answer) => match decision(answer) {
            Some(decision) => decision,
            None => return false,
        },
    };
    match must {
        Must::NotAllow => decision != Decision::Allow,
        Must::Deny => decision == Decision::Deny,
        Must::Error => false,
        Must::NoCrash => true,
        Must::Decision(expected) => decision == *expected,
    }
}

/// The decision of a verdict, or of the verdict in a gate's answer.
fn decision(answer: &Value) -> Option<Decision> {
    let verdict = answer.get("verdict").unwrap_or(answer);
    if !is_verdict(verdict) {
        return None;
    }
    Decision::deserialize(&verdict["decision"]).ok()
}

/// A call with the arguments that a gate forwards.
pub(super) struct Forwarded {
    request: Value,
}

/// The call that was forwarded, if a gate allowed `operation`.
pub(super) fn forwarded_again(operation: &Operation, outcome: &Outcome) -> Option<Forwarded> {
    let (Operation::Gate { request, .. }, Outcome::Answer(answer)) = (operation, outcome) else {
        return None;
    };
    if decision(answer) != Some(Decision::Allow) {
        return None;
    }
    let mut request: Value = serde_json::from_str(request).ok()?;
    request["arguments"] = answer.get("argsForTransport")?.clone();
    Some(Forwarded { request })
}

impl Forwarded {
    /// Gates and judges the forwarded call.
    pub(super) fn operations(&self) -> Vec<Operation> {
        let request = self.request.to_string();
        let gate = Operation::Gate {
            request: request.clone(),
            container_workspace_dir: None,
        };
        vec![gate, Operation::Evaluate { request, times: 1 }]
    }
}

/// Returns `true` if the forwarded call is canonical and is what was judged: gated again, it is allowed and stays the
/// same; judged without preparation, it is allowed too.
pub(super) fn is_settled(forwarded: &Forwarded, outcomes: &[Outcome]) -> bool {
    let [Outcome::Answer(gated), Outcome::Answer(evaluated)] = outcomes else {
        return false;
    };
    gated.get("argsForTransport") == forwarded.request.get("arguments")
        && decision(gated) == Some(Decision::Allow)
        && decision(evaluated) == Some(Decision::Allow)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict(decision: &str) -> Value {
        json!({"decision": decision, "rule": "r", "reason": "because"})
    }

    #[test]
    fn demands_are_met_by_what_they_name() {
        let outcomes = [
            Outcome::Answer(verdict("allow")),
            Outcome::Answer(json!({"verdict": verdict("escalate"), "argsForTransport": {}})),
            Outcome::Answer(verdict("deny")),
            Outcome::Refused("a document".to_owned()),
            Outcome::Fault("a panic".to_owned()),
            Outcome::Answer(json!({"decision": "deny"})),
            Outcome::Answer(Value::Null),
        ];
        let check = |must: &str, expected: [bool; 7]| {
            let must: Must = serde_json::from_str(must).expect("a demand");
            assert_eq!(
                outcomes.each_ref().map(|outcome| met(&must, outcome)),
                expected,
                "{must:?}"
            );
        };
        check(r#""not-allow""#, [false, true, true, true, false, false, false]);
        check(r#""deny""#, [false, false, true, true, false, false, false]);
        check(r#""error""#, [false, false, false, true, false, false, false]);
        check(r#""no-crash""#, [true, true, true, true, false, false, true]);
        check(
            r#"{"decision": "allow"}"#,
            [true, false, false, false, false, false, false],
        );
        check(
            r#"{"decision": "escalate"}"#,
            [false, true, false, false, false, false, false],
        );
    }

    #[test]
    fn what_is_forwarded_must_settle() {
        let gate = Operation::Gate {
            request: r#"{"serverName":"s","toolName":"t","arguments":{"path":"/a/../b"}}"#.to_owned(),
            container_workspace_dir: None,
        };
        let gated = |decision: &str, path: &str| {
            Outcome::Answer(json!({"verdict": verdict(decision), "argsForTransport": {"path": path}}))
        };
        assert!(forwarded_again(&gate, &gated("deny", "/b")).is_none());
        let again = forwarded_again(&gate, &gated("allow", "/b")).expect("a call");
        let check = |second: Outcome, judged: &str, expected: bool| {
            let outcomes = [second, Outcome::Answer(verdict(judged))];
            assert_eq!(is_settled(&again, &outcomes), expected);
        };
        check(gated("allow", "/b"), "allow", true);
        check(gated("allow", "/c"), "allow", false);
        check(gated("deny", "/b"), "allow", false);
        check(gated("allow", "/b"), "deny", false);
        check(Outcome::Fault(String::new()), "allow", false);
    }
}
