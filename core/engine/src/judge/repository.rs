//! The repositories whose remotes a call means.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::asking::Asking;
use super::canonical::Canonicalizer;
use super::inputs::Inputs;
use super::operand::Operand;
use super::places::Repositories;
use crate::bind::Value;
use crate::cost::LOOK_UP;
use crate::model::ServerKind;
use crate::path::CanonicalPath;
use crate::text::strip_directory;

/// The remote that servers name where the call names none.
pub(super) const ORIGIN: &str = "origin";

/// How many places of a call are looked at. Where there are more, the others count as unknown.
const MOST_PLACES: usize = 64;

/// The repositories that the call means, found once.
pub(super) fn repositories(inputs: &Inputs, asking: &mut Asking) -> Arc<Repositories> {
    if let Some(known) = &asking.lookups.repositories {
        return Arc::clone(known);
    }
    let found = Arc::new(match inputs.program.defaults.asks_all_repositories {
        true => all_repositories(inputs, asking),
        false => one_repository(inputs, asking),
    });
    asking.lookups.repositories = Some(Arc::clone(&found));
    found
}

/// The branches that are checked out in the repositories of a call to git; `None` if they cannot be told.
pub(super) fn current_branches(inputs: &Inputs, asking: &mut Asking) -> Option<Arc<[String]>> {
    if asking.lookups.branches.is_none() {
        let found = find_branches(inputs, asking).map(Arc::from);
        asking.lookups.branches = Some(found);
    }
    let branches = asking.lookups.branches.clone().flatten()?;
    asking.take_steps(branches.len() * LOOK_UP);
    Some(branches)
}

fn find_branches(inputs: &Inputs, asking: &mut Asking) -> Option<Vec<String>> {
    if inputs.settings.kind != Some(ServerKind::Git) {
        return None;
    }
    let repositories = repositories(inputs, asking);
    if !repositories.are_named || !repositories.are_all {
        return None;
    }
    let mut branches = Vec::new();
    for directory in &repositories.directories {
        let branch = asking.canonicalizer.facts.git_branch(directory);
        if branch.is_empty() {
            return None;
        }
        branches.push(branch);
    }
    Some(branches)
}

/// Those that a path, an address or the argument `path` lies in, else the server's.
fn all_repositories(inputs: &Inputs, asking: &mut Asking) -> Repositories {
    let mut places = BTreeSet::new();
    for operand in &inputs.operands {
        let located = operand.located().map(|located| located.path.as_str().to_owned());
        places.extend(located);
        places.extend(operand.paths().map(CanonicalPath::to_string));
    }
    let mut found = Repositories::default();
    if place_of_path_argument(inputs).is_none()
        && let Some(text) = path_argument(inputs)
    {
        match asking.canonicalizer.path_like(&text) {
            Ok(path) => {
                places.insert(path.to_string());
            }
            Err(_) => found.are_all = false,
        }
    }
    found.are_named = !places.is_empty() || !found.are_all;
    if !found.are_named {
        return repository_by_default(inputs, asking);
    }
    let mut directories = BTreeSet::new();
    for (at, place) in places.into_iter().enumerate() {
        let directory = match at < MOST_PLACES {
            true => directory_of(&mut asking.canonicalizer, place),
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
fn one_repository(inputs: &Inputs, asking: &mut Asking) -> Repositories {
    if path_argument(inputs).is_none() && first_place(inputs).is_none() {
        return repository_by_default(inputs, asking);
    }
    Repositories {
        directories: repository_argument(inputs, asking).into_iter().collect(),
        are_all: true,
        are_named: true,
    }
}

/// The one that the server is started in, where that is configured, else the current directory.
fn repository_by_default(inputs: &Inputs, asking: &mut Asking) -> Repositories {
    let Some(directory) = &inputs.settings.working_directory else {
        return Repositories {
            directories: vec![inputs.program.current.to_string()],
            are_all: true,
            are_named: false,
        };
    };
    let place = asking.canonicalizer.directory(directory).ok();
    let found = place.and_then(|place| directory_of(&mut asking.canonicalizer, place.to_string()));
    Repositories {
        are_all: found.is_some(),
        are_named: true,
        directories: found.into_iter().collect(),
    }
}

/// The canonical path of the repository that an argument names.
fn repository_argument(inputs: &Inputs, asking: &mut Asking) -> Option<String> {
    let named = path_argument(inputs);
    if let Some(operand) = addressed_repository(inputs, named.is_some()) {
        // Where its place is not known the call is denied already.
        return operand.located().map(|located| located.path.as_str().to_owned());
    }
    match named {
        Some(text) => {
            let path = asking.canonicalizer.path_like(&text).ok();
            path.map(|path| path.as_str().to_owned())
        }
        None => first_place(inputs)
            .and_then(Operand::path)
            .map(CanonicalPath::to_string),
    }
}

/// The repositories as the agent may know them: by an address that lies there, in an engine with a world.
pub(super) fn repositories_shown(inputs: &Inputs, repositories: &Repositories) -> String {
    let shown = |directory: &String| {
        let mut located = inputs.operands.iter().filter_map(Operand::located);
        let there = located.find(|one| strip_directory(one.path.as_str(), directory).is_some());
        match there {
            Some(located) => located.address.clone(),
            None if inputs.program.world.is_some() => "the repository".to_owned(),
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
fn first_place<'o, 'p, 'c>(inputs: &'o Inputs<'p, 'c>) -> Option<&'o Operand<'p, 'c>> {
    let places = inputs.program.path_roles.union(inputs.program.address_roles);
    let operands = inputs.operands.iter();
    operands
        .filter(|operand| operand.bound.role_set.intersects(places))
        .min_by_key(|operand| {
            let name = inputs.name_of_value(&operand.bound);
            let mut arguments = inputs.tool.into_iter().flat_map(|tool| &tool.arguments);
            arguments.position(|argument| argument.name.first().is_none_or(|first| first == name))
        })
}

fn path_argument(inputs: &Inputs) -> Option<String> {
    let mut members = inputs.call.arguments.members().iter();
    let (_, value) = members.find(|(name, _)| name == "path")?;
    match value.read(1).ok()?.as_ref() {
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The value of the argument `path`, if it is a path or an address.
fn place_of_path_argument<'o, 'p, 'c>(inputs: &'o Inputs<'p, 'c>) -> Option<&'o Operand<'p, 'c>> {
    let places = inputs.program.path_roles.union(inputs.program.address_roles);
    let mut operands = inputs.operands.iter();
    operands.find(|operand| {
        let bound = &operand.bound;
        bound.role_set.intersects(places)
            && bound.place.is_empty()
            && !bound.is_filled_in()
            && inputs.name_of_value(bound) == "path"
    })
}

/// The address that names the repository: the one of the argument `path`, or of the first place without that argument.
fn addressed_repository<'o, 'p, 'c>(
    inputs: &'o Inputs<'p, 'c>,
    has_path: bool,
) -> Option<&'o Operand<'p, 'c>> {
    let operand = match has_path {
        true => place_of_path_argument(inputs),
        false => first_place(inputs),
    };
    operand.filter(|operand| operand.bound.role_set.intersects(inputs.program.address_roles))
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
