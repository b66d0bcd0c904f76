//! Places at which a part of a text may leave a link, so that a name may mean something else by the time that another part uses it.

use callgate_programs::{Invocation, Operand, Role};
use callgate_shell::Reading;

use super::asking::Asking;
use crate::text::is_at_or_below;

/// What parts of a text write as trees.
#[derive(Default)]
pub(super) struct Links {
    places: Vec<Place>,
}

struct Place {
    path: String,
    /// There may be a link itself, and not only below.
    may_be_link: bool,
}

impl Links {
    /// Those of parts that run beside others, or more than once: they may have run before any.
    pub(super) fn aside(asking: &mut Asking, reading: &Reading, invocations: &[Invocation]) -> Self {
        let has_background = reading.commands.iter().any(|one| one.within.background);
        let is_aside = |invocation: &&Invocation| {
            let mut around = reading.commands.iter().filter(|one| {
                one.place.start <= invocation.place.start && invocation.place.end <= one.place.end
            });
            has_background || around.any(|one| one.within.repeated || one.within.pipeline)
        };
        let mut links = Self::default();
        for invocation in invocations.iter().filter(is_aside) {
            links.add(asking, invocation);
        }
        links
    }

    /// Adds what a part writes.
    pub(super) fn add(&mut self, asking: &mut Asking, invocation: &Invocation) {
        let trees = invocation.operands.iter();
        let trees = trees.filter(|one| one.is_tree && one.role == Role::WritePath);
        let mut trees = trees.flat_map(Operand::paths).peekable();
        // Git writes a link that another revision has, in the place of a directory too; any other is moved or copied as it is.
        let is_of_git = ["restore", "checkout"]
            .iter()
            .any(|name| invocation.commands == [*name]);
        let brings_links = trees.peek().is_some() && !is_of_git && has_links(asking, invocation);
        for path in trees {
            let facts = &mut asking.canonicalizer.facts;
            let may_be_link = is_of_git || brings_links && facts.is_directory(&path) != Some(true);
            self.places.push(Place { path, may_be_link });
        }
    }

    /// How many places there are.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns `true` if the directory is written, or lies in what is.
    pub(super) fn covers(&self, directory: &str) -> bool {
        let mut places = self.places.iter();
        places.any(|place| is_at_or_below(directory, place.path.trim_end_matches("/.")))
    }

    /// Returns `true` if the part names something that may be, or lie behind, a link by then.
    pub(super) fn may_lead(&self, invocation: &Invocation) -> bool {
        let leads = |path: &String| {
            let mut places = self.places.iter();
            places.any(|place| {
                let is_itself = path.trim_end_matches("/.") == place.path;
                is_at_or_below(path, &place.path) && (place.may_be_link || !is_itself)
            })
        };
        let paths = invocation.operands.iter().filter(|one| one.role.is_path());
        paths.flat_map(Operand::paths).any(|path| leads(&path))
    }
}

/// Returns `true` if what the part moves or copies may be a link.
fn has_links(asking: &mut Asking, invocation: &Invocation) -> bool {
    let sources = invocation.operands.iter();
    let mut sources = sources
        .filter(|one| matches!(one.role, Role::ReadPath | Role::DeletePath))
        .flat_map(Operand::paths);
    sources.any(|source| may_be_link(asking, &source))
}

/// Returns `true` if a path may be one of a link.
fn may_be_link(asking: &mut Asking, path: &str) -> bool {
    let resolver = &mut asking.canonicalizer.resolver();
    let Some((above, name)) = path.rsplit_once('/') else {
        return true;
    };
    let above = if above.is_empty() { "/" } else { above };
    match (resolver.resolve(path, "/"), resolver.resolve(above, "/")) {
        (Ok(path), Ok(above)) => path.as_str() != format!("{}/{name}", above.as_str().trim_end_matches('/')),
        _ => true,
    }
}
