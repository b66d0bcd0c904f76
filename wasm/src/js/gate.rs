//! The gate.
//!
//! A call comes in as a few bytes that the package writes into this module's memory ([`wire`] has the layout). Its verdict goes
//! out as a number if the reason does not depend on the call, so that the package can reuse the object of an earlier verdict.
//! Rare answers go out as JavaScript values.

mod answer;
mod approval;
mod engine;
mod verdicts;
mod wire;

use callgate_engine::document;
use callgate_engine::world::Context;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::values::to_js;

pub use approval::{add_approval, parse_moment, read_approvals};
pub use engine::{WasmBuilder, WasmEngine};

/// A document's text as JSON: spaces stand for comments and trailing commas.
#[wasm_bindgen(js_name = withoutComments)]
pub fn without_comments(text: &str) -> String {
    document::without_comments(text).into_owned()
}

/// The diagnostic of a key at `path` that is not one of the known ones.
#[wasm_bindgen(js_name = unknownKey)]
pub fn unknown_key(path: &str, key: &str, known: Vec<String>) -> JsValue {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    to_js(&document::unknown_key(path, key, &known))
}

/// Why the text is not a context; `undefined` if it is one.
#[wasm_bindgen(js_name = faultOfContext)]
pub fn fault_of_context(text: &str) -> Option<String> {
    Context::from_json(text).err()
}
