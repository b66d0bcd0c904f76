//! References: what an agent's host holds of a place, instead of its path.

use std::fmt;
use std::sync::Arc;

use crate::path::CanonicalPath;

/// A place that was resolved and seen. It holds no path: only the [`References`] that gave it know that.
///
/// It cannot be forged, because nobody but a table makes one and none is ever read from text: it is a value of the
/// host's own process. So it needs no secret, and the engine no source of randomness.
#[derive(Clone)]
pub struct VisibilityRef {
    table: Arc<Mark>,
    number: u64,
}

/// Only its address is looked at; it holds a byte, since nothing has no address of its own.
#[derive(Default)]
struct Mark(#[expect(dead_code, reason = "only its address is looked at")] u8);

impl VisibilityRef {
    /// The number of the reference in its table, for a face that hands out an object of its own in its place.
    ///
    /// Numbers are given once and never again. They are no secret: [`References::numbered`] is for the host alone.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl fmt::Debug for VisibilityRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("VisibilityRef")
    }
}

/// A table of references: the host's, one for each session that is to end on its own.
///
/// It holds a bounded number ([`Limits::references`](crate::Limits)); what is revoked makes room, and is never valid
/// again.
pub struct References {
    mark: Arc<Mark>,
    /// By number, in ascending order.
    paths: Vec<(u64, CanonicalPath)>,
    next: u64,
    most: usize,
}

impl References {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            mark: Arc::default(),
            paths: Vec::new(),
            next: 0,
            most,
        }
    }

    /// The path of the host that the reference stands for; none once it is revoked, or where another table gave it.
    ///
    /// The path was canonical when it was resolved. What stands there may have changed since.
    pub fn host_path(&self, reference: &VisibilityRef) -> Option<&str> {
        Arc::ptr_eq(&self.mark, &reference.table)
            .then(|| self.numbered(reference.number))
            .flatten()
    }

    /// The same for the number of a reference of this table.
    pub fn numbered(&self, number: u64) -> Option<&str> {
        let at = self.place(number)?;
        self.paths.get(at).map(|(_, path)| path.as_str())
    }

    /// Ends a reference; whether it was valid.
    pub fn revoke(&mut self, reference: &VisibilityRef) -> bool {
        Arc::ptr_eq(&self.mark, &reference.table) && self.revoke_numbered(reference.number)
    }

    /// The same for the number of a reference of this table.
    pub fn revoke_numbered(&mut self, number: u64) -> bool {
        let at = self.place(number);
        at.map(|at| self.paths.remove(at)).is_some()
    }

    /// Ends every reference, as when the mode or the session changes.
    pub fn revoke_all(&mut self) {
        self.paths.clear();
    }

    /// How many references are valid.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.paths.binary_search_by_key(&number, |(known, _)| *known).ok()
    }

    /// A reference to the path, while there is room.
    pub(crate) fn issue(&mut self, path: CanonicalPath) -> Option<VisibilityRef> {
        if self.paths.len() >= self.most {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.paths.push((number, path));
        Some(VisibilityRef {
            table: Arc::clone(&self.mark),
            number,
        })
    }
}

impl fmt::Debug for References {
    /// Without the paths.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("References")
            .field("valid", &self.paths.len())
            .finish_non_exhaustive()
    }
}
