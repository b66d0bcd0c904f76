//! The faces for JavaScript: that of the gate, and those of two modules beside it.
//!
//! Documents come in as JSON text. The package writes the arguments of a call into the module's memory ([`arguments`] has the
//! layout), and is asked about its host in the same way.

#[cfg(feature = "analysis")]
mod analysis;
#[cfg(any(feature = "js", feature = "functions"))]
mod arguments;
#[cfg(feature = "functions")]
mod functions;
#[cfg(feature = "js")]
mod gate;
mod host;
#[cfg(any(feature = "js", feature = "functions"))]
mod values;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(feature = "analysis")]
pub use analysis::*;
#[cfg(feature = "functions")]
pub use functions::*;
#[cfg(feature = "js")]
pub use gate::*;
pub use host::{Callbacks, WasmHost};

/// The memory of this module. After the package has replaced a broken instance it is another one.
#[wasm_bindgen(js_name = currentMemory)]
pub fn current_memory() -> JsValue {
    wasm_bindgen::memory()
}
