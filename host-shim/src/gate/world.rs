//! What a gate says about its world, without a call.

use callgate_core::{Context, Existence, Operation, References, Reply, VisibilityRef};

use super::Gate;

impl Gate {
    /// A table for references to places, as many as the engine's limit `references` says; nothing where there is no
    /// world.
    pub fn references(&self) -> Option<References> {
        Some(self.core()?.places()?.references())
    }

    /// The place that an address names: the reply, which never holds a path of this machine, and a reference that
    /// `references` turn into one; nothing where there is no world.
    pub fn resolve(
        &self,
        address: &str,
        existence: Existence,
        context: &Context,
        references: &mut References,
    ) -> Option<(Reply, Option<VisibilityRef>)> {
        let host = self.host.as_ref();
        let places = self.core()?.places()?;
        Some(places.resolve(address, existence, context, references, host))
    }

    /// Whether an operation is allowed in a mode; nothing where there is no world.
    pub fn enforce(&self, mode: &str, operation: &Operation<'_>, context: &Context) -> Option<Reply> {
        let host = self.host.as_ref();
        let places = self.core()?.places()?;
        Some(places.enforce(Some(mode), operation, context, host))
    }
}
