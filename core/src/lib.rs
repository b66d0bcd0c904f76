//! Callgate's engine.
mod diagnostic;
mod host;
mod limits;
mod net;
mod role;

pub use diagnostic::{Code, Diagnostic, Severity};
pub use host::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};
pub use limits::Limits;
pub use net::{
    domain_matches_allowlist, extract_domain, extract_git_domain, is_ip_address, normalize_git_url,
    normalize_url,
};
pub use role::{Category, HostRole, REDACTED, Registry, RoleDefinition, RoleError, RoleId, RoleSet, Step};
