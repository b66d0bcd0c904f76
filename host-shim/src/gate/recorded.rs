//! A judged call as a line of a recording file.

use std::collections::BTreeMap;

use callgate_engine::approval::{Approvals, Moment};
use callgate_engine::document::without_comments;
use callgate_engine::engine::Paths;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Gate;
use crate::backend::Request;
use crate::call_text::CallText;

impl Gate {
    /// An answer of [`Gate::explain`] as one line of a recording file, which `callgate replay` judges again without any
    /// disk or git.
    ///
    /// It holds the documents, the arguments, the context and what the host answered, and no approvals.
    ///
    /// # Errors
    /// When `call` is not JSON.
    pub fn recorded<'c>(
        &self,
        call: impl Into<CallText<'c>>,
        explanation: &Value,
    ) -> Result<String, serde_json::Error> {
        self.recorded_request(&Request::prepared(call), explanation)
    }

    /// The same for any request: with its approvals of the call's tool and the time that it gives, and if it was to gate
    /// the call, as such.
    ///
    /// # Errors
    /// When the call is not JSON, and where there are layers, which a recording does not hold.
    pub fn recorded_request(
        &self,
        request: &Request<'_>,
        explanation: &Value,
    ) -> Result<String, serde_json::Error> {
        if !self.above().is_empty() {
            let why = "a recording holds one layer, and others stand above it: record each bundle by itself";
            return Err(serde::ser::Error::custom(why));
        }
        let (call, context) = (request.call.text(), request.call.context);
        let approvals = request.approvals.map(|given| match request.call.read() {
            Ok(call) => given.approvals.of_tool(call.server(), call.tool()),
            Err(_) => given.approvals.clone(),
        });
        // JSON has line breaks between its tokens only.
        let one_line = |text: &str| RawValue::from_string(text.replace(['\n', '\r'], " "));
        let (op, container_workspace_dir) = match request.paths {
            Paths::Prepared => ("explain", None),
            Paths::Gate {
                container_workspace_dir,
            } => ("explainGate", container_workspace_dir),
        };
        let mut engine = BTreeMap::new();
        for document in &self.documents {
            let text = without_comments(&document.text);
            engine.insert(document.part.as_str(), one_line(text.trim())?);
        }
        serde_json::to_string(&Recorded {
            format: "cases/1",
            engine,
            recording: &explanation["recording"],
            cases: [RecordedCall {
                op,
                container_workspace_dir,
                call: one_line(call.trim())?,
                context: context.map(|context| one_line(context.trim())).transpose()?,
                approvals,
                now: request
                    .approvals
                    .and_then(|given| given.now)
                    .map(Moment::as_millis),
                expect: Expected { answer: explanation },
            }],
        })
    }
}

/// One line of a recording file.
#[derive(Serialize)]
struct Recorded<'e> {
    format: &'static str,
    engine: BTreeMap<&'static str, Box<RawValue>>,
    recording: &'e Value,
    cases: [RecordedCall<'e>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordedCall<'e> {
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    container_workspace_dir: Option<&'e str>,
    call: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approvals: Option<Approvals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<i64>,
    expect: Expected<'e>,
}

#[derive(Serialize)]
struct Expected<'e> {
    answer: &'e Value,
}
