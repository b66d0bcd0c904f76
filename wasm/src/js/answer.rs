//! Judging a call that is text, for the command.

use callgate_engine::advice::help_for_unknown_tool;
use callgate_engine::bind::{Call, CallError};
use callgate_engine::engine::{Audience, Request};
use callgate_engine::judge::{Decision, Explanation, StructuralRule, Verdict};
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::engine::WasmEngine;
use callgate_boundary_wasm::to_js;

/// The answer to a call.
#[derive(Serialize)]
struct Answer<'a> {
    server: &'a str,
    tool: &'a str,
    verdict: &'a Verdict<'a>,
    /// The arguments to send if the call passes, as JSON text: each value stands as it was given.
    arguments: Option<String>,
    help: Option<String>,
    explanation: Option<&'a Explanation>,
}

/// Why a call has no answer.
#[derive(Serialize)]
struct NoAnswer<'f> {
    line: usize,
    column: usize,
    message: &'f str,
}

#[wasm_bindgen]
impl WasmEngine {
    /// Judges a call as JSON text: as `evaluate` does if its arguments are `prepared`, else as `gate` does. The answer is
    /// `{server, tool, verdict, arguments, help, explanation}`, with `arguments` as JSON text, and null for what is
    /// absent; or `{line, column, message}` if the text is not a call, or the context not a context.
    #[wasm_bindgen(js_name = answerText)]
    pub fn answer_text(
        &self,
        text: &str,
        context: Option<String>,
        prepared: bool,
        container: Option<String>,
        explains: bool,
    ) -> JsValue {
        let call = match read(text, context.as_deref()) {
            Ok(call) => call,
            Err(CallError {
                line,
                column,
                message,
            }) => {
                let message = &message;
                return to_js(&NoAnswer {
                    line,
                    column,
                    message,
                });
            }
        };
        let request = match prepared {
            true => Request::prepared(&call),
            false => Request::gate(&call).in_container(container.as_deref()),
        };
        let request = match explains {
            true => request.explained(Audience::Operator),
            false => request,
        };
        let response = self.engine.judge(&request, &self.host.asked());
        let passes = response.verdict.decision != Decision::Deny;
        let is_unknown = response.verdict.rule == StructuralRule::UnknownTool.as_str();
        to_js(&Answer {
            server: call.server(),
            tool: call.tool(),
            verdict: &response.verdict,
            arguments: response.arguments().filter(|_| passes),
            help: is_unknown.then(|| help_for_unknown_tool(call.server(), call.tool(), self.engine.tools())),
            explanation: response.explanation.as_ref(),
        })
    }
}

fn read<'t>(text: &'t str, context: Option<&str>) -> Result<Call<'t>, CallError> {
    let call = Call::from_json(text)?;
    match context {
        Some(context) => call.within_json(context),
        None => Ok(call),
    }
}
