//! A `realpath` that does not do its duty.

use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_core::{HostError, RealpathError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tree::error_of_code;

/// What `realpath` does instead of answering: at the path `for`, or everywhere.
///
/// What a typed callback cannot do (give a number, a promise, nothing at all) is a host error here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "camelCase", deny_unknown_fields)]
pub enum Misbehaviour {
    /// It throws: an error of the file system with that code, else a value that is none.
    Throw {
        /// Where; everywhere when absent.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The `errno`'s name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// What is thrown instead of an error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// It gives this value.
    Return {
        /// Where; everywhere when absent.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// What is given.
        value: Value,
    },
    /// It gives nothing.
    Undefined {
        /// Where; everywhere when absent.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// It gives a promise of the answer.
    Promise {
        /// Where; everywhere when absent.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// It gives the answer with a text after it.
    Append {
        /// Where; everywhere when absent.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The text.
        value: String,
    },
    /// It gives these answers in turn, the last one for ever.
    Sequence {
        /// Where; everywhere when absent.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The answers.
        values: Vec<String>,
    },
    /// It answers rightly, but has the engine evaluate another call while it does.
    Reenter {
        /// Where; everywhere when absent.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The other call.
        request: Value,
    },
}

/// A misbehaviour and how often it was met.
#[derive(Debug)]
pub(super) struct Script {
    misbehaviour: Misbehaviour,
    asked: AtomicUsize,
}

impl Script {
    pub(super) fn new(misbehaviour: Misbehaviour) -> Self {
        Self {
            misbehaviour,
            asked: AtomicUsize::new(0),
        }
    }

    pub(super) fn is_for(&self, asked: &str) -> bool {
        let path = match &self.misbehaviour {
            Misbehaviour::Throw { path, .. }
            | Misbehaviour::Return { path, .. }
            | Misbehaviour::Undefined { path }
            | Misbehaviour::Promise { path }
            | Misbehaviour::Append { path, .. }
            | Misbehaviour::Sequence { path, .. }
            | Misbehaviour::Reenter { path, .. } => path,
        };
        path.as_deref().is_none_or(|path| path == asked)
    }

    pub(super) fn answer(
        &self,
        honest: impl FnOnce() -> Result<String, RealpathError>,
    ) -> Result<String, RealpathError> {
        match &self.misbehaviour {
            Misbehaviour::Throw { code, value, .. } => Err(match (code, value) {
                (Some(code), _) => error_of_code(code).unwrap_or(RealpathError::Other),
                (None, Some(value)) => host_error(format!("realpath threw {value}")),
                (None, None) => host_error("realpath threw"),
            }),
            Misbehaviour::Return { value, .. } => match value {
                Value::String(path) => Ok(path.clone()),
                other => Err(host_error(format!("realpath answered {other}, expected a text"))),
            },
            Misbehaviour::Undefined { .. } => Err(host_error("realpath answered nothing, expected a text")),
            Misbehaviour::Promise { .. } => Err(host_error("realpath answered a promise, expected a text")),
            Misbehaviour::Append { value, .. } => honest().map(|path| path + value),
            Misbehaviour::Sequence { values, .. } => {
                let turn = self.asked.fetch_add(1, Ordering::Relaxed);
                match values.get(turn).or(values.last()) {
                    Some(path) => Ok(path.clone()),
                    None => honest(),
                }
            }
            Misbehaviour::Reenter { .. } => honest(),
        }
    }
}

fn host_error(message: impl Into<String>) -> RealpathError {
    RealpathError::Host(HostError::new(message))
}
