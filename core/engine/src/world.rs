//! A world: places with addresses, which of them are visible in a mode, and what may be done there (SPEC §13).
//!
//! A world consists of two tables over roots and mods. [`World::resolve_address`] turns an address into a place if it
//! is visible in the mode; [`World::judge`] says whether a tool's command is allowed at a place. Both answer with a
//! [`Reply`], which never contains a path of the host: a place is held as a [`VisibilityRef`], and only the host's
//! own [`References`] turn that into a path.
//!
//! Conditions never deny; these two do. Nothing is kept between calls, not even the mode.

mod address;
mod condition;
mod context;
mod document;
mod matrix;
mod named;
mod operations;
mod place;
mod reference;
mod reply;
mod signature;
#[cfg(test)]
mod tests;
mod visibility;

pub use address::is_canonical_address;
pub use condition::BuiltIn;
pub use condition::Condition;
pub use context::Context;
pub use document::{declared_areas, read, read_key, read_pairs};
pub use matrix::{Key, Matrix};
pub use operations::{Commands, OperationRule};
pub use place::{Action, Located};
pub use reference::{References, VisibilityRef};
use reply::Area;
pub use reply::{Reply, ReplyData};

use operations::Pair;

/// The tool that `"exec"` stands for, unless the world names another.
pub const EXEC_TOOL: &str = "exec";

/// A world as read from its document.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub roots: Vec<Directory>,
    /// The mods' directories.
    pub mounts: Vec<Directory>,
    pub visibility: Matrix<Box<[Condition]>>,
    pub operations: Matrix<Box<[OperationRule]>>,
    pub exec_tool: Box<str>,
    /// The areas of commands for reply codes, sorted. A command that is not listed counts as a write.
    areas: Box<[(Pair, Area)]>,
    /// `true` if both tables and the roots were read without a fault, so that they can be compared.
    pub is_whole: bool,
}

/// A named directory of the host.
#[derive(Clone, Debug)]
pub struct Directory {
    pub name: Box<str>,
    pub path: Box<str>,
}

impl World {
    /// The world with absolute, lexical directories.
    pub fn anchored(mut self, absolute: impl Fn(&str) -> Box<str>) -> Self {
        for directory in self.roots.iter_mut().chain(&mut self.mounts) {
            directory.path = absolute(&directory.path);
        }
        self
    }
}

impl World {
    /// The subdirectories of a root that have a row of their own in a mode.
    pub fn rows_below<'w>(&'w self, mode: &'w str, root: &'w str) -> impl Iterator<Item = &'w str> {
        let visible = self.visibility.of_root(mode, root).filter_map(|(name, _)| name);
        let operated = self.operations.of_root(mode, root).filter_map(|(name, _)| name);
        visible.chain(operated)
    }
}

pub fn find<'d>(directories: &'d [Directory], name: &str) -> Option<&'d Directory> {
    directories.iter().find(|directory| *directory.name == *name)
}
