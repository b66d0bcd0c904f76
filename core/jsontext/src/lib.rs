//! JSON text that people write: read with its comments and trailing commas, and edited where it stands.
//!
//! | function | does |
//! |---|---|
//! | [`without_comments`] | the text as JSON, in which every place stays where it is |
//! | [`Members`] | an object as it is written: its order, repeated names, and values that nobody has read |
//! | [`rewrite`] | the text with what differs in another value, and nothing else changed |
//! | [`render`] | a value as a new text |
//! | [`place_of`], [`replace`] | where a part of a text stands, and the text with other parts |
//!
//! Nothing here knows what a document means.

mod comments;
mod members;
mod place;
mod rewrite;
mod spans;

pub use comments::{comment_end, string_end, without_comments};
pub use members::{Members, push_string};
pub use place::{place_of, replace};
pub use rewrite::{render, rewrite};
