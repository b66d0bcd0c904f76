//! What the conformance suite asks of the component and no user does. It goes with the rest of the large contract.

use serde_json::Value;

use crate::component::{Artifact, Audience, COMPONENT, Enforced, Pool, default_folder};
use crate::{Gate, GateBuilder, Given, Unusable};

pub use crate::component::ReferenceStep;

/// The component of this crate, compiled once for many gates.
#[derive(Clone)]
pub struct Compiled(Artifact);

impl Compiled {
    /// Compiles the component, or finds it compiled where gates keep theirs.
    ///
    /// # Errors
    /// When this machine cannot run it.
    pub fn new(burns_fuel: bool) -> Result<Self, Unusable> {
        Artifact::new(COMPONENT, burns_fuel, default_folder().as_deref()).map(Self)
    }

    /// The builder of a gate that takes this component.
    pub fn gate(&self) -> GateBuilder {
        Gate::builder().artifact(self.0.clone())
    }
}

/// An operation that an engine with a world may allow.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The tool's name.
    pub tool: String,
    /// Its command.
    pub command: String,
    /// The root.
    pub root: String,
    /// The first name below it.
    pub subdirectory: Option<String>,
    /// The address of the place.
    pub address: Option<String>,
}

/// What an annotated tool does, or `null`.
///
/// # Errors
/// What is wrong, for a person; so for all of these functions.
pub fn semantics(gate: &Gate, server: &str, tool: &str) -> Result<Value, String> {
    pool(gate)?.semantics(server, tool)
}

/// `{reply, hostPath}` of an address.
pub fn resolve(gate: &Gate, address: &str, must_exist: bool, context: Option<&str>) -> Result<Value, String> {
    pool(gate)?.resolve(address, must_exist, context)
}

/// The reply to whether an operation is allowed.
pub fn enforce(
    gate: &Gate,
    mode: Option<String>,
    operation: Operation,
    context: Option<&str>,
) -> Result<Value, String> {
    let operation = Enforced {
        mode,
        tool: operation.tool,
        command: operation.command,
        root: operation.root,
        subdirectory: operation.subdirectory,
        address: operation.address,
    };
    pool(gate)?.enforce(&operation, context)
}

/// An answer to each of the steps on one table of references.
pub fn references(gate: &Gate, steps: &[ReferenceStep]) -> Result<Value, String> {
    pool(gate)?.references(steps)
}

/// What an agent may see of the explanation of a gated call.
pub fn explain_to_agent(gate: &Gate, given: Given<'_>) -> Result<Value, String> {
    let explained = pool(gate)?.explain_gate(given, None, Audience::Agent);
    let explained = explained.map_err(|fault| fault.to_string())?;
    explained.map_err(|error| error.to_string())
}

fn pool(gate: &Gate) -> Result<&Pool, String> {
    gate.pool().ok_or_else(|| "the engine is no component".to_owned())
}
