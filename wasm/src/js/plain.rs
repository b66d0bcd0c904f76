//! The plain functions. Those that ask the host take its callbacks and the two directories of the moment.

use callgate_core::{
    self as core, Ceiling, CeilingError, Diagnostic, DocumentSource, HostError, MatchType, PolicyRoot,
    SideEffectLevel, ToolKind,
};
use serde_json::Value as Json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::engine::refusal;
use super::host::{Callbacks, HostBridge, JsHost};
use super::{to_js, wire};

/// The message that a function throws.
pub(super) fn to_js_error(error: impl ToString) -> JsValue {
    JsValue::from_str(&error.to_string())
}

fn with_host<T>(
    callbacks: Callbacks,
    home: &str,
    current: &str,
    ask: impl FnOnce(&JsHost<'_>) -> Result<T, HostError>,
) -> Result<T, JsValue> {
    let bridge = HostBridge::new(callbacks);
    ask(&JsHost::new(&bridge, home, current)).map_err(to_js_error)
}

pub(super) fn parse(text: &str) -> Result<Json, JsValue> {
    serde_json::from_str(text).map_err(to_js_error)
}

/// `~` and `~/…` with the home directory in their place.
#[wasm_bindgen(js_name = expandTilde)]
pub fn expand_tilde(path: &str, home: &str, current: &str, callbacks: Callbacks) -> Result<String, JsValue> {
    with_host(callbacks, home, current, |host| {
        Ok(core::expand_home(path, host).into_owned())
    })
}

/// The canonical form of a path, else its lexical form.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = resolveRealPath)]
pub fn resolve_real_path(
    path: &str,
    home: &str,
    current: &str,
    callbacks: Callbacks,
) -> Result<String, JsValue> {
    with_host(callbacks, home, current, |host| {
        core::resolve_real_path(path, host)
    })
}

/// Whether a path lies within a directory.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = isWithinDirectory)]
pub fn is_within_directory(
    path: &str,
    directory: &str,
    home: &str,
    current: &str,
    callbacks: Callbacks,
) -> Result<bool, JsValue> {
    with_host(callbacks, home, current, |host| {
        core::is_within_directory(path, directory, host)
    })
}

/// The directory that holds a path.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = directoryForPath)]
pub fn directory_for_path(
    path: &str,
    home: &str,
    current: &str,
    callbacks: Callbacks,
) -> Result<String, JsValue> {
    with_host(callbacks, home, current, |host| {
        core::directory_for_path(path, host)
    })
}

/// The directories of the sandbox and of a policy's rules, as `[{path, name}]`. The policy is JSON text.
///
/// # Errors
/// A message when the text is not JSON, or the host fails.
#[wasm_bindgen(js_name = extractPolicyRoots)]
pub fn extract_policy_roots(
    policy: &str,
    allowed_directories: Vec<String>,
    home: &str,
    current: &str,
    callbacks: Callbacks,
) -> Result<JsValue, JsValue> {
    let policy = parse(policy)?;
    with_host(callbacks, home, current, |host| {
        let directories = allowed_directories.iter().map(String::as_str);
        core::extract_policy_roots(&policy, directories, host).map(|roots| to_js(&roots))
    })
}

/// Roots as `[{uri, name}]`. They are given as JSON text.
///
/// # Errors
/// A message when the text is not `[{path, name}]`.
#[wasm_bindgen(js_name = toMcpRoots)]
pub fn to_mcp_roots(roots: &str) -> Result<JsValue, JsValue> {
    let roots: Vec<PolicyRoot> = serde_json::from_str(roots).map_err(to_js_error)?;
    Ok(to_js(&core::to_mcp_roots(&roots)))
}

/// The servers that a policy's rules name. The policy is JSON text.
///
/// # Errors
/// A message when the text is not JSON.
#[wasm_bindgen(js_name = extractRequiredServers)]
pub fn extract_required_servers(policy: &str) -> Result<Vec<String>, JsValue> {
    Ok(core::extract_required_servers(&parse(policy)?))
}

/// The URL that a git remote stands for.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = resolveGitRemote)]
pub fn resolve_git_remote(
    remote: &str,
    path: Option<String>,
    home: &str,
    current: &str,
    callbacks: Callbacks,
) -> Result<String, JsValue> {
    with_host(callbacks, home, current, |host| {
        core::resolve_git_remote(remote, path.as_deref(), host)
    })
}

/// The URL of a repository's default remote.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = resolveDefaultGitRemote)]
pub fn resolve_default_git_remote(
    path: &str,
    home: &str,
    current: &str,
    callbacks: Callbacks,
) -> Result<Option<String>, JsValue> {
    with_host(callbacks, home, current, |host| {
        core::resolve_default_git_remote(path, host)
    })
}

/// A URL in its canonical form.
#[wasm_bindgen(js_name = normalizeUrl)]
pub fn normalize_url(value: &str) -> String {
    core::normalize_url(value).into_owned()
}

/// A git URL in its canonical form.
#[wasm_bindgen(js_name = normalizeGitUrl)]
pub fn normalize_git_url(value: &str) -> String {
    core::normalize_git_url(value).into_owned()
}

/// The host name of a URL.
#[wasm_bindgen(js_name = extractDomain)]
pub fn extract_domain(value: &str) -> String {
    core::extract_domain(value).into_owned()
}

/// `host/owner/repo` of a git URL.
#[wasm_bindgen(js_name = extractGitDomain)]
pub fn extract_git_domain(value: &str) -> String {
    core::extract_git_domain(value).into_owned()
}

/// Whether the text is an IP address.
#[wasm_bindgen(js_name = isIpAddress)]
pub fn is_ip_address(host: &str) -> bool {
    core::is_ip_address(host)
}

/// Whether a domain matches one of the patterns.
#[wasm_bindgen(js_name = domainMatchesAllowlist)]
pub fn domain_matches_allowlist(domain: &str, patterns: Vec<String>) -> bool {
    core::domain_matches_allowlist(domain, &patterns)
}

/// Whether a value is an entry of a list of that type; `undefined` for an unknown type.
#[wasm_bindgen(js_name = listEntryMatches)]
pub fn list_entry_matches(list_type: &str, value: &str, entry: &str) -> Option<bool> {
    let match_type = MatchType::parse(list_type)?;
    Some(core::list_entry_matches(match_type, value, entry))
}

/// The roles of each argument of `{args}` in a call, as pairs. The annotation is JSON text, the arguments are as
/// the wire has them.
///
/// # Errors
/// A message with what is wrong with the annotation.
#[wasm_bindgen(js_name = resolveStoredAnnotation)]
pub fn resolve_stored_annotation(stored: &str, arguments: &[u8]) -> Result<JsValue, JsValue> {
    let arguments = wire::read_arguments(arguments);
    let resolved = core::resolve_stored_annotation(&parse(stored)?, &arguments)
        .map_err(|faults| to_js_error(listed(&faults)))?;
    let registry = core::Registry::default();
    let named: Vec<(&str, Vec<&str>)> = resolved
        .iter()
        .map(|(name, roles)| {
            (
                name.as_str(),
                roles.iter().map(|role| registry.name(*role)).collect(),
            )
        })
        .collect();
    Ok(to_js(&named))
}

/// `[errors, warnings]` of compiled rules. Both documents are JSON text.
///
/// # Errors
/// A message when a text is not JSON.
#[wasm_bindgen(js_name = validateCompiledRules)]
pub fn validate_compiled_rules(rules: &str, list_definitions: &str) -> Result<JsValue, JsValue> {
    let validation = core::validate_compiled_rules(&parse(rules)?, &parse(list_definitions)?);
    Ok(to_js(&(validation.errors, validation.warnings)))
}

/// Whether calls of a tool of that kind may run side by side; `undefined` for an unknown kind.
#[wasm_bindgen(js_name = isReadOnly)]
pub fn is_read_only(kind: &str) -> Option<bool> {
    ToolKind::parse(kind).map(ToolKind::is_read_only)
}

/// The kind of change that a tool of that kind makes; `undefined` for an unknown kind.
#[wasm_bindgen(js_name = mutationClass)]
pub fn mutation_class(kind: &str) -> Option<String> {
    ToolKind::parse(kind).map(|kind| kind.mutation_class().as_str().to_owned())
}

/// The side-effect level of that name, `none` for an unknown one.
#[wasm_bindgen(js_name = parseSideEffectLevel)]
pub fn parse_side_effect_level(name: &str) -> String {
    SideEffectLevel::parse(name).as_str().to_owned()
}

/// The rank of the side-effect level of that name.
#[wasm_bindgen(js_name = sideEffectRank)]
pub fn side_effect_rank(name: &str) -> u8 {
    SideEffectLevel::parse(name).rank()
}

/// The narrower of two capability ceilings, both JSON text.
///
/// # Errors
/// `{message, diagnostics}` when one is not a ceiling, or the second exceeds the first.
#[wasm_bindgen(js_name = intersectCeilings)]
pub fn intersect_ceilings(host: &str, requested: &str) -> Result<JsValue, JsValue> {
    let load = |text| {
        Ceiling::load(DocumentSource::Text(text)).map_err(|error| match &error {
            CeilingError::Invalid(faults) => refusal(&error, faults.clone()),
            CeilingError::Exceeds(_) => refusal(&error, Vec::new()),
        })
    };
    let narrower = load(host)?.intersect(&load(requested)?);
    let narrower = narrower.map_err(|exceeds| refusal(exceeds, Vec::new()))?;
    Ok(to_js(&narrower))
}

/// A text with the host's directory replaced; `undefined` where it is not mentioned.
#[wasm_bindgen(js_name = rewriteText)]
pub fn rewrite_text(text: &str, host_dir: &str, container_dir: &str) -> Option<String> {
    core::rewrite_text(text, host_dir, container_dir)
}

pub(super) fn listed(faults: &[Diagnostic]) -> String {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    faults.join("; ")
}
