//! The functions that need no engine. Those that ask a host use it up.

mod approval;

use callgate_boundary_wasm::{Reader, WasmHost, refusal, to_js, to_js_error};
use callgate_compat::{PolicyRoot, ResolvedAnnotation};
use callgate_engine::bind::Arguments;
use callgate_engine::document::DocumentSource;
use callgate_engine::model::{MatchType, SideEffectLevel, ToolKind};
use callgate_engine::net;
use callgate_engine::policy::Ceiling;
use callgate_engine::role;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use approval::{check_approval, extract_whitelist_candidates, find_approval};

/// The path with the home directory in place of a leading `~`.
#[wasm_bindgen(js_name = expandTilde)]
pub fn expand_tilde(host: WasmHost, path: &str) -> String {
    callgate_compat::expand_home(path, &host.asked()).into_owned()
}

/// The canonical form of a path; its lexical form if it has none.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = resolveRealPath)]
pub fn resolve_real_path(host: WasmHost, path: &str) -> Result<String, JsValue> {
    callgate_compat::resolve_real_path(path, &host.asked()).map_err(to_js_error)
}

/// Returns `true` if the path is the directory or lies within it.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = isWithinDirectory)]
pub fn is_within_directory(host: WasmHost, path: &str, directory: &str) -> Result<bool, JsValue> {
    callgate_compat::is_within_directory(path, directory, &host.asked()).map_err(to_js_error)
}

/// The directory that holds a path.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = directoryForPath)]
pub fn directory_for_path(host: WasmHost, path: &str) -> Result<String, JsValue> {
    callgate_compat::directory_for_path(path, &host.asked()).map_err(to_js_error)
}

/// The directories of the sandbox and of a policy's rules, as `[{path, name}]`. The policy is JSON text.
///
/// # Errors
/// A message when the text is not JSON, or the host fails.
#[wasm_bindgen(js_name = extractPolicyRoots)]
pub fn extract_policy_roots(
    host: WasmHost,
    policy: &str,
    allowed_directories: Vec<String>,
) -> Result<JsValue, JsValue> {
    let policy = callgate_compat::parse_json(policy).map_err(to_js_error)?;
    let directories = allowed_directories.iter().map(String::as_str);
    callgate_compat::extract_policy_roots(&policy, directories, &host.asked())
        .map(|roots| to_js(&roots))
        .map_err(to_js_error)
}

/// The URL that a git remote stands for in the repository at `path`.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = resolveGitRemote)]
pub fn resolve_git_remote(host: WasmHost, remote: &str, path: Option<String>) -> Result<String, JsValue> {
    callgate_compat::resolve_git_remote(remote, path.as_deref(), &host.asked()).map_err(to_js_error)
}

/// The URL of a repository's default remote.
///
/// # Errors
/// A message when the host fails.
#[wasm_bindgen(js_name = resolveDefaultGitRemote)]
pub fn resolve_default_git_remote(host: WasmHost, path: &str) -> Result<Option<String>, JsValue> {
    callgate_compat::resolve_default_git_remote(path, &host.asked()).map_err(to_js_error)
}

/// The roots, which are JSON text, as `[{uri, name}]`.
///
/// # Errors
/// A message when the text is not `[{path, name}]`.
#[wasm_bindgen(js_name = toMcpRoots)]
pub fn to_mcp_roots(roots: &str) -> Result<JsValue, JsValue> {
    let roots = PolicyRoot::list_from_json(roots).map_err(to_js_error)?;
    Ok(to_js(&callgate_compat::to_mcp_roots(&roots)))
}

/// The servers that a policy's rules name. The policy is JSON text.
///
/// # Errors
/// A message when the text is not JSON.
#[wasm_bindgen(js_name = extractRequiredServers)]
pub fn extract_required_servers(policy: &str) -> Result<Vec<String>, JsValue> {
    let policy = callgate_compat::parse_json(policy).map_err(to_js_error)?;
    Ok(callgate_compat::extract_required_servers(&policy))
}

/// A URL in its canonical form.
#[wasm_bindgen(js_name = normalizeUrl)]
pub fn normalize_url(value: &str) -> String {
    net::normalize_url(value).into_owned()
}

/// A git URL in its canonical form.
#[wasm_bindgen(js_name = normalizeGitUrl)]
pub fn normalize_git_url(value: &str) -> String {
    callgate_compat::normalize_git_url(value).into_owned()
}

/// The host name of a URL.
#[wasm_bindgen(js_name = extractDomain)]
pub fn extract_domain(value: &str) -> String {
    net::extract_domain(value).into_owned()
}

/// `host/owner/repo` of a git URL.
#[wasm_bindgen(js_name = extractGitDomain)]
pub fn extract_git_domain(value: &str) -> String {
    net::extract_git_domain(value).into_owned()
}

/// Returns `true` if the text is an IP address.
#[wasm_bindgen(js_name = isIpAddress)]
pub fn is_ip_address(host: &str) -> bool {
    net::is_ip_address(host)
}

/// Returns `true` if the domain matches one of the patterns.
#[wasm_bindgen(js_name = domainMatchesAllowlist)]
pub fn domain_matches_allowlist(domain: &str, patterns: Vec<String>) -> bool {
    net::domain_matches_allowlist(domain, &patterns)
}

/// Returns `true` if the value is covered by that entry of a list; `undefined` for an unknown type of list.
#[wasm_bindgen(js_name = listEntryMatches)]
pub fn list_entry_matches(list_type: &str, value: &str, entry: &str) -> Option<bool> {
    MatchType::parse(list_type)
        .map(|match_type| callgate_compat::list_entry_matches(match_type, value, entry))
}

/// The roles of each argument of `{args}` in a call, as pairs. The annotation is JSON text, and the arguments are in the
/// layout of [`Reader`].
///
/// # Errors
/// A message with every fault of the annotation.
#[wasm_bindgen(js_name = resolveStoredAnnotation)]
pub fn resolve_stored_annotation(stored: &str, arguments: &[u8]) -> Result<JsValue, JsValue> {
    let resolved = parse_annotation(stored, &Reader::new(arguments, &[]).arguments())?;
    let registry = role::Registry::default();
    let named: Vec<(&String, Vec<&str>)> = resolved
        .iter()
        .map(|(name, roles)| (name, roles.iter().map(|role| registry.name(*role)).collect()))
        .collect();
    Ok(to_js(&named))
}

/// `[errors, warnings]` of compiled rules. Both documents are JSON text.
///
/// # Errors
/// A message when a text is not JSON.
#[wasm_bindgen(js_name = validateCompiledRules)]
pub fn validate_compiled_rules(rules: &str, list_definitions: &str) -> Result<JsValue, JsValue> {
    let parse = |text| callgate_compat::parse_json(text).map_err(to_js_error);
    let validation = callgate_compat::validate_compiled_rules(&parse(rules)?, &parse(list_definitions)?);
    Ok(to_js(&(validation.errors, validation.warnings)))
}

/// Returns `true` if calls of a tool of that kind may run at the same time; `undefined` for an unknown kind.
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
    SideEffectLevel::parse(name)
        .unwrap_or_default()
        .as_str()
        .to_owned()
}

/// The rank of the side-effect level of that name.
#[wasm_bindgen(js_name = sideEffectRank)]
pub fn side_effect_rank(name: &str) -> u8 {
    SideEffectLevel::parse(name).unwrap_or_default().rank()
}

/// The narrower of two capability ceilings, both JSON text.
///
/// # Errors
/// `{message, diagnostics}` when one is not a ceiling, or the second exceeds the first.
#[wasm_bindgen(js_name = intersectCeilings)]
pub fn intersect_ceilings(host: &str, requested: &str) -> Result<JsValue, JsValue> {
    let load =
        |text| Ceiling::load(DocumentSource::Text(text)).map_err(|error| refusal(&error, &error.diagnostics));
    let narrower = load(host)?.intersect(&load(requested)?);
    narrower.map(|narrower| to_js(&narrower)).map_err(to_js_error)
}

/// The text with the host's directory replaced; `undefined` if the text does not mention it.
#[wasm_bindgen(js_name = rewriteText)]
pub fn rewrite_text(text: &str, host_dir: &str, container_dir: &str) -> Option<String> {
    callgate_compat::rewrite_text(text, host_dir, container_dir)
}

/// The roles of each argument in a call, from JSON text.
fn parse_annotation(stored: &str, arguments: &Arguments<'_>) -> Result<ResolvedAnnotation, JsValue> {
    let stored = callgate_compat::parse_json(stored).map_err(to_js_error)?;
    callgate_compat::resolve_stored_annotation(&stored, arguments).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        to_js_error(faults.join("; "))
    })
}
