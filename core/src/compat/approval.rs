//! Approvals: a person who lets an escalated call pass may let similar calls pass from then on (SPEC §9).
//!
//! An approval only ever turns `escalate` into `allow`; it never touches a denial.

use serde::{Deserialize, Serialize};

use super::functions::{Plain, PlainAnnotation};
use crate::bind::{Arguments, Value};
use crate::host::{Host, HostError};
use crate::limits::Limits;
use crate::net;
use crate::program::distinct;
use crate::role::{Category, Registry, RoleDefinition, RoleId};

/// A constraint on every value of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ApprovalConstraint {
    /// A path within a directory.
    Directory {
        /// The role's name.
        role: String,
        /// The canonical directory.
        directory: String,
    },
    /// A URL of one domain.
    Domain {
        /// The role's name.
        role: String,
        /// The domain, as returned by `extractDomain` or `extractGitDomain`.
        domain: String,
    },
    /// One identifier.
    Exact {
        /// The role's name.
        role: String,
        /// The identifier in lower case.
        value: String,
    },
}

impl ApprovalConstraint {
    fn role(&self) -> &str {
        match self {
            Self::Directory { role, .. } | Self::Domain { role, .. } | Self::Exact { role, .. } => role,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Directory { role, directory } => format!("{role} within {directory}"),
            Self::Domain { role, domain } => format!("{role} domain {domain}"),
            Self::Exact { role, value } => format!("{role}={value}"),
        }
    }
}

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
    pub annotation: &'a PlainAnnotation,
    /// The roles that escalated; `None` if that is not known.
    pub roles: Option<&'a [RoleId]>,
}

/// The patterns that an approval of this escalation may stand for; empty if no value can be constrained.
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
    let mut plain = Plain::new(host);
    let annotated: Vec<&[RoleId]> = escalation.annotation.iter().map(|(_, roles)| &**roles).collect();
    let all = distinct(
        &annotated,
        registry.select(RoleDefinition::is_resource_identifier),
    );
    let roles = escalation.roles.unwrap_or(&all);
    let mut constraints = Vec::new();
    for role in roles.iter().copied() {
        for value in values(escalation, role).unwrap_or_default() {
            let constraint = constraint(&mut plain, &registry, escalation.arguments, role, &value);
            constraints.extend(constraint.filter(|one| !constraints.contains(one)));
        }
    }
    let constraints = plain.check(constraints)?;
    if constraints.is_empty() {
        return Ok(Vec::new());
    }
    let described: Vec<String> = constraints.iter().map(ApprovalConstraint::describe).collect();
    let description = format!(
        "Allow {}/{} {}",
        escalation.server,
        escalation.tool,
        described.join(", ")
    );
    Ok(vec![ApprovalPattern {
        server_name: escalation.server.to_owned(),
        tool_name: escalation.tool.to_owned(),
        constraints,
        source_escalation_id: escalation_id.to_owned(),
        original_reason: reason.to_owned(),
        description,
    }])
}

/// The values of a role, in the annotation's order; `None` if one of them cannot be read, or if the annotation uses
/// JSON Pointers, which are not read here.
fn values(escalation: &Escalation<'_>, role: RoleId) -> Option<Vec<String>> {
    let mut values = Vec::new();
    let bearers = escalation.annotation.iter();
    for (name, _) in bearers.filter(|(_, roles)| roles.contains(&role)) {
        if name.starts_with('/') {
            return None;
        }
        let mut members = escalation.arguments.members().iter();
        if let Some((_, value)) = members.find(|(known, _)| known == name) {
            values.extend(texts(value)?);
        }
    }
    Some(values)
}

/// The strings of a value; `None` if it is not a string, array of strings, number, boolean or null.
fn texts(value: &Value<'_>) -> Option<Vec<String>> {
    let is_compound = |value: &Value<'_>| matches!(value, Value::Array(_) | Value::Object(_) | Value::Unread);
    let depth = Limits::default().depth;
    let is_readable = match value.read(depth).as_deref() {
        Ok(Value::Array(items)) => !items.iter().any(is_compound),
        Ok(value) => !is_compound(value) && !matches!(value, Value::IllFormed),
        Err(_) => false,
    };
    is_readable.then(|| value.strings(depth).into_iter().map(|(_, text)| text).collect())
}

fn constraint(
    plain: &mut Plain<'_>,
    registry: &Registry,
    arguments: &Arguments<'_>,
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
            let is_directory = plain.is_directory(&path);
            let directory = if is_directory { path } else { path.parent() };
            Some(ApprovalConstraint::Directory {
                role: name,
                directory: directory.as_str().to_owned(),
            })
        }
        Category::Url => {
            let mut domains = domains(plain, arguments, role, value);
            domains.dedup();
            let [domain] = <[String; 1]>::try_from(domains).ok()?;
            (!domain.is_empty()).then_some(ApprovalConstraint::Domain { role: name, domain })
        }
        Category::Identifier => Some(ApprovalConstraint::Exact {
            role: name,
            value: value.to_lowercase(),
        }),
        // Only a world can say where an address leads, and approvals know no world.
        Category::Address | Category::Opaque => None,
    }
}

/// The domains of a URL value: one, or one for each URL that a git remote stands for.
fn domains(plain: &mut Plain<'_>, arguments: &Arguments<'_>, role: RoleId, value: &str) -> Vec<String> {
    if role != RoleId::GIT_REMOTE_URL {
        return vec![net::extract_domain(value).into_owned()];
    }
    let path = arguments.members().iter().find(|(name, _)| name == "path");
    let path = path.and_then(|(_, value)| value.strings(Limits::default().depth).into_iter().next());
    let urls = plain.remote_urls(value, path.as_ref().map(|(_, path)| path.as_str()));
    urls.iter()
        .map(|url| net::extract_git_domain(url).into_owned())
        .collect()
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
        formatter.write_str("the pattern has no constraints, expected at least one")
    }
}

impl std::error::Error for Unconstrained {}

impl ApprovalWhitelist {
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
    let mut plain = Plain::new(host);
    let covers = pattern.constraints.iter().all(|constraint| {
        let Some(role) = registry.find(constraint.role()) else {
            return false;
        };
        let values = values(escalation, role).unwrap_or_default();
        let mut met = values
            .iter()
            .map(|value| meets(&mut plain, constraint, escalation.arguments, role, value));
        !values.is_empty() && met.all(|is_met| is_met)
    });
    plain.check(covers)
}

fn meets(
    plain: &mut Plain<'_>,
    constraint: &ApprovalConstraint,
    arguments: &Arguments<'_>,
    role: RoleId,
    value: &str,
) -> bool {
    match constraint {
        ApprovalConstraint::Directory { directory, .. } => plain.is_within(value, directory),
        ApprovalConstraint::Domain { domain, .. } => {
            let domains = domains(plain, arguments, role, value);
            !domain.is_empty()
                && !domains.is_empty()
                && domains
                    .iter()
                    .all(|one| one.to_lowercase() == domain.to_lowercase())
        }
        ApprovalConstraint::Exact { value: exact, .. } => value.to_lowercase() == *exact,
    }
}
