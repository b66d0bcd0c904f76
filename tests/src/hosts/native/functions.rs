//! The plain functions of the core, by the names that case files use.

use callgate_compat::{ApprovalWhitelist, Escalation};
use callgate_engine::bind::Arguments;
use callgate_engine::document;
use callgate_engine::host;
use callgate_engine::host::Host;
use callgate_engine::model;
use callgate_engine::model::MatchType;
use callgate_engine::net;
use callgate_engine::policy;
use callgate_engine::role;
use callgate_engine::role::Registry;
use serde_json::{Value, json};

use super::super::session::refusal;
use crate::subject::WhitelistScript;

/// Calls the function `name` with positional arguments, as the recorded cases name them.
///
/// # Errors
/// A description of what is wrong with the name, an argument or the host.
pub(super) fn call(name: &str, args: &[Value], host: &dyn Host) -> Result<Value, String> {
    let text = |at: usize| {
        args.get(at)
            .and_then(Value::as_str)
            .ok_or_else(|| format!("`{name}` takes a string as argument {at}"))
    };
    let any = |at: usize| args.get(at).unwrap_or(&Value::Null);
    let said = |error: host::HostError| error.to_string();
    Ok(match name {
        "expandTilde" => json!(callgate_compat::expand_home(text(0)?, host)),
        "resolveRealPath" => json!(callgate_compat::resolve_real_path(text(0)?, host).map_err(said)?),
        "isWithinDirectory" => {
            json!(callgate_compat::is_within_directory(text(0)?, text(1)?, host).map_err(said)?)
        }
        "directoryForPath" => json!(callgate_compat::directory_for_path(text(0)?, host).map_err(said)?),
        "extractPolicyRoots" => {
            let directories = one_or_several(name, args, 1)?;
            json!(callgate_compat::extract_policy_roots(any(0), directories, host).map_err(said)?)
        }
        "toMcpRoots" => {
            let roots: Vec<callgate_compat::PolicyRoot> =
                serde_json::from_value(any(0).clone()).map_err(refusal)?;
            json!(callgate_compat::to_mcp_roots(&roots))
        }
        "extractRequiredServers" => json!(callgate_compat::extract_required_servers(any(0))),
        "resolveGitRemote" => {
            let path = any(1).get("path").and_then(Value::as_str);
            json!(callgate_compat::resolve_git_remote(text(0)?, path, host).map_err(said)?)
        }
        "resolveDefaultGitRemote" => {
            json!(callgate_compat::resolve_default_git_remote(text(0)?, host).map_err(said)?)
        }
        "normalizeUrl" => json!(net::normalize_url(text(0)?)),
        "normalizeGitUrl" => json!(callgate_compat::normalize_git_url(text(0)?)),
        "extractDomain" => json!(net::extract_domain(text(0)?)),
        "extractGitDomain" => json!(net::extract_git_domain(text(0)?)),
        "isIpAddress" => json!(net::is_ip_address(text(0)?)),
        "domainMatchesAllowlist" => {
            let patterns: Vec<String> = serde_json::from_value(any(1).clone()).map_err(refusal)?;
            json!(net::domain_matches_allowlist(text(0)?, &patterns))
        }
        "getListMatcher" => {
            let kind = MatchType::parse(text(0)?).ok_or_else(|| format!("unknown list type `{}`", any(0)))?;
            json!(callgate_compat::list_entry_matches(kind, text(1)?, text(2)?))
        }
        "resolveStoredAnnotation" => {
            let resolved = callgate_compat::resolve_stored_annotation(any(0), &Arguments::from_value(any(1)));
            let resolved =
                resolved.map_err(|faults| faults.iter().map(ToString::to_string).collect::<String>())?;
            let registry = Registry::default();
            let names =
                |roles: Vec<role::RoleId>| roles.iter().map(|role| registry.name(*role)).collect::<Vec<_>>();
            let args: serde_json::Map<String, Value> = resolved
                .into_iter()
                .map(|(name, roles)| (name, json!(names(roles))))
                .collect();
            json!({"args": args})
        }
        "intersectCeilings" => {
            let load = |at| policy::Ceiling::load(document::DocumentSource::Value(any(at))).map_err(refusal);
            let narrower = load(0)?.intersect(&load(1)?).map_err(refusal)?;
            json!(narrower)
        }
        "isReadOnly" | "mutationClass" => {
            let kind =
                model::ToolKind::parse(text(0)?).ok_or_else(|| format!("unknown kind `{}`", any(0)))?;
            match name {
                "isReadOnly" => json!(kind.is_read_only()),
                _ => json!(kind.mutation_class()),
            }
        }
        "parseSideEffectLevel" => json!(model::SideEffectLevel::parse(text(0)?).unwrap_or_default()),
        "sideEffectRank" => json!(model::SideEffectLevel::parse(text(0)?).unwrap_or_default().rank()),
        "rewriteResultContent" => {
            let Some(content) = any(0).as_array() else {
                return Ok(any(0).clone());
            };
            let rewritten = callgate_compat::rewrite_result_content(content, text(1)?, text(2)?);
            Value::Array(
                content
                    .iter()
                    .zip(rewritten)
                    .map(|(old, new)| new.unwrap_or_else(|| old.clone()))
                    .collect(),
            )
        }
        "whitelistAdd" => {
            let mut pattern = any(0).clone();
            if let Some(pattern) = pattern.as_object_mut() {
                pattern.entry("originalReason").or_insert_with(|| json!(""));
                pattern.entry("description").or_insert_with(|| json!(""));
            }
            let pattern: callgate_compat::ApprovalPattern =
                serde_json::from_value(pattern).map_err(refusal)?;
            json!(ApprovalWhitelist::default().add(pattern).map_err(refusal)?)
        }
        _ => return Err(format!("there is no function `{name}`")),
    })
}

/// The strings of an argument that is a string or an array of strings.
///
/// # Errors
/// The argument is neither.
pub(super) fn one_or_several<'v>(name: &str, args: &'v [Value], at: usize) -> Result<Vec<&'v str>, String> {
    let texts: Option<Vec<&str>> = match args.get(at) {
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        one => one.and_then(Value::as_str).map(|text| vec![text]),
    };
    texts.ok_or_else(|| format!("`{name}` takes a string, or several, as argument {at}"))
}

/// Runs a script on one fresh whitelist: candidates are extracted and added, then calls are matched.
pub(super) fn whitelist(script: &WhitelistScript, host: &dyn Host) -> Result<Value, String> {
    let registry = Registry::default();
    let role = |name: &String| {
        registry
            .find(name)
            .ok_or_else(|| format!("unknown role `{name}`"))
    };
    let roles = |names: &Option<Vec<String>>| -> Result<Option<Vec<role::RoleId>>, String> {
        names
            .as_ref()
            .map(|names| names.iter().map(role).collect())
            .transpose()
    };
    let annotation = |annotation: &Value| -> Result<callgate_compat::ResolvedAnnotation, String> {
        callgate_compat::resolve_stored_annotation(annotation, &Arguments::Members(Vec::new()))
            .map_err(|faults| faults.iter().map(ToString::to_string).collect::<String>())
    };
    let mut whitelist = ApprovalWhitelist::default();
    let mut extracted = Vec::new();
    for one in &script.extract {
        let (annotation, escalated) = (annotation(&one.annotation)?, roles(&one.escalated_roles)?);
        let escalation = Escalation {
            server: &one.server,
            tool: &one.tool,
            arguments: &Arguments::from_value(&one.args),
            annotation: &annotation,
            roles: escalated.as_deref(),
        };
        let found =
            callgate_compat::extract_whitelist_candidates(&escalation, "escalation", &one.reason, host);
        let (mut patterns, mut descriptions) = (Vec::new(), Vec::new());
        for pattern in found.map_err(refusal)? {
            let mut shown = serde_json::to_value(&pattern).map_err(refusal)?;
            if let Some(shown) = shown.as_object_mut() {
                shown.shift_remove("sourceEscalationId");
            }
            patterns.push(shown);
            descriptions.push(pattern.description.clone());
            whitelist.add(pattern).map_err(refusal)?;
        }
        extracted.push(json!({"patterns": patterns, "descriptions": descriptions}));
    }
    let mut matches = Vec::new();
    for one in &script.matches {
        let (annotation, escalated) = (annotation(&one.annotation)?, roles(&one.escalated_roles)?);
        let escalation = Escalation {
            server: &one.server,
            tool: &one.tool,
            arguments: &Arguments::from_value(&one.args),
            annotation: &annotation,
            roles: escalated.as_deref(),
        };
        let id = whitelist.find(&escalation, host).map_err(refusal)?;
        matches.push(id.and_then(|id| i64::try_from(id).ok()).unwrap_or(-1));
    }
    Ok(json!({"extract": extracted, "match": matches}))
}
