//! The approvals of the existing runtime.

use callgate_compat::{ApprovalPattern, Escalation, ResolvedAnnotation};
use callgate_engine::bind::Arguments;
use callgate_engine::role::{Registry, RoleId};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::parse_annotation;
use crate::js::arguments::Reader;
use crate::js::host::WasmHost;
use crate::js::values::{to_js, to_js_error};

/// The arguments, annotation and roles of an escalated call.
struct Incoming<'b> {
    arguments: Arguments<'b>,
    annotation: ResolvedAnnotation,
    roles: Option<Vec<RoleId>>,
}

impl<'b> Incoming<'b> {
    fn read(arguments: &'b [u8], annotation: &str, roles: Option<Vec<String>>) -> Result<Self, JsValue> {
        let arguments = Reader::new(arguments, &[]).arguments();
        let annotation = parse_annotation(annotation, &arguments)?;
        let registry = Registry::default();
        let unknown = |name: &String| to_js_error(format!("unknown role `{name}`"));
        let role = |name: &String| registry.find(name).ok_or_else(|| unknown(name));
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

/// Refuses text that is not a pattern, or a pattern without constraints.
///
/// # Errors
/// A message.
#[wasm_bindgen(js_name = checkApproval)]
pub fn check_approval(pattern: &str) -> Result<(), JsValue> {
    let pattern = ApprovalPattern::from_json(pattern).map_err(to_js_error)?;
    callgate_compat::ApprovalWhitelist::default()
        .add(pattern)
        .map(drop)
        .map_err(to_js_error)
}

/// The annotation is JSON text, and the arguments are in the layout of
/// [`arguments`](crate::js::arguments).
#[wasm_bindgen]
impl WasmHost {
    /// The patterns that an approval of the call may stand for.
    ///
    /// # Errors
    /// A message when the annotation or a role is unknown, or the host fails.
    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of an escalation, one by one"
    )]
    #[wasm_bindgen(js_name = extractWhitelistCandidates)]
    pub fn extract_whitelist_candidates(
        self,
        server: &str,
        tool: &str,
        arguments: &[u8],
        annotation: &str,
        roles: Option<Vec<String>>,
        escalation_id: &str,
        reason: &str,
    ) -> Result<JsValue, JsValue> {
        let incoming = Incoming::read(arguments, annotation, roles)?;
        let escalation = incoming.escalation(server, tool);
        callgate_compat::extract_whitelist_candidates(&escalation, escalation_id, reason, &self.asked())
            .map(|patterns| to_js(&patterns))
            .map_err(to_js_error)
    }

    /// The index of the first of the patterns, which are JSON text, that covers the call.
    ///
    /// # Errors
    /// A message when the annotation or a role is unknown, or the host fails.
    #[wasm_bindgen(js_name = findApproval)]
    pub fn find_approval(
        self,
        patterns: &str,
        server: &str,
        tool: &str,
        arguments: &[u8],
        annotation: &str,
        roles: Option<Vec<String>>,
    ) -> Result<Option<usize>, JsValue> {
        let whitelist = callgate_compat::ApprovalWhitelist::from_json(patterns).map_err(to_js_error)?;
        let incoming = Incoming::read(arguments, annotation, roles)?;
        whitelist
            .find(&incoming.escalation(server, tool), &self.asked())
            .map_err(to_js_error)
    }
}
