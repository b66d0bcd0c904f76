//! What the programs of the conformance suite share: the hosts that the engine runs in.

pub mod hosts;
mod node;
