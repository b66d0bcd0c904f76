//! Strict reading of JSON documents: every deviation is a fault with its place.
//!
//! A text may have comments and trailing commas, and a key `$schema` at the top, for editors.
//!
//! [`load`] gives a [`Json`] value in which no key is repeated and nothing is nested too deep. A [`Node`] is a
//! value together with its [`JsonPath`]; its methods take what is expected there, coerce nothing, and put what
//! is wrong into a [`Report`]. A place is a chain on the stack: its text is made only for a fault.

mod bytes;
mod condition;
mod fraction;
mod json;
mod json_path;
pub mod keys;
mod members;
mod node;
mod parse;
mod path;
mod position;
mod report;
mod side_effect;
mod suggest;

use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::limits::Limits;

pub use bytes::{MOST_FILE_BYTES, document_text, utf8};
pub use callgate_jsontext::without_comments;
pub use condition::IS;
pub use json::{Json, Members};
pub use json_path::JsonPath;
pub use members::{Member, items, members};
pub use node::{Node, Object};
pub use parse::DEEPEST;
pub use parse::syntax_fault;
pub use path::anchored;
pub use path::{Relative, impossible as impossible_path, literal_wildcard};
pub use position::locate;
pub use report::Report;
pub use suggest::listed;
pub use suggest::{did_you_mean, unknown_key};

/// A document as passed in by a caller.
#[derive(Clone, Copy, Debug)]
pub enum DocumentSource<'a> {
    /// JSON text, read strictly: a duplicate key is refused.
    Text(&'a str),
    /// A value parsed elsewhere, where duplicate keys may already be lost.
    Value(&'a Value),
}

impl DocumentSource<'_> {
    /// The faults of this document, with their positions where it is a text.
    pub fn located(self, mut faults: Vec<Diagnostic>, name: &str) -> Vec<Diagnostic> {
        if let Self::Text(text) = self
            && !faults.is_empty()
        {
            locate(&mut faults, name, text);
        }
        faults
    }
}

impl<'a> From<&'a str> for DocumentSource<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for DocumentSource<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Value> for DocumentSource<'a> {
    fn from(value: &'a Value) -> Self {
        Self::Value(value)
    }
}

/// Loads a document within the limits on its size and depth.
///
/// `name` is the document's name in diagnostics. In a text, a value at an `unread` place is checked like the rest, but
/// left out; an item of an array is replaced by null. The size of a [value](DocumentSource::Value) is not bounded here: it
/// is in memory already.
pub fn load<'a>(
    input: DocumentSource<'a>,
    name: &str,
    limits: &Limits,
    unread: fn(&JsonPath<'_>) -> bool,
) -> Result<Json<'a>, Vec<Diagnostic>> {
    let value = match input {
        DocumentSource::Text(text) => parse::parse_document(text, name, limits, unread)?,
        DocumentSource::Value(value) => {
            parse::check_depth(value, name, limits)?;
            Json::from(value)
        }
    };
    // It names a schema to an editor, and means nothing here.
    let names_schema = value.get("$schema").is_some_and(Json::is_string);
    Ok(match value {
        Json::Object(members) if names_schema => Json::Object(members.without("$schema")),
        value => value,
    })
}

/// Loads JSON that is not a document: without comments, trailing commas, or a key that means nothing.
pub fn load_json(text: &str, name: &str, limits: &Limits) -> Result<Value, Vec<Diagnostic>> {
    parse::parse(text, name, limits, |_| false).map(Value::from)
}

/// Checks JSON text that is not a document, such as a call, for what parsers read differently: a name that occurs twice in an
/// object, a lone surrogate, a number beyond all others. `name` is what it is called in the faults.
///
/// # Errors
/// The faults, with their positions.
pub fn check_json(text: &str, name: &str) -> Result<(), Vec<Diagnostic>> {
    parse::check(text, name)
}
