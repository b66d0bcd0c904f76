//! What an approval of an escalated call may stand for, and whether it covers another one.

use callgate_core::{
    self as core, ApprovalConstraint, ApprovalPattern, ApprovalWhitelist, Arguments, Escalation,
    PlainAnnotation, Registry, RoleId,
};

use super::encode::{count, diagnostics};
use super::plain::stored_annotation;
use super::types::{self, ApprovalError, Constrained};

struct Read<'e> {
    server: &'e str,
    tool: &'e str,
    arguments: Arguments<'e>,
    annotation: PlainAnnotation,
    roles: Option<Vec<RoleId>>,
}

impl<'e> Read<'e> {
    fn new(escalation: &'e types::Escalation) -> Result<Self, ApprovalError> {
        let arguments = Arguments::from_json(&escalation.arguments);
        let annotation = stored_annotation(&escalation.annotation, &arguments)
            .map_err(|faults| ApprovalError::Annotation(diagnostics(&faults)))?;
        let registry = Registry::default();
        let role = |name: &String| {
            let found = registry.find(name);
            found.ok_or_else(|| ApprovalError::UnknownRole(name.clone()))
        };
        let roles = escalation.roles.as_ref();
        let roles = roles.map(|roles| roles.iter().map(role).collect::<Result<Vec<_>, _>>());
        Ok(Self {
            server: &escalation.server,
            tool: &escalation.tool,
            arguments,
            annotation,
            roles: roles.transpose()?,
        })
    }

    fn escalation(&self) -> Escalation<'_> {
        Escalation {
            server: self.server,
            tool: self.tool,
            arguments: &self.arguments,
            annotation: &self.annotation,
            roles: self.roles.as_deref(),
        }
    }
}

pub(super) fn candidates(
    escalation: &types::Escalation,
    escalation_id: &str,
    reason: &str,
    host: &dyn core::Host,
) -> Result<Vec<types::ApprovalPattern>, ApprovalError> {
    let read = Read::new(escalation)?;
    let patterns = core::extract_whitelist_candidates(&read.escalation(), escalation_id, reason, host);
    let patterns = patterns.map_err(|error| ApprovalError::Host(error.into()))?;
    Ok(patterns.into_iter().map(Into::into).collect())
}

pub(super) fn find(
    patterns: Vec<types::ApprovalPattern>,
    escalation: &types::Escalation,
    host: &dyn core::Host,
) -> Result<Option<u32>, ApprovalError> {
    let mut whitelist = ApprovalWhitelist::default();
    for (at, pattern) in patterns.into_iter().enumerate() {
        let added = whitelist.add(pattern.into());
        added.map_err(|core::Unconstrained| ApprovalError::Unconstrained(count(at)))?;
    }
    let read = Read::new(escalation)?;
    let found = whitelist.find(&read.escalation(), host);
    Ok(found
        .map_err(|error| ApprovalError::Host(error.into()))?
        .map(count))
}

impl From<ApprovalPattern> for types::ApprovalPattern {
    fn from(pattern: ApprovalPattern) -> Self {
        let constraint = |constraint| match constraint {
            ApprovalConstraint::Directory { role, directory } => {
                types::ApprovalConstraint::Directory(Constrained { role, to: directory })
            }
            ApprovalConstraint::Domain { role, domain } => {
                types::ApprovalConstraint::Domain(Constrained { role, to: domain })
            }
            ApprovalConstraint::Exact { role, value } => {
                types::ApprovalConstraint::Exact(Constrained { role, to: value })
            }
        };
        Self {
            server_name: pattern.server_name,
            tool_name: pattern.tool_name,
            constraints: pattern.constraints.into_iter().map(constraint).collect(),
            source_escalation_id: pattern.source_escalation_id,
            original_reason: pattern.original_reason,
            description: pattern.description,
        }
    }
}

impl From<types::ApprovalPattern> for ApprovalPattern {
    fn from(pattern: types::ApprovalPattern) -> Self {
        let constraint = |constraint| match constraint {
            types::ApprovalConstraint::Directory(Constrained { role, to }) => {
                ApprovalConstraint::Directory { role, directory: to }
            }
            types::ApprovalConstraint::Domain(Constrained { role, to }) => {
                ApprovalConstraint::Domain { role, domain: to }
            }
            types::ApprovalConstraint::Exact(Constrained { role, to }) => {
                ApprovalConstraint::Exact { role, value: to }
            }
        };
        Self {
            server_name: pattern.server_name,
            tool_name: pattern.tool_name,
            constraints: pattern.constraints.into_iter().map(constraint).collect(),
            source_escalation_id: pattern.source_escalation_id,
            original_reason: pattern.original_reason,
            description: pattern.description,
        }
    }
}
