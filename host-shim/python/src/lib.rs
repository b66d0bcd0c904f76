//! The engine for Python: `callgate._engine`, which the package `callgate` wraps.
//!
//! Arguments and answers cross the boundary as JSON text, so that an integer keeps all its digits. Python's lock is released while
//! a call is judged; a host that is written in Python takes it again for each question.
#![expect(
    unreachable_pub,
    reason = "Python sees what the macros export, and nothing in Rust sees the crate"
)]

mod approvals;
mod asked;
mod errors;
mod gate;
mod host;
mod json;
mod policy;
mod table;
mod verdict;
mod world;

use pyo3::prelude::*;

/// What `callgate` takes its names from.
#[pymodule]
mod _engine {
    /// The version of the package.
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::approvals::Approvals;
    #[pymodule_export]
    use crate::errors::{CallError, CallgateError, DocumentError, HostError};
    #[pymodule_export]
    use crate::gate::Gate;
    #[pymodule_export]
    use crate::host::{BuiltinHost, real_host, recorded_host, virtual_host};
    #[pymodule_export]
    use crate::policy::{check, diff, lint, map, propose_annotations};
    #[pymodule_export]
    use crate::verdict::{Response, Verdict};
    #[pymodule_export]
    use crate::world::References;
}
