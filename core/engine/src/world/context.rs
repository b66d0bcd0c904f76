//! The context of a call: the mode, the command, and the inputs of conditions.

use std::fmt;

use serde_json::Value;

use crate::document::load_json;
use crate::limits::Limits;
use crate::model::Caller;
use crate::table::Set;

/// Bytes of the longest name of who asks.
const NAME: usize = 256;

/// The context of one call. It comes from the host, never from an agent.
///
/// Its JSON is `{mode, command, subject, agent, session, counts, has_contract, contract_key, script_host_path, content_sha256,
/// script_signature, command_whitelist, session_mods, mod_name, host}`, all optional. A missing member or one of the wrong type only
/// makes conditions fail, so a faulty context never allows anything.
#[derive(Clone, Default)]
pub struct Context {
    pub mode: Option<Box<str>>,
    pub command: Option<Box<str>>,
    pub(crate) subject: Option<Box<str>>,
    pub(crate) agent: Option<Box<str>>,
    pub(crate) session: Option<Box<str>>,
    counts: Value,
    pub(crate) has_contract: bool,
    pub(crate) contract_key: Option<Box<str>>,
    pub(crate) script_host_path: Option<Box<str>>,
    pub(crate) content_sha256: Option<Box<str>>,
    pub(crate) script_signature: Option<Box<str>>,
    pub(crate) command_whitelist: Vec<Box<str>>,
    /// Mods mounted in this session; `None` means all of them.
    pub session_mods: Option<Set<Box<str>>>,
    pub(crate) mod_name: Option<Box<str>>,
    /// Passed unchanged to the host's predicates.
    pub host: Value,
}

impl Context {
    /// The context of a call about which the host says nothing.
    pub const EMPTY: &'static Self = &Self {
        mode: None,
        command: None,
        subject: None,
        agent: None,
        session: None,
        counts: Value::Null,
        has_contract: false,
        contract_key: None,
        script_host_path: None,
        content_sha256: None,
        script_signature: None,
        command_whitelist: Vec::new(),
        session_mods: None,
        mod_name: None,
        host: Value::Null,
    };

    /// Reads the context from a JSON value.
    pub fn from_value(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(Box::from);
        // What names nobody says nothing.
        let name = |key: &str| {
            let text = value.get(key).and_then(Value::as_str)?;
            let is_name = !text.is_empty() && text.len() <= NAME && !text.contains(char::is_control);
            is_name.then(|| Box::from(text))
        };
        let list = |key: &str| {
            let items = value.get(key)?.as_array().map(Vec::as_slice).unwrap_or_default();
            Some(items.iter().filter_map(Value::as_str).map(Box::from))
        };
        Self {
            mode: text("mode"),
            command: text("command"),
            subject: name("subject"),
            agent: name("agent"),
            session: name("session"),
            counts: value.get("counts").cloned().unwrap_or_default(),
            has_contract: value.get("has_contract") == Some(&Value::Bool(true)),
            contract_key: text("contract_key"),
            script_host_path: text("script_host_path"),
            content_sha256: text("content_sha256"),
            script_signature: text("script_signature"),
            command_whitelist: list("command_whitelist").into_iter().flatten().collect(),
            session_mods: list("session_mods").map(Iterator::collect),
            mod_name: text("mod_name"),
            host: value.get("host").cloned().unwrap_or_default(),
        }
    }

    /// Reads the context from JSON text.
    ///
    /// # Errors
    /// A message for a person, if the text is not an object or has a duplicate key.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value = load_json(text, "context", &Limits::default());
        let value = value.map_err(|faults| {
            faults
                .first()
                .map_or_else(String::new, |fault| fault.message.clone())
        })?;
        match &value {
            Value::Object(_) => Ok(Self::from_value(&value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err("expected an object".to_owned())
            }
        }
    }

    pub fn mode(&self) -> Option<&str> {
        self.mode.as_deref().filter(|mode| !mode.is_empty())
    }

    pub fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    /// Who asks, in this respect; `None` if nobody says so.
    pub fn caller(&self, respect: Caller) -> Option<&str> {
        let name = match respect {
            Caller::Subject => &self.subject,
            Caller::Agent => &self.agent,
            Caller::Session => &self.session,
        };
        name.as_deref()
    }

    /// How many calls a counter has counted; `None` if nobody says so.
    pub fn count(&self, counter: &str) -> Option<u64> {
        self.counts.get(counter).and_then(Value::as_u64)
    }

    /// Returns `true` if this mod is mounted in the session.
    pub fn has_mod(&self, name: &str) -> bool {
        self.session_mods.as_ref().is_none_or(|mods| mods.contains(name))
    }
}

impl fmt::Debug for Context {
    /// Omits keys, signatures and paths.
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
        for name in [
            json!(1),
            json!(""),
            json!("a\nb"),
            json!("x".repeat(257)),
            json!(["a"]),
        ] {
            let context = Context::from_value(&json!({"subject": name}));
            assert_eq!(context.caller(Caller::Subject), None, "{name}");
        }
        let counts = json!({"counts": {"a": 0, "b": 2, "c": -1, "d": 1.5, "e": "1", "f": null}});
        let context = Context::from_value(&counts);
        assert_eq!([context.count("a"), context.count("b")], [Some(0), Some(2)]);
        for unsaid in ["c", "d", "e", "f", "g"] {
            assert_eq!(context.count(unsaid), None, "{unsaid}");
        }
        assert_eq!(Context::from_value(&json!({"counts": [1]})).count("0"), None);
        let context = Context::from_value(&json!({"subject": "x".repeat(256), "agent": "a b"}));
        assert!(context.caller(Caller::Subject).is_some() && context.caller(Caller::Session).is_none());
        assert_eq!(context.caller(Caller::Agent), Some("a b"));
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
