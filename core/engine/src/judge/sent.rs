//! The values to send: the canonical forms that were judged, in the names of the tool's server (SPEC §6).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::asking::Asking;
use super::canonical::Canonicalizer;
use super::careful;
use super::inputs::Inputs;
use super::operand::{Form, Operand};
use super::operands::make_rest;
use super::path_forms::is_relative;
use crate::bind::{Prepared, Replacement, UriForm, join};
use crate::host::HostError;
use crate::net;
use crate::path::{CanonicalPath, Unresolvable, lexical};
use crate::program::ServerPath;
use crate::role::{Category, Registry, RoleId, Step};
use crate::text::strip_directory;

/// Returns `true` if making the views asks the host nothing: every value has its form, and no role is read by the
/// host.
pub(super) fn is_surely_prepared(inputs: &Inputs, asking: &Asking) -> bool {
    let registry = &inputs.program.registry;
    let is_asked = |step: Step| matches!(step, Step::Callback | Step::Path);
    let mut roles = inputs.operands.iter().flat_map(|operand| operand.bound.roles);
    let asks = |role: &RoleId| {
        let definition = registry.get(*role);
        let own = definition.category != Category::Path && is_asked(definition.canonicalize);
        own || definition.extract_policy_value.is_some_and(is_asked)
    };
    inputs.pending.len() == 0
        && asking.canonicalizer.base.server_paths.is_none()
        && !inputs.has_addresses()
        && !roles.any(asks)
}

/// The two views of the call.
///
/// # Errors
/// When the host fails, or failed before.
pub(super) fn prepare(
    inputs: &mut Inputs,
    asking: &mut Asking,
    may_forward_places: bool,
) -> Result<Prepared, HostError> {
    make_rest(inputs, asking);
    asking.canonicalizer.facts.check(())?;
    let mut replacements = Vec::new();
    let mut texts: BTreeMap<_, Vec<&Operand<'_, '_>>> = BTreeMap::new();
    for operand in &inputs.operands {
        match operand.text_of_parts() {
            Some(text) => texts.entry(text).or_default().push(operand),
            None => {
                replacements.extend(asking.canonicalizer.replacement(operand, may_forward_places));
            }
        }
    }
    for parts in texts.values() {
        replacements.extend(
            asking
                .canonicalizer
                .replacement_of_parts(parts, may_forward_places),
        );
    }
    let renamed = inputs.renamed.iter();
    let renamed = renamed.map(|(at, key)| (*at, (*key).to_owned())).collect();
    asking.canonicalizer.facts.check(Prepared {
        renamed,
        replacements,
    })
}

impl<'h> Canonicalizer<'_, 'h> {
    /// Refuses a place that the tool's server has no name for, or takes for another one; `is_of_repository` if it is a git
    /// server that opens a repository there.
    pub(super) fn check_sent(&mut self, path: &str, is_of_repository: bool) -> Result<(), Unresolvable> {
        if self.program.defaults.wants_one_reading {
            careful::check_sent(path, is_of_repository)?;
        }
        match self.base.server_paths.is_none() || self.server_name(path).is_some() {
            true => Ok(()),
            false => Err(Unresolvable::NotShared),
        }
    }

    /// The tool's server's name of a canonical path; `None` if it has none, or means another place by it.
    fn server_name<'t>(&mut self, path: &'t str) -> Option<Cow<'t, str>> {
        let Some(server_paths) = self.base.server_paths else {
            return Some(Cow::Borrowed(path));
        };
        let shared = self.shared(server_paths);
        self.facts.take_steps(shared.len());
        let name = renamed(path, shared.iter().map(|(host, server)| (host.as_str(), *server)))?;
        let back = renamed(
            &name,
            shared.iter().map(|(host, server)| (*server, host.as_str())),
        )?;
        (back == path).then_some(Cow::Owned(name))
    }

    /// The paths of this machine that the tool's server may mean by a text, where it sees the disk under other names.
    pub(super) fn host_names(&mut self, text: &str) -> Vec<String> {
        let Some(server_paths) = self.base.server_paths.filter(|_| text.starts_with('/')) else {
            return Vec::new();
        };
        let shared = self.shared(server_paths);
        self.facts.take_steps(shared.len());
        let back = |path: &str| renamed(path, shared.iter().map(|(host, server)| (*server, host.as_str())));
        let mut names: Vec<String> = back(text).into_iter().chain(back(&lexical(text, "/"))).collect();
        names.dedup();
        names
    }

    /// The directories that the server sees: their canonical paths, and what it calls them. They are resolved once.
    fn shared(&mut self, server_paths: &'h [ServerPath]) -> Arc<[(CanonicalPath, &'h str)]> {
        if let Some(known) = &self.shared {
            return Arc::clone(known);
        }
        let mut shared = Vec::with_capacity(server_paths.len());
        for one in server_paths {
            if let Ok(host) = self.directory(&one.host) {
                shared.push((host, &*one.server));
            }
        }
        let shared: Arc<[_]> = shared.into();
        self.shared = Some(Arc::clone(&shared));
        shared
    }

    /// The path as it is sent: in the names of the tool's server, relative to its base where it lies below in the names
    /// of both sides.
    fn sent<'t>(&mut self, path: &'t str, base: Option<&str>) -> Option<Cow<'t, str>> {
        let name = self.server_name(path)?;
        if let Some(base) = base
            && let Some(names) = strip_directory(path, base)
        {
            let base = self.server_name(base)?;
            if strip_directory(&name, &base) == Some(names) {
                return Some(Cow::Owned(relative_name(names)));
            }
        }
        Some(name)
    }

    /// The value for the tool's server, and for policy.
    pub(super) fn views(&mut self, operand: &Operand<'_, '_>) -> [String; 2] {
        let replaced = self.replacement(operand, true);
        let (transport, policy) = replaced.map_or((None, None), |one| (one.transport, one.policy));
        [transport, policy].map(|text| text.unwrap_or_else(|| operand.bound.raw().to_owned()))
    }

    /// The text that holds these operands, in both views; `None` if it stays as it is.
    pub fn replacement_of_parts(
        &mut self,
        parts: &[&Operand<'_, '_>],
        may_forward_places: bool,
    ) -> Option<Replacement> {
        let first = &parts.first()?.bound;
        let (argument, part) = (first.argument?, first.part?);
        let (_, place) = first.place.split_last()?;
        let is_unresolvable = |one: &&Operand<'_, '_>| matches!(one.form, Form::Unresolvable(_));
        if parts.iter().any(is_unresolvable) {
            return None;
        }
        let mut views: [Vec<Cow<'_, str>>; 2] = Default::default();
        let mut is_changed = [!part.is_as_given; 2];
        for operand in parts {
            let replaced = self.replacement(operand, may_forward_places);
            let texts = replaced.map_or([None, None], |one| [one.transport, one.policy]);
            for ((view, is_changed), text) in views.iter_mut().zip(&mut is_changed).zip(texts) {
                *is_changed |= text.is_some();
                view.push(text.map_or(Cow::Borrowed(operand.bound.raw()), Cow::Owned));
            }
        }
        let [transport, policy] = views.map(|view| join(part.separator, view.iter().map(|text| &**text)));
        let [is_transport_changed, is_policy_changed] = is_changed;
        (is_transport_changed || is_policy_changed).then_some(Replacement {
            argument,
            place: place.to_vec(),
            transport: is_transport_changed.then_some(transport),
            policy: is_policy_changed.then_some(policy),
        })
    }

    /// The operand in both views (SPEC §6.2 to §6.6); `None` if it stays as it is.
    pub fn replacement(
        &mut self,
        operand: &Operand<'_, '_>,
        may_forward_places: bool,
    ) -> Option<Replacement> {
        let bound = &operand.bound;
        let (argument, text) = (bound.argument?, bound.text.as_deref()?);
        let registry = &self.program.registry;
        let mut roles = bound.roles.iter().copied();
        let mut others = bound.roles.iter().copied();
        let first = roles
            .find(|role| registry.get(*role).is_resource_identifier())
            .or_else(|| {
                others.find(|role| !Registry::is_builtin(*role) && registry.get(*role).is_prepared())
            })?;
        let definition = registry.get(first);
        if definition.category == Category::Address {
            let located = operand.located().filter(|_| may_forward_places)?;
            return Some(Replacement {
                argument,
                place: bound.place.to_vec(),
                transport: Some(self.server_name(located.path.as_str())?.into_owned()),
                policy: (located.address != text).then(|| located.address.clone()),
            });
        }
        if definition.category == Category::Path && operand.path().is_none() {
            return None;
        }
        let rest = operand.path_rest();
        let pattern = rest.and_then(|rest| rest.pattern.as_ref());
        if pattern.is_some_and(|pattern| pattern.is_exclusion) {
            return None;
        }
        let moved = rest.and_then(|rest| rest.moved.as_deref());
        let entry = rest.and_then(|rest| rest.entry.as_ref());
        let base = rest.and_then(|rest| rest.base.as_deref());
        // Only the link is removed, whatever else the argument names. The existing runtime sends its target.
        let entry = entry.filter(|_| self.program.defaults.judges_below);
        let canonical = match entry {
            Some(entry) => Cow::Borrowed(entry.as_str()),
            None => self.canonical(operand, definition),
        };
        let policy = match definition.extract_policy_value {
            Some(step) => self.apply(definition, step, "extractPolicyValue", &canonical),
            None => Cow::Borrowed(&*canonical),
        };
        let stays_relative = definition.category == Category::Path
            && self.base.keeps_relative
            && is_relative(moved.unwrap_or(text));
        let transport = match definition.category == Category::Path || entry.is_some() {
            _ if stays_relative && base.is_none() => moved.map(Cow::Borrowed),
            true => Some(self.sent(&canonical, base)?),
            false => Some(Cow::Borrowed(&*canonical)),
        };
        let given = bound.raw();
        let changed = |in_view: Cow<'_, str>| {
            let in_view = match pattern {
                Some(pattern) => Cow::Owned(pattern.below(&in_view)),
                None => in_view,
            };
            let in_view = match bound.uri.as_ref().map(|uri| &uri.form) {
                Some(UriForm::File { rest }) => Cow::Owned(net::file_uri(&in_view, rest, given).into_owned()),
                Some(UriForm::Path | UriForm::Web | UriForm::Unclear) | None => in_view,
            };
            let is_changed = *in_view != *given;
            is_changed.then(|| in_view.into_owned())
        };
        let transport = transport.and_then(changed);
        let policy = changed(policy);
        (transport.is_some() || policy.is_some()).then_some(Replacement {
            argument,
            place: bound.place.to_vec(),
            transport,
            policy,
        })
    }
}

/// The path with its longest prefix replaced by what stands for it.
fn renamed<'n>(path: &str, prefixes: impl Iterator<Item = (&'n str, &'n str)>) -> Option<String> {
    let (from, to) = prefixes
        .filter(|(from, _)| strip_directory(path, from).is_some())
        .max_by_key(|(from, _)| from.trim_end_matches('/').len())?;
    let to = to.trim_end_matches('/');
    Some(match strip_directory(path, from)? {
        "" if to.is_empty() => "/".to_owned(),
        "" => to.to_owned(),
        names => format!("{to}/{names}"),
    })
}

/// Names below a directory as a relative path that nobody takes for an option, a home directory, a URI, a pathspec or
/// JSON.
fn relative_name(names: &str) -> String {
    let is_plain = names.starts_with(|first: char| first.is_alphanumeric() || matches!(first, '_' | '.'));
    if names.is_empty() {
        ".".to_owned()
    } else if is_plain && !names.contains(':') && names != "null" {
        names.to_owned()
    } else {
        format!("./{names}")
    }
}
