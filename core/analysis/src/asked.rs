//! A call that the engine is asked about.

use serde_json::Value;

use callgate_engine::bind::Call;
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
    pub(super) fn call<'v>(&'v self, tool: &'v Tool) -> Call<'v> {
        call(&tool.server, &tool.name, &self.arguments, self.context.as_ref())
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
