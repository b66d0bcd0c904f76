//! The repository that git finds from the directory that it is started in, as far as the host tells.

use callgate_programs::{Invocation, Role};
use callgate_shell::Value;

use super::asking::Asking;
use super::links::Links;
use crate::path::CanonicalPath;

/// What git finds.
#[derive(Default)]
pub(super) struct Repository {
    /// The work tree; `None` if there is none, or several are possible.
    work_tree: Option<String>,
    /// A directory on the way may be a repository without a work tree, whose configuration anybody may write.
    is_bare: bool,
}

impl Repository {
    /// Looks for the repository from the directories of a program upwards. `links` are what other parts may leave behind.
    pub(super) fn of(asking: &mut Asking, invocation: &Invocation, links: &Links) -> Self {
        let resolver = &mut asking.canonicalizer.resolver();
        let directories = invocation.directories.as_deref().unwrap_or_default();
        let mut found = Self::default();
        let mut work_trees = Vec::new();
        for directory in directories {
            // Git looks from where the directory really is.
            let real = resolver.resolve(directory, "/");
            found.is_bare |= real.is_err();
            let mut place = real.as_ref().map_or(directory.as_str(), CanonicalPath::as_str);
            place = place.trim_end_matches('/');
            while !place.is_empty() && !resolver.may_exist(&format!("{place}/.git")) {
                found.is_bare |= links.covers(place) || resolver.may_exist(&format!("{place}/HEAD"));
                place = place.rsplit_once('/').map_or("", |(above, _)| above);
            }
            work_trees.push(place.to_owned());
        }
        work_trees.dedup();
        if let [work_tree] = work_trees.as_slice() {
            found.work_tree = Some(work_tree.clone()).filter(|work_tree| !work_tree.is_empty());
        }
        found
    }

    /// Returns `true` if git may do something else than its arguments tell: read the configuration of another repository, or, without any,
    /// compare files as they are on the disk.
    pub(super) fn is_doubtful(&self, invocation: &Invocation) -> bool {
        let paths = invocation.operands.iter();
        let given = paths.filter(|one| one.role == Role::ReadPath && one.place != invocation.place);
        let compares = invocation.commands == ["diff"] && given.count() > 1;
        self.is_bare || self.work_tree.is_none() && compares
    }

    /// The program with what git writes, or adds where no path is named: the whole work tree, wherever it is started, and not a tree where
    /// `restore`, or `checkout` after `--`, names a file that is there and no other revision.
    pub(super) fn with_work_tree(&self, asking: &mut Asking, invocation: &Invocation) -> Option<Invocation> {
        let mut changed = invocation.clone();
        let has_revision = changed.operands.iter().any(|one| one.role == Role::BranchName);
        let restores = ["restore", "checkout"]
            .iter()
            .any(|name| invocation.commands == [*name])
            && !has_revision;
        let adds = ["add", "stage"].iter().any(|name| invocation.commands == [*name]);
        let is_meant = |role: Role| role == Role::WritePath || adds && role == Role::ReadPath;
        let trees = changed.operands.iter_mut();
        for tree in trees.filter(|one| one.is_tree && is_meant(one.role)) {
            if tree.place == invocation.place {
                let work_tree = self.work_tree.clone()?;
                let is_here = |path: &String| path.trim_end_matches("/.") == work_tree;
                let is_all_here = tree.paths().iter().all(is_here);
                if let Some(contents) = tree.contents.as_mut().filter(|_| !is_all_here) {
                    // What pathspecs leave out lies where git runs.
                    contents
                        .left_out
                        .retain(|name| matches!(name.as_str(), ".git" | ".git/"));
                }
                tree.value = Value::Exact(work_tree);
            } else if restores && let [path] = tree.paths().as_slice() {
                let is_there = asking.canonicalizer.resolver().may_exist(path);
                tree.is_tree = !(is_there && asking.canonicalizer.facts.is_directory(path) == Some(false));
            }
        }
        Some(changed)
    }
}
