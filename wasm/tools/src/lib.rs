//! What tools need beside the engine: work on documents, which judges nothing.
//!
//! A module beside the engine's, since a page or a process that judges calls never needs it. Each function takes JSON text and
//! returns JSON text; what it throws is JSON text too: `{message, diagnostics}`.

use callgate_core::{Diagnostic, DocumentSource};
use serde_json::json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Drafts annotations for the tools of a server. The answer is a `Proposal`.
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
    let proposal =
        callgate_core::propose_annotations(DocumentSource::Text(tools_list), server_name, existing)
            .map_err(|faults| refusal("no annotations can be drafted", &faults))?;
    Ok(json!(proposal).to_string())
}

/// Reads the text of a bundle: `{inline: [[name, text]], files: [[name, path]], faults}`.
#[wasm_bindgen(js_name = readBundle)]
pub fn read_bundle(text: &str) -> String {
    let bundle = callgate_core::read_bundle(text);
    let inline = bundle.inline.iter().map(|one| json!([one.kind, one.text]));
    let files = bundle.files.iter().map(|one| json!([one.kind, one.path]));
    json!({
        "inline": inline.collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
        "faults": bundle.faults,
    })
    .to_string()
}

fn refusal(what: &str, faults: &[Diagnostic]) -> JsValue {
    let listed: String = faults.iter().map(|fault| format!("\n{fault}")).collect();
    let refusal = json!({"message": format!("{what}:{listed}"), "diagnostics": faults});
    JsValue::from_str(&refusal.to_string())
}
