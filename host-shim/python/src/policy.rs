//! A policy seen as a whole, and drafts of annotations.

use callgate_analysis::lines::{MapQuestion, tell_changes, tell_map};
use callgate_analysis::{Analysis, Comparison, check_invariants};
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Engine;
use callgate_engine::host::Host;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::gate::Gate;
use crate::{errors, json};

const DECISIONS: [&str; 3] = ["allow", "escalate", "deny"];

/// Drafts annotations for the tools of a server from its answer to `tools/list`. `existing` are annotations that stay as they are.
/// Raises `DocumentError` with every fault.
#[pyfunction]
#[pyo3(signature = (tools, server, *, existing = None))]
pub fn propose_annotations<'py>(
    py: Python<'py>,
    tools: &Bound<'py, PyAny>,
    server: &str,
    existing: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let tools = json::document(tools, "tools")?;
    let existing = existing
        .map(|given| json::document(given, "existing"))
        .transpose()?;
    let existing = existing.as_deref().map(DocumentSource::Text);
    let draft =
        callgate_authoring::draft::propose_annotations(DocumentSource::Text(&tools), server, existing);
    json::of(py, &draft.map_err(|faults| errors::of_diagnostics(&faults))?)
}

impl Gate {
    /// The lines that a question about the whole policy is answered with.
    fn told<'py>(
        &self,
        py: Python<'py>,
        ask: impl FnOnce(&Engine, &dyn Host, &mut dyn FnMut(&str) -> bool) -> Result<(), String> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (gate, engine) = (&self.gate, &self.engine);
        let found = py.detach(|| {
            let mut lines = Vec::new();
            let mut keep = |line: &str| {
                lines.push(line.to_owned());
                true
            };
            ask(engine, gate.host(), &mut keep).map_err(errors::other)?;
            Ok::<_, PyErr>(lines)
        });
        json::lines(py, &found?)
    }
}

/// Findings about the documents that only a look at all calls shows, each a dict. `disk`: with the host's links and
/// repositories.
#[pyfunction]
#[pyo3(signature = (gate, *, disk = false))]
pub fn lint<'py>(py: Python<'py>, gate: &Gate, disk: bool) -> PyResult<Bound<'py, PyAny>> {
    let gate = &gate.gate;
    let found = py.detach(|| {
        let host = gate.host();
        gate.lint(host, disk.then_some(host), &|_| {})
    });
    let found = found.map_err(|error| errors::of_diagnostics(&error.diagnostics))?;
    let lines: Vec<String> = found
        .iter()
        .map(|(file, finding)| {
            let mut line = serde_json::to_value(finding).unwrap_or_default();
            if let (Some(file), Some(members)) = (file, line.as_object_mut()) {
                members.insert("file".to_owned(), file.as_str().into());
            }
            line.to_string()
        })
        .collect();
    json::lines(py, &lines)
}

/// The calls that the documents allow, a dict a tool. `tools` are names such as `server/tool` or `server/*`, `to` a target to be
/// reached, `only` decisions; `apart` tells regions one by one.
#[pyfunction]
#[pyo3(signature = (gate, *, tools = Vec::new(), to = None, only = Vec::new(), apart = false, disk = false))]
pub fn map<'py>(
    py: Python<'py>,
    gate: &Gate,
    tools: Vec<String>,
    to: Option<String>,
    only: Vec<String>,
    apart: bool,
    disk: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(other) = only.iter().find(|one| !DECISIONS.contains(&one.as_str())) {
        let why = format!(
            "only: found `{other}`, expected one of `{}`",
            DECISIONS.join("`, `")
        );
        return Err(PyValueError::new_err(why));
    }
    let asked = MapQuestion {
        tools,
        to,
        only,
        apart,
    };
    gate.told(py, move |engine, host, keep| {
        let analysis = match disk {
            true => Analysis::with_host(engine, host),
            false => Analysis::new(engine),
        };
        tell_map(analysis, &asked, keep)
    })
}

/// How the verdicts of a later policy differ: a dict a tool that changes, and one that counts.
#[pyfunction]
#[pyo3(signature = (gate, later, *, disk = false))]
pub fn diff<'py>(py: Python<'py>, gate: &Gate, later: &Gate, disk: bool) -> PyResult<Bound<'py, PyAny>> {
    gate.told(py, move |engine, _, keep| {
        let comparison = match disk {
            true => Comparison::with_host(engine, &later.engine, later.gate.host()),
            false => Comparison::new(engine, &later.engine),
        };
        tell_changes(&comparison, keep);
        Ok(())
    })
}

/// How the documents' statements about all calls stand, a dict a statement.
#[pyfunction]
#[pyo3(signature = (gate, *, disk = false))]
pub fn check<'py>(py: Python<'py>, gate: &Gate, disk: bool) -> PyResult<Bound<'py, PyAny>> {
    gate.told(py, move |engine, host, keep| {
        let statements = check_invariants(engine, disk.then_some(host), &|_| {});
        statements
            .iter()
            .all(|statement| callgate_analysis::lines::tell(statement, keep));
        Ok(())
    })
}
