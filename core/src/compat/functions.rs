//! The plain functions: what a runtime asks before, beside and without an engine (SPEC §3, §5, §6, §7).
//!
//! They work on the built-in roles and the default limits, and ask the host what they need each time.

use std::borrow::Cow;

use serde_json::Value as Json;

use crate::annotation;
use crate::bind::{Arguments, Siblings, Value};
use crate::diagnostic::Diagnostic;
use crate::host::{Facts, Host, HostError};
use crate::limits::Limits;
use crate::lint::{self, Validation};
use crate::model::MatchType;
use crate::net;
use crate::path::{CanonicalPath, PathCase, Resolver, Unresolvable, expand_tilde};
use crate::role::{Registry, RoleId};

/// The roles of each argument of a tool, conditions resolved, in the annotation's order.
pub type PlainAnnotation = Vec<(String, Vec<RoleId>)>;

/// One host's directories and answers for a plain function.
pub(super) struct Plain<'h> {
    host: &'h dyn Host,
    facts: Facts<'h>,
    limits: Limits,
}

impl<'h> Plain<'h> {
    pub(super) fn new(host: &'h dyn Host) -> Self {
        Self {
            host,
            facts: Facts::new(host, false),
            limits: Limits::default(),
        }
    }

    fn resolver(&mut self) -> Resolver<'_, 'h> {
        Resolver {
            facts: &mut self.facts,
            home: self.host.home_dir(),
            limits: &self.limits,
            path_case: PathCase::Sensitive,
        }
    }

    pub(super) fn resolve(&mut self, path: &str) -> Result<CanonicalPath, Unresolvable> {
        let base = self.host.current_dir();
        self.resolver().resolve(path, base)
    }

    pub(super) fn resolve_or_lexical(&mut self, path: &str) -> String {
        let base = self.host.current_dir();
        self.resolver().resolve_or_lexical(path, base).to_string()
    }

    pub(super) fn is_directory(&mut self, path: &CanonicalPath) -> bool {
        self.facts.is_directory(path.as_str()) == Some(true)
    }

    /// The URLs that a git remote stands for in the repository that the arguments name.
    pub(super) fn remote_urls(&mut self, remote: &str, path: Option<&str>) -> Vec<String> {
        let repository = match path {
            Some(path) => self.resolve(path).ok().map(|path| path.as_str().to_owned()),
            None => Some(self.host.current_dir().to_owned()),
        };
        let remote = net::resolve_git_remote(remote, repository.as_deref(), &mut self.facts);
        remote.urls().map(str::to_owned).collect()
    }

    /// `value`, unless the host failed while it was made.
    pub(super) fn check<T>(&self, value: T) -> Result<T, HostError> {
        self.facts.check(value)
    }
}

/// `~` and `~/…` with the home directory in their place; `~user` and everything else as it is.
pub fn expand_home<'t>(path: &'t str, host: &'t dyn Host) -> Cow<'t, str> {
    expand_tilde(path, host.home_dir())
}

/// The canonical form of a path; its lexical form where it has none.
///
/// # Errors
/// When the host fails.
pub fn resolve_real_path(path: &str, host: &dyn Host) -> Result<String, HostError> {
    let mut plain = Plain::new(host);
    let resolved = plain.resolve_or_lexical(path);
    plain.check(resolved)
}

/// Whether the canonical path lies within the canonical directory; what has no canonical form does not.
///
/// # Errors
/// When the host fails.
pub fn is_within_directory(path: &str, directory: &str, host: &dyn Host) -> Result<bool, HostError> {
    let mut plain = Plain::new(host);
    let is_within = match [directory, path].map(|one| plain.resolve(one)) {
        [Ok(directory), Ok(path)] => path.is_within(&directory),
        [Err(_), _] | [_, Err(_)] => false,
    };
    plain.check(is_within)
}

/// The URL that a git remote's name stands for in the repository at `path` (the current directory without one);
/// a URL, and a name that stands for nothing, as they are.
///
/// # Errors
/// When the host fails.
pub fn resolve_git_remote(remote: &str, path: Option<&str>, host: &dyn Host) -> Result<String, HostError> {
    let mut plain = Plain::new(host);
    let urls = plain.remote_urls(remote, path);
    Ok(plain
        .check(urls)?
        .into_iter()
        .next()
        .unwrap_or_else(|| remote.to_owned()))
}

/// The URL that a fetch or push without an argument would use in the repository at `path`.
///
/// # Errors
/// When the host fails.
pub fn resolve_default_git_remote(path: &str, host: &dyn Host) -> Result<Option<String>, HostError> {
    let mut plain = Plain::new(host);
    let urls = match plain.resolve(path) {
        Ok(path) => plain.facts.git_default_remote_urls(path.as_str()),
        Err(_) => Vec::new(),
    };
    Ok(plain.check(urls)?.into_iter().next())
}

/// Whether a value is an entry of a list of that type, as [`MatchType`] compares them.
pub fn list_entry_matches(match_type: MatchType, value: &str, entry: &str) -> bool {
    match match_type {
        MatchType::Domains => net::domain_matches_allowlist(value, &[entry]),
        MatchType::Emails => value.to_lowercase() == entry.to_lowercase(),
        MatchType::Identifiers => value == entry,
    }
}

/// The roles of each argument of a stored annotation `{args}`, conditions resolved against the call's arguments.
///
/// # Errors
/// A description of what is wrong with the annotation.
pub fn resolve_stored_annotation(
    stored: &Json,
    arguments: &Arguments<'_>,
) -> Result<PlainAnnotation, Vec<Diagnostic>> {
    let registry = Registry::default();
    let stored = annotation::read_stored(stored, &registry)?;
    let limits = Limits::default();
    let siblings = Siblings::new(stored.iter().map(|argument| &argument.roles), arguments, &limits);
    Ok(stored
        .iter()
        .map(|argument| {
            let roles = argument.roles.resolve(|wanted| siblings.see(wanted));
            (argument.name.to_string(), roles.to_vec())
        })
        .collect())
}

/// Validates compiled rules against the definitions of the lists that they name (SPEC §7).
pub fn validate_compiled_rules(rules: &Json, list_definitions: &Json) -> Validation {
    lint::validate_compiled_rules(rules, list_definitions, &Registry::default(), &Limits::default())
}

/// The values of an argument of a plain annotation: a string, or the strings of an array.
pub(crate) fn strings(value: &Value<'_>) -> Vec<String> {
    match value.read(Limits::default().depth).as_deref() {
        Ok(Value::Text(text)) => vec![text.to_string()],
        Ok(Value::Array(items)) => items
            .iter()
            .filter_map(|item| match item {
                Value::Text(text) => Some(text.to_string()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
