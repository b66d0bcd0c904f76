//! The tools that a policy leaves anything to do.

use std::collections::BTreeSet;

use callgate_core::{Analysis, Bounds};

use crate::gate::Gate;

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
}

impl Shown {
    /// The annotated tools of a server, less those of which every call is certain to be denied. Links and repositories are
    /// those that the gate's host has now.
    pub(super) fn new(gate: &Gate, server: &str) -> Self {
        // They were compiled before. Calls are denied in any case.
        let Ok(engine) = gate.compile(gate.host()) else {
            return Self::Every;
        };
        if engine.is_trusted_server(server) {
            return Self::Every;
        }
        let analysis = Analysis::with_host(&engine, gate.host()).within(BOUNDS);
        let own = analysis.tools().into_iter().filter(|(of, _)| *of == server);
        let shown = own.filter(|(server, tool)| !analysis.denies_every_call(server, tool));
        Self::Only(shown.map(|(_, tool)| tool.to_owned()).collect())
    }

    pub(super) fn hides(&self, tool: &str) -> bool {
        match self {
            Self::Every => false,
            Self::Only(shown) => !shown.contains(tool),
        }
    }
}
