//! The decision service: verdicts for the proxies and gateways that stand before MCP servers.
//!
//! A proxy has the connections, the sessions and the servers; the service says what becomes of each message. It keeps nothing
//! between calls but its documents, so any number of them stand side by side. What a door can do depends on its protocol:
//! [Envoy's external processing](https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/ext_proc_filter) has
//! bodies rewritten, so that what was judged is what is sent.
//!
//! Every verdict is made by the [`Gate`](callgate_host::Gate), and every error is a denial: a request for a server that nobody
//! named, a body that does not come whole, a message that two parsers could read differently. A proxy has to be told to fail closed
//! where the service does not answer; each door says how.

// A panic here would leave calls without an answer.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod authzen;
mod ext_authz;
mod ext_mcp;
mod ext_proc;
mod held;
mod metrics;
mod router;
mod server;
mod server_name;
mod service;
mod tls;
mod tokens;
mod toolhive;

#[cfg(test)]
mod tests;

pub use server::{Address, Bound, Listening, ServeError};
pub use service::{Service, ServiceOptions};
pub use tls::{Identity, IdentityError};
pub use tokens::{Tokens, TokensError};
