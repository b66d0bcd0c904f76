//! The functions beside the resource.

use callgate_core::{self as core, Arguments, Diagnostic, MatchType, PlainAnnotation, Registry};
use serde_json::Value as Json;

use super::contract::{Guest, McpRoot, PolicyRoot};
use super::encode::diagnostics;
use super::engine::{Loaded, Table};
use super::host::Imported;
use super::types::{
    self, ApprovalError, ApprovalPattern, ArgumentRoles, Escalation, HostError, RootError, TextError,
};
use super::{Component, approval, described};

impl Guest for Component {
    type Engine = Loaded;
    type References = Table;

    fn approval_candidates(
        escalation: Escalation,
        escalation_id: String,
        reason: String,
    ) -> Result<Vec<ApprovalPattern>, ApprovalError> {
        approval::candidates(&escalation, &escalation_id, &reason, &Imported::ask())
    }

    fn find_approval(
        patterns: Vec<ApprovalPattern>,
        escalation: Escalation,
    ) -> Result<Option<u32>, ApprovalError> {
        approval::find(patterns, &escalation, &Imported::ask())
    }

    fn policy_roots(policy: String, allowed_directories: Vec<String>) -> Result<Vec<PolicyRoot>, RootError> {
        let policy = parse(&policy).map_err(RootError::Text)?;
        let directories = allowed_directories.iter().map(String::as_str);
        let roots = core::extract_policy_roots(&policy, directories, &Imported::ask());
        let roots = roots.map_err(|error| RootError::Host(error.into()))?;
        let root = |core::PolicyRoot { path, name }| PolicyRoot { path, name };
        Ok(roots.into_iter().map(root).collect())
    }

    fn mcp_roots(roots: Vec<PolicyRoot>) -> Vec<McpRoot> {
        let root = |PolicyRoot { path, name }| core::PolicyRoot { path, name };
        let roots: Vec<core::PolicyRoot> = roots.into_iter().map(root).collect();
        let shown = |core::McpRoot { uri, name }| McpRoot { uri, name };
        core::to_mcp_roots(&roots).into_iter().map(shown).collect()
    }

    fn required_servers(policy: String) -> Result<Vec<String>, TextError> {
        Ok(core::extract_required_servers(&parse(&policy)?))
    }

    fn directory_for_path(path: String) -> Result<String, HostError> {
        core::directory_for_path(&path, &Imported::ask()).map_err(Into::into)
    }

    fn expand_tilde(path: String) -> String {
        core::expand_home(&path, &Imported::ask()).into_owned()
    }

    fn resolve_real_path(path: String) -> Result<String, HostError> {
        core::resolve_real_path(&path, &Imported::ask()).map_err(Into::into)
    }

    fn is_within_directory(path: String, directory: String) -> Result<bool, HostError> {
        core::is_within_directory(&path, &directory, &Imported::ask()).map_err(Into::into)
    }

    fn resolve_git_remote(remote: String, path: Option<String>) -> Result<String, HostError> {
        core::resolve_git_remote(&remote, path.as_deref(), &Imported::ask()).map_err(Into::into)
    }

    fn resolve_default_git_remote(path: String) -> Result<Option<String>, HostError> {
        core::resolve_default_git_remote(&path, &Imported::ask()).map_err(Into::into)
    }

    fn normalize_url(value: String) -> String {
        core::normalize_url(&value).into_owned()
    }

    fn normalize_git_url(value: String) -> String {
        core::normalize_git_url(&value).into_owned()
    }

    fn extract_domain(value: String) -> String {
        core::extract_domain(&value).into_owned()
    }

    fn extract_git_domain(value: String) -> String {
        core::extract_git_domain(&value).into_owned()
    }

    fn is_ip_address(host: String) -> bool {
        core::is_ip_address(&host)
    }

    fn domain_matches_allowlist(domain: String, patterns: Vec<String>) -> bool {
        core::domain_matches_allowlist(&domain, &patterns)
    }

    fn list_entry_matches(match_type: types::MatchType, value: String, entry: String) -> bool {
        let match_type = match match_type {
            types::MatchType::Domains => MatchType::Domains,
            types::MatchType::Emails => MatchType::Emails,
            types::MatchType::Identifiers => MatchType::Identifiers,
        };
        core::list_entry_matches(match_type, &value, &entry)
    }

    fn resolve_stored_annotation(
        annotation: String,
        arguments: String,
    ) -> Result<Vec<ArgumentRoles>, Vec<types::Diagnostic>> {
        let resolved = stored_annotation(&annotation, &Arguments::from_json(&arguments));
        let resolved = resolved.map_err(|faults| diagnostics(&faults))?;
        let registry = Registry::default();
        let owned =
            |roles: Vec<core::RoleId>| roles.iter().map(|role| registry.name(*role).to_owned()).collect();
        let roles = |(name, roles)| ArgumentRoles {
            name,
            roles: owned(roles),
        };
        Ok(resolved.into_iter().map(roles).collect())
    }

    fn intersect_ceilings(host: String, requested: String) -> Result<String, types::CeilingError> {
        let load = |text: &str| core::Ceiling::load(core::Input::Text(text));
        let narrower = load(&host).and_then(|host| {
            let requested = load(&requested)?;
            host.intersect(&requested).map_err(core::CeilingError::Exceeds)
        });
        let narrower = narrower.map_err(|error| match error {
            core::CeilingError::Invalid(faults) => types::CeilingError::Invalid(diagnostics(&faults)),
            core::CeilingError::Exceeds(exceeds) => types::CeilingError::Exceeds(exceeds.what),
        })?;
        Ok(serde_json::to_string(&narrower).unwrap_or_default())
    }

    fn is_read_only(kind: types::ToolKind) -> bool {
        described::kind_of(kind).is_read_only()
    }

    fn kind_mutation_class(kind: types::ToolKind) -> types::MutationClass {
        described::mutation_class(described::kind_of(kind))
    }

    fn parse_side_effect_level(word: String) -> types::SideEffectLevel {
        described::level(core::SideEffectLevel::parse(&word))
    }

    fn side_effect_rank(level: types::SideEffectLevel) -> u8 {
        described::level_of(level).rank()
    }

    fn rewrite_text(text: String, host_dir: String, container_dir: String) -> Option<String> {
        core::rewrite_text(&text, &host_dir, &container_dir)
    }
}

fn parse(text: &str) -> Result<Json, TextError> {
    Ok(serde_json::from_str(text)?)
}

/// The annotation in JSON text, resolved against arguments. What is not JSON is read as nothing, and refused as that.
pub(super) fn stored_annotation(
    annotation: &str,
    arguments: &Arguments<'_>,
) -> Result<PlainAnnotation, Vec<Diagnostic>> {
    let annotation = serde_json::from_str(annotation).unwrap_or(Json::Null);
    core::resolve_stored_annotation(&annotation, arguments)
}
