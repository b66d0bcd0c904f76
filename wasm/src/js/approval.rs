//! The documents of an engine's approvals.

use callgate_engine::approval::{Approvals, Moment};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use callgate_boundary_wasm::refusal;

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
