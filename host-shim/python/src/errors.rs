//! Errors as exceptions.

use callgate_engine::diagnostic::Diagnostic;
use callgate_host::{Fault, GateError};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::json;

create_exception!(
    callgate,
    CallgateError,
    PyException,
    "Every error of this package."
);
create_exception!(
    callgate,
    DocumentError,
    CallgateError,
    "Documents are refused. `diagnostics` has every fault with its place."
);
create_exception!(
    callgate,
    CallError,
    CallgateError,
    "What was given is not a call: no JSON, or of another shape."
);
create_exception!(
    callgate,
    HostError,
    CallgateError,
    "Raised by a host that cannot answer. The call is denied, and the message is in the reason."
);

/// An error about documents, with its diagnostics.
pub(crate) fn refused<D: Serialize>(message: &str, diagnostics: &[D]) -> PyErr {
    Python::attach(|py| {
        let error = DocumentError::new_err(message.to_owned());
        let listed = serde_json::to_string(diagnostics).unwrap_or_default();
        match json::read(py, &listed).and_then(|listed| error.value(py).setattr("diagnostics", listed)) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

pub(crate) fn of_diagnostics(diagnostics: &[Diagnostic]) -> PyErr {
    let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    refused(&lines.join("\n"), diagnostics)
}

pub(crate) fn of_gate(error: GateError) -> PyErr {
    match &error {
        GateError::Refused(faults) => refused(&error.to_string(), faults),
        GateError::Unreadable { file, .. } => {
            let fault: Value = json!({"file": file, "code": "unreadable", "severity": "error", "path": "",
                "message": error.to_string()});
            refused(&error.to_string(), &[fault])
        }
        GateError::Host(_) => HostError::new_err(error.to_string()),
        GateError::Component(_) | GateError::Engine(_) | GateError::Layers(_) => {
            CallgateError::new_err(error.to_string())
        }
    }
}

/// Faults as Python values.
pub(crate) fn faults<'py>(py: Python<'py>, faults: &[Fault]) -> PyResult<Bound<'py, PyAny>> {
    json::of(py, &faults)
}

/// A call that is none.
pub(crate) fn call(error: impl ToString) -> PyErr {
    CallError::new_err(error.to_string())
}

/// Any other failure.
pub(crate) fn other(error: impl ToString) -> PyErr {
    CallgateError::new_err(error.to_string())
}
