//! References, which stand for places instead of their paths.

use std::fmt;
use std::sync::Arc;

use crate::path::CanonicalPath;

/// A reference to a place that was resolved and visible. It does not contain the path; only the [`References`] that
/// issued it know that.
///
/// It cannot be forged, because only a table makes one and it is never read from text: it is a value of the host's
/// own process. So it needs no secret and no randomness.
#[derive(Clone)]
pub struct VisibilityRef {
    table: Arc<Mark>,
    number: u64,
}

/// A unique identity, compared by address. It holds a byte because zero-sized values may share an address.
#[derive(Default)]
struct Mark(#[expect(dead_code, reason = "only its address is looked at")] u8);

impl VisibilityRef {
    /// The number of the reference in its table, for a face that hands out its own objects instead.
    ///
    /// Numbers are never reused. They are not secret: [`References::numbered`] is for the host only.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl fmt::Debug for VisibilityRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("VisibilityRef")
    }
}

/// The host's table of references, one for each session that ends independently.
///
/// Its size is bounded ([`Limits::references`](crate::limits::Limits)). A revoked reference makes room and is never valid
/// again.
pub struct References {
    mark: Arc<Mark>,
    /// In ascending order of the numbers.
    paths: Vec<(u64, CanonicalPath)>,
    next: u64,
    most: usize,
}

impl References {
    pub fn new(most: usize) -> Self {
        Self {
            mark: Arc::default(),
            paths: Vec::new(),
            next: 0,
            most,
        }
    }

    /// The host path that the reference stands for; `None` if it is revoked or from another table.
    ///
    /// The path was canonical when it was resolved; the disk may have changed since.
    pub fn host_path(&self, reference: &VisibilityRef) -> Option<&str> {
        Arc::ptr_eq(&self.mark, &reference.table)
            .then(|| self.numbered(reference.number))
            .flatten()
    }

    /// As [`References::host_path`], by a number of this table.
    pub fn numbered(&self, number: u64) -> Option<&str> {
        let at = self.place(number)?;
        self.paths.get(at).map(|(_, path)| path.as_str())
    }

    /// Revokes a reference. Returns `true` if it was valid.
    pub fn revoke(&mut self, reference: &VisibilityRef) -> bool {
        Arc::ptr_eq(&self.mark, &reference.table) && self.revoke_numbered(reference.number)
    }

    /// As [`References::revoke`], by a number of this table.
    pub fn revoke_numbered(&mut self, number: u64) -> bool {
        let at = self.place(number);
        at.map(|at| self.paths.remove(at)).is_some()
    }

    /// Revokes every reference, for example when the mode or the session changes.
    pub fn revoke_all(&mut self) {
        self.paths.clear();
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.paths.binary_search_by_key(&number, |(known, _)| *known).ok()
    }

    /// Issues a reference to the path; `None` if the table is full.
    pub fn issue(&mut self, path: CanonicalPath) -> Option<VisibilityRef> {
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
    /// Omits the paths.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("References")
            .field("valid", &self.paths.len())
            .finish_non_exhaustive()
    }
}
