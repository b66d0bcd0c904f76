//! The tools that a policy leaves anything to do.

use std::collections::BTreeSet;

use callgate_analysis::{Analysis, Bounds};
use callgate_engine::engine::BuildError;

use callgate_host::Gate;

/// How much is looked at for one tool; one that takes more is shown. A thousand calls take two milliseconds or so, and most
/// tools are done with the first.
const BOUNDS: Bounds = Bounds {
    calls: 1_000,
    values: 256,
    modes: 16,
};

/// The tools of a server that a client may know of.
pub(super) enum Shown {
    /// Whatever the server has.
    Every,
    /// Those of which some call is allowed or escalates, or may be.
    Only(BTreeSet<String>),
    /// None: it is not known which.
    Nothing,
}

impl Shown {
    /// The annotated tools of a server, less those of which every call is certain to be denied. Links and repositories are
    /// those that the gate's host has now.
    ///
    /// This is an engine beside the one that judges, in this process even where that is a component: an analysis walks through the
    /// compiled policy, and the contract of the component has only questions about single calls. It decides nothing but what is
    /// listed.
    ///
    /// # Errors
    /// The documents, which were compiled before, are refused now.
    pub(super) fn new(gate: &Gate, server: &str) -> Result<Self, BuildError> {
        let engine = gate.compile(gate.host())?;
        if engine.is_trusted_server(server) {
            return Ok(Self::Every);
        }
        let analysis = Analysis::with_host(&engine, gate.host()).within(BOUNDS);
        let own = analysis.tools().into_iter().filter(|(of, _)| *of == server);
        let shown = own.filter(|(server, tool)| !analysis.denies_every_call(server, tool));
        Ok(Self::Only(shown.map(|(_, tool)| tool.to_owned()).collect()))
    }

    pub(super) fn hides(&self, tool: &str) -> bool {
        match self {
            Self::Every => false,
            Self::Only(shown) => !shown.contains(tool),
            Self::Nothing => true,
        }
    }
}
