//! What programs need beside the engine, for JavaScript: the functions that need none, drafts of annotations, and a policy seen as a
//! whole.
//!
//! A module beside the engine's, since a page or a process that judges calls never needs it.

mod analysis;
mod drafts;
mod functions;
mod scenarios;

pub use analysis::*;
pub use drafts::*;
pub use functions::*;
pub use scenarios::*;
