//! The core's answers in the types of the contract.

use callgate_engine::bind;
use callgate_engine::engine;
use callgate_engine::host;
use callgate_engine::judge;
use std::borrow::Cow;

use serde::Serialize;

use super::types;

impl From<judge::Verdict<'_>> for types::Verdict {
    fn from(verdict: judge::Verdict<'_>) -> Self {
        let owned = |roles: Vec<Cow<'_, str>>| roles.into_iter().map(Cow::into_owned).collect();
        Self {
            decision: match verdict.decision {
                judge::Decision::Allow => types::Decision::Allow,
                judge::Decision::Escalate(roles) => types::Decision::Escalate(owned(roles)),
                judge::Decision::Deny => types::Decision::Deny,
            },
            rule: verdict.rule.into_owned(),
            reason: verdict.reason.into_owned(),
            approval: verdict.approval.map(String::from),
        }
    }
}

impl From<engine::Response<'_, '_>> for types::Response {
    fn from(response: engine::Response<'_, '_>) -> Self {
        Self {
            arguments: response.arguments(),
            explanation: response.explanation.as_ref().map(json),
            verdict: response.verdict.into(),
        }
    }
}

impl From<host::HostError> for types::HostError {
    fn from(error: host::HostError) -> Self {
        Self {
            message: error.message,
        }
    }
}

impl From<bind::CallError> for types::TextError {
    fn from(error: bind::CallError) -> Self {
        Self {
            line: count(error.line),
            column: count(error.column),
            message: error.message,
        }
    }
}

/// JSON text. Everything that is written here has text as its keys, so writing it cannot fail; if it did, the instance
/// would end and the call be denied.
pub(super) fn json(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(text) => text,
        Err(error) => panic!("an answer is not JSON: {error}"),
    }
}

/// In a module of 32 bits no count is larger.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
