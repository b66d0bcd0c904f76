//! The parts of the boundary to JavaScript that the engine's module and that of the tools have in common.
//!
//! The package writes the arguments of a call into a module's memory ([`Reader`] has the layout), and is asked about its host in the
//! same way ([`WasmHost`]). Rare answers go out as JavaScript values ([`to_js`]).

mod arguments;
mod host;
mod values;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use arguments::Reader;
pub use host::{Callbacks, JsHost, WasmHost};
pub use values::{refusal, to_js, to_js_error};

/// The memory of this module. After the package has replaced a broken instance it is another one.
#[wasm_bindgen(js_name = currentMemory)]
pub fn current_memory() -> JsValue {
    wasm_bindgen::memory()
}

/// The diagnostic of a key at `path` that is not one of the known ones.
#[wasm_bindgen(js_name = unknownKey)]
pub fn unknown_key(path: &str, key: &str, known: Vec<String>) -> JsValue {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    to_js(&callgate_engine::document::unknown_key(path, key, &known))
}
