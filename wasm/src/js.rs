//! The face for JavaScript.
//!
//! Documents come in as JSON text, and rare answers go out as JavaScript values. A call comes in as a few bytes that the
//! package writes into this module's memory ([`wire`] has the layout). Its verdict goes out as a number if the reason
//! does not depend on the call, so that the package can reuse the object of an earlier verdict.

mod answer;
mod approval;
mod engine;
mod host;
mod plain;
mod verdicts;
mod wire;

use callgate_core::Diagnostic;
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use answer::fault_of_context;
pub use approval::{add_approval, check_approval, parse_moment, read_approvals};
pub use engine::{WasmBuilder, WasmEngine};
pub use host::{Callbacks, WasmHost};
pub use plain::*;

/// The memory of this module. After the package has replaced a broken instance it is another one.
#[wasm_bindgen(js_name = currentMemory)]
pub fn current_memory() -> JsValue {
    wasm_bindgen::memory()
}

/// The value as plain JavaScript objects, with `null` for `None`.
fn to_js(value: &(impl Serialize + ?Sized)) -> JsValue {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    value.serialize(&serializer).unwrap_or(JsValue::NULL)
}

/// Thrown as a message.
fn to_js_error(error: impl ToString) -> JsValue {
    JsValue::from_str(&error.to_string())
}

/// Thrown as `{message, diagnostics}`.
fn refusal(error: &impl ToString, diagnostics: &[Diagnostic]) -> JsValue {
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
