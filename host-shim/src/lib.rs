//! The real answers to what Callgate's engine asks: the filesystem and git's configuration of this machine.
//!
//! ```
//! use callgate_core::{Host, RealpathError};
//! use callgate_host::RealHost;
//!
//! let host = RealHost::new("/root", "/tmp")?;
//! assert_eq!(host.realpath("/"), Ok("/".to_owned()));
//! assert_eq!(host.realpath("/nothing/is/here"), Err(RealpathError::NotFound));
//! // `/proc/self` is another directory in the process of the tool server, so it has no canonical form.
//! # #[cfg(target_os = "linux")]
//! assert_eq!(host.realpath("/proc/self/cwd"), Err(RealpathError::Other));
//! # Ok::<(), callgate_core::HostError>(())
//! ```
//!
//! [`RealHost`] keeps nothing between two questions, starts no process and writes nothing. A question costs
//! a few system calls: about two microseconds for a path without links, and the reading of a handful of small
//! files for one about git. Paths and configuration may come from an adversary; the answers are those of the
//! moment of the question, and the disk may have changed when the tool runs.

#[cfg(not(unix))]
compile_error!(
    "callgate-host answers for POSIX paths and git's files on Unix; elsewhere, embed the component and supply a host"
);

mod real_host;

pub use real_host::RealHost;
