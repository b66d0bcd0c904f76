//! What the programs of the conformance suite share: the hosts that the engine runs in.

mod agree;
pub mod hosts;
mod js;

pub use agree::Agreeing;
