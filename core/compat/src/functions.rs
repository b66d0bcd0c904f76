//! Functions that need no engine (SPEC §3, §5, §6, §7).
//!
//! They use the built-in roles and the default limits, and ask the host anew each time.

use std::borrow::Cow;

use serde_json::Value as Json;

use callgate_engine::advice::{self, Validation};
use callgate_engine::annotation;
use callgate_engine::bind::{Arguments, Siblings};
use callgate_engine::diagnostic::Diagnostic;
use callgate_engine::document;
use callgate_engine::host::{Facts, Host, HostError};
use callgate_engine::limits::Limits;
use callgate_engine::model::{MatchType, PointerTree};
use callgate_engine::net;
use callgate_engine::path::{CanonicalPath, PathCase, Resolver, Unresolvable, expand_tilde};
use callgate_engine::role::{Registry, RoleId};

/// The roles of each argument of a tool, in the annotation's order, with conditions resolved.
pub type ResolvedAnnotation = Vec<(String, Vec<RoleId>)>;

/// Reads JSON text for a function that takes a value, as documents are read, but without a limit on its size.
///
/// It is here for the WebAssembly module: each further reader of JSON is code that has to be downloaded.
///
/// # Errors
/// When the text is not JSON, holds a key twice, or is nested too deep.
pub fn parse_json(text: &str) -> Result<Json, String> {
    let mut limits = Limits::default();
    limits.depth = usize::MAX;
    limits.document_bytes = usize::MAX;
    document::load_json(text, "document", &limits).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        faults.join("; ")
    })
}

/// A host and its answers during one function.
pub(super) struct FunctionHost<'h> {
    host: &'h dyn Host,
    facts: Facts<'h>,
    limits: Limits,
}

impl<'h> FunctionHost<'h> {
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

    /// Returns `true` if both have a canonical form and one is within the other.
    pub(super) fn is_within(&mut self, path: &str, directory: &str) -> bool {
        match [directory, path].map(|one| self.resolve(one)) {
            [Ok(directory), Ok(path)] => path.is_within(&directory),
            [Err(_), _] | [_, Err(_)] => false,
        }
    }

    /// Returns `true` if the path is not a link, or if the link itself lies within the directory.
    pub(super) fn entry_is_within(&mut self, path: &str, directory: &str) -> bool {
        let base = self.host.current_dir();
        match (self.resolver().entry(path, base), self.resolve(directory)) {
            (Ok(None), Ok(_)) => true,
            (Ok(Some(entry)), Ok(directory)) => entry.is_within(&directory),
            (Err(_), _) | (_, Err(_)) => false,
        }
    }

    pub(super) fn is_directory(&mut self, path: &CanonicalPath) -> bool {
        self.facts.is_directory(path.as_str()) == Some(true)
    }

    /// The URLs that a git remote stands for in the repository at `path`, by default the current directory.
    pub(super) fn remote_urls(&mut self, remote: &str, path: Option<&str>) -> Vec<String> {
        let repository = match path {
            Some(path) => self.resolve(path).ok().map(|path| path.as_str().to_owned()),
            None => Some(self.host.current_dir().to_owned()),
        };
        let repositories: Vec<String> = repository.into_iter().collect();
        net::resolve_git_remote(remote, None, &repositories, &mut self.facts)
    }

    /// `value`, unless the host has failed.
    pub(super) fn check<T>(&self, value: T) -> Result<T, HostError> {
        self.facts.check(value)
    }
}

/// Replaces `~` and `~/…` by the home directory. `~user` and everything else is returned unchanged.
pub fn expand_home<'t>(path: &'t str, host: &'t dyn Host) -> Cow<'t, str> {
    expand_tilde(path, host.home_dir())
}

/// The canonical form of a path, or its lexical form if it has no canonical one.
///
/// # Errors
/// When the host fails.
pub fn resolve_real_path(path: &str, host: &dyn Host) -> Result<String, HostError> {
    let mut plain = FunctionHost::new(host);
    let resolved = plain.resolve_or_lexical(path);
    plain.check(resolved)
}

/// Returns `true` if the canonical path lies within the canonical directory; `false` if either has no canonical form.
///
/// # Errors
/// When the host fails.
pub fn is_within_directory(path: &str, directory: &str, host: &dyn Host) -> Result<bool, HostError> {
    let mut plain = FunctionHost::new(host);
    let is_within = plain.is_within(path, directory);
    plain.check(is_within)
}

/// The URL that a git remote's name stands for in the repository at `path`, by default the current directory. A URL,
/// and a name that is not a remote, are returned unchanged.
///
/// # Errors
/// When the host fails.
pub fn resolve_git_remote(remote: &str, path: Option<&str>, host: &dyn Host) -> Result<String, HostError> {
    let mut plain = FunctionHost::new(host);
    let urls = plain.remote_urls(remote, path);
    Ok(plain
        .check(urls)?
        .into_iter()
        .next()
        .unwrap_or_else(|| remote.to_owned()))
}

/// The URL that a fetch or push without arguments uses in the repository at `path`.
///
/// # Errors
/// When the host fails.
pub fn resolve_default_git_remote(path: &str, host: &dyn Host) -> Result<Option<String>, HostError> {
    let mut plain = FunctionHost::new(host);
    let urls = match plain.resolve(path) {
        Ok(path) => plain.facts.git_default_remote_urls(path.as_str()),
        Err(_) => Vec::new(),
    };
    Ok(plain.check(urls)?.into_iter().next())
}

/// A git URL in the form that people compare: [`normalize_url`](callgate_engine::net::normalize_url) without a `/` at the end,
/// since git takes both for one repository. The SSH form, `[user@]host:path`, and other text are returned unchanged.
///
/// The URL that is sent to a server keeps its `/`: git's `insteadOf` tells the two apart.
///
/// ```
/// assert_eq!(callgate_compat::normalize_git_url("git@GitHub.com:a/b/"), "git@GitHub.com:a/b/");
/// assert_eq!(callgate_compat::normalize_git_url("https://GitHub.com:443/a/b.git/"), "https://github.com/a/b.git");
/// assert_eq!(callgate_compat::normalize_git_url("q:a/://b /"), "q:a/://b /");
/// ```
pub fn normalize_git_url(value: &str) -> Cow<'_, str> {
    if !net::is_git_url(value) {
        return Cow::Borrowed(value);
    }
    let mut url = net::normalize_git_url(value).into_owned();
    // Only after a host a `/` at the end is one of a path; other URLs may have a space before it, which then would be at the end.
    let names = url
        .split_once(':')
        .and_then(|(_, rest)| rest.strip_prefix("//"))
        .unwrap_or("")
        .trim_end_matches('/');
    if !names.is_empty() {
        url.truncate(url.trim_end_matches('/').len());
    }
    Cow::Owned(url)
}

/// Returns `true` if a value matches an entry of a list of this type, as [`MatchType`] compares them.
pub fn list_entry_matches(match_type: MatchType, value: &str, entry: &str) -> bool {
    match match_type {
        MatchType::Domains => net::domain_matches_allowlist(value, &[entry]),
        MatchType::Emails => value.to_lowercase() == entry.to_lowercase(),
        MatchType::Identifiers => value == entry,
    }
}

/// The roles of each argument of a stored annotation `{args}`, with conditions resolved against the call's arguments.
///
/// # Errors
/// The faults of the annotation.
pub fn resolve_stored_annotation(
    stored: &Json,
    arguments: &Arguments<'_>,
) -> Result<ResolvedAnnotation, Vec<Diagnostic>> {
    let registry = Registry::default();
    let stored = annotation::read_stored(stored, &registry)?;
    let limits = Limits::default();
    let conditions = stored.iter().flat_map(|argument| argument.roles.conditions());
    let tree = PointerTree::of_conditions(conditions.map(|condition| &condition.argument));
    let siblings = Siblings::new(&tree, arguments, &limits, |_| None);
    Ok(stored
        .iter()
        .map(|argument| {
            let roles = argument
                .roles
                .resolve(|wanted| siblings.condition_value(tree.number(wanted)));
            (argument.name.to_string(), roles.to_vec())
        })
        .collect())
}

/// Validates compiled rules against the definitions of the lists that they name (SPEC §7).
pub fn validate_compiled_rules(rules: &Json, list_definitions: &Json) -> Validation {
    advice::validate_compiled_rules(rules, list_definitions, &Registry::default(), &Limits::default())
}
