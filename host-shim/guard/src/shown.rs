//! The tools that a policy leaves anything to do.

use std::collections::BTreeSet;

use callgate_analysis::{Analysis, Bounds};
use callgate_engine::engine::BuildError;

use callgate_host::Gate;

/// The calls that are looked at for all tools of a server. Each takes 2 µs or so with a few rules and 20 with a thousand, and most
/// tools are done with the first.
const CALLS: usize = 20_000;

/// Those for one tool, at least and at most; one that takes more is shown.
const CALLS_OF_TOOL: (usize, usize) = (50, 1_000);

fn bounds(tools: usize) -> Bounds {
    let (least, most) = CALLS_OF_TOOL;
    Bounds {
        calls: (CALLS / tools.max(1)).clamp(least, most),
        values: 256,
        modes: 16,
    }
}

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
        let analysis = Analysis::with_host(&engine, gate.host());
        let own: Vec<_> = analysis
            .tools()
            .into_iter()
            .filter(|(of, _)| *of == server)
            .collect();
        let analysis = analysis.within(bounds(own.len()));
        let shown = own
            .into_iter()
            .filter(|(server, tool)| !analysis.denies_every_call(server, tool));
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
