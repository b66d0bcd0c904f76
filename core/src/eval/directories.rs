//! The directories that rules, protection and the sandbox name, resolved when a call reaches them.

use std::collections::BTreeMap;

use crate::args::Forms;
use crate::host::HostError;
use crate::path::{CanonicalPath, Failure, Folded, PathCase};
use crate::program::{DirectoryId, Program};

/// A configured directory as a call sees it.
#[derive(Clone, Debug)]
pub(crate) enum Directory {
    /// Its canonical form.
    Known(CanonicalPath),
    /// It cannot be resolved: it grants nothing, and restricts what lies within it as it is written.
    Unresolvable(Box<str>),
}

impl Directory {
    fn resolve(forms: &mut Forms<'_, '_>, lexical: &str) -> Result<Self, HostError> {
        match forms.directory(lexical) {
            Ok(path) => Ok(Self::Known(path)),
            Err(Failure::Unresolvable(_)) => Ok(Self::Unresolvable(lexical.into())),
            Err(Failure::Host(error)) => Err(error),
        }
    }

    /// Whether a grant for this directory covers the path.
    pub(crate) fn grants(&self, path: &CanonicalPath) -> bool {
        match self {
            Self::Known(directory) => path.is_within(directory),
            Self::Unresolvable(_) => false,
        }
    }

    /// Whether a restriction on this directory covers the path.
    pub(crate) fn restricts(&self, path: &CanonicalPath) -> bool {
        match self {
            Self::Known(directory) => path.is_within(directory),
            Self::Unresolvable(lexical) => is_within_text(path.as_str(), lexical),
        }
    }

    /// Whether the directory lies within the path.
    pub(crate) fn lies_within(&self, path: &CanonicalPath) -> bool {
        match self {
            Self::Known(directory) => directory.is_within(path),
            Self::Unresolvable(lexical) => is_within_text(lexical, path.as_str()),
        }
    }

    /// The text that explanations show.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Known(path) => path.as_str(),
            Self::Unresolvable(lexical) => lexical,
        }
    }
}

fn is_within_text(path: &str, directory: &str) -> bool {
    directory == "/"
        || path
            .strip_prefix(directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A protected path in the forms that are compared: what it stands for, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Protected {
    /// What it stands for; as written, where that cannot be resolved.
    pub(crate) directory: Directory,
    folded: Folded,
    entry: Option<Folded>,
}

impl Protected {
    fn resolve(forms: &mut Forms<'_, '_>, lexical: &str, case: PathCase) -> Result<Self, HostError> {
        let directory = Directory::resolve(forms, lexical)?;
        let entry = match forms.directory_entry(lexical) {
            Ok(entry) => entry,
            Err(Failure::Unresolvable(_)) => None,
            Err(Failure::Host(error)) => return Err(error),
        };
        let folded = match &directory {
            Directory::Known(path) => case.fold(path),
            Directory::Unresolvable(lexical) => case.fold_written(lexical),
        };
        let entry = entry.map(|entry| case.fold(&entry));
        Ok(Self {
            directory,
            folded,
            entry,
        })
    }

    /// Whether the path lies within what is protected, or is the link that stands for it.
    pub(crate) fn covers(&self, path: &Folded) -> bool {
        path.may_be_within(&self.folded) || self.entry.as_ref().is_some_and(|entry| path.may_be_within(entry))
    }

    /// Whether removing the path would remove what is protected.
    pub(crate) fn lies_within(&self, path: &Folded) -> bool {
        self.folded.may_be_within(path) || self.entry.as_ref().is_some_and(|entry| entry.may_be_within(path))
    }
}

/// Directories resolved once, for as long as the caller wants.
#[derive(Debug, Default)]
pub(crate) struct Pinned {
    rules: Vec<Directory>,
    protected: Vec<Protected>,
    sandbox: Option<Directory>,
}

impl Pinned {
    /// Resolves every directory of the program now.
    pub(crate) fn resolve(forms: &mut Forms<'_, '_>) -> Result<Self, HostError> {
        let program = forms.program;
        let resolve = |forms: &mut Forms<'_, '_>, lexical: &str| Directory::resolve(forms, lexical);
        Ok(Self {
            rules: program
                .directories
                .iter()
                .map(|one| resolve(forms, one))
                .collect::<Result<_, _>>()?,
            protected: program
                .protected
                .iter()
                .map(|one| Protected::resolve(forms, one, program.path_case))
                .collect::<Result<_, _>>()?,
            sandbox: program
                .sandbox
                .as_deref()
                .map(|one| resolve(forms, one))
                .transpose()?,
        })
    }
}

/// One evaluation's view of the directories: pinned ones, else each resolved once when it is first reached.
pub(crate) struct Directories<'p> {
    program: &'p Program,
    pinned: Option<&'p Pinned>,
    rules: BTreeMap<DirectoryId, Directory>,
    protected: Option<Vec<Protected>>,
    sandbox: Option<Option<Directory>>,
}

impl<'p> Directories<'p> {
    pub(crate) fn new(program: &'p Program, pinned: Option<&'p Pinned>) -> Self {
        Self {
            program,
            pinned,
            rules: BTreeMap::new(),
            protected: None,
            sandbox: None,
        }
    }

    /// The directory of a rule's `paths.within`.
    pub(crate) fn rule(
        &mut self,
        forms: &mut Forms<'_, '_>,
        id: DirectoryId,
    ) -> Result<&Directory, HostError> {
        if let Some(known) = self.pinned.and_then(|pinned| pinned.rules.get(id as usize)) {
            return Ok(known);
        }
        let directory = match self.rules.entry(id) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                let lexical = self
                    .program
                    .directories
                    .get(id as usize)
                    .map_or("/", |lexical| lexical);
                place.insert(Directory::resolve(forms, lexical)?)
            }
        };
        Ok(directory)
    }

    /// The protected paths.
    pub(crate) fn protected(&mut self, forms: &mut Forms<'_, '_>) -> Result<&[Protected], HostError> {
        if let Some(pinned) = self.pinned {
            return Ok(&pinned.protected);
        }
        if self.protected.is_none() {
            let resolve = |one: &Box<str>| Protected::resolve(forms, one, self.program.path_case);
            self.protected = Some(
                self.program
                    .protected
                    .iter()
                    .map(resolve)
                    .collect::<Result<_, _>>()?,
            );
        }
        Ok(self.protected.as_deref().unwrap_or_default())
    }

    /// The sandbox, where there is one.
    pub(crate) fn sandbox(&mut self, forms: &mut Forms<'_, '_>) -> Result<Option<Directory>, HostError> {
        if let Some(pinned) = self.pinned {
            return Ok(pinned.sandbox.clone());
        }
        if self.sandbox.is_none() {
            let lexical = self.program.sandbox.as_deref();
            self.sandbox = Some(lexical.map(|one| Directory::resolve(forms, one)).transpose()?);
        }
        Ok(self.sandbox.clone().flatten())
    }
}
