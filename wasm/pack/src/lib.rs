//! From the crate `callgate-wasm` to modules: what the program of this crate and the build script of `callgate-host`
//! have in common.

mod compile;
pub mod component;
mod target;

pub use compile::{Face, compile, succeed};
