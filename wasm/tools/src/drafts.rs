//! Drafts of annotations.

use callgate_boundary_wasm::refusal;
use callgate_engine::document::DocumentSource;
use serde_json::json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Drafts annotations for the tools of a server. The answer is a `Proposal` as JSON text.
///
/// # Errors
/// The faults of the documents.
#[wasm_bindgen(js_name = proposeAnnotations)]
pub fn propose_annotations(
    tools_list: &str,
    server_name: &str,
    existing: Option<String>,
) -> Result<String, JsValue> {
    let existing = existing.as_deref().map(DocumentSource::Text);
    let proposal = callgate_authoring::draft::propose_annotations(
        DocumentSource::Text(tools_list),
        server_name,
        existing,
    )
    .map_err(|faults| {
        let listed: String = faults.iter().map(|fault| format!("\n{fault}")).collect();
        refusal(&format!("no annotations can be drafted:{listed}"), &faults)
    })?;
    Ok(json!(proposal).to_string())
}
