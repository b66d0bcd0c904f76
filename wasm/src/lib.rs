//! The engine as WebAssembly: one crate, one face at a time.
//!
//! Feature `js` is the face for JavaScript, made with wasm-bindgen; the npm package `callgate` is written only against it, and against
//! the two modules beside it, `wasm/tools` and `wasm/git`. Feature `component` is the face for hosts of WebAssembly components;
//! `wit/callgate.wit` is its contract. Both decode, call, encode and adapt the host, and make no decision of their own.

#[cfg(all(feature = "js", feature = "component"))]
compile_error!("a module has one face: build with the feature `js` or `component`");

#[cfg(feature = "component")]
mod component;
#[cfg(feature = "js")]
pub mod js;
