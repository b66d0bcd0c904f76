//! The sandbox as a call sees it: one directory, several that are one sandbox, or none.

use super::canonical::Canonicalizer;
use super::directory::{Directory, Protected};
use super::operand::Operand;
use crate::path::{CanonicalPath, PathCase};
use crate::sort;
use crate::text::is_at_or_below;

/// The directories of the sandbox in the order of the document; those that cannot be resolved hold nothing. Without any
/// there is no sandbox.
#[derive(Debug, Default)]
pub struct Sandbox(Vec<Directory>);

/// A directory of the sandbox. One that a link leads out of the workspace roots of an outer ceiling holds nothing.
fn within_outer_roots(canonicalizer: &mut Canonicalizer<'_, '_>, lexical: &str) -> Directory {
    let directory = Directory::resolve(canonicalizer, lexical);
    let ceiling = canonicalizer.program.ceiling.as_ref();
    for set in ceiling.map_or(&[][..], |ceiling| ceiling.outer_roots()) {
        let mut is_within = false;
        for root in set {
            let root = Directory::resolve(canonicalizer, root);
            is_within |= directory.known().is_some_and(|known| root.grants(known));
        }
        if !is_within {
            return Directory::unresolvable(lexical);
        }
    }
    directory
}

impl Sandbox {
    /// Resolves the directories that the program names.
    pub(super) fn resolve(canonicalizer: &mut Canonicalizer<'_, '_>) -> Self {
        let directories = canonicalizer.program.sandbox.iter();
        Self(
            directories
                .map(|one| within_outer_roots(canonicalizer, one))
                .collect(),
        )
    }

    /// Returns `true` if no directory is the sandbox.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The directory that relative paths and patterns are relative to.
    pub fn first(&self) -> Option<&Directory> {
        self.0.first()
    }

    /// Returns `true` if one of the directories holds the path.
    pub fn grants(&self, path: &CanonicalPath) -> bool {
        self.0.iter().any(|directory| directory.grants(path))
    }

    /// Returns `true` if the value, and the link that it may be, lie within the sandbox, possibly in two of its
    /// directories.
    pub fn holds(&self, operand: &Operand<'_, '_>) -> bool {
        operand.path().is_some() && operand.paths().all(|path| self.grants(path))
    }

    /// Returns `true` if the path, canonical or lexical, is excepted from protection: a directory that holds it lies
    /// within the protected entry, and so is the more specific of the two. No directory excepts a path that only
    /// another one holds.
    pub fn excepts(&self, path: &str, protected: &Protected, case: PathCase) -> bool {
        let mut known = self.0.iter().filter_map(Directory::known);
        known.any(|directory| {
            is_at_or_below(path, directory.as_str()) && protected.covers(&case.fold(directory))
        })
    }

    /// Its directories that have a canonical form, in every form.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        let known = self.0.iter().filter(|directory| directory.known().is_some());
        known.flat_map(Directory::forms)
    }

    /// For explanations: of the directories that hold one of the values, or its link, the first for each.
    pub fn shown_around<'o, 'p: 'o, 'c: 'o>(
        &self,
        operands: impl Iterator<Item = &'o Operand<'p, 'c>>,
    ) -> String {
        let mut holding: Vec<usize> = operands
            .flat_map(Operand::paths)
            .filter_map(|path| self.0.iter().position(|one| one.grants(path)))
            .collect();
        sort::sort(&mut holding);
        holding.dedup();
        let holding = holding.into_iter().filter_map(|at| self.0.get(at));
        let names: Vec<&str> = holding.map(Directory::as_str).collect();
        names.join(" or ")
    }
}
