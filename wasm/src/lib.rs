//! The engine as WebAssembly: one crate, one face at a time.
//!
//! Feature `js` is the face for JavaScript, made with wasm-bindgen; the npm package `callgate` is written only against
//! it. Feature `component` is the face for hosts of WebAssembly components; `wit/callgate.wit` is its
//! contract. Both decode, call, encode and adapt the host, and make no decision of their own.

#[cfg(all(feature = "js", feature = "component"))]
compile_error!("a module has one face: build with the feature `js` or with the feature `component`");

#[cfg(all(feature = "component", not(feature = "js")))]
mod component;
#[cfg(all(feature = "js", not(feature = "component")))]
pub mod js;
