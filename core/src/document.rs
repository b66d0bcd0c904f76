//! Strict reading of JSON documents: every deviation is a fault with its place.
//!
//! [`load`] gives a JSON value in which no key is repeated and nothing is nested too deep. A [`Node`] is a
//! value together with its [`JsonPath`]; its methods take what is expected there, coerce nothing, and put what
//! is wrong into a [`Report`]. A place is a chain on the stack: its text is made only for a fault.

mod condition;
mod json_path;
mod node;
mod parse;
mod path;
mod report;
mod side_effect;
mod suggest;

use std::borrow::Cow;

use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::limits::Limits;

pub(crate) use json_path::JsonPath;
pub(crate) use node::{Node, Object};
pub(crate) use parse::DEEPEST;
pub(crate) use path::Relative;
pub(crate) use report::Report;
pub(crate) use suggest::listed;
pub use suggest::{did_you_mean, unknown_key};

/// A document as passed in by a caller.
#[derive(Clone, Copy, Debug)]
pub enum DocumentSource<'a> {
    /// JSON text, read strictly: a duplicate key is refused.
    Text(&'a str),
    /// A value parsed elsewhere, where duplicate keys may already be lost.
    Value(&'a Value),
}

/// Loads a document within the limits on its size and depth.
///
/// `name` is the document's name in diagnostics. In a text, a value at an `unread` place is checked like the rest, but
/// replaced by null. The size of a [value](DocumentSource::Value) is not bounded here: it
/// is in memory already.
pub(crate) fn load<'a>(
    input: DocumentSource<'a>,
    name: &str,
    limits: &Limits,
    unread: fn(&JsonPath<'_>) -> bool,
) -> Result<Cow<'a, Value>, Vec<Diagnostic>> {
    match input {
        DocumentSource::Text(text) => parse::parse(text, name, limits, unread).map(Cow::Owned),
        DocumentSource::Value(value) => {
            parse::check_depth(value, name, limits).map(|()| Cow::Borrowed(value))
        }
    }
}
