//! Clients and servers over Streamable HTTP.
//!
//! [`Guard::run_remote`](super::Guard::run_remote) stands before a server over HTTP for a client on this process's streams, and
//! [`Guard::run_listening`](super::Guard::run_listening) listens for clients, before a server of either kind. An [`Exchange`] is for
//! proxies that have both connections themselves; with the feature `exchange` alone there is nothing else.
//!
//! - **Sessions** (revisions to 2025-11-25) have names that nobody can guess, a relay of their own, and a process of their own
//!   or a session of their own with the server. Requests of later revisions stand by themselves; before a program, one of them at
//!   a time has a process, and each has a number in place of its id and of its progress token that no other has. What a program
//!   says without naming one of them is nobody's, but for requests that want log messages or subscribe to changes: they have a
//!   process to themselves. No process outlives the guard.
//! - **Headers** that repeat a message are checked against it and written anew for the server; the message decides.
//! - **Bounds**: 20 MiB from a client, 256 MiB of all that arrives at a time and 64 MiB of that without a session, 128 MiB from a
//!   server, 64 sessions unless told otherwise, 1,024 connections, ten seconds to connect. A call may take as long as it takes.

#[cfg(feature = "http")]
mod answer;
#[cfg(feature = "http")]
mod asked_tools;
#[cfg(feature = "http")]
mod bodies;
#[cfg(feature = "http")]
mod door;
mod envelope;
mod events;
#[cfg(feature = "http")]
mod exchange;
mod headers;
#[cfg(feature = "http")]
mod leaving;
#[cfg(feature = "http")]
mod listen;
#[cfg(feature = "http")]
mod names;
mod proxied;
#[cfg(feature = "http")]
mod remote;
#[cfg(feature = "http")]
mod request;
#[cfg(feature = "http")]
mod response;
#[cfg(feature = "http")]
mod run;
#[cfg(feature = "http")]
mod session;
#[cfg(feature = "http")]
mod sessions;
#[cfg(feature = "http")]
mod started;
mod status;
#[cfg(feature = "http")]
mod streams;
#[cfg(feature = "http")]
mod workers;

#[cfg(feature = "http")]
pub use asked_tools::tools_of_remote;
#[cfg(feature = "http")]
pub use door::{Visitors, is_here};
pub use proxied::{AnswerHead, Exchange, Head, Reply, Step};
#[cfg(feature = "http")]
pub use remote::{Remote, RemoteError};
#[cfg(feature = "http")]
pub use run::{Behind, HttpError, Listening};

#[cfg(feature = "http")]
pub use crate::tls::client;
