//! Callgate's engine.
mod diagnostic;
mod host;
mod limits;
mod path;
mod role;

pub use diagnostic::{Code, Diagnostic, Severity};
pub use host::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};
pub use limits::Limits;
pub use path::PathCase;
pub use role::{Category, HostRole, REDACTED, Registry, RoleDefinition, RoleError, RoleId, RoleSet, Step};
