//! What a call's surroundings say: the mode, the command, and what conditions look at.

use std::fmt;

use serde_json::Value;

use crate::document::{DocumentSource, load};
use crate::limits::Limits;

/// The context of one call, which the host gives and an agent never does.
///
/// As JSON it is `{mode, command, has_contract, contract_key, script_host_path, content_sha256, script_signature,
/// command_whitelist, session_mods, mod_name, host}`, each of them optional. What is not there, or of another type,
/// makes conditions fail and no more: a context cannot be faulty in a way that allows something.
#[derive(Clone, Default)]
pub struct Context {
    pub(crate) mode: Option<Box<str>>,
    pub(crate) command: Option<Box<str>>,
    pub(crate) has_contract: bool,
    pub(crate) contract_key: Option<Box<str>>,
    pub(crate) script_host_path: Option<Box<str>>,
    pub(crate) content_sha256: Option<Box<str>>,
    pub(crate) script_signature: Option<Box<str>>,
    pub(crate) command_whitelist: Vec<Box<str>>,
    /// The mounted mods that this call's session has; all of them where this is none.
    pub(crate) session_mods: Option<Vec<Box<str>>>,
    pub(crate) mod_name: Option<Box<str>>,
    /// What predicates of the host are handed as it is.
    pub(crate) host: Value,
}

impl Context {
    /// The context in a parsed document.
    pub fn from_value(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(Box::from);
        let texts = |key: &str| -> Option<Vec<Box<str>>> {
            let items = value.get(key)?.as_array().map(Vec::as_slice).unwrap_or_default();
            Some(items.iter().filter_map(Value::as_str).map(Box::from).collect())
        };
        Self {
            mode: text("mode"),
            command: text("command"),
            has_contract: value.get("has_contract") == Some(&Value::Bool(true)),
            contract_key: text("contract_key"),
            script_host_path: text("script_host_path"),
            content_sha256: text("content_sha256"),
            script_signature: text("script_signature"),
            command_whitelist: texts("command_whitelist").unwrap_or_default(),
            session_mods: texts("session_mods"),
            mod_name: text("mod_name"),
            host: value.get("host").cloned().unwrap_or_default(),
        }
    }

    /// The context in JSON text.
    ///
    /// # Errors
    /// Where the text is no object, or holds a key twice: what is wrong, for a person.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value = load(DocumentSource::Text(text), "context", &Limits::default(), |_| {
            false
        });
        let value = value.map_err(|faults| {
            faults
                .first()
                .map_or_else(String::new, |fault| fault.message.clone())
        })?;
        match &*value {
            Value::Object(_) => Ok(Self::from_value(&value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err("expected an object".to_owned())
            }
        }
    }

    /// The mode that the call is made in.
    pub(crate) fn mode(&self) -> Option<&str> {
        self.mode.as_deref().filter(|mode| !mode.is_empty())
    }

    /// The command that the call gives its tool.
    pub(crate) fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    /// Whether the session has that mounted mod.
    pub(crate) fn has_mod(&self, name: &str) -> bool {
        self.session_mods
            .as_ref()
            .is_none_or(|mods| mods.iter().any(|one| **one == *name))
    }
}

impl fmt::Debug for Context {
    /// Without keys, signatures and paths.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Context")
            .field("mode", &self.mode)
            .field("has_contract", &self.has_contract)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_of_another_type_is_not_there() {
        let context = Context::from_value(&json!({
            "mode": 1, "command": ["x"], "has_contract": "true", "command_whitelist": "ls", "session_mods": {"a": 1},
        }));
        assert!(context.mode.is_none() && context.command.is_none() && !context.has_contract);
        assert!(context.command_whitelist.is_empty());
        assert!(!context.has_mod("a"));
        assert!(Context::default().has_mod("a"));
        assert!(Context::from_value(&json!({"mode": ""})).mode().is_none());
    }

    #[test]
    fn text_is_read_strictly() {
        assert_eq!(
            Context::from_json(r#"{"mode": "m"}"#).unwrap().mode.as_deref(),
            Some("m")
        );
        for text in [r#"{"mode": "a", "mode": "b"}"#, "[]", "null", "{", ""] {
            assert!(Context::from_json(text).is_err(), "{text}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let context = Context::from_value(&json!({"contract_key": "s3cret", "script_host_path": "/srv/x"}));
        let shown = format!("{context:?}");
        assert!(!shown.contains("s3cret") && !shown.contains("/srv"), "{shown}");
    }
}
