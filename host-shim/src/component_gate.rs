//! What a builder is told about the component that it builds a gate on.

use std::path::Path;

use crate::backend::EngineKind;
use crate::component::{Cache, Compiled, InstanceLimits};
use crate::gate::GateBuilder;

impl GateBuilder {
    /// Takes the engine from the bytes of another component that keeps the contract (`wasm/wit/callgate.wit`).
    ///
    /// Such a component gives the verdicts, so it must be trusted like the policy; it can do nothing else.
    pub fn component(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.component.bytes = Some(bytes.into());
        self.engine(EngineKind::Component)
    }

    /// Takes a component that is compiled already, in place of one that this gate alone uses. Where the limits name fuel,
    /// it must have been compiled to burn it.
    pub fn compiled(mut self, compiled: &Compiled) -> Self {
        self.component.compiled = Some(compiled.clone());
        self.engine(EngineKind::Component)
    }

    /// Holds the instances of the component to other limits than the usual ones.
    pub fn limits(mut self, limits: InstanceLimits) -> Self {
        self.component.limits = limits;
        self.engine(EngineKind::Component)
    }

    /// Keeps compiled components in `folder`, which this user must own and nobody else may write to; without this,
    /// in `$XDG_CACHE_HOME/callgate` or `~/.cache/callgate`. Compiling takes a second or two, finding what was
    /// compiled a few milliseconds.
    pub fn cache_folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.component.cache = Cache::Folder(folder.as_ref().to_owned());
        self.engine(EngineKind::Component)
    }

    /// Keeps no compiled component, and looks for none.
    pub fn without_cache(mut self) -> Self {
        self.component.cache = Cache::Nowhere;
        self.engine(EngineKind::Component)
    }
}
