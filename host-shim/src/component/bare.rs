//! An instance without an engine: the functions beside the resource.

use callgate_core::{
    ApprovalConstraint, ApprovalPattern, CeilingError, Exceeds, McpRoot, PolicyRoot, SideEffectLevel,
    ToolKind,
};
use serde_json::{Map, Value};
use wasmtime::Store;

use super::artifact::Artifact;
use super::bindings::callgate::gate::types;
use super::bindings::exports::callgate::gate::engine::Guest;
use super::decode::diagnostics;
use super::described::{kind_of, level, mutation_class};
use super::fault::{Fault, Work};
use super::host::{SharedHost, State};
use super::limits::InstanceLimits;
use super::pool::Instance;

/// An instance that answers questions about paths, URLs, repositories and approvals. Not to be used after an error.
pub(crate) struct Bare {
    artifact: Artifact,
    limits: InstanceLimits,
    instance: Instance,
}

/// One escalated call; arguments and annotation are JSON text.
pub(crate) type Escalated = types::Escalation;

impl Escalated {
    /// No call at all.
    pub(crate) fn nothing() -> Self {
        Self {
            server: String::new(),
            tool: String::new(),
            arguments: "{}".to_owned(),
            annotation: r#"{"args": {}}"#.to_owned(),
            roles: None,
        }
    }
}

/// What is wrong, for a person.
type Refusal = String;

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $call:ident;)+) => {
        $(pub(crate) fn $name(&mut self, $($argument: $type),*) -> Result<$answer, Refusal> {
            self.ask(|guest, store| guest.$call(store, $($argument),*))
        })+
    };
}

macro_rules! of_host {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $call:ident;)+) => {
        $(pub(crate) fn $name(&mut self, $($argument: $type),*) -> Result<$answer, Refusal> {
            self.ask(|guest, store| guest.$call(store, $($argument),*))?.map_err(|error| error.message)
        })+
    };
}

impl Bare {
    pub(crate) fn new(artifact: Artifact, host: SharedHost) -> Result<Self, Fault> {
        let limits = InstanceLimits::default();
        let instance = Instance::new(&artifact, host, &limits)?;
        Ok(Self {
            artifact,
            limits,
            instance,
        })
    }

    functions! {
        expand_tilde(path: &str) -> String = call_expand_tilde;
        normalize_url(value: &str) -> String = call_normalize_url;
        normalize_git_url(value: &str) -> String = call_normalize_git_url;
        extract_domain(value: &str) -> String = call_extract_domain;
        extract_git_domain(value: &str) -> String = call_extract_git_domain;
        is_ip_address(host: &str) -> bool = call_is_ip_address;
        domain_matches_allowlist(domain: &str, patterns: &[String]) -> bool = call_domain_matches_allowlist;
        rewrite_text(text: &str, host_dir: &str, container_dir: &str) -> Option<String> = call_rewrite_text;
    }

    of_host! {
        resolve_real_path(path: &str) -> String = call_resolve_real_path;
        is_within_directory(path: &str, directory: &str) -> bool = call_is_within_directory;
        directory_for_path(path: &str) -> String = call_directory_for_path;
        resolve_git_remote(remote: &str, path: Option<&str>) -> String = call_resolve_git_remote;
        resolve_default_git_remote(path: &str) -> Option<String> = call_resolve_default_git_remote;
        required_servers(policy: &str) -> Vec<String> = call_required_servers;
    }

    /// The narrower of two ceilings, documents all of them.
    pub(crate) fn intersect_ceilings(&mut self, host: &str, requested: &str) -> Result<Value, Refusal> {
        let narrower = self.ask(|guest, store| guest.call_intersect_ceilings(store, host, requested))?;
        let narrower = narrower.map_err(|error| match error {
            types::CeilingError::Invalid(faults) => CeilingError::Invalid(diagnostics(&faults)),
            types::CeilingError::Exceeds(what) => CeilingError::Exceeds(Exceeds { what }),
        });
        let text = narrower.map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    pub(crate) fn is_read_only(&mut self, kind: ToolKind) -> Result<bool, Refusal> {
        self.ask(|guest, store| guest.call_is_read_only(store, kind_of(kind)))
    }

    pub(crate) fn mutation_class(&mut self, kind: ToolKind) -> Result<&'static str, Refusal> {
        self.ask(|guest, store| guest.call_kind_mutation_class(store, kind_of(kind)))
            .map(mutation_class)
    }

    pub(crate) fn parse_side_effect_level(&mut self, word: &str) -> Result<SideEffectLevel, Refusal> {
        self.ask(|guest, store| guest.call_parse_side_effect_level(store, word))
            .map(level)
    }

    pub(crate) fn side_effect_rank(&mut self, word: &str) -> Result<u8, Refusal> {
        self.ask(|guest, store| {
            let level = guest.call_parse_side_effect_level(&mut *store, word)?;
            guest.call_side_effect_rank(store, level)
        })
    }

    pub(crate) fn list_entry_matches(
        &mut self,
        match_type: &str,
        value: &str,
        entry: &str,
    ) -> Result<bool, Refusal> {
        let match_type = match match_type {
            "domains" => types::MatchType::Domains,
            "emails" => types::MatchType::Emails,
            "identifiers" => types::MatchType::Identifiers,
            _ => return Err(format!("unknown list type `{match_type}`")),
        };
        self.ask(|guest, store| guest.call_list_entry_matches(store, match_type, value, entry))
    }

    pub(crate) fn policy_roots(
        &mut self,
        policy: &str,
        allowed_directories: &[&str],
    ) -> Result<Vec<PolicyRoot>, Refusal> {
        let directories: Vec<String> = allowed_directories.iter().map(|one| (*one).to_owned()).collect();
        let roots = self.ask(|guest, store| guest.call_policy_roots(store, policy, &directories))?;
        let roots = roots.map_err(|error| match error {
            types::RootError::Text(error) => error.message,
            types::RootError::Host(error) => error.message,
        })?;
        let root = |types::PolicyRoot { path, name }| PolicyRoot { path, name };
        Ok(roots.into_iter().map(root).collect())
    }

    pub(crate) fn mcp_roots(&mut self, roots: &[PolicyRoot]) -> Result<Vec<McpRoot>, Refusal> {
        let root = |PolicyRoot { path, name }| types::PolicyRoot { path, name };
        let roots: Vec<types::PolicyRoot> = roots.iter().cloned().map(root).collect();
        let shown = self.ask(|guest, store| guest.call_mcp_roots(store, &roots))?;
        let root = |types::McpRoot { uri, name }| McpRoot { uri, name };
        Ok(shown.into_iter().map(root).collect())
    }

    pub(crate) fn resolve_stored_annotation(
        &mut self,
        annotation: &str,
        arguments: &str,
    ) -> Result<Value, Refusal> {
        let roles =
            self.ask(|guest, store| guest.call_resolve_stored_annotation(store, annotation, arguments))?;
        Ok(roles_of(roles.map_err(|faults| listed(&faults))?))
    }

    pub(crate) fn approval_candidates(
        &mut self,
        escalated: &Escalated,
        escalation_id: &str,
        reason: &str,
    ) -> Result<Vec<ApprovalPattern>, Refusal> {
        let found =
            self.ask(|guest, store| guest.call_approval_candidates(store, escalated, escalation_id, reason))?;
        Ok(found.map_err(unapproved)?.into_iter().map(Into::into).collect())
    }

    pub(crate) fn find_approval(
        &mut self,
        patterns: &[ApprovalPattern],
        escalated: &Escalated,
    ) -> Result<Option<u32>, Refusal> {
        let patterns: Vec<types::ApprovalPattern> = patterns.iter().cloned().map(Into::into).collect();
        let found = self.ask(|guest, store| guest.call_find_approval(store, &patterns, escalated))?;
        found.map_err(unapproved)
    }

    fn ask<T>(
        &mut self,
        question: impl FnOnce(&Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> Result<T, Refusal> {
        let answer = self
            .instance
            .within(&self.artifact, &self.limits, Work::Call, |instance| {
                let (guest, store) = instance.guest();
                question(guest, store)
            });
        answer.map_err(|fault| fault.to_string())
    }
}

/// `{argument: [roles]}`.
pub(super) fn roles_of(roles: Vec<types::ArgumentRoles>) -> Value {
    let named = roles
        .into_iter()
        .map(|argument| (argument.name, argument.roles.into()));
    Value::Object(named.collect::<Map<String, Value>>())
}

fn listed(faults: &[types::Diagnostic]) -> String {
    let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    messages.join("; ")
}

fn unapproved(error: types::ApprovalError) -> Refusal {
    match error {
        types::ApprovalError::Annotation(faults) => listed(&faults),
        types::ApprovalError::UnknownRole(role) => format!("unknown role `{role}`"),
        types::ApprovalError::Unconstrained(at) => format!("pattern {at} has no constraints"),
        types::ApprovalError::Host(error) => error.message,
    }
}

impl From<types::ApprovalPattern> for ApprovalPattern {
    fn from(pattern: types::ApprovalPattern) -> Self {
        let constraint = |constraint| match constraint {
            types::ApprovalConstraint::Directory(types::Constrained { role, to }) => {
                ApprovalConstraint::Directory { role, directory: to }
            }
            types::ApprovalConstraint::Domain(types::Constrained { role, to }) => {
                ApprovalConstraint::Domain { role, domain: to }
            }
            types::ApprovalConstraint::Exact(types::Constrained { role, to }) => {
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

impl From<ApprovalPattern> for types::ApprovalPattern {
    fn from(pattern: ApprovalPattern) -> Self {
        let constraint = |constraint| {
            let (kind, role, to): (fn(types::Constrained) -> _, _, _) = match constraint {
                ApprovalConstraint::Directory { role, directory } => {
                    (types::ApprovalConstraint::Directory, role, directory)
                }
                ApprovalConstraint::Domain { role, domain } => {
                    (types::ApprovalConstraint::Domain, role, domain)
                }
                ApprovalConstraint::Exact { role, value } => (types::ApprovalConstraint::Exact, role, value),
            };
            kind(types::Constrained { role, to })
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
