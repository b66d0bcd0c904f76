//! The host of a batch.

use std::sync::Arc;

use callgate_engine::host::{Host, Recording};
use callgate_host::VirtualHost;
use serde::Deserialize as _;
use serde_json::Value;

use crate::doubles::{Misbehaviour, WithRealpath};
use crate::subject::Surroundings;

/// A host that many threads share.
pub(crate) type SharedHost = Arc<dyn Host + Send + Sync>;

/// A batch's host.
pub(crate) struct BatchHost {
    pub(crate) host: SharedHost,
    /// The call that must be evaluated whenever the host is asked for a real path: `{serverName, toolName, arguments}`.
    pub(crate) reentrant: Option<Value>,
}

impl BatchHost {
    /// A host that answers from a machine, which may misbehave, or from a recording.
    ///
    /// # Errors
    /// The machine or the recording is malformed.
    pub(crate) fn of(surroundings: &Surroundings) -> Result<Self, String> {
        match surroundings {
            Surroundings::Machine(machine) => Self::over_machine(machine.clone()),
            Surroundings::Recording(recording) => {
                let recording = Recording::deserialize(recording).map_err(|error| error.to_string())?;
                Ok(Self {
                    host: Arc::new(recording),
                    reentrant: None,
                })
            }
        }
    }

    fn over_machine(mut machine: Value) -> Result<Self, String> {
        let realpath = machine
            .as_object_mut()
            .and_then(|machine| machine.shift_remove("realpath"));
        let honest = VirtualHost::from_value(&machine).map_err(|error| error.to_string())?;
        let Some(realpath) = realpath else {
            return Ok(Self {
                host: Arc::new(honest),
                reentrant: None,
            });
        };
        let misbehaviour = Misbehaviour::deserialize(realpath).map_err(|error| error.to_string())?;
        let reentrant = misbehaviour.reentrant_request().cloned();
        Ok(Self {
            host: Arc::new(WithRealpath::new(Box::new(honest), misbehaviour.realpath())),
            reentrant,
        })
    }
}
