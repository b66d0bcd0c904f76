//! Approvals: the documents of an engine's approvals, and the patterns of the existing runtime.

use callgate_core::{
    self as core, ApprovalPattern, Approvals, Arguments, Escalation, Moment, Registry, ResolvedAnnotation,
    RoleId,
};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::host::WasmHost;
use super::plain::parse_annotation;
use super::{refusal, to_js, to_js_error, wire};

/// The arguments, annotation and roles of an escalated call.
struct Incoming<'b> {
    arguments: Arguments<'b>,
    annotation: ResolvedAnnotation,
    roles: Option<Vec<RoleId>>,
}

impl<'b> Incoming<'b> {
    fn read(arguments: &'b [u8], annotation: &str, roles: Option<Vec<String>>) -> Result<Self, JsValue> {
        let arguments = wire::read_arguments(arguments);
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
    core::ApprovalWhitelist::default()
        .add(pattern)
        .map(drop)
        .map_err(to_js_error)
}

pub(super) fn read(document: &str) -> Result<Approvals, JsValue> {
    Approvals::from_json(document).map_err(|error| refusal(&error, &error.diagnostics))
}

/// The same document of approvals as the engine writes it.
///
/// # Errors
/// `{message, diagnostics}` with every fault of the document.
#[wasm_bindgen(js_name = readApprovals)]
pub fn read_approvals(document: &str) -> Result<String, JsValue> {
    Ok(read(document)?.to_json())
}

/// The document with a further approval as its last, which gets an id if it has none.
///
/// # Errors
/// `{message, diagnostics}` with every fault of the approval.
#[wasm_bindgen(js_name = addApproval)]
pub fn add_approval(document: &str, offer: &str) -> Result<String, JsValue> {
    let mut approvals = read(document)?;
    match approvals.add_json(offer) {
        Ok(_) => Ok(approvals.to_json()),
        Err(error) => Err(refusal(&error, &error.diagnostics)),
    }
}

/// Milliseconds since 1970; `undefined` for text that is not a date with a time and an offset.
#[wasm_bindgen(js_name = parseMoment)]
pub fn parse_moment(text: &str) -> Option<f64> {
    Moment::parse(text).map(|moment| moment.as_millis() as f64)
}

/// The annotation is JSON text, and the arguments are in the layout of [`wire`].
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
        core::extract_whitelist_candidates(&escalation, escalation_id, reason, &self.asked())
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
        let whitelist = core::ApprovalWhitelist::from_json(patterns).map_err(to_js_error)?;
        let incoming = Incoming::read(arguments, annotation, roles)?;
        whitelist
            .find(&incoming.escalation(server, tool), &self.asked())
            .map_err(to_js_error)
    }
}
