//! The arguments of one call, bound to the roles that the tool's annotation gives them.

mod absent;
mod arguments;
mod call;
mod faults;
mod flags;
mod json;
mod names;
mod order;
mod parts;
mod path_like;
mod prepared;
mod relations;
mod shape;
mod siblings;
mod spelling;
mod uris;
mod value;
mod walk;

pub(crate) use absent::unsaid;
pub(crate) use arguments::{BoundArguments, BoundValue, FURTHER_VALUE, Origin};
pub use call::{Arguments, Call, CallError};
pub(crate) use faults::Refusal;
pub(crate) use flags::{FlagSearch, argument_name, listed};
pub(crate) use json::json_in_text;
pub(crate) use parts::join;
pub(crate) use path_like::{is_space, path_readings};
pub use prepared::{Prepared, Replacement, View};
pub use shape::ShapeError;
pub(crate) use shape::{Renamed, shape};
pub(crate) use siblings::{Looked, Reached, Siblings, descend};
pub(crate) use uris::{ReadUri, UriForm};
pub use value::{PointerToken, Value};
