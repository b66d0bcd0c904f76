//! A pattern of protected paths, as a call sees it.

use super::canonical::Canonicalizer;
use crate::glob::{Below, Wildcard};
use crate::path::{Folded, PathCase, Pathspec, Piece, folded, is_in_git};
use crate::program;
use crate::text::is_at_or_below;

/// A pattern of protected paths. What lies below a match is protected too.
#[derive(Clone, Debug)]
pub struct ProtectedPattern {
    readings: Vec<CasePattern>,
    /// `true` if each match is a directory.
    is_of_directories: bool,
    /// Its matches are protected against writing alone.
    pub(super) may_be_read: bool,
}

/// The pattern for one way to compare names.
#[derive(Clone, Debug)]
struct CasePattern {
    case: PathCase,
    /// The directory that the pattern begins in: as it is written, and what it stands for.
    directories: Vec<Folded>,
    pattern: Wildcard,
}

impl ProtectedPattern {
    pub(super) fn resolve(
        canonicalizer: &mut Canonicalizer<'_, '_>,
        entry: &program::ProtectedPattern,
    ) -> Self {
        let known = canonicalizer.directory(&entry.directory).ok();
        let known = known.filter(|known| *known.as_str() != *entry.directory);
        // A pattern may match a name as it stands and not in the form that all spellings share: an `e` and an accent are
        // one letter there.
        let cases = match canonicalizer.program.path_case {
            PathCase::Sensitive => &[PathCase::Sensitive][..],
            PathCase::Insensitive => &[PathCase::Sensitive, PathCase::Insensitive],
        };
        let reading = |case: PathCase| CasePattern {
            case,
            directories: std::iter::once(case.fold_written(&entry.directory))
                .chain(known.as_ref().map(|known| case.fold(known)))
                .collect(),
            pattern: Wildcard::parse(&case.fold_text(entry.pattern.as_str()))
                .unwrap_or_else(|| entry.pattern.clone()),
        };
        Self {
            readings: cases.iter().copied().map(reading).collect(),
            is_of_directories: entry.is_of_directories,
            may_be_read: entry.may_be_read,
        }
    }

    /// Returns `true` if the pattern matches the path, or a directory above it. With `beyond`, only directories below
    /// that count.
    pub(super) fn covers(&self, path: &str, beyond: Option<&str>) -> bool {
        self.readings.iter().any(|reading| {
            let path = reading.case.fold_written(path);
            let beyond = beyond.map(|directory| reading.case.fold_written(directory));
            reading.directories.iter().any(|directory| {
                let mut depth = 0;
                if let Some(beyond) = &beyond {
                    let count =
                        |names: &str| depth = names.split('/').filter(|name| !name.is_empty()).count();
                    beyond.with_names_below(directory, count);
                }
                let covers = |names: &str| reading.pattern.covers(names, depth);
                path.with_names_below(directory, covers) == Some(true)
            })
        })
    }

    /// Returns `true` if the directory that the pattern begins in is the path or lies below it.
    pub(super) fn begins_within(&self, path: &str) -> bool {
        self.readings.iter().any(|reading| {
            let path = reading.case.fold_written(path);
            let mut directories = reading.directories.iter();
            directories.any(|directory| directory.may_be_within(&path))
        })
    }

    /// The rest of the pattern below the path, where it agrees with the pattern so far: for each way to read both.
    pub(super) fn below(&self, path: &str) -> Vec<Below> {
        let mut all = Vec::new();
        for reading in &self.readings {
            let path = reading.case.fold_written(path);
            for directory in &reading.directories {
                all.extend(path.with_names_below(directory, |names| reading.pattern.below(names)));
            }
        }
        all
    }

    /// How many steps it takes to find that for a path of this length.
    pub(super) fn cost_below(&self, bytes: usize) -> usize {
        let each = self.readings.iter();
        each.map(|reading| reading.directories.len() * reading.pattern.cost_below(bytes))
            .sum()
    }

    /// Returns `true` if a pattern of git that ranges over the directory may match what this one matches.
    pub(super) fn may_meet(&self, directory: &str, git: &Pathspec) -> bool {
        self.readings.iter().any(|reading| {
            let path = reading.case.fold_written(directory);
            let mut pieces = pieces(reading.pattern.as_str());
            if self.is_of_directories {
                pieces.extend([Piece::Maybe, Piece::Is('/'), Piece::Many { crosses: true }]);
            }
            let within = |names: &str| git.may_meet(names, pieces.iter().copied());
            let above = |names: &str| {
                let names = Piece::literal(&folded(names))
                    .chain([Piece::Is('/')])
                    .collect::<Vec<_>>();
                git.may_meet("", names.into_iter().chain(pieces.iter().copied()))
            };
            let mut directories = reading.directories.iter();
            !is_in_git(reading.pattern.as_str())
                && directories.any(|from| {
                    path.with_names_below(from, within) == Some(true)
                        || from.with_names_below(&path, above) == Some(true)
                })
        })
    }

    /// The length of the pattern, with the directories that it begins in.
    pub(super) fn bytes(&self) -> usize {
        self.readings
            .iter()
            .map(|reading| reading.pattern.as_str().len())
            .sum()
    }

    /// Returns `true` if the pattern protects the path although it may lie in the sandbox, whose directories are given
    /// in every form. A directory that lies in a match itself excepts everything in it, unless there is another match
    /// in it.
    pub(super) fn protects<'d>(&self, path: &str, sandbox: impl Iterator<Item = &'d str>) -> bool {
        let mut around = sandbox.filter(|directory| is_at_or_below(path, directory));
        self.covers(path, None)
            && !around.any(|directory| self.covers(directory, None) && !self.covers(path, Some(directory)))
    }
}

/// A pattern of protected paths as pieces, in lower case.
fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (at, component) in pattern.split('/').enumerate() {
        let is_after_name = at > 0 && !pieces.ends_with(&Piece::DIRECTORIES);
        pieces.extend(is_after_name.then_some(Piece::Is('/')));
        if component == "**" {
            pieces.extend(Piece::DIRECTORIES);
            continue;
        }
        for (at, part) in component.split('*').enumerate() {
            pieces.extend((at > 0).then_some(Piece::Many { crosses: false }));
            pieces.extend(Piece::literal(&folded(part)));
        }
    }
    pieces
}
