//! The things that a value names beside a path: the places of URLs and remotes, and e-mail addresses.

use std::borrow::Cow;
use std::sync::Arc;

use super::answers::text_of;
use super::asking::Asking;
use super::careful::further_urls;
use super::inputs::Inputs;
use super::lookups::Locations;
use super::operand::{Form, Operand};
use super::repository::repositories;
use crate::net::{self, Location, UrlKind};
use crate::program::{cost_of_addresses, readable_addresses};
use crate::role::{Category, RoleDefinition, RoleId, Step};

/// The URLs, or the bare domain, that a value names under the role.
pub(super) fn locations_of<'a>(
    inputs: &Inputs,
    asking: &'a mut Asking,
    at: usize,
    role: RoleId,
) -> &'a [Location] {
    if asking.lookups.locations(at, role).is_none()
        && let Some(operand) = inputs.operands.get(at)
    {
        let locations = find_locations(inputs, asking, operand, at, role);
        if let Some(answers) = asking.lookups.answers_mut(at) {
            answers.locations.push((role, locations));
        }
    }
    asking.lookups.locations(at, role).unwrap_or_default()
}

fn find_locations(
    inputs: &Inputs,
    asking: &mut Asking,
    operand: &Operand<'_, '_>,
    at: usize,
    role: RoleId,
) -> Locations {
    let mut locations = locate(inputs, asking, operand, at, role);
    let kind = url_kind(role, inputs.program.registry.get(role));
    if matches!(kind, UrlKind::Fetch | UrlKind::AsGiven) && inputs.program.defaults.grants_clear_urls {
        // In a query, where a URL may well hold others; a server that splits texts asks for each.
        for url in further_urls(operand.given()) {
            asking.take_steps(net::cost_of_parsing(url));
            if asking.has_failed() {
                break;
            }
            locations.push(Location::new(url, kind));
        }
    }
    asking.take_steps(locations.iter().map(Location::reading).sum());
    locations
}

fn locate(
    inputs: &Inputs,
    asking: &mut Asking,
    operand: &Operand<'_, '_>,
    at: usize,
    role: RoleId,
) -> Locations {
    let one = |location| Locations::from_buf([location]);
    let definition = inputs.program.registry.get(role);
    // A remote is looked up in the repositories of the call.
    let repositories = match definition.canonicalize {
        Step::GitUrl => repositories(inputs, asking),
        _ => Arc::default(),
    };
    if matches!(operand.form, Form::Unknown) {
        return one(Location::unknown());
    }
    let kind = url_kind(role, definition);
    if kind == UrlKind::Bare {
        let cost = net::cost_of_parsing(text_of(inputs, asking, at, role));
        asking.take_steps(cost);
        return one(match asking.has_failed() {
            true => Location::unknown(),
            false => Location::new(text_of(inputs, asking, at, role), kind),
        });
    }
    let is_read_as_given = matches!(definition.canonicalize, Step::Url | Step::GitUrl);
    let parsed = operand.url.as_ref().filter(|_| is_read_as_given);
    let text = operand.bound.text.as_deref().unwrap_or_default();
    let text = match is_read_as_given {
        true => Cow::Borrowed(text),
        false => {
            let step = definition.canonicalize;
            asking.canonicalizer.apply(definition, step, "canonicalize", text)
        }
    };
    one(match kind {
        // The engine fills in the URL that git connects to.
        UrlKind::GitRemote if operand.bound.is_filled_in() => Location::new(&text, kind),
        // A name means something in a repository alone, and the gate's own directory is not the server's.
        UrlKind::GitRemote
            if !repositories.are_named
                && inputs.program.defaults.asks_all_repositories
                && !net::is_explicit(&text) =>
        {
            Location::unknown()
        }
        UrlKind::GitRemote => {
            let facts = &mut asking.canonicalizer.facts;
            let urls = net::resolve_git_remote(&text, parsed, &repositories.directories, facts);
            // A call whose steps have run out is denied, however many URLs are left.
            if asking.has_failed() {
                return one(Location::unknown());
            }
            let others = (!repositories.are_all).then(Location::unknown);
            let known = urls.iter().map(|url| {
                let parsed = parsed.filter(|_| *url == *text);
                Location::parsed(url, kind, parsed)
            });
            return known.chain(others).collect();
        }
        UrlKind::Fetch | UrlKind::AsGiven | UrlKind::Bare => Location::parsed(&text, kind, parsed),
    })
}

/// Returns `true` if the value should be a URL under the role, and is not one that a rule can grant, whatever the rule's
/// conditions are: it has another scheme, no host, or programs read it differently. A remote that nobody can tell is left to the
/// conditions, of which patterns do not grant it.
pub(super) fn is_ungrantable(inputs: &Inputs, asking: &mut Asking, at: usize, role: RoleId) -> bool {
    asking.take_steps(1);
    let operand = inputs.operands.get(at);
    if operand.is_some_and(|operand| operand.is_path_for(role)) {
        return false;
    }
    let mut locations = locations_of(inputs, asking, at, role).iter();
    locations.any(|location| !location.is_grantable() && !location.is_unknown())
}

/// The e-mail addresses that a mail program may read from the value's text under the role.
pub(super) fn addresses_of<'a>(
    inputs: &Inputs,
    asking: &'a mut Asking,
    at: usize,
    role: RoleId,
) -> &'a [String] {
    if asking.lookups.addresses(at, role).is_none() {
        let cost = cost_of_addresses(text_of(inputs, asking, at, role));
        // Where the steps run out, the call is denied whatever is found.
        asking.take_steps(cost);
        let addresses = match asking.has_failed() {
            true => Vec::new(),
            false => readable_addresses(text_of(inputs, asking, at, role)),
        };
        if let Some(answers) = asking.lookups.answers_mut(at) {
            answers.addresses.push((role, addresses));
        }
    }
    asking.lookups.addresses(at, role).unwrap_or_default()
}

/// How a role's values are read as URLs.
pub fn url_kind(role: RoleId, definition: &RoleDefinition) -> UrlKind {
    if definition.category != Category::Url {
        UrlKind::Bare
    } else if role == RoleId::FETCH_URL {
        UrlKind::Fetch
    } else {
        match definition.canonicalize {
            Step::GitUrl => UrlKind::GitRemote,
            Step::Url => UrlKind::Fetch,
            _ => UrlKind::AsGiven,
        }
    }
}
