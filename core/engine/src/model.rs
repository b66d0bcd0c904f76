//! The vocabulary shared by documents and judging. It knows what a word means, not where it is written.

mod argument_name;
mod conditional;
mod effect;
mod pointer_tree;
pub mod refs;
mod reply_code;
mod scalars;
mod schema_type;
mod semantics;
mod server;

pub use argument_name::{ArgumentName, Segment};
pub use conditional::{
    Absent, Argument, Clause, Condition, ConditionArgument, Reach, Roles, Scheme, Separator, Test,
};
pub use effect::{Caller, Effect, MatchType};
pub use pointer_tree::{PointerTree, item_index};
pub use reply_code::{ReplyCode, ReplyStatus};
pub use scalars::{ComparedValue, ConditionValue, Scalar, Scalars};
pub use schema_type::{JsonType, SchemaDefault, SchemaType};
pub use semantics::{ArgSchema, Described, MutationClass, Semantics, SideEffectLevel, ToolKind, Unjudged};
pub use server::{SandboxOrder, ServerKind, Servers};
