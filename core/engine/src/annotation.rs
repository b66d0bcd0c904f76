//! Annotations: which roles each argument of each tool carries, and what the tool does.

mod document;
mod harn;
mod implied;
mod programs;
mod roles;
mod semantics;

use crate::model::{Argument, SchemaType, Semantics, Unjudged};

pub use document::{is_unread, read, read_stored};
pub use harn::{SERVER as HARN_SERVER, is_harn};
pub use programs::{Programs, Tools, has_commands, read_programs};

/// The annotated tools of every server, in the order of the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// No two tools have the same server and name.
    pub tools: Vec<Tool>,
}

/// One annotated tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub server: Box<str>,
    /// The name on its server.
    pub name: Box<str>,
    /// The annotator's note.
    pub comment: Box<str>,
    /// The arguments that carry roles, in document order: they are judged in this order.
    pub arguments: Vec<Argument>,
    pub(crate) schema: Schema,
    pub(crate) semantics: Semantics,
    /// What a call may do that no rule of its own decides about; `None` where rules decide as they do elsewhere.
    pub unjudged: Option<Unjudged>,
}

/// The parts of a tool's `inputSchema` that are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The names under `properties` with their types; `None` if the schema has no `properties`.
    pub properties: Option<Vec<(Box<str>, SchemaType)>>,
    /// The names under `required`.
    pub required: Vec<Box<str>>,
}
