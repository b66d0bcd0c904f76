//! What the core says, in the types of the contract.

use std::borrow::Cow;

use callgate_core::{self as core, Code, Severity};

use super::types;

impl From<core::Verdict<'_>> for types::Verdict {
    fn from(verdict: core::Verdict<'_>) -> Self {
        let owned = |roles: Vec<Cow<'_, str>>| roles.into_iter().map(Cow::into_owned).collect();
        Self {
            decision: match verdict.decision {
                core::Decision::Allow => types::Decision::Allow,
                core::Decision::Escalate(roles) => types::Decision::Escalate(owned(roles)),
                core::Decision::Deny => types::Decision::Deny,
            },
            rule: verdict.rule.into_owned(),
            reason: verdict.reason.into_owned(),
        }
    }
}

impl From<core::HostError> for types::HostError {
    fn from(error: core::HostError) -> Self {
        Self {
            message: error.message,
        }
    }
}

impl From<core::CallError> for types::TextError {
    fn from(error: core::CallError) -> Self {
        Self {
            line: count(error.line),
            column: count(error.column),
            message: error.message,
        }
    }
}

impl From<serde_json::Error> for types::TextError {
    fn from(error: serde_json::Error) -> Self {
        Self {
            line: count(error.line()),
            column: count(error.column()),
            message: error.to_string(),
        }
    }
}

impl From<&core::Diagnostic> for types::Diagnostic {
    fn from(diagnostic: &core::Diagnostic) -> Self {
        Self {
            code: code(diagnostic.code),
            severity: match diagnostic.severity {
                Severity::Warning => types::Severity::Warning,
                Severity::Error => types::Severity::Error,
            },
            path: diagnostic.path.clone(),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
        }
    }
}

pub(super) fn diagnostics(found: &[core::Diagnostic]) -> Vec<types::Diagnostic> {
    found.iter().map(types::Diagnostic::from).collect()
}

/// A count; in a module of 32 bits no count is larger.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

macro_rules! codes {
    ($($name:ident)+) => {
        fn code(code: Code) -> types::Code {
            match code { $(Code::$name => types::Code::$name,)+ }
        }
    };
}

codes! {
    Syntax DuplicateKey Limit MissingField WrongType UnknownValue UnknownRole UnknownKey InvalidValue DuplicateTool
    InvalidPath NeverMatches EmptyCondition WideningCondition MissingList ListType UnusedList WildcardList
    RepeatedCommand OneSidedPlace Overridden MissingRoute Unbound
}
