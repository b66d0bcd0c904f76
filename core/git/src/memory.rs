//! Files that are read once.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::files::{Error, Files, Found};

/// The questions to [`Files::read`] and their answers.
pub(crate) type Contents = BTreeMap<(Vec<u8>, usize), Result<Option<Vec<u8>>, Error>>;

/// The caller's files, and what was read of them. A file that could not be read is not tried again.
pub(crate) struct Memory<'a> {
    files: &'a dyn Files,
    contents: &'a RefCell<Contents>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(files: &'a dyn Files, contents: &'a RefCell<Contents>) -> Self {
        Self { files, contents }
    }
}

impl Files for Memory<'_> {
    fn real(&self, path: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.files.real(path)
    }

    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error> {
        self.files.look(path)
    }

    fn read(&self, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let key = (path.to_vec(), limit);
        if let Some(known) = self.contents.borrow().get(&key) {
            return known.clone();
        }
        let content = self.files.read(path, limit);
        self.contents.borrow_mut().insert(key, content.clone());
        content
    }

    fn is_searchable(&self, path: &[u8]) -> Result<bool, Error> {
        self.files.is_searchable(path)
    }
}
