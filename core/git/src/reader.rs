//! Files that are looked at, read and parsed once, and the cost of each look.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::entry::Entry;
use crate::files::{Error, Files, Found};
use crate::real;
use crate::steps::Steps;
use crate::syntax;

/// The steps of a question to the disk, and of each name on the way.
const QUESTION: usize = 256;
const NAME: usize = 32;

/// The steps of looking up what is known.
const KNOWN: usize = 16;

/// The steps of looking at a known entry.
const ENTRY: usize = 4;

/// The bytes of a file, as many as were asked for; `None` if nothing is there.
type Content = Result<Option<Arc<[u8]>>, Error>;

/// The entries of a file, without those that it includes; `None` if nothing is there.
type Entries = Result<Option<Arc<[Entry]>>, Error>;

type Look = Result<Option<Found>, Error>;

/// The memory of one evaluation, and how much may still be done in it.
#[derive(Default)]
pub(crate) struct Contents {
    steps: Steps,
    /// By canonical path, but for the last name.
    looks: RefCell<BTreeMap<Vec<u8>, Look>>,
    /// By canonical path, and how many bytes were asked for.
    contents: RefCell<BTreeMap<(Vec<u8>, usize), Content>>,
    entries: RefCell<BTreeMap<Vec<u8>, Entries>>,
}

/// The caller's files, and what was read of them. A file that could not be read is not tried again.
///
/// The disk is asked about canonical paths alone, so that no question to it may lead through links that nobody counts.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    files: &'a dyn Files,
    known: &'a Contents,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(files: &'a dyn Files, known: &'a Contents) -> Self {
        Self { files, known }
    }

    /// The steps that are left.
    pub(crate) fn steps(self) -> &'a Steps {
        &self.known.steps
    }

    /// The path with all links resolved, as by `realpath(3)`; `None` if nothing is there.
    ///
    /// # Errors
    /// There are too many links, a permission is missing, or the path means something else in every process.
    pub(crate) fn real(self, path: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.walk(path, real::Last::Followed)
    }

    /// The kind of file at the path, without following a last link; `None` if nothing is there.
    pub(crate) fn look(self, path: &[u8]) -> Look {
        match self.walk(path, real::Last::Kept)? {
            Some(path) => self.look_at(&path),
            None => Ok(None),
        }
    }

    fn walk(self, path: &[u8], last: real::Last) -> Result<Option<Vec<u8>>, Error> {
        real::walk(&|path| self.look_at(path), self.steps(), path, last)
    }

    /// [`Files::look`], once.
    fn look_at(self, path: &[u8]) -> Look {
        self.steps().take(KNOWN + path.len())?;
        if let Some(known) = self.known.looks.borrow().get(path) {
            return known.clone();
        }
        self.ask(path)?;
        let found = self.files.look(path);
        let mut looks = self.known.looks.borrow_mut();
        looks.insert(path.to_vec(), found.clone());
        found
    }

    /// Returns `true` if `access(2)` grants `X_OK`, and `false` if nothing is there.
    pub(crate) fn is_searchable(self, path: &[u8]) -> Result<bool, Error> {
        let Some(real) = self.real(path)? else {
            return Ok(false);
        };
        self.ask(&real)?;
        self.files.is_searchable(&real)
    }

    /// The whole file; `None` if nothing is there. `/dev/null` is an empty file.
    pub(crate) fn read(self, path: &[u8]) -> Content {
        self.start(path, usize::MAX)
    }

    /// At most the first `limit` bytes of the file.
    pub(crate) fn start(self, path: &[u8], limit: usize) -> Content {
        let Some(real) = self.real(path)? else {
            return Ok(None);
        };
        if real == b"/dev/null" {
            return Ok(Some(Arc::default()));
        }
        self.ask(&real)?;
        let key = (real, limit);
        let known = self.known.contents.borrow().get(&key).cloned();
        let content = known.unwrap_or_else(|| {
            // One byte more tells a file that is too long.
            let room = self.steps().left().saturating_add(1);
            let content = self.files.read(&key.0, limit.min(room));
            let content = content.map(|content| content.map(Arc::from));
            self.known.contents.borrow_mut().insert(key, content.clone());
            content
        })?;
        self.steps()
            .take(content.as_ref().map_or(0, |content| content.len()))?;
        Ok(content)
    }

    /// The entries of a configuration file.
    pub(crate) fn entries(self, path: &[u8]) -> Entries {
        let known = self.known.entries.borrow().get(path).cloned();
        let entries = known.unwrap_or_else(|| {
            let entries = self.parse(path);
            let known = &self.known.entries;
            known.borrow_mut().insert(path.to_vec(), entries.clone());
            entries
        })?;
        let count = entries.as_ref().map_or(0, |entries| entries.len());
        self.steps().take(KNOWN + path.len() + count * ENTRY)?;
        Ok(entries)
    }

    fn parse(self, path: &[u8]) -> Entries {
        let Some(content) = self.read(path)? else {
            return Ok(None);
        };
        let entries = syntax::parse(path, &content, self.steps())?;
        Ok(Some(entries.into()))
    }

    fn ask(self, path: &[u8]) -> Result<(), Error> {
        let names = path.iter().filter(|byte| **byte == b'/').count();
        self.steps().take(QUESTION + path.len() + names * NAME)
    }
}
