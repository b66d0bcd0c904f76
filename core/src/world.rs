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
#[cfg(feature = "analysis")]
mod named;
mod operations;
mod place;
mod reference;
mod reply;
mod signature;
#[cfg(test)]
mod tests;
mod visibility;

pub(crate) use address::is_canonical_address;
#[cfg(feature = "analysis")]
pub(crate) use condition::BuiltIn;
pub(crate) use condition::Condition;
pub use context::Context;
pub(crate) use document::{declared_areas, read, read_key, read_pairs};
pub(crate) use matrix::{Key, Matrix};
pub(crate) use operations::{Commands, OperationRule};
pub(crate) use place::{Action, Located};
pub use reference::{References, VisibilityRef};
use reply::Area;
pub use reply::{Reply, ReplyData};

use operations::Pair;

/// The tool that `"exec"` stands for, unless the world names another.
pub(crate) const EXEC_TOOL: &str = "exec";

/// A world as read from its document.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) roots: Vec<Directory>,
    /// The mods' directories.
    pub(crate) mounts: Vec<Directory>,
    pub(crate) visibility: Matrix<Box<[Condition]>>,
    pub(crate) operations: Matrix<Box<[OperationRule]>>,
    pub(crate) exec_tool: Box<str>,
    /// The areas of commands for reply codes, sorted. A command that is not listed counts as a write.
    areas: Box<[(Pair, Area)]>,
    /// `true` if both tables and the roots were read without a fault, so that they can be compared.
    pub(crate) is_whole: bool,
}

/// A named directory of the host.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub(crate) name: Box<str>,
    pub(crate) path: Box<str>,
}

impl World {
    /// The world with absolute, lexical directories.
    pub(crate) fn anchored(mut self, absolute: impl Fn(&str) -> Box<str>) -> Self {
        for directory in self.roots.iter_mut().chain(&mut self.mounts) {
            directory.path = absolute(&directory.path);
        }
        self
    }
}

impl World {
    /// The subdirectories of a root that have a row of their own in a mode.
    pub(crate) fn rows_below<'w>(&'w self, mode: &'w str, root: &'w str) -> impl Iterator<Item = &'w str> {
        let visible = self.visibility.of_root(mode, root).filter_map(|(name, _)| name);
        let operated = self.operations.of_root(mode, root).filter_map(|(name, _)| name);
        visible.chain(operated)
    }
}

pub(crate) fn find<'d>(directories: &'d [Directory], name: &str) -> Option<&'d Directory> {
    directories.iter().find(|directory| *directory.name == *name)
}
