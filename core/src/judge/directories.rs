//! The directories that rules, protection and the sandbox name, resolved when a call reaches them.

use std::collections::BTreeMap;

use super::canonical::Forms;
use super::sandbox::Sandbox;
use crate::host::HostError;
use crate::path::{CanonicalPath, DirIndex, Failure, Folded, PathCase};
use crate::program::{DirectoryId, Program};
use crate::sort;
use crate::text::is_at_or_below;

/// A configured directory as a call sees it.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    place: Place,
    /// Where the disk may not tell spellings apart, the form that they share.
    folded: Option<Folded>,
}

#[derive(Clone, Debug)]
enum Place {
    /// Its canonical form.
    Known(CanonicalPath),
    /// It cannot be resolved: it grants nothing, and restricts what lies within it as it is written.
    Unresolvable(Box<str>),
}

impl Place {
    fn resolve(forms: &mut Forms<'_, '_>, lexical: &str) -> Result<Self, HostError> {
        match forms.directory(lexical) {
            Ok(path) => Ok(Self::Known(path)),
            Err(Failure::Unresolvable(_)) => Ok(Self::Unresolvable(lexical.into())),
            Err(Failure::Host(error)) => Err(error),
        }
    }

    fn fold(&self, case: PathCase) -> Folded {
        match self {
            Self::Known(path) => case.fold(path),
            Self::Unresolvable(lexical) => case.fold_written(lexical),
        }
    }
}

impl Directory {
    pub(super) fn resolve(forms: &mut Forms<'_, '_>, lexical: &str) -> Result<Self, HostError> {
        let place = Place::resolve(forms, lexical)?;
        let folded = match forms.program.path_case {
            PathCase::Sensitive => None,
            PathCase::Insensitive => Some(place.fold(PathCase::Insensitive)),
        };
        Ok(Self { place, folded })
    }

    /// A directory without a canonical form.
    pub(super) fn unresolvable(lexical: &str) -> Self {
        Self {
            place: Place::Unresolvable(lexical.into()),
            folded: None,
        }
    }

    /// Whether a grant for this directory covers the path.
    pub(crate) fn grants(&self, path: &CanonicalPath) -> bool {
        match &self.place {
            Place::Known(directory) => path.is_within(directory),
            Place::Unresolvable(_) => false,
        }
    }

    /// Whether a restriction on this directory covers the path.
    pub(crate) fn restricts(&self, path: &CanonicalPath) -> bool {
        match &self.place {
            Place::Known(directory) => path.is_within(directory),
            Place::Unresolvable(lexical) => is_at_or_below(path.as_str(), lexical),
        }
    }

    /// Whether the path lies within the directory on a disk that does not tell spellings apart.
    pub(crate) fn may_hold(&self, path: &CanonicalPath) -> bool {
        let folded = |directory: &Folded| PathCase::Insensitive.fold(path).may_be_within(directory);
        self.folded.as_ref().is_some_and(folded)
    }

    /// Whether the directory lies within the path, or may on a disk that does not tell spellings apart.
    pub(crate) fn lies_within(&self, path: &CanonicalPath) -> bool {
        let within = match &self.place {
            Place::Known(directory) => directory.is_within(path),
            Place::Unresolvable(lexical) => is_at_or_below(lexical, path.as_str()),
        };
        let folded = |directory: &Folded| directory.may_be_within(&PathCase::Insensitive.fold(path));
        within || self.folded.as_ref().is_some_and(folded)
    }

    /// The canonical form, where there is one.
    pub(crate) fn known(&self) -> Option<&CanonicalPath> {
        match &self.place {
            Place::Known(path) => Some(path),
            Place::Unresolvable(_) => None,
        }
    }

    /// The text that explanations show.
    pub(crate) fn as_str(&self) -> &str {
        match &self.place {
            Place::Known(path) => path.as_str(),
            Place::Unresolvable(lexical) => lexical,
        }
    }
}

/// A protected path in the forms that are compared: what it stands for, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Protected {
    /// What it stands for; as written, where that cannot be resolved.
    folded: Folded,
    entry: Option<Folded>,
}

impl Protected {
    fn resolve(forms: &mut Forms<'_, '_>, lexical: &str, case: PathCase) -> Result<Self, HostError> {
        let folded = Place::resolve(forms, lexical)?.fold(case);
        let entry = match forms.directory_entry(lexical) {
            Ok(entry) => entry,
            Err(Failure::Unresolvable(_)) => None,
            Err(Failure::Host(error)) => return Err(error),
        };
        let entry = entry.map(|entry| case.fold(&entry));
        Ok(Self { folded, entry })
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
    /// The rule directories that have a canonical form.
    index: DirIndex,
    protected: Vec<Protected>,
    sandbox: Sandbox,
    roots: Vec<Vec<Directory>>,
}

/// The sets of workspace roots of the program's capability ceiling.
fn resolve_roots(forms: &mut Forms<'_, '_>) -> Result<Vec<Vec<Directory>>, HostError> {
    let sets = forms.program.ceiling.iter().flat_map(|ceiling| &ceiling.roots);
    sets.map(|set| set.iter().map(|root| Directory::resolve(forms, root)).collect())
        .collect()
}

impl Pinned {
    /// Resolves every directory of the program now.
    pub(crate) fn resolve(forms: &mut Forms<'_, '_>) -> Result<Self, HostError> {
        let program = forms.program;
        let rules: Vec<Directory> = program
            .directories
            .iter()
            .map(|one| Directory::resolve(forms, one))
            .collect::<Result<_, _>>()?;
        let known = rules
            .iter()
            .zip(0..)
            .filter_map(|(directory, id)| match &directory.place {
                Place::Known(path) => Some((path.clone(), id)),
                Place::Unresolvable(_) => None,
            });
        Ok(Self {
            index: DirIndex::new(known.collect()),
            rules,
            protected: program
                .protected
                .iter()
                .map(|one| Protected::resolve(forms, one, program.path_case))
                .collect::<Result<_, _>>()?,
            sandbox: Sandbox::resolve(forms)?,
            roots: resolve_roots(forms)?,
        })
    }
}

/// One evaluation's view of the directories: pinned ones, else each resolved once when it is first reached.
pub(crate) struct Directories<'p> {
    program: &'p Program,
    pinned: Option<&'p Pinned>,
    rules: BTreeMap<DirectoryId, Directory>,
    protected: Option<Vec<Protected>>,
    sandbox: Option<Sandbox>,
    roots: Option<Vec<Vec<Directory>>>,
}

impl<'p> Directories<'p> {
    pub(crate) fn new(program: &'p Program, pinned: Option<&'p Pinned>) -> Self {
        Self {
            program,
            pinned,
            rules: BTreeMap::new(),
            protected: None,
            sandbox: None,
            roots: None,
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

    /// The rule directories that any of the paths may lie within; `None` unless directories are pinned, and
    /// where spellings may name one directory, which the index does not know.
    pub(crate) fn pinned_around<'a>(
        &self,
        paths: impl Iterator<Item = &'a CanonicalPath>,
    ) -> Option<Vec<DirectoryId>> {
        let pinned = self
            .pinned
            .filter(|_| self.program.path_case == PathCase::Sensitive)?;
        let unresolvable = pinned
            .rules
            .iter()
            .zip(0..)
            .filter_map(|(directory, id)| match directory.place {
                Place::Known(_) => None,
                Place::Unresolvable(_) => Some(id),
            });
        let mut around: Vec<DirectoryId> = paths.flat_map(|path| pinned.index.containing(path)).collect();
        around.extend(unresolvable);
        sort::sort(&mut around);
        around.dedup();
        Some(around)
    }

    /// The protected paths, and the sandbox, which excepts paths from some of them.
    pub(crate) fn protection(
        &mut self,
        forms: &mut Forms<'_, '_>,
    ) -> Result<(&[Protected], &Sandbox), HostError> {
        if let Some(pinned) = self.pinned {
            return Ok((&pinned.protected, &pinned.sandbox));
        }
        let sandbox = known(&mut self.sandbox, || Sandbox::resolve(forms))?;
        let case = self.program.path_case;
        let protected = self.program.protected.iter();
        let protected = known(&mut self.protected, || {
            protected
                .map(|one| Protected::resolve(forms, one, case))
                .collect()
        })?;
        Ok((protected, sandbox))
    }

    /// The sets of workspace roots of the capability ceiling.
    pub(crate) fn roots(&mut self, forms: &mut Forms<'_, '_>) -> Result<&[Vec<Directory>], HostError> {
        if let Some(pinned) = self.pinned {
            return Ok(&pinned.roots);
        }
        Ok(known(&mut self.roots, || resolve_roots(forms))?)
    }

    /// The sandbox.
    pub(crate) fn sandbox(&mut self, forms: &mut Forms<'_, '_>) -> Result<&Sandbox, HostError> {
        if let Some(pinned) = self.pinned {
            return Ok(&pinned.sandbox);
        }
        known(&mut self.sandbox, || Sandbox::resolve(forms))
    }
}

/// What is resolved when it is first asked for.
fn known<T>(slot: &mut Option<T>, resolve: impl FnOnce() -> Result<T, HostError>) -> Result<&T, HostError> {
    match slot {
        Some(known) => Ok(known),
        None => Ok(slot.insert(resolve()?)),
    }
}
