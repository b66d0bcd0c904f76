//! The engine's answer.

use callgate_engine::judge;
use callgate_host::Decision;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::json;

/// Allow, escalate or deny, with the rule that decided and its reason.
///
/// A verdict is neither true nor false: ask `is_allowed`.
#[pyclass(frozen, eq, module = "callgate")]
#[derive(Clone, PartialEq)]
pub struct Verdict(pub(crate) judge::Verdict<'static>);

/// A verdict, and the arguments to send if it lets the call pass.
#[pyclass(frozen, module = "callgate")]
pub struct Response {
    verdict: Py<Verdict>,
    arguments: Option<String>,
}

impl Response {
    pub(crate) fn of(py: Python<'_>, response: callgate_host::Response) -> PyResult<Self> {
        Ok(Self {
            verdict: Py::new(py, Verdict(response.verdict))?,
            arguments: response.arguments,
        })
    }
}

#[pymethods]
impl Verdict {
    /// `allow`, `escalate` (a person must decide) or `deny`.
    #[getter]
    fn decision(&self) -> &'static str {
        self.0.decision.as_str()
    }

    /// The name of the rule that decided. Those that begin with `structural-` are the engine's own.
    #[getter]
    fn rule(&self) -> &str {
        &self.0.rule
    }

    /// Why, for a person.
    #[getter]
    fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The roles that a person must decide about, in order. Empty if none did, and unless the decision is `escalate`.
    #[getter]
    fn escalated_roles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match &self.0.decision {
            Decision::Escalate(roles) => PyList::new(py, roles.iter().map(|role| &**role)),
            Decision::Allow | Decision::Deny => Ok(PyList::empty(py)),
        }
    }

    /// The id of the approval that covers the call, if one does.
    #[getter]
    fn approval(&self) -> Option<&str> {
        self.0.approval.as_deref()
    }

    /// `True` if the call may be made without asking anyone.
    #[getter]
    fn is_allowed(&self) -> bool {
        self.0.decision == Decision::Allow
    }

    /// `{decision, rule, reason, escalatedRoles?, approval?}`, as every host writes it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::of(py, &self.0)
    }

    fn __bool__(&self) -> PyResult<bool> {
        // Otherwise each verdict would be true, a denial too.
        Err(PyTypeError::new_err(
            "a verdict is neither true nor false: ask `is_allowed` or `decision`",
        ))
    }

    fn __repr__(&self) -> String {
        let judge::Verdict {
            decision,
            rule,
            reason,
            ..
        } = &self.0;
        format!("<callgate.Verdict: {} by {rule}: {reason}>", decision.as_str())
    }
}

#[pymethods]
impl Response {
    /// The decision, with its rule and reason.
    #[getter]
    fn verdict(&self, py: Python<'_>) -> Py<Verdict> {
        self.verdict.clone_ref(py)
    }

    /// `True` if the call may be made without asking anyone.
    #[getter]
    fn is_allowed(&self, py: Python<'_>) -> bool {
        self.verdict.bind(py).get().is_allowed()
    }

    /// The arguments as they were judged: what is to be sent, in place of what was given. `None` for arguments that are not a dict,
    /// which are denied. Each read is a new copy.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let read = |text: &String| json::read(py, text);
        self.arguments.as_ref().map(read).transpose()
    }

    /// The same as JSON text.
    #[getter]
    fn arguments_json(&self) -> Option<&str> {
        self.arguments.as_deref()
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "a response is neither true nor false: ask `is_allowed` or `verdict.decision`",
        ))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let verdict = self.verdict.bind(py).get();
        format!(
            "<callgate.Response: {} by {}>",
            verdict.decision(),
            verdict.rule()
        )
    }
}
