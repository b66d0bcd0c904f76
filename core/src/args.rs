//! The arguments of one call: reading them as far as they are needed, and the two views of them.

mod call;
mod layout;
mod prepare;
mod reading;
mod shape;
mod siblings;
mod splice;
mod value;

pub use call::{Arguments, Call, CallError};
pub use layout::Layout;
pub(crate) use prepare::{Forms, Shaped, heuristic};
pub use prepare::{Prepared, Replacement};
pub(crate) use reading::{Operand, Reading, Refusal};
pub use shape::ShapeError;
pub(crate) use shape::{Shape, shape};
pub(crate) use siblings::{Siblings, descend};
pub use splice::View;
pub use value::{Place, Value};
