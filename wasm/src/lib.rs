//! The engine as WebAssembly: one crate, one face at a time.
//!
//! Feature `js` is the face for JavaScript, made with wasm-bindgen. It decodes, calls, encodes and adapts the host;
//! it has no defaults and no opinion. The npm package `callgate` is written against it and against nothing else.

#[cfg(feature = "js")]
pub mod js;
