//! The engine as a component in wasmtime: compiled once, kept on disk, held to limits.

mod answers;
mod artifact;
mod cache;
mod decode;
mod fault;
mod host;
mod limits;
mod pool;
mod session;
mod ticker;

pub use artifact::Compiled;
pub(crate) use cache::Cache;
pub use limits::InstanceLimits;
pub(crate) use pool::{LoadError, Pool};

/// The component that was built with this crate: `callgate:gate` as `wasm/wit/callgate.wit` describes it.
pub const COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/callgate.component.wasm"));

/// The contract as Rust, written by wasmtime.
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wasm/wit",
        world: "gate",
        imports: { default: trappable },
    });
}
