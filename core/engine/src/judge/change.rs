//! A change that a call makes at one of its places.

use std::sync::Arc;

use crate::model::Reach;
use crate::path::CanonicalPath;
use crate::role::RoleId;

/// The change that a call makes at the place of one value, beside what it does to the entry there.
#[derive(Default)]
pub(super) struct Change {
    /// It is removed or moved away, alone or with everything below it.
    pub(super) removed: Option<Reach>,
    pub(super) arrival: Option<Arrival>,
}

/// The things that arrive at the place of a value that is written.
#[derive(Default)]
pub(super) struct Arrival {
    /// A directory arrives, or may.
    pub(super) is_tree: bool,
    /// It is moved and not copied, so that it has the name of the place.
    pub(super) is_moved: bool,
    /// Nobody can tell what arrives.
    pub(super) is_unknown: bool,
    /// The directories that may arrive.
    pub(super) sources: Vec<CanonicalPath>,
    /// Where the sources come to lie if each is put into the directory that is there, and whether it is moved.
    pub(super) inside: Vec<(String, bool)>,
    /// The roles of what arrives.
    pub(super) from: Vec<RoleId>,
}

/// The changes of a call, by operand; those beyond the end make none.
pub(super) type Changes = Arc<Vec<Change>>;
