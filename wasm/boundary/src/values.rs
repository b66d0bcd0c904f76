//! Answers as JavaScript values.

use callgate_engine::diagnostic::Diagnostic;
use serde::Serialize;
use wasm_bindgen::JsValue;

/// The value as plain JavaScript objects, with `null` for `None`.
pub fn to_js(value: &(impl Serialize + ?Sized)) -> JsValue {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    value.serialize(&serializer).unwrap_or(JsValue::NULL)
}

/// Thrown as a message.
pub fn to_js_error(error: impl ToString) -> JsValue {
    JsValue::from_str(&error.to_string())
}

/// Thrown as `{message, diagnostics}`.
pub fn refusal(error: &impl ToString, diagnostics: &[Diagnostic]) -> JsValue {
    #[derive(Serialize)]
    struct Refusal<'d> {
        message: String,
        diagnostics: &'d [Diagnostic],
    }
    to_js(&Refusal {
        message: error.to_string(),
        diagnostics,
    })
}
