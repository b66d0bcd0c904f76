//! The engine's face for JavaScript.
//!
//! Documents come in as JSON text. A call comes in as a few bytes that the package writes into this module's memory ([`wire`] has the
//! layout). Its verdict goes out as a number if the reason does not depend on the call, so that the package can reuse the object of an
//! earlier verdict. Rare answers go out as JavaScript values.
//!
//! The layout of bytes, here and in `js/src/wasm`, is there for two budgets: in Node, `gate` takes at most 3.5 µs where no path is
//! judged, and at most a millisecond where an argument that no role names is 10 MB long. JSON text would hold neither.

mod answer;
mod approval;
mod engine;
mod reading;
mod verdicts;
mod wire;

use callgate_engine::document;
use callgate_engine::world::Context;
use sha2::{Digest as _, Sha256};
use wasm_bindgen::prelude::wasm_bindgen;

pub use approval::{add_approval, parse_moment, read_approvals};
pub use engine::{WasmBuilder, WasmEngine};
pub use reading::{check_json, document_text, read_bundle, read_line};

/// A document's text as JSON: spaces stand for comments and trailing commas.
#[wasm_bindgen(js_name = withoutComments)]
pub fn without_comments(text: &str) -> String {
    document::without_comments(text).into_owned()
}

/// Why the text is not a context; `undefined` if it is one.
#[wasm_bindgen(js_name = faultOfContext)]
pub fn fault_of_context(text: &str) -> Option<String> {
    Context::from_json(text).err()
}

/// The digest of a text in UTF-8, as hexadecimal digits.
#[wasm_bindgen]
pub fn sha256(text: &str) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(text) {
        for digit in [byte >> 4, byte & 0xf] {
            digits.extend(char::from_digit(digit.into(), 16));
        }
    }
    digits
}
