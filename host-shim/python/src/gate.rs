//! The gate.

use std::path::PathBuf;
use std::sync::Arc;

use callgate_engine::config::DocumentKind;
use callgate_engine::engine::{Engine, Operation};
use callgate_host::{GateBuilder, Paths};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::input::AnyRecordBatch;

use crate::approvals::Approvals;
use crate::asked::Asked;
use crate::table::{Columns, Judged};
use crate::verdict::{Response, Verdict};
use crate::world::References;
use crate::{errors, host, json};

/// A policy decision point: documents and a host. Threads may share one; it keeps nothing between calls.
///
/// Each document is a dict, or JSON text, which may have comments: `policy`, `annotations`, `lists`, `programs`, `options`, `roles`, `world`,
/// `ceiling`, `protected_paths`, `domain_allowlists`, `trusted_servers`, and `sandbox` and `folder`, which are paths. `host` answers
/// about the disk and git; without one, this machine does. Raises `DocumentError` with every fault of every document.
#[pyclass(frozen, module = "callgate")]
pub struct Gate {
    pub(crate) gate: Arc<callgate_host::Gate>,
    /// For tables of calls, and for looking at the policy as a whole. It saw the same disk as the gate's own.
    pub(crate) engine: Arc<Engine>,
}

impl Gate {
    fn build(builder: GateBuilder, documents: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut builder = builder;
        for (name, value) in documents.into_iter().flatten() {
            let name: String = name.extract()?;
            if value.is_none() {
                continue;
            }
            if name == "host" {
                builder = builder.host(host::of(&value)?);
                continue;
            }
            let Some(kind) = kind_of(&name) else {
                return Err(PyTypeError::new_err(format!("a gate has no document `{name}`")));
            };
            let text = match kind {
                // A path, which is not a text of JSON.
                DocumentKind::Sandbox | DocumentKind::Folder => json::write(&path(&value)?, &name)?,
                _ => json::document(&value, &name)?,
            };
            builder = builder.part(kind, text);
        }
        // A host in Python takes Python's lock.
        let built = Python::attach(|py| {
            py.detach(|| {
                let gate = builder.build().map_err(errors::of_gate)?;
                let engine = gate.compile(gate.host());
                let engine = engine.map_err(|error| errors::of_diagnostics(&error.diagnostics))?;
                Ok::<_, PyErr>((gate, engine))
            })
        });
        let (gate, engine) = built?;
        Ok(Self {
            gate: Arc::new(gate),
            engine: Arc::new(engine),
        })
    }

    fn answer<T: Send>(
        &self,
        py: Python<'_>,
        asked: &Asked<'_>,
        judge: impl FnOnce(callgate_host::Response) -> T + Send,
    ) -> PyResult<T> {
        let judged = py.detach(|| self.gate.judge(&asked.request()).map(judge));
        judged.map_err(errors::call)
    }
}

/// The kind of document that an argument in snake case names.
fn kind_of(name: &str) -> Option<DocumentKind> {
    let mut words = name.split('_');
    let mut camel = words.next()?.to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next()?.to_uppercase());
        camel.push_str(letters.as_str());
    }
    // Python has one spelling of a name.
    (!name.contains(|letter: char| letter.is_ascii_uppercase()))
        .then(|| DocumentKind::parse(&camel))
        .flatten()
}

/// A `pathlib` path as text; anything else as it is.
fn path<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match value.hasattr("__fspath__")? {
        true => value.call_method0("__fspath__"),
        false => Ok(value.clone()),
    }
}

#[expect(clippy::too_many_arguments, reason = "each is a keyword of Python's")]
#[pymethods]
impl Gate {
    #[new]
    #[pyo3(signature = (**documents))]
    fn new(documents: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::build(callgate_host::Gate::builder(), documents)
    }

    /// A gate from a bundle: the path of one file that holds or names every document. Its files are protected: no call may write
    /// what decides about it. Documents that are given as well stand in place of the bundle's. Raises `DocumentError`.
    #[staticmethod]
    #[pyo3(signature = (path, *, protect_documents = true, protect = Vec::new(), **documents))]
    fn from_bundle(
        path: PathBuf,
        protect_documents: bool,
        protect: Vec<String>,
        documents: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut builder = callgate_host::Gate::builder().bundle(path);
        if protect_documents {
            builder = builder.protect_documents();
        }
        for path in protect {
            builder = builder.protect(path);
        }
        Self::build(builder, documents)
    }

    /// Prepares and judges a call of MCP's `tools/call`: what is judged is what is to be sent, `Response.arguments`.
    ///
    /// `arguments` is a dict, or `None` for none. `context` is what the host says of the call. Relative paths are relative to the
    /// sandbox, which the agent's container calls `container_workspace_dir`, if it runs in one. `approvals` are those that a person
    /// gave; `now`, a `datetime` or RFC 3339 text, is the time of the call, by this machine's clock without it.
    /// Takes microseconds, and the time of the host's answers. Raises `CallError` for what is not JSON.
    #[pyo3(signature = (server, tool, arguments = None, *, context = None, container_workspace_dir = None, approvals = None, now = None))]
    fn gate(
        &self,
        py: Python<'_>,
        server: &str,
        tool: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        context: Option<&Bound<'_, PyAny>>,
        container_workspace_dir: Option<&str>,
        approvals: Option<&Bound<'_, Approvals>>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Response> {
        let asked = Asked::new(server, tool, arguments)?
            .within(context)?
            .in_container(container_workspace_dir)
            .approved(approvals, now)?;
        let response = self.answer(py, &asked, |response| response)?;
        Response::of(py, response)
    }

    /// The verdict on a call whose arguments were prepared before: relative paths are relative to the host's current directory.
    #[pyo3(signature = (server, tool, arguments = None, *, context = None, approvals = None, now = None))]
    fn evaluate(
        &self,
        py: Python<'_>,
        server: &str,
        tool: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        context: Option<&Bound<'_, PyAny>>,
        approvals: Option<&Bound<'_, Approvals>>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Verdict> {
        let asked = Asked::new(server, tool, arguments)?
            .within(context)?
            .approved(approvals, now)?
            .prepared(true);
        self.answer(py, &asked, |response| Verdict(response.verdict))
    }

    /// The same of a call as JSON text, `{"serverName", "toolName", "arguments"}`, which only the engine reads.
    fn evaluate_text(&self, py: Python<'_>, call: &str) -> PyResult<Verdict> {
        let verdict = py.detach(|| self.gate.evaluate(call));
        verdict.map(Verdict).map_err(errors::call)
    }

    /// Judges a table of calls: anything that has Arrow's C stream interface, such as a table of pyarrow, polars, DuckDB or DataFusion.
    ///
    /// The arguments name the columns: `server`, `tool` and `arguments` (JSON text) are taken from columns of these names; `context` and
    /// `recording` are JSON texts of what the host said and answered, as an explanation or a log has them. With recordings the gate's
    /// host is not asked. `prepared` as for `evaluate`.
    ///
    /// Returns a stream of batches in the same order, judged as they are read, with the columns `decision`, `rule`, `reason`,
    /// `escalated_roles`, `arguments` (to send, JSON text) and `error`. A row that is no call has an error and no decision.
    #[pyo3(signature = (table, *, server = "server", tool = "tool", arguments = "arguments", context = None, recording = None,
                        prepared = false))]
    fn judge_table(
        &self,
        table: AnyRecordBatch,
        server: &str,
        tool: &str,
        arguments: &str,
        context: Option<String>,
        recording: Option<String>,
        prepared: bool,
    ) -> PyResult<PyRecordBatchReader> {
        let columns = Columns {
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            context,
            recording,
        };
        let paths = match prepared {
            true => Paths::Prepared,
            false => Paths::Gate {
                container_workspace_dir: None,
            },
        };
        let judged = Judged::new(
            table.into_reader()?,
            columns,
            paths,
            Arc::clone(&self.gate),
            Arc::clone(&self.engine),
        );
        Ok(PyRecordBatchReader::new(Box::new(judged)))
    }

    /// A call's verdict with every step that led to it, as a dict. `audience` is `operator`, or `agent`, which learns nothing
    /// about this machine; `prepared` as for `evaluate`, otherwise as for `gate`.
    #[pyo3(signature = (server, tool, arguments = None, *, audience = "operator", prepared = false, context = None,
                        container_workspace_dir = None, approvals = None, now = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        server: &str,
        tool: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        audience: &str,
        prepared: bool,
        context: Option<&Bound<'_, PyAny>>,
        container_workspace_dir: Option<&str>,
        approvals: Option<&Bound<'_, Approvals>>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asked = Asked::new(server, tool, arguments)?
            .within(context)?
            .in_container(container_workspace_dir)
            .approved(approvals, now)?
            .prepared(prepared)
            .explained(audience)?;
        let explanation = self.answer(py, &asked, |response| response.explanation)?;
        json::of(py, &explanation)
    }

    /// What approving a call would cover, as a dict to be shown to a person and then given to `Approvals.add`; `None` if the call
    /// does not escalate, or cannot be covered.
    #[pyo3(signature = (server, tool, arguments = None, *, context = None, container_workspace_dir = None))]
    fn offer<'py>(
        &self,
        py: Python<'py>,
        server: &str,
        tool: &str,
        arguments: Option<&Bound<'_, PyAny>>,
        context: Option<&Bound<'_, PyAny>>,
        container_workspace_dir: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let asked = Asked::new(server, tool, arguments)?
            .within(context)?
            .in_container(container_workspace_dir);
        let offer = py.detach(|| self.gate.offer(&asked.request()));
        let offer = offer.map_err(errors::other)?;
        offer.map(|offer| json::of(py, &offer)).transpose()
    }

    /// What is said of a tool, as a dict; `None` for an unknown one.
    fn semantics<'py>(
        &self,
        py: Python<'py>,
        server: &str,
        tool: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let semantics = self.gate.semantics(server, tool).map_err(errors::other)?;
        semantics
            .map(|found| json::of(py, &found.described()))
            .transpose()
    }

    /// The arguments that a tool's annotation names, sorted; `None` for an unknown tool.
    fn argument_names(&self, server: &str, tool: &str) -> Option<Vec<&str>> {
        let named = self.engine.interest(server, tool).members;
        let is_known = self.engine.knows_tool(server, tool);
        is_known.then(|| named.into_iter().map(|(name, _)| name).collect())
    }

    /// Every annotated tool, as pairs of server and name.
    fn tools(&self) -> PyResult<Vec<(String, String)>> {
        let tools = self.gate.tools().map_err(errors::other)?;
        Ok(tools.into_iter().map(|tool| (tool.server, tool.name)).collect())
    }

    /// Warnings about the documents, which did not stop loading: dicts with `code`, `path`, `message` and more.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        errors::faults(py, self.gate.warnings())
    }

    /// The files that the documents were read from.
    #[getter]
    fn files(&self) -> Vec<String> {
        let files = self.gate.files().iter();
        files.map(|file| file.display().to_string()).collect()
    }

    /// A table for references to places of the world. Raises `CallgateError` without one.
    fn references(&self) -> PyResult<References> {
        self.gate.references().map(References::new).map_err(errors::other)
    }

    /// The world's answer to an operation, a dict with `tool`, `command`, `root`, and maybe `mode`, `subdirectory` and `address`.
    #[pyo3(signature = (operation, context = None))]
    fn enforce<'py>(
        &self,
        py: Python<'py>,
        operation: &Bound<'py, PyDict>,
        context: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let member = |name: &str| -> PyResult<Option<String>> {
            let Some(value) = operation.get_item(name)?.filter(|value| !value.is_none()) else {
                return Ok(None);
            };
            let text = value.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
            let wrong = || PyTypeError::new_err(format!("operation: `{name}` is not text"));
            text.map(|text| Some(text.to_owned())).ok_or_else(wrong)
        };
        let needed = |name: &str| -> PyResult<String> {
            member(name)?.ok_or_else(|| PyTypeError::new_err(format!("operation: `{name}` is missing")))
        };
        let (tool, command, root) = (needed("tool")?, needed("command")?, needed("root")?);
        let (mode, subdirectory, address) = (member("mode")?, member("subdirectory")?, member("address")?);
        let context = context
            .map(|context| json::write(context, "context"))
            .transpose()?;
        let reply = py.detach(|| {
            let operation = Operation {
                tool: &tool,
                command: &command,
                root: &root,
                subdirectory: subdirectory.as_deref(),
                address: address.as_deref(),
            };
            self.gate.enforce(mode.as_deref(), &operation, context.as_deref())
        });
        json::of(py, &reply.map_err(errors::other)?)
    }

    fn __repr__(&self) -> String {
        let files = self.gate.files();
        match files.first() {
            Some(file) => format!("<callgate.Gate of {}>", file.display()),
            None => "<callgate.Gate>".to_owned(),
        }
    }
}
