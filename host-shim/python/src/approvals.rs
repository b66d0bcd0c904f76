//! What a person allowed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_engine::approval;
use pyo3::prelude::*;

use crate::{errors, json};

/// Approvals in the order in which they were added. The engine keeps none: they are given with each call.
///
/// `add` takes what `Gate.offer` returned, once a person approved it, and returns the approval's id. Several threads may share one.
#[pyclass(frozen, module = "callgate")]
#[derive(Default)]
pub struct Approvals(Mutex<approval::Approvals>);

impl Approvals {
    fn list(&self) -> MutexGuard<'_, approval::Approvals> {
        // A change is made whole or not at all, so that a thread that failed left nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of_tool(&self, server: &str, tool: &str) -> approval::Approvals {
        self.list().of_tool(server, tool)
    }
}

#[pymethods]
impl Approvals {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Reads the document that `to_json` writes. Raises `DocumentError` with every fault.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        match approval::Approvals::from_json(text) {
            Ok(read) => Ok(Self(Mutex::new(read))),
            Err(error) => Err(errors::of_diagnostics(&error.diagnostics)),
        }
    }

    /// The document `{"format": "approvals/1", "entries": […]}`.
    fn to_json(&self) -> String {
        self.list().to_json()
    }

    /// Adds what was approved: an offer, which may have `expiresAt` (RFC 3339). Returns its id.
    fn add(&self, offer: &Bound<'_, PyAny>) -> PyResult<String> {
        let offer = json::document(offer, "offer")?;
        let mut list = self.list();
        let added = list.add_json(&offer).map(str::to_owned);
        added.map_err(|error| errors::of_diagnostics(&error.diagnostics))
    }

    /// Removes an approval. Returns `True` if there was one with this id.
    fn remove(&self, id: &str) -> bool {
        self.list().remove(id)
    }

    /// The approvals, each an offer with its `id`.
    fn entries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let document = json::read(py, &self.to_json())?;
        document.get_item("entries")
    }

    fn __len__(&self) -> usize {
        self.list().list().len()
    }

    fn __repr__(&self) -> String {
        format!("<callgate.Approvals: {}>", self.__len__())
    }
}
