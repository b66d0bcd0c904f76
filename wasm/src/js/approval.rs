//! Approvals: candidates of an escalated call, and the patterns that were approved.

use callgate_core::{
    self as core, ApprovalPattern, Arguments, Escalation, PlainAnnotation, Registry, RoleId,
};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::host::{Callbacks, HostBridge, JsHost};
use super::plain::{listed, parse, to_js_error};
use super::{to_js, wire};

/// One escalated call as it comes in.
struct Incoming<'b> {
    arguments: Arguments<'b>,
    annotation: PlainAnnotation,
    roles: Option<Vec<RoleId>>,
}

impl<'b> Incoming<'b> {
    fn read(arguments: &'b [u8], annotation: &str, roles: Option<Vec<String>>) -> Result<Self, JsValue> {
        let arguments = wire::read_arguments(arguments);
        let annotation = core::resolve_stored_annotation(&parse(annotation)?, &arguments)
            .map_err(|faults| to_js_error(listed(&faults)))?;
        let registry = Registry::default();
        let role = |name: &String| {
            registry
                .find(name)
                .ok_or_else(|| to_js_error(format!("unknown role `{name}`")))
        };
        let roles = roles
            .map(|roles| roles.iter().map(role).collect::<Result<Vec<_>, _>>())
            .transpose()?;
        Ok(Self {
            arguments,
            annotation,
            roles,
        })
    }

    fn escalation<'a>(&'a self, server: &'a str, tool: &'a str) -> Escalation<'a> {
        Escalation {
            server,
            tool,
            arguments: &self.arguments,
            annotation: &self.annotation,
            roles: self.roles.as_deref(),
        }
    }
}

/// The patterns that an approval of the call may stand for. The annotation is JSON text, the arguments are as the
/// wire has them.
///
/// # Errors
/// A message when the annotation or a role is unknown, or the host fails.
#[expect(
    clippy::too_many_arguments,
    reason = "the fields of an escalation and of a host, one by one"
)]
#[wasm_bindgen(js_name = extractWhitelistCandidates)]
pub fn extract_whitelist_candidates(
    server: &str,
    tool: &str,
    arguments: &[u8],
    annotation: &str,
    roles: Option<Vec<String>>,
    escalation_id: &str,
    reason: &str,
    home: &str,
    current: &str,
    callbacks: Callbacks,
) -> Result<JsValue, JsValue> {
    let incoming = Incoming::read(arguments, annotation, roles)?;
    let bridge = HostBridge::new(callbacks);
    let host = JsHost::new(&bridge, home, current);
    let escalation = incoming.escalation(server, tool);
    let patterns = core::extract_whitelist_candidates(&escalation, escalation_id, reason, &host);
    Ok(to_js(&patterns.map_err(to_js_error)?))
}

/// Refuses what is not a pattern, or has no constraints. The pattern is JSON text.
///
/// # Errors
/// A message.
#[wasm_bindgen(js_name = checkApproval)]
pub fn check_approval(pattern: &str) -> Result<(), JsValue> {
    let pattern: ApprovalPattern = serde_json::from_str(pattern).map_err(to_js_error)?;
    core::ApprovalWhitelist::default()
        .add(pattern)
        .map_err(to_js_error)?;
    Ok(())
}

/// The number of the first of the patterns that covers the call. The patterns and the annotation are JSON text, the
/// arguments are as the wire has them.
///
/// # Errors
/// A message when the annotation or a role is unknown, or the host fails.
#[expect(
    clippy::too_many_arguments,
    reason = "the fields of an escalation and of a host, one by one"
)]
#[wasm_bindgen(js_name = findApproval)]
pub fn find_approval(
    patterns: &str,
    server: &str,
    tool: &str,
    arguments: &[u8],
    annotation: &str,
    roles: Option<Vec<String>>,
    home: &str,
    current: &str,
    callbacks: Callbacks,
) -> Result<Option<usize>, JsValue> {
    let patterns: Vec<ApprovalPattern> = serde_json::from_str(patterns).map_err(to_js_error)?;
    let mut whitelist = core::ApprovalWhitelist::default();
    for pattern in patterns {
        whitelist.add(pattern).map_err(to_js_error)?;
    }
    let incoming = Incoming::read(arguments, annotation, roles)?;
    let bridge = HostBridge::new(callbacks);
    let host = JsHost::new(&bridge, home, current);
    whitelist
        .find(&incoming.escalation(server, tool), &host)
        .map_err(to_js_error)
}
