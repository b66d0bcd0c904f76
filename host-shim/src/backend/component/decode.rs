//! The component's answers in this crate's types and the core's.

use std::borrow::Cow;

use callgate_core::{Audience, CallError, Decision, Diagnostic, Moment, Paths, Verdict};
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
