//! Tools beside the engine: they work on documents and read calls; they judge nothing.
//!
//! A module beside the engine's, since a page or a process that judges calls never needs it. Each function takes JSON text and
//! returns JSON text; what it throws is JSON text too: `{message, diagnostics}`.

use callgate_core::{CallError, Diagnostic, DocumentSource, Line, NotCall};
use serde_json::json;
use serde_json::value::RawValue;
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

/// Reads the text of a bundle: `{inline: [[name, from, to, line, column]], files: [[name, path]], faults}`, where `from` and `to`
/// count as JavaScript does, and `line` and `column` from 1. The texts are the caller's already: a long one takes as long to hand
/// back as to read.
#[wasm_bindgen(js_name = readBundle)]
pub fn read_bundle(text: &str) -> String {
    let bundle = callgate_core::read_bundle(text);
    let is_ascii = text.is_ascii();
    let place = |byte: usize| match is_ascii {
        true => byte,
        false => text.get(..byte).unwrap_or(text).encode_utf16().count(),
    };
    let inline = bundle.inline.iter().map(|one| {
        let (from, to) = (place(one.range.start), place(one.range.end));
        json!([one.kind, from, to, one.position.line, one.position.column])
    });
    let files = bundle.files.iter().map(|one| json!([one.kind, one.path]));
    json!({
        "inline": inline.collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
        "faults": bundle.faults,
    })
    .to_string()
}

/// The text of the document called `name`, from the bytes of its file.
///
/// # Errors
/// The fault, where they are not the text of any document.
#[wasm_bindgen(js_name = documentText)]
pub fn document_text(bytes: Vec<u8>, name: &str) -> Result<String, JsValue> {
    callgate_core::document_text(bytes, name)
        .map_err(|fault| refusal("the document cannot be read", &[fault]))
}

/// Checks that every parser reads the JSON text alike. `name` is what it is called in the faults.
///
/// # Errors
/// The faults, where one might read it differently, or it is not JSON.
#[wasm_bindgen(js_name = checkJson)]
pub fn check_json(text: &str, name: &str) -> Result<(), JsValue> {
    callgate_core::check_json(text, name).map_err(|faults| refusal("it cannot be read", &faults))
}

/// Reads what a line asks: `{id, call, context}`, `{id, other}` or `{id, error: {line, column, message, help}}`. `id`,
/// `call` and `context` are JSON text. What is not there is null or missing.
#[wasm_bindgen(js_name = readLine)]
pub fn read_line(bytes: Vec<u8>, server: Option<String>) -> String {
    let text = match callgate_core::utf8(bytes) {
        Ok(text) => text,
        Err(message) => return json!({"error": {"message": message}}).to_string(),
    };
    match callgate_core::read_line(&text, server.as_deref()) {
        Ok((id, Line::Call(asked))) => {
            json!({"id": id.map(RawValue::get), "call": asked.call, "context": asked.context.map(RawValue::get)})
        }
        Ok((id, Line::Other(what))) => json!({"id": id.map(RawValue::get), "other": what}),
        Err(NotCall { id, error, help }) => {
            let CallError { line, column, message } = error;
            json!({"id": id.map(RawValue::get), "error": {"line": line, "column": column, "message": message, "help": help}})
        }
    }
    .to_string()
}

fn refusal(what: &str, faults: &[Diagnostic]) -> JsValue {
    let listed: String = faults.iter().map(|fault| format!("\n{fault}")).collect();
    let refusal = json!({"message": format!("{what}:{listed}"), "diagnostics": faults});
    JsValue::from_str(&refusal.to_string())
}
