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

pub use absent::unsaid;
pub use arguments::{BoundArguments, BoundValue, Origin};
pub use call::{Arguments, Call, CallError};
pub use faults::Refusal;
pub use flags::{FlagSearch, argument_name, listed};
pub use json::json_in_text;
pub use parts::join;
pub use path_like::{is_space, path_readings};
pub use prepared::{Prepared, Replacement, View};
pub use shape::ShapeError;
pub use shape::{Renamed, shape};
pub use siblings::{Looked, Reached, Siblings, descend};
pub use uris::{ReadUri, UriForm};
pub use value::{PointerToken, Value};
