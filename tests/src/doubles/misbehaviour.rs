//! A `realpath` that misbehaves.

use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_engine::host::{HostError, RealpathError};
use serde::Deserialize;
use serde_json::Value;

use super::realpath::Honest;

/// The ways in which `realpath` misbehaves, for the path `for` or for every path.
///
/// A typed callback cannot return a number, a promise or nothing at all; here that is a host error.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "mode", rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum Misbehaviour {
    /// Throws a file-system error with this code, or a value that is not an `Error` if there is no code.
    Throw {
        /// The path; every path if absent.
        #[serde(default, rename = "for")]
        path: Option<String>,
        /// The name of the `errno`.
        #[serde(default)]
        code: Option<String>,
        /// The value that is thrown instead of an error.
        #[serde(default)]
        value: Option<Value>,
    },
    /// Returns this value.
    Return {
        /// The path; every path if absent.
        #[serde(default, rename = "for")]
        path: Option<String>,
        /// The value.
        value: Value,
    },
    /// Returns nothing.
    Undefined {
        /// The path; every path if absent.
        #[serde(default, rename = "for")]
        path: Option<String>,
    },
    /// Returns a promise of the answer.
    Promise {
        /// The path; every path if absent.
        #[serde(default, rename = "for")]
        path: Option<String>,
    },
    /// Returns the answer with a string appended.
    Append {
        /// The path; every path if absent.
        #[serde(default, rename = "for")]
        path: Option<String>,
        /// The string.
        value: String,
    },
    /// Returns these answers in turn, then the last one for ever.
    Sequence {
        /// The path; every path if absent.
        #[serde(default, rename = "for")]
        path: Option<String>,
        /// The answers.
        values: Vec<String>,
    },
    /// Answers correctly, but has the engine evaluate another call meanwhile.
    Reenter {
        /// The path; every path if absent.
        #[serde(default, rename = "for")]
        path: Option<String>,
        /// The other call.
        request: Value,
    },
}

impl Misbehaviour {
    /// The tool call that is evaluated while `realpath` answers.
    ///
    /// A host does not know the engine, so the owner of both makes that call.
    pub(crate) fn reentrant_request(&self) -> Option<&Value> {
        let Self::Reenter { request, .. } = self else {
            return None;
        };
        Some(request)
    }

    /// A `realpath` that misbehaves in this way.
    pub(crate) fn realpath(self) -> impl Fn(&str, Honest<'_>) -> Result<String, RealpathError> + Send + Sync {
        let asked = AtomicUsize::new(0);
        move |path, honest| {
            if self.is_for(path) {
                self.answer(&asked, honest)
            } else {
                honest()
            }
        }
    }

    fn is_for(&self, asked: &str) -> bool {
        let path = match self {
            Self::Throw { path, .. }
            | Self::Return { path, .. }
            | Self::Undefined { path }
            | Self::Promise { path }
            | Self::Append { path, .. }
            | Self::Sequence { path, .. }
            | Self::Reenter { path, .. } => path,
        };
        path.as_deref().is_none_or(|path| path == asked)
    }

    fn answer(&self, asked: &AtomicUsize, honest: Honest<'_>) -> Result<String, RealpathError> {
        match self {
            Self::Throw { code, value, .. } => Err(match (code, value) {
                (Some(code), _) => error_of_code(code),
                (None, Some(value)) => host_error(format!("realpath threw {value}")),
                (None, None) => host_error("realpath threw"),
            }),
            Self::Return { value, .. } => match value {
                Value::String(path) => Ok(path.clone()),
                other => Err(host_error(format!("realpath answered {other}, expected a text"))),
            },
            Self::Undefined { .. } => Err(host_error("realpath answered nothing, expected a text")),
            Self::Promise { .. } => Err(host_error("realpath answered a promise, expected a text")),
            Self::Append { value, .. } => honest().map(|path| path + value),
            Self::Sequence { values, .. } => {
                let turn = asked.fetch_add(1, Ordering::Relaxed);
                match values.get(turn).or(values.last()) {
                    Some(path) => Ok(path.clone()),
                    None => honest(),
                }
            }
            Self::Reenter { .. } => honest(),
        }
    }
}

fn host_error(message: impl Into<String>) -> RealpathError {
    RealpathError::Host(HostError::new(message))
}

fn error_of_code(code: &str) -> RealpathError {
    match code {
        "ENOENT" | "ENOTDIR" => RealpathError::NotFound,
        "ELOOP" => RealpathError::Loop,
        "EACCES" | "EPERM" => RealpathError::Denied,
        "EILSEQ" => RealpathError::NotUtf8,
        _ => RealpathError::Other,
    }
}

#[cfg(test)]
mod tests {
    use callgate_engine::host::{Host as _, HostError};
    use callgate_host::VirtualHost;
    use serde_json::json;

    use super::super::WithRealpath;
    use super::*;

    fn honest() -> VirtualHost {
        let machine = json!({"home": "/", "cwd": "/", "fs": {"files": ["/f", "/g"]}});
        VirtualHost::from_value(&machine).expect("a machine")
    }

    #[test]
    fn realpath_misbehaves_as_told_and_only_there() {
        let check = |realpath: Value, expected: &[Result<&str, RealpathError>]| {
            let misbehaviour = Misbehaviour::deserialize(&realpath).expect("a misbehaviour");
            let host = WithRealpath::new(Box::new(honest()), misbehaviour.realpath());
            for answer in expected {
                let got = host.realpath("/f");
                match answer {
                    Err(RealpathError::Host(_)) => {
                        assert!(matches!(got, Err(RealpathError::Host(_))), "{got:?}")
                    }
                    other => assert_eq!(got.as_deref(), other.as_deref(), "{realpath}"),
                }
            }
            if realpath.get("for").is_some() {
                assert_eq!(host.realpath("/g"), Ok("/g".into()), "{realpath}");
            }
        };
        let failure = || Err(RealpathError::Host(HostError::new("")));
        check(
            json!({"mode": "throw", "code": "EACCES", "for": "/f"}),
            &[Err(RealpathError::Denied)],
        );
        check(
            json!({"mode": "throw", "code": "EBADE"}),
            &[Err(RealpathError::Other)],
        );
        check(
            json!({"mode": "throw", "value": {"decision": "allow"}, "for": "/f"}),
            &[failure()],
        );
        check(json!({"mode": "throw", "for": "/f"}), &[failure()]);
        check(json!({"mode": "return", "value": "", "for": "/f"}), &[Ok("")]);
        check(
            json!({"mode": "return", "value": ["/f"], "for": "/f"}),
            &[failure()],
        );
        check(json!({"mode": "undefined"}), &[failure()]);
        check(json!({"mode": "promise", "for": "/f"}), &[failure()]);
        check(
            json!({"mode": "append", "value": "/../x", "for": "/f"}),
            &[Ok("/f/../x"), Ok("/f/../x")],
        );
        check(
            json!({"mode": "sequence", "values": ["/a", "/b"], "for": "/f"}),
            &[Ok("/a"), Ok("/b"), Ok("/b")],
        );
        check(json!({"mode": "reenter", "request": {}}), &[Ok("/f")]);
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let unknown = Misbehaviour::deserialize(&json!({"mode": "append", "value": "x", "at": "/"}));
        assert!(unknown.expect_err("an error").to_string().contains("unknown"));
    }
}
