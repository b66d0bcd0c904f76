//! The repositories whose remotes a call means.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Case;
use super::canonical::Canonicalizer;
use super::operand::Operand;
use super::places::Repositories;
use crate::bind::Value;
use crate::cost::LOOK_UP;
use crate::model::ServerKind;
use crate::path::CanonicalPath;
use crate::text::strip_directory;

/// How many places of a call are looked at. Where there are more, the others count as unknown.
const MOST_PLACES: usize = 64;

impl<'p, 'c> Case<'p, 'c, '_> {
    /// The repositories that the call means, found once.
    pub(super) fn repositories(&mut self) -> Arc<Repositories> {
        if let Some(known) = &self.lookups.repositories {
            return Arc::clone(known);
        }
        let found = Arc::new(match self.program.defaults.asks_all_repositories {
            true => self.all_repositories(),
            false => self.one_repository(),
        });
        self.lookups.repositories = Some(Arc::clone(&found));
        found
    }

    /// The branches that are checked out in the repositories of a call to git; `None` if they cannot be told.
    pub(super) fn current_branches(&mut self) -> Option<Arc<[String]>> {
        if self.lookups.branches.is_none() {
            let found = self.find_branches().map(Arc::from);
            self.lookups.branches = Some(found);
        }
        let branches = self.lookups.branches.clone().flatten()?;
        self.canonicalizer.facts.take_steps(branches.len() * LOOK_UP);
        Some(branches)
    }

    fn find_branches(&mut self) -> Option<Vec<String>> {
        if self.settings.kind != Some(ServerKind::Git) {
            return None;
        }
        let repositories = self.repositories();
        if !repositories.are_named || !repositories.are_all {
            return None;
        }
        let mut branches = Vec::new();
        for directory in &repositories.directories {
            let branch = self.canonicalizer.facts.git_branch(directory);
            if branch.is_empty() {
                return None;
            }
            branches.push(branch);
        }
        Some(branches)
    }

    /// Those that a path, an address or the argument `path` lies in, else the server's.
    fn all_repositories(&mut self) -> Repositories {
        let mut places = BTreeSet::new();
        for operand in &self.operands {
            let located = operand.located().map(|located| located.path.as_str().to_owned());
            places.extend(located);
            places.extend(operand.paths().map(CanonicalPath::to_string));
        }
        let mut found = Repositories::default();
        if self.place_of_path_argument().is_none()
            && let Some(text) = self.path_argument()
        {
            match self.canonicalizer.path_like(&text) {
                Ok(path) => {
                    places.insert(path.to_string());
                }
                Err(_) => found.are_all = false,
            }
        }
        found.are_named = !places.is_empty() || !found.are_all;
        if !found.are_named {
            return self.repository_by_default();
        }
        let mut directories = BTreeSet::new();
        for (at, place) in places.into_iter().enumerate() {
            let directory = match at < MOST_PLACES {
                true => directory_of(&mut self.canonicalizer, place),
                false => None,
            };
            match directory {
                Some(directory) => {
                    directories.insert(directory);
                }
                None => found.are_all = false,
            }
        }
        found.directories.extend(directories);
        found
    }

    /// As the existing runtime chooses: the argument `path`, else the first path, else the current directory.
    fn one_repository(&mut self) -> Repositories {
        if self.path_argument().is_none() && self.first_place().is_none() {
            return self.repository_by_default();
        }
        Repositories {
            directories: self.repository_argument().into_iter().collect(),
            are_all: true,
            are_named: true,
        }
    }

    /// The one that the server is started in, where that is configured, else the current directory.
    fn repository_by_default(&mut self) -> Repositories {
        let Some(directory) = &self.settings.working_directory else {
            return Repositories {
                directories: vec![self.program.current.to_string()],
                are_all: true,
                are_named: false,
            };
        };
        let place = self.canonicalizer.directory(directory).ok();
        let found = place.and_then(|place| directory_of(&mut self.canonicalizer, place.to_string()));
        Repositories {
            are_all: found.is_some(),
            are_named: true,
            directories: found.into_iter().collect(),
        }
    }

    /// The canonical path of the repository that an argument names.
    fn repository_argument(&mut self) -> Option<String> {
        let named = self.path_argument();
        if let Some(operand) = self.addressed_repository(named.is_some()) {
            // Where its place is not known the call is denied already.
            return operand.located().map(|located| located.path.as_str().to_owned());
        }
        match named {
            Some(text) => {
                let path = self.canonicalizer.path_like(&text).ok();
                path.map(|path| path.as_str().to_owned())
            }
            None => self
                .first_place()
                .and_then(Operand::path)
                .map(CanonicalPath::to_string),
        }
    }

    /// The repositories as the agent may know them: by an address that lies there, in an engine with a world.
    pub(super) fn repositories_shown(&self, repositories: &Repositories) -> String {
        let shown = |directory: &String| {
            let mut located = self.operands.iter().filter_map(Operand::located);
            let there = located.find(|one| strip_directory(one.path.as_str(), directory).is_some());
            match there {
                Some(located) => located.address.clone(),
                None if self.program.world.is_some() => "the repository".to_owned(),
                None => directory.clone(),
            }
        };
        let shown: Vec<String> = repositories.directories.iter().map(shown).collect();
        match shown.is_empty() {
            true => "the repository".to_owned(),
            false => shown.join(", "),
        }
    }

    /// The first path or address, in the annotation's order of arguments.
    fn first_place(&self) -> Option<&Operand<'p, 'c>> {
        let places = self.program.path_roles.union(self.program.address_roles);
        let operands = self.operands.iter();
        operands
            .filter(|operand| operand.bound.role_set.intersects(places))
            .min_by_key(|operand| {
                let name = self.name_of_value(&operand.bound);
                let mut arguments = self.tool.into_iter().flat_map(|tool| &tool.arguments);
                arguments.position(|argument| argument.name.first().is_none_or(|first| first == name))
            })
    }

    fn path_argument(&self) -> Option<String> {
        let mut members = self.call.arguments.members().iter();
        let (_, value) = members.find(|(name, _)| name == "path")?;
        match value.read(1).ok()?.as_ref() {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// The value of the argument `path`, if it is a path or an address.
    fn place_of_path_argument(&self) -> Option<&Operand<'p, 'c>> {
        let places = self.program.path_roles.union(self.program.address_roles);
        let mut operands = self.operands.iter();
        operands.find(|operand| {
            let bound = &operand.bound;
            bound.role_set.intersects(places)
                && bound.place.is_empty()
                && !bound.is_filled_in()
                && self.name_of_value(bound) == "path"
        })
    }

    /// The address that names the repository: the one of the argument `path`, or of the first place without that argument.
    fn addressed_repository(&self, has_path: bool) -> Option<&Operand<'p, 'c>> {
        let operand = match has_path {
            true => self.place_of_path_argument(),
            false => self.first_place(),
        };
        operand.filter(|operand| operand.bound.role_set.intersects(self.program.address_roles))
    }
}

/// The deepest directory at or above the place; `None` if the host cannot tell.
fn directory_of(canonicalizer: &mut Canonicalizer<'_, '_>, place: String) -> Option<String> {
    let mut directory = place.as_str();
    loop {
        if directory == "/" || canonicalizer.facts.is_directory(directory)? {
            return Some(directory.to_owned());
        }
        directory = match directory.rsplit_once('/')? {
            ("", _) => "/",
            (above, _) => above,
        };
    }
}
