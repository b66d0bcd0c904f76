//! Callgate's engine for Rust programs: the gate, the real host, and a virtual one.
//!
//! ```
//! use callgate_core::hosts::{Host, RealpathError};
//! use callgate_host::RealHost;
//!
//! let host = RealHost::new("/root", "/tmp")?;
//! assert_eq!(host.realpath("/"), Ok("/".into()));
//! assert_eq!(host.realpath("/nothing/is/here"), Err(RealpathError::NotFound));
//! // `/proc/self` is another directory in the process of the tool server, so it has no canonical form.
//! # #[cfg(target_os = "linux")]
//! assert_eq!(host.realpath("/proc/self/cwd"), Err(RealpathError::Other));
//! # Ok::<(), callgate_engine::host::HostError>(())
//! ```
//!
//! A [`Gate`] is an engine with its documents and one of these hosts; a [`bundle`] is one file that holds or names
//! the documents. The engine is the core in this process. With the feature `component`, which is off unless it is asked for,
//! it can run in wasmtime as well, within limits of memory and time.
//!
//! [`RealHost`] answers from the filesystem and git's configuration of this machine. It keeps nothing between
//! two questions, starts no process and writes nothing. A question costs a few system calls: about two
//! microseconds for a path without links, and the reading of a handful of small files for one about git. Paths
//! and configuration may come from an adversary; the answers are those of the moment of the question, and the
//! disk may have changed when the tool runs.
//!
//! [`VirtualHost`] answers from a machine that is data: a virtual filesystem and virtual git repositories.
//!
//! In WebAssembly there is neither a disk nor a clock: a gate is built there from texts, with a host that its builder is given.

#[cfg(not(any(unix, target_family = "wasm")))]
compile_error!(
    "callgate-host answers for POSIX paths and git's files on Unix; elsewhere, embed the component and supply a host"
);

#[cfg(feature = "analysis")]
mod analysis;
mod backend;
pub mod bundle;
mod call_text;
mod clock;
#[cfg(feature = "component")]
mod component;
#[cfg(feature = "component")]
mod component_gate;
mod documents;
mod gate;
mod leaves;
#[cfg(not(feature = "component"))]
mod no_component;
mod packing;
#[cfg(unix)]
mod real_host;
mod timings;

#[cfg(not(feature = "component"))]
use no_component as component;

pub use backend::{
    EngineFault, EngineKind, References, Reply, Request, Resolution, Response, Unanswered, Unoffered,
    Unusable,
};
pub use bundle::{BUNDLE_FILE, BundleTexts};
pub use call_text::CallText;
pub use callgate_engine::engine::{Audience, Paths};
pub use callgate_engine::judge::{Decision, StructuralRule, Verdict};
pub use callgate_engine::text::clean;
pub use callgate_virtual_host::{
    Filesystem, Machine, MachineError, Platform, Predicate, PushMode, Repository, Urls, VirtualHost,
};
pub use clock::Instant;
#[cfg(feature = "component")]
pub use component::{COMPONENT, Compiled, InstanceLimits};
pub use documents::{Document, Fault};
pub use gate::{Gate, GateBuilder, GateError, LayerEngine, Tool};
#[cfg(unix)]
pub use real_host::{RealHost, realpath_error};
pub use timings::{Starting, Timings};

/// The example in the project's page.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct ProjectPage;
