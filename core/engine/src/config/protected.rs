//! An entry of the protected paths.

use crate::diagnostic::Severity;
use crate::document::{Node, keys};
use crate::limits::Limits;

/// What an entry may say that it is protected against; without a word it is reading as well.
pub const AGAINST: &[(&str, ())] = &[("write", ())];

/// A path that is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedPath {
    /// Absolute, `~` or `~/…`, or a pattern, which may begin with `**` too.
    pub path: Box<str>,
    /// It is protected against writing alone.
    pub may_be_read: bool,
}

impl ProtectedPath {
    /// A text, or an object that says what it is protected against.
    pub(super) fn read(node: &Node<'_, '_>, limits: &Limits) -> Option<Self> {
        if !node.value().is_object() {
            let path = node.path_or_pattern(limits)?;
            return Some(Self {
                path,
                may_be_read: false,
            });
        }
        let entry = node.object_of(keys::PROTECTED_PATH, Severity::Error)?;
        let path = entry.require("path", "a path or a pattern of paths", |path| {
            path.path_or_pattern(limits)
        });
        let against = entry.require("against", "`\"write\"`", |against| against.one_of(AGAINST));
        path.zip(against).map(|(path, ())| Self {
            path,
            may_be_read: true,
        })
    }
}
