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
mod settings;
mod ticker;

#[cfg(test)]
use crate::backend::EngineKind;

pub use artifact::Compiled;
pub(crate) use cache::Cache;
pub use limits::InstanceLimits;
pub(crate) use settings::Settings;

/// The component that was built with this crate: `callgate:gate` as `wasm/wit/callgate.wit` describes it.
pub const COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/callgate.component.wasm"));

/// The ways to run an engine.
#[cfg(test)]
pub(crate) const ENGINES: [EngineKind; 2] = [EngineKind::Native, EngineKind::Component];

/// The contract as Rust, written by wasmtime.
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wasm/wit",
        world: "gate",
        imports: { default: trappable },
    });
}
