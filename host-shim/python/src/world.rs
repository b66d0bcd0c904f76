//! Places of a world, and references to them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_engine::engine::Existence;
use callgate_host::Resolution;
use pyo3::prelude::*;

use crate::{errors, json};

/// References to places of a gate's world: one table a session.
#[pyclass(frozen, module = "callgate")]
pub struct References(Mutex<callgate_host::References>);

impl References {
    pub(crate) fn new(table: callgate_host::References) -> Self {
        Self(Mutex::new(table))
    }

    fn table(&self) -> MutexGuard<'_, callgate_host::References> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl References {
    /// The place that an address names, as `(reply, reference)`. The reply may be shown to an agent; the reference, `None` where
    /// the place is not granted, is for `host_path`.
    #[pyo3(signature = (address, context, *, require_exists = false))]
    fn resolve<'py>(
        &self,
        py: Python<'py>,
        address: &str,
        context: &Bound<'py, PyAny>,
        require_exists: bool,
    ) -> PyResult<(Bound<'py, PyAny>, Option<u64>)> {
        let context = json::write(context, "context")?;
        let existence = match require_exists {
            true => Existence::Required,
            false => Existence::NotRequired,
        };
        let found = py.detach(|| self.table().resolve(address, existence, Some(&context)));
        let Resolution { reply, reference } = found.map_err(errors::other)?;
        Ok((json::of(py, &reply)?, reference))
    }

    /// The path that a reference stands for; `None` once it is revoked. It is for the host alone.
    fn host_path(&self, py: Python<'_>, reference: u64) -> PyResult<Option<String>> {
        py.detach(|| self.table().host_path(reference))
            .map_err(errors::other)
    }

    /// Ends a reference. Returns `True` if it was valid.
    fn revoke(&self, py: Python<'_>, reference: u64) -> PyResult<bool> {
        py.detach(|| self.table().revoke(reference))
            .map_err(errors::other)
    }

    /// Ends every reference, as when the mode or the session changes.
    fn revoke_all(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.table().revoke_all()).map_err(errors::other)
    }
}
