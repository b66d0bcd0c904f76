//! The component's plain functions by the names that case files use.

use callgate_core::ToolKind;
use serde_json::{Map, Value, json};

use crate::component::{Bare, Escalated};
use crate::replay::functions::one_or_several;
use crate::replay::subject::WhitelistScript;

/// An instance without an engine.
pub(super) struct Functions(pub(super) Bare);

impl Functions {
    /// Calls the function of that name with positional arguments, as VECTORS.md describes them.
    ///
    /// # Errors
    /// A description of what is wrong with the name, an argument or the host.
    pub(super) fn call(&mut self, name: &str, args: &[Value]) -> Result<Value, String> {
        let text = |at: usize| {
            args.get(at)
                .and_then(Value::as_str)
                .ok_or_else(|| format!("`{name}` takes a string as argument {at}"))
        };
        let any = |at: usize| args.get(at).unwrap_or(&Value::Null);
        let bare = &mut self.0;
        Ok(match name {
            "expandTilde" => json!(bare.expand_tilde(text(0)?)?),
            "resolveRealPath" => json!(bare.resolve_real_path(text(0)?)?),
            "isWithinDirectory" => json!(bare.is_within_directory(text(0)?, text(1)?)?),
            "directoryForPath" => json!(bare.directory_for_path(text(0)?)?),
            "extractPolicyRoots" => {
                let directories = one_or_several(name, args, 1)?;
                json!(bare.policy_roots(&any(0).to_string(), &directories)?)
            }
            "toMcpRoots" => {
                let roots: Vec<callgate_core::PolicyRoot> =
                    serde_json::from_value(any(0).clone()).map_err(|error| error.to_string())?;
                json!(bare.mcp_roots(&roots)?)
            }
            "extractRequiredServers" => json!(bare.required_servers(&any(0).to_string())?),
            "resolveGitRemote" => {
                let path = any(1).get("path").and_then(Value::as_str);
                json!(bare.resolve_git_remote(text(0)?, path)?)
            }
            "resolveDefaultGitRemote" => json!(bare.resolve_default_git_remote(text(0)?)?),
            "normalizeUrl" => json!(bare.normalize_url(text(0)?)?),
            "normalizeGitUrl" => json!(bare.normalize_git_url(text(0)?)?),
            "extractDomain" => json!(bare.extract_domain(text(0)?)?),
            "extractGitDomain" => json!(bare.extract_git_domain(text(0)?)?),
            "isIpAddress" => json!(bare.is_ip_address(text(0)?)?),
            "domainMatchesAllowlist" => {
                let patterns: Vec<String> =
                    serde_json::from_value(any(1).clone()).map_err(|error| error.to_string())?;
                json!(bare.domain_matches_allowlist(text(0)?, &patterns)?)
            }
            "getListMatcher" => json!(bare.list_entry_matches(text(0)?, text(1)?, text(2)?)?),
            "resolveStoredAnnotation" => {
                json!({"args": bare.resolve_stored_annotation(&any(0).to_string(), &any(1).to_string())?})
            }
            "intersectCeilings" => bare.intersect_ceilings(&any(0).to_string(), &any(1).to_string())?,
            "isReadOnly" | "mutationClass" => {
                let kind = ToolKind::parse(text(0)?).ok_or_else(|| format!("unknown kind `{}`", any(0)))?;
                match name {
                    "isReadOnly" => json!(bare.is_read_only(kind)?),
                    _ => json!(bare.mutation_class(kind)?),
                }
            }
            "parseSideEffectLevel" => json!(bare.parse_side_effect_level(text(0)?)?),
            "sideEffectRank" => json!(bare.side_effect_rank(text(0)?)?),
            "rewriteResultContent" => self.rewrite(any(0), text(1)?, text(2)?)?,
            "whitelistAdd" => {
                let mut pattern = any(0).clone();
                if let Some(pattern) = pattern.as_object_mut() {
                    pattern.entry("originalReason").or_insert_with(|| json!(""));
                    pattern.entry("description").or_insert_with(|| json!(""));
                }
                let pattern = serde_json::from_value(pattern).map_err(|error| error.to_string())?;
                bare.find_approval(&[pattern], &Escalated::nothing())?;
                json!(0)
            }
            _ => return Err(format!("there is no function `{name}`")),
        })
    }

    fn rewrite(&mut self, content: &Value, host_dir: &str, container_dir: &str) -> Result<Value, String> {
        let Some(blocks) = content.as_array() else {
            return Ok(content.clone());
        };
        let mut rewritten = blocks.clone();
        for block in &mut rewritten {
            let Some(block) = block
                .as_object_mut()
                .filter(|block| block.get("type") == Some(&json!("text")))
            else {
                continue;
            };
            if let Some(text) = block.get("text").and_then(Value::as_str)
                && let Some(text) = self.0.rewrite_text(text, host_dir, container_dir)?
            {
                block.insert("text".to_owned(), text.into());
            }
        }
        Ok(rewritten.into())
    }

    /// Runs a script: candidates are extracted and kept, then calls are matched.
    pub(super) fn whitelist(&mut self, script: &WhitelistScript) -> Result<Value, String> {
        let mut patterns = Vec::new();
        let mut extracted = Vec::new();
        for one in &script.extract {
            let escalated = Escalated {
                server: one.server.clone(),
                tool: one.tool.clone(),
                arguments: one.args.to_string(),
                annotation: one.annotation.to_string(),
                roles: one.escalated_roles.clone(),
            };
            let found = self
                .0
                .approval_candidates(&escalated, "escalation", &one.reason)?;
            let (mut shown, mut descriptions) = (Vec::new(), Vec::new());
            for pattern in found {
                let mut fields: Map<String, Value> = match serde_json::to_value(&pattern) {
                    Ok(Value::Object(fields)) => fields,
                    Ok(_) | Err(_) => Map::new(),
                };
                fields.shift_remove("sourceEscalationId");
                shown.push(Value::Object(fields));
                descriptions.push(pattern.description.clone());
                patterns.push(pattern);
            }
            extracted.push(json!({"patterns": shown, "descriptions": descriptions}));
        }
        let mut matches = Vec::new();
        for one in &script.matches {
            let escalated = Escalated {
                server: one.server.clone(),
                tool: one.tool.clone(),
                arguments: one.args.to_string(),
                annotation: one.annotation.to_string(),
                roles: one.escalated_roles.clone(),
            };
            let found = self.0.find_approval(&patterns, &escalated)?;
            matches.push(found.map_or(-1, i64::from));
        }
        Ok(json!({"extract": extracted, "match": matches}))
    }
}
