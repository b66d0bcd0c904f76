//! Annotations: which roles each argument of each tool carries, and what the tool does.

mod document;
mod harn;
mod implied;
mod roles;
mod semantics;

use crate::model::{Argument, SchemaType, Semantics};

pub(crate) use document::{is_unread, read, read_stored};
pub(crate) use harn::{SERVER as HARN_SERVER, is_harn};

/// The annotated tools of every server, in the order of the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Annotations {
    /// No two tools have the same server and name.
    pub(crate) tools: Vec<Tool>,
}

/// One annotated tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tool {
    pub(crate) server: Box<str>,
    /// The name on its server.
    pub(crate) name: Box<str>,
    /// The annotator's note.
    pub(crate) comment: Box<str>,
    /// The arguments that carry roles, in document order: they are judged in this order.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) schema: Schema,
    pub(crate) semantics: Semantics,
}

/// The parts of a tool's `inputSchema` that are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Schema {
    /// The names under `properties` with their types; `None` if the schema has no `properties`.
    pub(crate) properties: Option<Vec<(Box<str>, SchemaType)>>,
    /// The names under `required`.
    pub(crate) required: Vec<Box<str>>,
}
