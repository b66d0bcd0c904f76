//! Approvals as the existing runtime has them, outside an engine (SPEC §9): whoever keeps them asks after the verdict.
//!
//! An approval only ever turns `escalate` into `allow`; it never touches a denial.
//!
//! It is no serialization of the engine's approvals (`core/engine/src/approval`), although the constraints are the same type. These
//! functions are given an annotation and arguments, and no policy, while the engine compares what it judged: it knows which rules
//! asked, what the sandbox resolved, and the values in their canonical forms. To have an engine answer, one would have to be built of
//! an annotation with a policy that asks about everything, in each call, and then answer otherwise: the recorded vectors leave out
//! values that cannot be constrained, where the engine offers nothing.

use serde::{Deserialize, Serialize};

use super::functions::{FunctionHost, ResolvedAnnotation};
use callgate_engine::approval::{ApprovalConstraint, describe};
use callgate_engine::bind::{Arguments, Value};
use callgate_engine::host::{Host, HostError};
use callgate_engine::limits::Limits;
use callgate_engine::net::{self, Location, UrlKind};
use callgate_engine::program::distinct;
use callgate_engine::role::{Category, Registry, RoleDefinition, RoleId};

/// Calls that a person approved together: one tool, and constraints on its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalPattern {
    /// The server.
    pub server_name: String,
    /// The tool.
    pub tool_name: String,
    /// All of these must hold.
    pub constraints: Vec<ApprovalConstraint>,
    /// The escalation that was approved.
    #[serde(default)]
    pub source_escalation_id: String,
    /// The reason given for the escalation.
    pub original_reason: String,
    /// A description for people: `Allow <server>/<tool> <constraints>`.
    pub description: String,
}

/// One escalated call.
#[derive(Clone, Copy, Debug)]
pub struct Escalation<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The call's arguments.
    pub arguments: &'a Arguments<'a>,
    /// The tool's annotation.
    pub annotation: &'a ResolvedAnnotation,
    /// The roles that escalated; `None` if that is not known.
    pub roles: Option<&'a [RoleId]>,
}

/// The patterns that an approval of this escalation may stand for; empty if no value can be constrained.
///
/// As in the existing runtime, a value that cannot be constrained is left out; then the pattern does not cover calls
/// with such a value.
///
/// # Errors
/// When the host fails.
pub fn extract_whitelist_candidates(
    escalation: &Escalation<'_>,
    escalation_id: &str,
    reason: &str,
    host: &dyn Host,
) -> Result<Vec<ApprovalPattern>, HostError> {
    let registry = Registry::default();
    let mut plain = FunctionHost::new(host);
    let all = distinct(
        escalation.annotation.iter().map(|(_, roles)| &**roles),
        registry.select(RoleDefinition::is_resource_identifier),
    );
    let roles = escalation.roles.unwrap_or(&all);
    let mut constraints = Vec::new();
    for role in roles.iter().copied() {
        for value in values(escalation, role, Others::LeftOut).unwrap_or_default() {
            let constraint = constraint(&mut plain, &registry, escalation, role, &value);
            constraints.extend(constraint.filter(|one| !constraints.contains(one)));
        }
    }
    let constraints = plain.check(constraints)?;
    if constraints.is_empty() {
        return Ok(Vec::new());
    }
    let description = describe(escalation.server, escalation.tool, &constraints, &[]);
    Ok(vec![ApprovalPattern {
        server_name: escalation.server.to_owned(),
        tool_name: escalation.tool.to_owned(),
        constraints,
        source_escalation_id: escalation_id.to_owned(),
        original_reason: reason.to_owned(),
        description,
    }])
}

/// The values of a role, in the annotation's order; `None` if one of them is nested deeper, or if the annotation uses
/// JSON Pointers, which are not read here.
fn values(escalation: &Escalation<'_>, role: RoleId, others: Others) -> Option<Vec<String>> {
    let mut values = Vec::new();
    for name in bearers(escalation, role) {
        if name.starts_with('/') {
            return None;
        }
        if let Some(value) = member(escalation, name) {
            values.extend(texts(value, others)?);
        }
    }
    Some(values)
}

/// The arguments with the role.
fn bearers<'a>(escalation: &Escalation<'a>, role: RoleId) -> impl Iterator<Item = &'a str> {
    let bearers = escalation.annotation.iter();
    bearers
        .filter(move |(_, roles)| roles.contains(&role))
        .map(|(name, _)| name.as_str())
}

fn member<'a>(escalation: &Escalation<'a>, name: &str) -> Option<&'a Value<'a>> {
    let mut members = escalation.arguments.members().iter();
    let found = members.find(|(known, _)| *known == name);
    found.map(|(_, value)| value)
}

/// The treatment of numbers, truth values and ill-formed strings, which no constraint can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    /// They are left out.
    LeftOut,
    /// The values as a whole count as unreadable. An argument that is null counts as absent.
    Refused,
}

/// The strings of a value; `None` if it is not a string, array of strings, number, boolean or null.
fn texts(value: &Value<'_>, others: Others) -> Option<Vec<String>> {
    let depth = Limits::default().depth;
    let is_readable = |value: &Value<'_>| match value {
        Value::Text(_) => true,
        Value::IllFormed(_) | Value::Number(_) | Value::Bool(_) | Value::Null => others == Others::LeftOut,
        Value::Array(_) | Value::Object(_) | Value::Unread | Value::Raw(_) => false,
    };
    let all_readable = match value.read(depth).as_deref() {
        Ok(Value::Array(items)) => items.iter().all(is_readable),
        Ok(Value::Null) => true,
        Ok(Value::IllFormed(_)) => false,
        Ok(value) => is_readable(value),
        Err(_) => false,
    };
    all_readable.then(|| value.strings(depth).into_iter().map(|(_, text)| text).collect())
}

fn constraint(
    plain: &mut FunctionHost<'_>,
    registry: &Registry,
    escalation: &Escalation<'_>,
    role: RoleId,
    value: &str,
) -> Option<ApprovalConstraint> {
    let definition = registry.get(role);
    let name = definition.name.to_string();
    match definition.category {
        Category::Path if matches!(role, RoleId::WRITE_HISTORY | RoleId::DELETE_HISTORY) => None,
        Category::Path => {
            let Ok(path) = plain.resolve(value) else {
                return None;
            };
            let directory = match plain.is_directory(&path) {
                true => path,
                // A file at the top does not open everything below it.
                false if path.parent().as_str() == "/" => return None,
                false => path.parent(),
            };
            Some(ApprovalConstraint::Directory {
                role: name,
                directory: directory.as_str().to_owned(),
            })
        }
        Category::Url => {
            let urls = urls(plain, escalation, role, value);
            let mut domains: Vec<String> = urls.iter().map(|url| domain(role, url)).collect();
            domains.dedup();
            let [domain] = <[String; 1]>::try_from(domains).ok()?;
            (!domain.is_empty()).then_some(ApprovalConstraint::Domain { role: name, domain })
        }
        Category::Identifier => Some(ApprovalConstraint::Exact {
            role: name,
            value: value.to_lowercase(),
        }),
        // Only a world can say where an address leads, and these functions know no world.
        Category::Address | Category::Command | Category::Opaque => None,
    }
}

/// The URLs that a value stands for: one, or for a git remote those of every repository of the call.
fn urls(plain: &mut FunctionHost<'_>, escalation: &Escalation<'_>, role: RoleId, value: &str) -> Vec<String> {
    if role != RoleId::GIT_REMOTE_URL {
        return vec![value.to_owned()];
    }
    let repositories = repositories(escalation);
    if repositories.is_empty() {
        return plain.remote_urls(value, None);
    }
    let mut urls = Vec::new();
    for repository in repositories {
        urls.extend(plain.remote_urls(value, Some(&repository)));
    }
    urls
}

/// The paths that may say which repository the call is about: the argument `path` and everything with a path role.
fn repositories(escalation: &Escalation<'_>) -> Vec<String> {
    let registry = Registry::default();
    let is_path = |role: &RoleId| registry.get(*role).category == Category::Path;
    let annotated = escalation.annotation.iter();
    let with_role = annotated.filter(|(_, roles)| roles.iter().any(is_path));
    let mut names = vec!["path"];
    names.extend(
        with_role
            .map(|(name, _)| name.as_str())
            .filter(|name| *name != "path"),
    );
    let values = names.into_iter().filter_map(|name| member(escalation, name));
    let depth = Limits::default().depth;
    let texts = values.flat_map(|value| value.strings(depth));
    texts.map(|(_, text)| text).collect()
}

fn domain(role: RoleId, url: &str) -> String {
    match role == RoleId::GIT_REMOTE_URL {
        true => net::extract_git_domain(url).into_owned(),
        false => net::extract_domain(url).into_owned(),
    }
}

/// Returns `true` if git reaches the remote over the network, by a transport of its own.
fn has_transport(url: &str) -> bool {
    if url.starts_with('-') || url.chars().any(char::is_control) {
        return false;
    }
    if let Some((scheme, _)) = url.split_once("://") {
        let is_known = |known: &&str| known.eq_ignore_ascii_case(scheme);
        return ["https", "http", "ssh", "git"].iter().any(is_known);
    }
    // A `/` before the `:` makes it a local path, a second `:` a helper.
    let form = url.split_once(':');
    form.is_some_and(|(login, path)| !login.contains('/') && !path.starts_with(':'))
}

/// Approved patterns, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct ApprovalWhitelist {
    patterns: Vec<ApprovalPattern>,
}

/// The error for a pattern without constraints, which would approve every call of its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unconstrained;

impl std::fmt::Display for Unconstrained {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(
            "Refusing to add zero-constraint whitelist pattern: it would cover every call of its tool",
        )
    }
}

impl std::error::Error for Unconstrained {}

impl ApprovalPattern {
    /// Reads a pattern from JSON text.
    ///
    /// # Errors
    /// When the text is not a pattern.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

impl ApprovalWhitelist {
    /// Reads an array of patterns from JSON text.
    ///
    /// # Errors
    /// When the text is not such an array, or a pattern has no constraints.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let patterns: Vec<ApprovalPattern> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut whitelist = Self::default();
        for pattern in patterns {
            whitelist.add(pattern).map_err(|error| error.to_string())?;
        }
        Ok(whitelist)
    }

    /// Adds a pattern and returns its id, counted from 0.
    ///
    /// # Errors
    /// When the pattern has no constraints.
    pub fn add(&mut self, pattern: ApprovalPattern) -> Result<usize, Unconstrained> {
        if pattern.constraints.is_empty() {
            return Err(Unconstrained);
        }
        self.patterns.push(pattern);
        Ok(self.patterns.len().saturating_sub(1))
    }

    /// The first pattern that covers the escalated call: the server and tool are the same, every escalated role is
    /// constrained, each constrained role has at least one value, and all of its values meet the constraint.
    ///
    /// # Errors
    /// When the host fails.
    pub fn find(&self, escalation: &Escalation<'_>, host: &dyn Host) -> Result<Option<usize>, HostError> {
        for (id, pattern) in self.patterns.iter().enumerate() {
            if covers(pattern, escalation, host)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }
}

fn covers(
    pattern: &ApprovalPattern,
    escalation: &Escalation<'_>,
    host: &dyn Host,
) -> Result<bool, HostError> {
    if pattern.server_name != escalation.server || pattern.tool_name != escalation.tool {
        return Ok(false);
    }
    let registry = Registry::default();
    let constrained = |role: &RoleId| {
        let name = registry.name(*role);
        pattern
            .constraints
            .iter()
            .any(|constraint| constraint.role() == name)
    };
    if !escalation.roles.is_none_or(|roles| roles.iter().all(constrained)) {
        return Ok(false);
    }
    let mut plain = FunctionHost::new(host);
    let covers = pattern.constraints.iter().all(|constraint| {
        let Some(role) = registry.find(constraint.role()) else {
            return false;
        };
        let values = values(escalation, role, Others::Refused).unwrap_or_default();
        let mut met = values
            .iter()
            .map(|value| meets(&mut plain, constraint, escalation, role, value));
        !values.is_empty() && met.all(|is_met| is_met)
    });
    plain.check(covers)
}

fn meets(
    plain: &mut FunctionHost<'_>,
    constraint: &ApprovalConstraint,
    escalation: &Escalation<'_>,
    role: RoleId,
    value: &str,
) -> bool {
    match constraint {
        ApprovalConstraint::Directory { directory, .. } => {
            // Removing a link acts on the link, which may be far from its target.
            let may_remove = role == RoleId::DELETE_PATH;
            plain.is_within(value, directory) && (!may_remove || plain.entry_is_within(value, directory))
        }
        ApprovalConstraint::Domain { domain: approved, .. } => {
            let urls = urls(plain, escalation, role, value);
            let is_met = |url: &String| {
                let domain = domain(role, url);
                // Another scheme is another kind of thing, whatever host it names.
                let is_of_kind = match role == RoleId::GIT_REMOTE_URL {
                    true => has_transport(url),
                    // A value that is not a URL is its own domain; with a `/` in it, it cannot be taken for a URL's.
                    false => {
                        Location::new(url, UrlKind::Fetch).is_grantable()
                            || (domain == *url && url.contains('/'))
                    }
                };
                is_of_kind && domain.to_lowercase() == approved.to_lowercase()
            };
            !approved.is_empty() && !urls.is_empty() && urls.iter().all(is_met)
        }
        ApprovalConstraint::Exact { value: exact, .. } => value.to_lowercase() == *exact,
    }
}
