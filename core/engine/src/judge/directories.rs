//! The directories that rules, protection and the sandbox name, resolved when a call reaches them.

use std::collections::BTreeMap;

use super::canonical::Canonicalizer;
use super::directory::{Directory, Protected};
use super::pattern::ProtectedPattern;
use super::sandbox::Sandbox;
use crate::host::{Facts, Host};
use crate::model::Effect;
use crate::path::{CanonicalPath, DirIndex, PathCase, holding};
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
    /// Returns `true` if a pattern of protected paths matches the path, or may match something that is removed with it; `is_read` if
    /// those that may be read do not count.
    pub fn is_matched(&self, path: &str, is_removed: bool, is_read: bool) -> bool {
        let mut patterns = self
            .protected
            .patterns
            .iter()
            .filter(|one| !(is_read && one.may_be_read));
        patterns.any(|pattern| {
            pattern.protects(path, self.sandbox.forms()) || (is_removed && pattern.begins_within(path))
        })
    }
}

/// Where the directories that rules grant were at one moment. Only those that held a value then, or hold it as they are written,
/// are asked about in a call: a grant that is not heard leaves the value to stricter rules.
#[derive(Debug, Default)]
pub struct Grants {
    /// Those that were elsewhere than they are written.
    linked: DirIndex,
    /// The bytes of the longest directory as it is written.
    longest: usize,
}

impl Grants {
    /// Asks a host where they are now. One that the host cannot tell of counts as it is written.
    pub fn resolve<'h>(canonicalizer: &mut Canonicalizer<'_, 'h>, host: &'h dyn Host) -> Self {
        let program = canonicalizer.program;
        let granting = program.rules.iter().filter(|rule| rule.effect == Effect::Allow);
        let ids = sort::set(granting.filter_map(|rule| Some(rule.paths?.1)));
        let mut linked = Vec::new();
        for id in ids {
            let Some(written) = program.directories.get_index(id as usize) else {
                continue;
            };
            let known = canonicalizer.directory(written);
            if canonicalizer.facts.has_failed() {
                canonicalizer.facts = Facts::new(host, false);
            } else if let Ok(known) = known
                && known.as_str() != &**written
            {
                linked.push((known, id));
            }
        }
        Self {
            linked: DirIndex::new(linked),
            longest: program
                .directories
                .iter()
                .map(|one| one.len())
                .max()
                .unwrap_or_default(),
        }
    }
}

/// What is known of the directories before a call.
#[derive(Clone, Copy, Debug)]
pub enum Known<'p> {
    /// Nothing: each is asked about when the call reaches it.
    Nothing,
    /// Where those of grants were.
    Grants(&'p Grants),
    /// All of them, for good.
    All(&'p Pinned),
}

/// The rule directories that can say anything about some paths.
pub(super) enum Around {
    /// Any of them.
    Any,
    /// Of those of grants these, and any of the others.
    Grants(Vec<DirectoryId>),
    /// These.
    All(Vec<DirectoryId>),
}

impl Around {
    /// The directories of grants; `None` for any.
    pub(super) fn granting(&self) -> Option<&[DirectoryId]> {
        match self {
            Self::Any => None,
            Self::Grants(known) | Self::All(known) => Some(known),
        }
    }

    /// The directories of restrictions; `None` for any.
    pub(super) fn restricting(&self) -> Option<&[DirectoryId]> {
        match self {
            Self::Any | Self::Grants(_) => None,
            Self::All(known) => Some(known),
        }
    }
}

/// One evaluation's view of the directories: pinned ones, else each resolved once when it is first reached.
pub struct Directories<'p> {
    program: &'p Program,
    known: Known<'p>,
    /// Those that are not pinned and that the call has reached.
    reached: Reached,
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
    pub fn new(program: &'p Program, known: Known<'p>) -> Self {
        Self {
            program,
            known,
            reached: Reached::default(),
        }
    }

    pub(super) fn known(&self) -> Known<'p> {
        self.known
    }

    fn pinned(&self) -> Option<&'p Pinned> {
        match self.known {
            Known::All(pinned) => Some(pinned),
            Known::Nothing | Known::Grants(_) => None,
        }
    }

    /// The directory of a rule's `paths.within`.
    pub fn rule(&mut self, canonicalizer: &mut Canonicalizer<'_, '_>, id: DirectoryId) -> &Directory {
        if let Some(known) = self.pinned().and_then(|pinned| pinned.rules.get(id as usize)) {
            return known;
        }
        let reached = &mut self.reached;
        reached.rules.entry(id).or_insert_with(|| {
            let lexical = self.program.directories.get_index(id as usize);
            Directory::resolve(canonicalizer, lexical.map_or("/", |lexical| lexical))
        })
    }

    /// The pinned directories that any of the paths may lie within, unless spellings may name one directory, which the index does
    /// not know.
    pub(super) fn pinned_around<'a>(
        &self,
        pinned: &Pinned,
        paths: impl Iterator<Item = &'a CanonicalPath>,
    ) -> Around {
        if self.program.path_case == PathCase::Insensitive {
            return Around::Any;
        }
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
        Around::All(around)
    }

    /// Adds the directories of grants that hold the path as they are written. Returns how many bytes were looked up.
    pub(super) fn add_written(&self, grants: &Grants, path: &str, found: &mut Vec<DirectoryId>) -> usize {
        let mut bytes = 0;
        for directory in holding(path, grants.longest) {
            bytes += directory.len();
            let id = self.program.directories.get_index_of(directory);
            found.extend(id.map(|id| id as DirectoryId));
        }
        bytes
    }

    /// Adds those that were elsewhere than they are written, and held the path. They are asked about at once, so that a recording
    /// always tells of them.
    pub(super) fn add_linked(
        &mut self,
        canonicalizer: &mut Canonicalizer<'_, '_>,
        grants: &Grants,
        path: &CanonicalPath,
        found: &mut Vec<DirectoryId>,
    ) {
        for id in grants.linked.containing(path) {
            self.rule(canonicalizer, id);
            found.push(id);
        }
    }

    /// The protected paths, and the sandbox, which excepts paths from some of them.
    pub fn protection(&mut self, canonicalizer: &mut Canonicalizer<'_, '_>) -> (&Protection, &Sandbox) {
        if let Some(pinned) = self.pinned() {
            return (&pinned.protected, &pinned.sandbox);
        }
        let reached = &mut self.reached;
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
        match self.pinned() {
            Some(pinned) => &pinned.roots,
            None => {
                let reached = &mut self.reached;
                reached.roots.get_or_insert_with(|| resolve_roots(canonicalizer))
            }
        }
    }

    /// The sandbox.
    pub fn sandbox(&mut self, canonicalizer: &mut Canonicalizer<'_, '_>) -> &Sandbox {
        match self.pinned() {
            Some(pinned) => &pinned.sandbox,
            None => {
                let reached = &mut self.reached;
                reached
                    .sandbox
                    .get_or_insert_with(|| Sandbox::resolve(canonicalizer))
            }
        }
    }
}
