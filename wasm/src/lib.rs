//! The engine as WebAssembly: one crate, one face at a time.
//!
//! Feature `js` is the face for JavaScript, made with wasm-bindgen; the npm package `callgate` is written only against
//! it. Feature `analysis` is a face for JavaScript too, of a module beside it: it looks at a policy as a whole. Feature
//! `component` is the face for hosts of WebAssembly components; `wit/callgate.wit` is its contract. All decode, call, encode and
//! adapt the host, and make no decision of their own.

#[cfg(any(
    all(feature = "js", feature = "component"),
    all(feature = "js", feature = "analysis"),
    all(feature = "analysis", feature = "component"),
))]
compile_error!("a module has one face: build with the feature `js`, `analysis` or `component`");

#[cfg(all(feature = "component", not(any(feature = "js", feature = "analysis"))))]
mod component;
#[cfg(all(feature = "js", not(any(feature = "component", feature = "analysis"))))]
pub mod js;
/// The face that looks at a policy as a whole; it asks its host as the other one does.
#[cfg(all(feature = "analysis", not(any(feature = "js", feature = "component"))))]
pub mod js {
    mod analysis;
    mod host;

    pub use analysis::*;
    pub use host::{Callbacks, WasmHost};
}
