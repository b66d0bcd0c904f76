//! The guard's own messages to a client or a server.

use callgate_engine::judge::Verdict;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::message::{Id, text_of};

/// JSON-RPC's codes.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const INVALID_PARAMS: i32 = -32602;
pub(super) const INTERNAL_ERROR: i32 = -32603;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;

/// MCP's code for a header that says something else than the message.
pub(super) const HEADER_MISMATCH: i32 = -32020;

/// Which shape results have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// To revision 2025-11-25: begun by `initialize`.
    Handshake,
    /// From revision 2026-07-28: each request says its revision.
    Modern,
}

impl Era {
    /// The era of a request with these params.
    pub(super) fn of(params: Option<&RawValue>) -> Self {
        match declared(params) {
            Some(_) => Self::Modern,
            None => Self::Handshake,
        }
    }
}

/// The revision that a request of the modern era says, as it is written where it is not a text.
pub(super) fn revision_of(params: Option<&RawValue>) -> Option<String> {
    let declared = declared(params)?;
    Some(text_of(Some(declared)).unwrap_or_else(|| declared.get().to_owned()))
}

fn declared(params: Option<&RawValue>) -> Option<&RawValue> {
    #[derive(serde::Deserialize)]
    struct Params<'m> {
        #[serde(borrow, rename = "_meta")]
        meta: Option<Meta<'m>>,
    }
    #[derive(serde::Deserialize)]
    struct Meta<'m> {
        #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
        revision: Option<&'m RawValue>,
    }
    let params: Params<'_> = serde_json::from_str(params?.get()).ok()?;
    params.meta?.revision
}

/// An answer that is an error. The id is JSON; a message whose id cannot be read is answered with null.
pub(super) fn error(id: Option<&str>, code: i32, message: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{}}}"#,
        id.unwrap_or("null"),
        json!({"code": code, "message": message})
    )
}

/// An answer with a result.
pub(super) fn result(id: &Id, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.json)
}

/// A request of the guard's own.
pub(super) fn request(id: &Id, method: &str, params: &Value) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#,
        id.json
    )
}

/// The `_meta` of a request of the guard's own in the modern era.
pub(super) fn own_meta(revision: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": {"name": "callgate", "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Tells a client that the list of tools has changed, on a subscription of the modern era or without one.
pub(super) fn list_changed(subscription: Option<&Id>) -> String {
    const METHOD: &str = "notifications/tools/list_changed";
    match subscription {
        Some(id) => format!(
            r#"{{"jsonrpc":"2.0","method":"{METHOD}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}}}}}"#,
            id.json
        ),
        None => format!(r#"{{"jsonrpc":"2.0","method":"{METHOD}"}}"#),
    }
}

/// Takes a request of the guard's own back.
pub(super) fn cancelled(request: &Id) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{},"reason":"the question was answered, or the call was cancelled"}}}}"#,
        request.json
    )
}

/// The answer to a call that is not allowed: a result, so that the model reads it and can do otherwise.
pub(super) fn denial(id: &Id, era: Era, verdict: &Verdict<'_>, advice: &str) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Denial {
        #[serde(skip_serializing_if = "Option::is_none")]
        result_type: Option<&'static str>,
        content: [Value; 1],
        is_error: bool,
        #[serde(rename = "_meta")]
        meta: Value,
    }
    let decision = verdict.decision.as_str();
    let text = format!(
        "Callgate did not let this call through ({decision} by rule `{}`): {}{advice}",
        verdict.rule, verdict.reason
    );
    let result = Denial {
        result_type: (era == Era::Modern).then_some("complete"),
        content: [json!({"type": "text", "text": text})],
        is_error: true,
        meta: json!({"callgate/decision": decision, "callgate/rule": verdict.rule}),
    };
    // A structure of texts is always JSON.
    let result = serde_json::to_string(&result).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.json)
}
