//! A call that the engine is asked about, and what it says.

use serde::Serialize;
use serde_json::{Map, Value};

use callgate_engine::bind::Call;
use callgate_engine::judge::Verdict;
use callgate_engine::program::Tool;
use callgate_engine::world::Context;

/// The arguments of a call, and the context that the host gives with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) arguments: Value,
    /// `None` where nothing depends on it, and where the host says nothing.
    pub(super) context: Option<Value>,
}

impl Asked {
    /// Without an argument, and without a context.
    pub(super) fn empty() -> Self {
        Self {
            arguments: Value::Object(Map::new()),
            context: None,
        }
    }

    pub(super) fn call<'v>(&'v self, tool: &'v Tool) -> Call<'v> {
        call(&tool.server, &tool.name, &self.arguments, self.context.as_ref())
    }
}

/// A decision and the rule that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// `allow`, `escalate` or `deny`.
    pub decision: &'static str,
    /// The rule.
    pub rule: String,
    /// The layer whose verdict it is, where there are several; `None` too where they would send different texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
}

impl Judged {
    pub(super) fn new(verdict: &Verdict<'_>, layer: Option<&str>) -> Self {
        Self {
            decision: verdict.decision.as_str(),
            rule: verdict.rule.to_string(),
            layer: layer.map(str::to_owned),
        }
    }
}

/// The call with these arguments, in this context.
pub(super) fn call<'v>(
    server: &'v str,
    tool: &'v str,
    arguments: &'v Value,
    context: Option<&Value>,
) -> Call<'v> {
    let call = Call::from_value(server, tool, arguments);
    match context {
        Some(context) => call.within(Context::from_value(context)),
        None => call,
    }
}

/// The call as JSON, as it is written in scenarios and read by the command.
pub(super) fn written(server: &str, tool: &str, arguments: &Value, context: Option<&Value>) -> Value {
    let mut call = serde_json::json!({"serverName": server, "toolName": tool, "arguments": arguments});
    if let (Value::Object(members), Some(context)) = (&mut call, context) {
        members.insert("context".to_owned(), context.clone());
    }
    call
}
