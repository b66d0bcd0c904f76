//! The servers that a bundle knows.

use std::collections::BTreeSet;

use callgate_engine::advice::help_for_unknown_tool;
use callgate_host::{Gate, LayerEngine};

/// The servers that a bundle, with those above it, annotates or trusts.
pub(super) struct Annotated {
    /// The server and the name of each tool.
    tools: Vec<(String, String)>,
    layers: Vec<LayerEngine>,
}

impl Annotated {
    /// # Errors
    /// Why the engine does not say which tools there are.
    pub(super) fn of(gate: &Gate) -> Result<Self, String> {
        let tools = gate.tools().map_err(|fault| fault.to_string())?;
        let host = callgate_host::RealHost::from_env().map_err(|error| error.to_string())?;
        let layers = gate.compile_layers(&host).map_err(|error| error.to_string())?;
        Ok(Self {
            tools: tools.into_iter().map(|tool| (tool.server, tool.name)).collect(),
            layers,
        })
    }

    /// Why the guard before a server of this name would leave it without a tool; `None` if it would not.
    pub(super) fn why_not(&self, server: &str) -> Option<String> {
        let servers: BTreeSet<&str> = self.tools.iter().map(|(server, _)| &**server).collect();
        let passes = |layer: &LayerEngine| layer.engine.is_trusted_server(server) || layer.leaves(server);
        if servers.contains(server) || self.layers.iter().all(passes) {
            return None;
        }
        let names = self.tools.iter().map(|(server, tool)| (&**server, &**tool));
        Some(format!(
            "the bundle annotates no tool of it, so the guard would list none: {}; `callgate annotate --server {server} --into BUNDLE` \
             drafts annotations, and --anyway guards it all the same",
            help_for_unknown_tool(server, "", names)
        ))
    }
}
