//! What the component says, in this crate's types and the core's.

use callgate_core::{CallError, Code, Diagnostic, Severity};

use super::bindings::callgate::gate::types;
use crate::gate::{Decision, Gated, Verdict};

impl From<types::Verdict> for Verdict {
    fn from(verdict: types::Verdict) -> Self {
        Self {
            decision: match verdict.decision {
                types::Decision::Allow => Decision::Allow,
                types::Decision::Escalate(roles) => Decision::Escalate(roles),
                types::Decision::Deny => Decision::Deny,
            },
            rule: verdict.rule,
            reason: verdict.reason,
        }
    }
}

impl From<types::Gated> for Gated {
    fn from(gated: types::Gated) -> Self {
        Self {
            verdict: gated.verdict.into(),
            args_for_transport: gated.args_for_transport,
        }
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

pub(super) fn diagnostics(found: &[types::Diagnostic]) -> Vec<Diagnostic> {
    found.iter().map(diagnostic).collect()
}

fn diagnostic(diagnostic: &types::Diagnostic) -> Diagnostic {
    Diagnostic {
        code: code(diagnostic.code),
        severity: match diagnostic.severity {
            types::Severity::Warning => Severity::Warning,
            types::Severity::Error => Severity::Error,
        },
        path: diagnostic.path.clone(),
        message: diagnostic.message.clone(),
        help: diagnostic.help.clone(),
    }
}

macro_rules! codes {
    ($($name:ident)+) => {
        fn code(code: types::Code) -> Code {
            match code { $(types::Code::$name => Code::$name,)+ }
        }
    };
}

codes! {
    Syntax DuplicateKey Limit MissingField WrongType UnknownValue UnknownRole UnknownKey InvalidValue DuplicateTool
    InvalidPath NeverMatches EmptyCondition WideningCondition MissingList ListType UnusedList WildcardList
    RepeatedCommand OneSidedPlace Overridden MissingRoute Unbound
}
