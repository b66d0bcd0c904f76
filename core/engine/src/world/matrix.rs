//! A table keyed by mode, root and subdirectory.

use crate::path::PathCase;
use crate::sort;

/// The key of a row; without a subdirectory it is the root's own row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub mode: Box<str>,
    pub root: Box<str>,
    pub subdirectory: Option<Box<str>>,
}

/// The rows of a table, each key once.
#[derive(Clone, Debug)]
pub struct Matrix<T> {
    /// Sorted by key.
    rows: Box<[(Key, T)]>,
}

impl<T> Default for Matrix<T> {
    fn default() -> Self {
        Self { rows: Box::default() }
    }
}

impl<T> Matrix<T> {
    /// A table of the rows; of two rows with one key, the first counts.
    pub fn new(mut rows: Vec<(Key, T)>) -> Self {
        sort::sort_by(&mut rows, |(one, _), (other, _)| one.cmp(other));
        rows.dedup_by(|(later, _), (earlier, _)| later == earlier);
        Self { rows: rows.into() }
    }

    /// Every row, sorted by key.
    pub fn rows(&self) -> impl Iterator<Item = (&Key, &T)> {
        self.rows.iter().map(|(key, row)| (key, row))
    }

    /// The row with this key.
    pub fn row(&self, mode: &str, root: &str, subdirectory: Option<&str>) -> Option<&T> {
        let order = |(key, _): &(Key, T)| {
            let known = (&*key.mode, &*key.root, key.subdirectory.as_deref());
            known.cmp(&(mode, root, subdirectory))
        };
        let at = self.rows.binary_search_by(order).ok()?;
        self.rows.get(at).map(|(_, row)| row)
    }

    /// The rows of one root in one mode.
    pub fn of_root<'m>(
        &'m self,
        mode: &'m str,
        root: &'m str,
    ) -> impl Iterator<Item = (Option<&'m str>, &'m T)> {
        let start = self
            .rows
            .partition_point(|(key, _)| (&*key.mode, &*key.root) < (mode, root));
        let rows = self.rows.get(start..).unwrap_or_default().iter();
        rows.take_while(move |(key, _)| *key.mode == *mode && *key.root == *root)
            .map(|(key, row)| (key.subdirectory.as_deref(), row))
    }

    /// The row of a place, then that of its root. Empty if the disk may read the place as that of another row,
    /// spelled differently.
    pub fn at(
        &self,
        mode: &str,
        root: &str,
        subdirectory: Option<&str>,
        case: PathCase,
    ) -> impl Iterator<Item = &T> {
        let own = subdirectory.and_then(|wanted| self.row(mode, root, Some(wanted)));
        let confused = || {
            let mut known = self.of_root(mode, root).filter_map(|(known, _)| known);
            subdirectory.is_some_and(|wanted| known.any(|known| case.confuses(known, wanted)))
        };
        let rows = if own.is_none() && case == PathCase::Insensitive && confused() {
            [None, None]
        } else {
            [own, self.row(mode, root, None)]
        };
        rows.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(mode: &str, root: &str, subdirectory: Option<&str>) -> Key {
        Key {
            mode: mode.into(),
            root: root.into(),
            subdirectory: subdirectory.map(Box::from),
        }
    }

    #[test]
    fn a_place_has_its_own_row_then_that_of_its_root() {
        let table = Matrix::new(vec![
            (key("m", "r", None), 1),
            (key("m", "r", Some("a")), 2),
            (key("m", "q", Some("a")), 3),
            (key("n", "r", None), 4),
            (key("m", "r", Some("a")), 9),
        ]);
        let check = |mode: &str, root: &str, subdirectory, case, expected: &[i32]| {
            let found: Vec<i32> = table.at(mode, root, subdirectory, case).copied().collect();
            assert_eq!(found, expected, "{mode} {root} {subdirectory:?}");
        };
        for case in [PathCase::Sensitive, PathCase::Insensitive] {
            check("m", "r", Some("a"), case, &[2, 1]);
            check("m", "r", Some("b"), case, &[1]);
            check("m", "r", None, case, &[1]);
            check("m", "q", None, case, &[]);
            check("m", "q", Some("a"), case, &[3]);
            check("n", "r", Some("a"), case, &[4]);
            check("o", "r", None, case, &[]);
            check("", "", None, case, &[]);
        }
        check("m", "r", Some("A"), PathCase::Sensitive, &[1]);
        check("m", "r", Some("A"), PathCase::Insensitive, &[]);
    }
}
