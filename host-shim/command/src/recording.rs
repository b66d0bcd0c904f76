//! One line of a recording file, as [`Gate::recorded`] writes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use callgate_engine::approval::{Approvals, Moment};
use callgate_engine::config::DocumentKind;
use callgate_engine::host::Recording;
use callgate_host::{Audience, CallText, EngineKind, Gate, Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::terminal::Failure;

/// Documents, what the host answered, and explained calls.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    format: String,
    engine: BTreeMap<String, Box<RawValue>>,
    recording: Recording,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    op: Op,
    container_workspace_dir: Option<String>,
    call: Box<RawValue>,
    context: Option<Box<RawValue>>,
    approvals: Option<Box<RawValue>>,
    now: Option<i64>,
    expect: Expected,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Op {
    /// The arguments were prepared.
    Explain,
    /// They were prepared and judged in one.
    ExplainGate,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    answer: Value,
}

/// An explanation that is not as recorded.
#[derive(Serialize)]
pub(crate) struct Difference {
    place: String,
    call: Box<RawValue>,
    expected: Value,
    got: Value,
}

impl Recorded {
    /// # Errors
    /// The fault of the line.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let line: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if line.format == "cases/1" {
            Ok(line)
        } else {
            Err(format!("found the format `{}`, expected `cases/1`", line.format))
        }
    }

    /// How many calls there are.
    pub(crate) fn len(&self) -> usize {
        self.cases.len()
    }

    /// Explains and judges each call again, and returns what differs from the recording.
    ///
    /// `place` is the file and the line, for errors and differences.
    ///
    /// # Errors
    /// When the documents are refused, the engine cannot run, or a call is not one.
    pub(crate) fn replay(self, place: &str, engine: EngineKind) -> Result<Vec<Difference>, Failure> {
        let invalid = |message: String| Failure::Invalid(format!("{place}: {message}"));
        let mut builder = Gate::builder().engine(engine).host(Arc::new(self.recording));
        for (name, text) in &self.engine {
            let part = DocumentKind::parse(name)
                .ok_or_else(|| invalid(format!("an engine has no part `{name}`")))?;
            builder = builder.part(part, text.get());
        }
        let gate = builder.build()?;
        let mut differences = Vec::new();
        for case in self.cases {
            let text = CallText::from(case.call.get());
            let text = match &case.context {
                Some(context) => text.within(context.get()),
                None => text,
            };
            let unreadable = |error: callgate_engine::bind::CallError| invalid(error.to_string());
            let approvals = case
                .approvals
                .as_ref()
                .map(|text| Approvals::from_json(text.get()));
            let approvals = approvals
                .transpose()
                .map_err(|error| invalid(error.to_string()))?;
            let mut request = match case.op {
                Op::Explain => Request::prepared(text),
                Op::ExplainGate => Request::gate(text).in_container(case.container_workspace_dir.as_deref()),
            };
            if let Some(approvals) = &approvals {
                request = request.approved(approvals, case.now.map(Moment::from_millis));
            }
            let verdict = gate.judge(&request).map_err(unreadable)?.verdict;
            let explained = gate.judge(&request.explained(Audience::Operator));
            let got = explained.map_err(unreadable)?.explanation.unwrap_or_default();
            let is_same_verdict =
                serde_json::to_value(&verdict).is_ok_and(|verdict| verdict == got["verdict"]);
            if got != case.expect.answer || !is_same_verdict {
                differences.push(Difference {
                    place: place.to_owned(),
                    call: case.call,
                    expected: case.expect.answer,
                    got,
                });
            }
        }
        Ok(differences)
    }
}
