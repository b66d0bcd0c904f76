//! The engine as a component in wasmtime: compiled once, kept on disk, held to limits.

mod artifact;
mod cache;
mod decode;
#[cfg(feature = "testing")]
mod described;
mod explained;
mod fault;
mod host;
mod limits;
mod pool;
mod ticker;
#[cfg(feature = "testing")]
mod world;

pub(crate) use bindings::callgate::gate::types::Audience;
#[cfg(feature = "testing")]
pub(crate) use bindings::callgate::gate::types::Operation as Enforced;

pub(crate) use artifact::Artifact;
pub use artifact::Unusable;
pub(crate) use cache::default_folder;
pub(crate) use fault::Fault as EngineFault;
pub use limits::InstanceLimits;
pub(crate) use pool::{LoadError, Pool};
#[cfg(feature = "testing")]
pub use world::ReferenceStep;

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
