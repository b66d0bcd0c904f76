//! Reading what engines are built of and asked about: bundles, documents and lines with calls.

use callgate_authoring::lines;
use callgate_authoring::lines::{Asked, Line, NotCall};
use callgate_boundary_wasm::{refusal, to_js};
use callgate_engine::bind::CallError;
use callgate_engine::bundle;
use callgate_engine::diagnostic::Diagnostic;
use callgate_engine::document;
use serde::Serialize;
use serde_json::value::RawValue;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The parts of a bundle. `from` and `to` count as JavaScript does, and `line` and `column` from 1. The texts are the caller's
/// already: a long one takes as long to hand back as to read.
#[derive(Serialize)]
struct Bundle<'b> {
    /// Kind, `from`, `to`, `line` and `column` of each document that is written out.
    inline: Vec<(&'static str, usize, usize, usize, usize)>,
    /// Kind and path of each document that has a file.
    files: Vec<(&'static str, &'b str)>,
    faults: &'b [Diagnostic],
}

/// Reads the text of a bundle: `{inline: [[name, from, to, line, column]], files: [[name, path]], faults}`.
#[wasm_bindgen(js_name = readBundle)]
pub fn read_bundle(text: &str) -> JsValue {
    let bundle = bundle::read_bundle(text);
    let is_ascii = text.is_ascii();
    let place = |byte: usize| match is_ascii {
        true => byte,
        false => text.get(..byte).unwrap_or(text).encode_utf16().count(),
    };
    let inline = bundle.inline.iter().map(|one| {
        let (from, to) = (place(one.range.start), place(one.range.end));
        (
            one.kind.as_str(),
            from,
            to,
            one.position.line,
            one.position.column,
        )
    });
    to_js(&Bundle {
        inline: inline.collect(),
        files: bundle
            .files
            .iter()
            .map(|one| (one.kind.as_str(), one.path.as_str()))
            .collect(),
        faults: &bundle.faults,
    })
}

/// The text of the document called `name`, from the bytes of its file.
///
/// # Errors
/// The fault, where they are not the text of any document.
#[wasm_bindgen(js_name = documentText)]
pub fn document_text(bytes: Vec<u8>, name: &str) -> Result<String, JsValue> {
    document::document_text(bytes, name).map_err(|fault| refused("the document cannot be read", &[fault]))
}

/// Checks that every parser reads the JSON text alike. `name` is what it is called in the faults.
///
/// # Errors
/// The faults, where one might read it differently, or it is not JSON.
#[wasm_bindgen(js_name = checkJson)]
pub fn check_json(text: &str, name: &str) -> Result<(), JsValue> {
    document::check_json(text, name).map_err(|faults| refused("it cannot be read", &faults))
}

/// A line. `id`, `call` and `context` are JSON text.
#[derive(Default, Serialize)]
struct Read<'l> {
    id: Option<&'l str>,
    call: Option<&'l str>,
    context: Option<&'l str>,
    /// What it is instead of a call.
    other: Option<&'l str>,
    error: Option<Fault<'l>>,
}

/// Why a line is not a call.
#[derive(Serialize)]
struct Fault<'l> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: &'l str,
    help: Option<&'l str>,
}

/// Reads what a line asks: `{id, call, context, other, error: {line, column, message, help}}`, with null for what is not there.
#[wasm_bindgen(js_name = readLine)]
pub fn read_line(bytes: Vec<u8>, server: Option<String>) -> JsValue {
    let text = match document::utf8(bytes) {
        Ok(text) => text,
        Err(message) => {
            let fault = Fault {
                line: None,
                column: None,
                message: &message,
                help: None,
            };
            return to_js(&Read {
                error: Some(fault),
                ..Read::default()
            });
        }
    };
    match lines::read_line(&text, server.as_deref()) {
        Ok((id, Line::Call(Asked { call, context }))) => to_js(&Read {
            id: id.map(RawValue::get),
            call: Some(&call),
            context: context.map(RawValue::get),
            ..Read::default()
        }),
        Ok((id, Line::Other(what))) => to_js(&Read {
            id: id.map(RawValue::get),
            other: Some(&what),
            ..Read::default()
        }),
        Err(NotCall {
            id,
            error:
                CallError {
                    line,
                    column,
                    message,
                },
            help,
        }) => to_js(&Read {
            id: id.map(RawValue::get),
            error: Some(Fault {
                line: Some(line),
                column: Some(column),
                message: &message,
                help: help.as_deref(),
            }),
            ..Read::default()
        }),
    }
}

fn refused(what: &str, faults: &[Diagnostic]) -> JsValue {
    let listed: String = faults.iter().map(|fault| format!("\n{fault}")).collect();
    refusal(&format!("{what}:{listed}"), faults)
}
