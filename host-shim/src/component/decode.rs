//! The component's answers in this crate's types and the core's.

use std::borrow::Cow;

use callgate_engine::approval::Moment;
use callgate_engine::bind::CallError;
use callgate_engine::diagnostic::Diagnostic;
use callgate_engine::engine::{Audience, Paths};
use callgate_engine::judge::{Decision, Verdict};
use serde::de::DeserializeOwned;

use super::bindings::callgate::gate::types;
use crate::backend::{EngineFault, Request, Response, Unanswered};

impl From<&Request<'_>> for types::Request {
    fn from(request: &Request<'_>) -> Self {
        Self {
            call: request.call.text().into_owned(),
            context: request.call.context.map(str::to_owned),
            paths: match request.paths {
                Paths::Prepared => types::Paths::Prepared,
                Paths::Gate {
                    container_workspace_dir,
                } => types::Paths::Gate(container_workspace_dir.map(str::to_owned)),
            },
            explain: request.explain.map(|audience| match audience {
                Audience::Operator => types::Audience::Operator,
                Audience::Agent => types::Audience::Agent,
            }),
            approvals: request.approvals.map(|given| {
                // Approvals for other tools need not cross.
                let approvals = match request.call.read() {
                    Ok(call) => &given.approvals.of_tool(call.server(), call.tool()),
                    Err(_) => given.approvals,
                };
                types::Approving {
                    document: approvals.to_json(),
                    now: given.now.map(Moment::as_millis),
                }
            }),
        }
    }
}

pub(super) fn response(response: types::Response) -> Result<Response, EngineFault> {
    Ok(Response {
        verdict: verdict(response.verdict),
        arguments: response.arguments,
        explanation: response.explanation.map(|text| json(&text)).transpose()?,
    })
}

/// The answer, unless something that was asked for is missing in it. Whoever is allowed a call and has no prepared arguments
/// would send those that were not judged.
pub(super) fn complete(request: &Request<'_>, response: Response) -> Result<Response, EngineFault> {
    let is_gated = matches!(request.paths, Paths::Gate { .. });
    let is_sent = response.verdict.decision != Decision::Deny;
    let lacks_arguments = is_gated && is_sent && response.arguments.is_none();
    let lacks_explanation = request.explain.is_some() && response.explanation.is_none();
    match lacks_arguments || lacks_explanation {
        true => Err(EngineFault::Failed),
        false => Ok(response),
    }
}

fn verdict(verdict: types::Verdict) -> Verdict<'static> {
    Verdict {
        decision: match verdict.decision {
            types::Decision::Allow => Decision::Allow,
            types::Decision::Escalate(roles) => {
                Decision::Escalate(roles.into_iter().map(Cow::Owned).collect())
            }
            types::Decision::Deny => Decision::Deny,
        },
        rule: Cow::Owned(verdict.rule),
        reason: Cow::Owned(verdict.reason),
        approval: verdict.approval.map(String::into_boxed_str),
    }
}

pub(super) fn call_error(error: types::TextError) -> CallError {
    let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
    CallError {
        line: count(error.line),
        column: count(error.column),
        message: error.message,
    }
}

pub(super) fn unanswered(error: types::WorldError) -> Unanswered {
    match error {
        types::WorldError::NoWorld => Unanswered::NoWorld,
        types::WorldError::Context(why) => Unanswered::Context(why),
    }
}

pub(super) fn diagnostics(text: &str) -> Result<Vec<Diagnostic>, EngineFault> {
    json(text)
}

/// A component that answers with other JSON than the contract has failed.
pub(super) fn json<T: DeserializeOwned>(text: &str) -> Result<T, EngineFault> {
    serde_json::from_str(text).map_err(|_| EngineFault::Failed)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const CALL: &str = r#"{"serverName": "s", "toolName": "t"}"#;

    fn answered(
        decision: Decision<'static>,
        arguments: Option<&str>,
        explanation: Option<Value>,
    ) -> Response {
        Response {
            verdict: Verdict {
                decision,
                rule: "r".into(),
                reason: "".into(),
                approval: None,
            },
            arguments: arguments.map(str::to_owned),
            explanation,
        }
    }

    #[test]
    fn an_answer_without_what_was_asked_for_is_a_fault() {
        let gated = Request::gate(CALL);
        let allowed = || answered(Decision::Allow, Some("{}"), None);
        assert_eq!(complete(&gated, allowed()), Ok(allowed()));
        let denied = || answered(Decision::Deny, None, None);
        assert_eq!(complete(&gated, denied()), Ok(denied()));
        for decision in [Decision::Allow, Decision::Escalate(Vec::new())] {
            let bare = || answered(decision.clone(), None, None);
            assert_eq!(complete(&gated, bare()), Err(EngineFault::Failed));
            assert_eq!(complete(&Request::prepared(CALL), bare()), Ok(bare()));
        }
        let explained = Request::prepared(CALL).explained(Audience::Operator);
        assert_eq!(complete(&explained, denied()), Err(EngineFault::Failed));
        let whole = || answered(Decision::Deny, None, Some(Value::Null));
        assert_eq!(complete(&explained, whole()), Ok(whole()));
    }
}
