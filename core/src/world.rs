//! A world: places that an agent names by address, which of them a mode sees, and what may be done there (SPEC §13).
//!
//! A world is data, two tables over roots and mods. [`World::resolve_address`] turns an address into a place, if the mode sees it;
//! [`World::judge`] says whether a tool's command may be done at a place. Both answer with a [`Reply`], and no reply
//! holds a path of the host: who has a place holds a [`VisibilityRef`], which only the host's own [`References`] turn
//! into a path.
//!
//! Conditions never deny; these two do. Nothing is kept between calls, the mode least of all.

mod address;
mod condition;
mod context;
mod document;
mod matrix;
mod operations;
mod reference;
mod reply;
mod signature;
#[cfg(test)]
mod tests;
mod visibility;

pub use context::Context;
pub(crate) use document::{read, read_key, read_pairs};
pub(crate) use matrix::{Key, Matrix};
pub(crate) use operations::{Action, Commands};
pub use reference::{References, VisibilityRef};
use reply::Area;
pub use reply::{Reply, ReplyData};
pub(crate) use visibility::Located;

use condition::Condition;
use operations::{OperationRule, Pair};

/// The tool that `"exec"` stands for, where a world does not name it.
pub(crate) const EXEC_TOOL: &str = "exec";

/// A world as its document has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) roots: Vec<Directory>,
    /// By the mod's name.
    pub(crate) mounts: Vec<Directory>,
    pub(crate) visibility: Matrix<Box<[Condition]>>,
    pub(crate) operations: Matrix<Box<[OperationRule]>>,
    pub(crate) exec_tool: Box<str>,
    /// What a command is, for the codes of replies, sorted; one that is not here is a write.
    areas: Box<[(Pair, Area)]>,
    /// Whether both tables and the roots were read without a fault, so that they can be compared.
    pub(crate) is_whole: bool,
}

/// A directory of the host under a name.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub(crate) name: Box<str>,
    pub(crate) path: Box<str>,
}

impl World {
    /// The same world with directories that are absolute and lexical.
    pub(crate) fn anchored(mut self, absolute: impl Fn(&str) -> Box<str>) -> Self {
        for directory in self.roots.iter_mut().chain(&mut self.mounts) {
            directory.path = absolute(&directory.path);
        }
        self
    }
}

pub(crate) fn find<'d>(directories: &'d [Directory], name: &str) -> Option<&'d Directory> {
    directories.iter().find(|directory| *directory.name == *name)
}
