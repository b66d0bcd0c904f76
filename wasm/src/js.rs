//! The face for JavaScript.
//!
//! Documents come in as JSON text, and what is asked for rarely goes out as JavaScript values. A call comes in as a few
//! bytes that the package writes into this module's memory ([`wire`] has the layout), and its verdict goes out as the
//! number of an object that the package has seen before, where the reason does not depend on the call.

mod approval;
mod engine;
mod host;
mod plain;
mod verdicts;
mod wire;

use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use approval::{check_approval, extract_whitelist_candidates, find_approval};
pub use engine::{WasmBuilder, WasmEngine};
pub use host::Callbacks;
pub use plain::*;

/// The memory of this module; another one after the package has replaced a broken instance.
#[wasm_bindgen(js_name = currentMemory)]
pub fn current_memory() -> JsValue {
    wasm_bindgen::memory()
}

/// The value as JavaScript's own: plain objects, `null` for what is not there.
fn to_js(value: &(impl Serialize + ?Sized)) -> JsValue {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    value.serialize(&serializer).unwrap_or(JsValue::NULL)
}
