//! Callgate's engine.
mod annotation;
mod diagnostic;
mod document;
mod host;
mod limits;
mod policy;
mod role;
mod setup;

pub use diagnostic::{Code, Diagnostic, Severity};
pub use document::Input;
pub use host::{Answer, Exchange, Host, HostError, Question, RealpathError, Recording};
pub use limits::Limits;
pub use role::{Category, HostRole, REDACTED, Registry, RoleDefinition, RoleError, RoleId, RoleSet, Step};
pub use setup::Part;
