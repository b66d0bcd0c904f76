//! The things that a value names beside a path: the places of URLs and remotes, and e-mail addresses.

use std::borrow::Cow;

use super::canonical::Canonicalizer;
use super::careful::further_urls;
use super::operand::{Form, Locations, Operand};
use super::places::Repositories;
use crate::net::{self, Location, UrlKind};
use crate::program::{cost_of_addresses, readable_addresses};
use crate::role::{Category, RoleDefinition, RoleId, Step};

impl Canonicalizer<'_, '_> {
    /// Finds what the value names as a URL, or as a bare domain, under the role; `repositories` are where git remotes are
    /// looked up.
    pub(super) fn find_locations(
        &mut self,
        operand: &mut Operand<'_, '_>,
        role: RoleId,
        repositories: &Repositories,
    ) {
        let mut locations = self.locate(operand, role, repositories);
        let kind = url_kind(role, self.program.registry.get(role));
        if matches!(kind, UrlKind::Fetch | UrlKind::AsGiven) && self.program.defaults.grants_clear_urls {
            // In a query, where a URL may well hold others; a server that splits texts asks for each.
            for url in further_urls(operand.given()) {
                self.facts.take_steps(net::cost_of_parsing(url));
                if self.facts.has_failed() {
                    break;
                }
                locations.push(Location::new(url, kind));
            }
        }
        self.facts
            .take_steps(locations.iter().map(Location::reading).sum());
        operand.answers_mut().locations.push((role, locations));
    }

    fn locate(
        &mut self,
        operand: &mut Operand<'_, '_>,
        role: RoleId,
        repositories: &Repositories,
    ) -> Locations {
        let one = |location| Locations::from_buf([location]);
        if matches!(operand.form, Form::Unknown) {
            return one(Location::unknown());
        }
        let definition = self.program.registry.get(role);
        let kind = url_kind(role, definition);
        if kind == UrlKind::Bare {
            let cost = net::cost_of_parsing(self.text(operand, role));
            self.facts.take_steps(cost);
            let text = operand.text(role).unwrap_or_default();
            return one(match self.facts.has_failed() {
                true => Location::unknown(),
                false => Location::new(text, kind),
            });
        }
        let is_read_as_given = matches!(definition.canonicalize, Step::Url | Step::GitUrl);
        let parsed = operand.url().filter(|_| is_read_as_given);
        let text = operand.bound.text.as_deref().unwrap_or_default();
        let text = match is_read_as_given {
            true => Cow::Borrowed(text),
            false => self.apply(definition, definition.canonicalize, "canonicalize", text),
        };
        one(match kind {
            // The engine fills in the URL that git connects to.
            UrlKind::GitRemote if operand.bound.is_filled_in() => Location::new(&text, kind),
            // A name means something in a repository alone, and the gate's own directory is not the server's.
            UrlKind::GitRemote
                if !repositories.are_named
                    && self.program.defaults.asks_all_repositories
                    && !net::is_explicit(&text) =>
            {
                Location::unknown()
            }
            UrlKind::GitRemote => {
                let urls = net::resolve_git_remote(&text, parsed, &repositories.directories, &mut self.facts);
                // A call whose steps have run out is denied, however many URLs are left.
                if self.facts.has_failed() {
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

    /// The e-mail addresses that a mail program may read from the value's text under the role.
    pub(super) fn addresses<'o>(&mut self, operand: &'o mut Operand<'_, '_>, role: RoleId) -> &'o [String] {
        if operand.addresses(role).is_none() {
            let text = self.text(operand, role);
            let cost = cost_of_addresses(text);
            // Where the steps run out, the call is denied whatever is found.
            self.facts.take_steps(cost);
            let addresses = match self.facts.has_failed() {
                true => Vec::new(),
                false => readable_addresses(operand.text(role).unwrap_or_default()),
            };
            operand.answers_mut().addresses.push((role, addresses));
        }
        operand.addresses(role).unwrap_or_default()
    }
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
