//! The directories that rules, protection and the sandbox name, resolved when a call reaches them.

use std::collections::BTreeMap;

use super::canonical::Canonicalizer;
use super::directory::{Directory, Protected};
use super::pattern::ProtectedPattern;
use super::sandbox::Sandbox;
use crate::path::{CanonicalPath, DirIndex, PathCase};
use crate::program::{DirectoryId, Program};
use crate::sort;

/// The paths that no call may touch.
#[derive(Debug, Default)]
pub struct Protection {
    pub paths: Vec<Protected>,
    pub patterns: Vec<ProtectedPattern>,
}

impl Protection {
    fn resolve(canonicalizer: &mut Canonicalizer<'_, '_>) -> Self {
        let program = canonicalizer.program;
        let paths = program.protected.paths.iter();
        let paths = paths.map(|one| Protected::resolve(canonicalizer, one)).collect();
        let patterns = program.protected.patterns.iter();
        let patterns = patterns
            .map(|one| ProtectedPattern::resolve(canonicalizer, one))
            .collect();
        Self { paths, patterns }
    }
}

/// Directories resolved once, for as long as the caller wants.
#[derive(Debug, Default)]
pub struct Pinned {
    rules: Vec<Directory>,
    /// The rule directories that have a canonical form.
    index: DirIndex,
    protected: Protection,
    sandbox: Sandbox,
    roots: Vec<Vec<Directory>>,
}

/// The sets of workspace roots of the program's capability ceiling.
fn resolve_roots(canonicalizer: &mut Canonicalizer<'_, '_>) -> Vec<Vec<Directory>> {
    let sets = canonicalizer
        .program
        .ceiling
        .iter()
        .flat_map(|ceiling| &ceiling.roots);
    sets.map(|set| {
        set.iter()
            .map(|root| Directory::resolve(canonicalizer, root))
            .collect()
    })
    .collect()
}

impl Pinned {
    /// Resolves every directory of the program now.
    pub fn resolve(canonicalizer: &mut Canonicalizer<'_, '_>) -> Self {
        let program = canonicalizer.program;
        let rules: Vec<Directory> = program
            .directories
            .iter()
            .map(|one| Directory::resolve(canonicalizer, one))
            .collect();
        let known = rules
            .iter()
            .zip(0..)
            .filter_map(|(directory, id)| Some((directory.known()?.clone(), id)));
        Self {
            index: DirIndex::new(known.collect()),
            rules,
            protected: Protection::resolve(canonicalizer),
            sandbox: Sandbox::resolve(canonicalizer),
            roots: resolve_roots(canonicalizer),
        }
    }
}

impl Pinned {
    /// Returns `true` if a pattern of protected paths matches the path, or may match something that is removed with it.
    pub fn is_matched(&self, path: &str, is_removed: bool) -> bool {
        let mut patterns = self.protected.patterns.iter();
        patterns.any(|pattern| {
            pattern.protects(path, self.sandbox.forms()) || (is_removed && pattern.begins_within(path))
        })
    }
}

/// One evaluation's view of the directories: pinned ones, else each resolved once when it is first reached.
pub struct Directories<'p> {
    program: &'p Program,
    pinned: Option<&'p Pinned>,
    /// Those that are not pinned, once one is reached.
    reached: Option<Box<Reached>>,
}

/// The directories that a call has reached.
#[derive(Default)]
struct Reached {
    rules: BTreeMap<DirectoryId, Directory>,
    protected: Option<Protection>,
    sandbox: Option<Sandbox>,
    roots: Option<Vec<Vec<Directory>>>,
}

impl<'p> Directories<'p> {
    pub fn new(program: &'p Program, pinned: Option<&'p Pinned>) -> Self {
        Self {
            program,
            pinned,
            reached: None,
        }
    }

    /// The directory of a rule's `paths.within`.
    pub fn rule(&mut self, canonicalizer: &mut Canonicalizer<'_, '_>, id: DirectoryId) -> &Directory {
        if let Some(known) = self.pinned.and_then(|pinned| pinned.rules.get(id as usize)) {
            return known;
        }
        let reached = self.reached.get_or_insert_default();
        reached.rules.entry(id).or_insert_with(|| {
            let lexical = self.program.directories.get(id as usize);
            Directory::resolve(canonicalizer, lexical.map_or("/", |lexical| lexical))
        })
    }

    /// The rule directories that any of the paths may lie within; `None` unless directories are pinned, and
    /// where spellings may name one directory, which the index does not know.
    pub fn pinned_around<'a>(
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
            .filter(|(directory, _)| directory.known().is_none())
            .map(|(_, id)| id);
        let mut around: Vec<DirectoryId> = paths.flat_map(|path| pinned.index.containing(path)).collect();
        around.extend(unresolvable);
        sort::sort(&mut around);
        around.dedup();
        Some(around)
    }

    /// Returns `true` if they were resolved before the call.
    pub(super) fn are_pinned(&self) -> bool {
        self.pinned.is_some()
    }

    /// The protected paths, and the sandbox, which excepts paths from some of them.
    pub fn protection(&mut self, canonicalizer: &mut Canonicalizer<'_, '_>) -> (&Protection, &Sandbox) {
        if let Some(pinned) = self.pinned {
            return (&pinned.protected, &pinned.sandbox);
        }
        let reached = &mut **self.reached.get_or_insert_default();
        let sandbox = reached
            .sandbox
            .get_or_insert_with(|| Sandbox::resolve(canonicalizer));
        let protected = reached
            .protected
            .get_or_insert_with(|| Protection::resolve(canonicalizer));
        (protected, sandbox)
    }

    /// The sets of workspace roots of the capability ceiling.
    pub fn roots(&mut self, canonicalizer: &mut Canonicalizer<'_, '_>) -> &[Vec<Directory>] {
        match self.pinned {
            Some(pinned) => &pinned.roots,
            None => {
                let reached = self.reached.get_or_insert_default();
                reached.roots.get_or_insert_with(|| resolve_roots(canonicalizer))
            }
        }
    }

    /// The sandbox.
    pub fn sandbox(&mut self, canonicalizer: &mut Canonicalizer<'_, '_>) -> &Sandbox {
        match self.pinned {
            Some(pinned) => &pinned.sandbox,
            None => {
                let reached = self.reached.get_or_insert_default();
                reached
                    .sandbox
                    .get_or_insert_with(|| Sandbox::resolve(canonicalizer))
            }
        }
    }
}
