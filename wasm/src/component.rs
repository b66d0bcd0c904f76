//! The face for hosts of WebAssembly components: `wit/callgate.wit` as Rust.

mod encode;
mod engine;
mod host;

/// The boundary, written by wit-bindgen from the contract.
mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "gate" });
}

use bindings::callgate::gate::types;
use bindings::exports::callgate::gate::engine as contract;

/// The exports of the component.
struct Component;

impl contract::Guest for Component {
    type Engine = engine::Loaded;
    type References = engine::Table;
}

#[expect(unsafe_code, reason = "exporting a symbol is unsafe in this edition")]
mod exports {
    use super::{Component, bindings};

    bindings::export!(Component with_types_in bindings);
}
