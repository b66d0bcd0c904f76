//! The tools that a policy leaves anything to do.

use std::collections::BTreeSet;

use callgate_analysis::{Analysis, Bounds};
use callgate_engine::engine::BuildError;

use callgate_host::{Gate, LayerEngine};

/// The calls that a layer looks at for all tools of a server. Each takes 2 µs or so with a few rules and 20 with a thousand, and most
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
    /// Those that every layer shows.
    By(Vec<ByLayer>),
    /// None: it is not known which.
    Nothing,
}

/// The tools that a layer shows.
pub(super) enum ByLayer {
    /// Whatever the server has.
    Every,
    /// Those of which some call is allowed or escalates, or may be.
    Only(BTreeSet<String>),
    /// All but these: the layer leaves tools that it does not know to those below.
    Without(BTreeSet<String>),
}

impl Shown {
    /// The annotated tools of a server, less those of which every call is certain to be denied. Links and repositories are
    /// those that the gate's host has now.
    ///
    /// These are engines beside the one that judges, in this process even where that is a component: an analysis walks through the
    /// compiled policy, and the contract of the component has only questions about single calls. It decides nothing but what is
    /// listed.
    ///
    /// # Errors
    /// The documents, which were compiled before, are refused now.
    pub(super) fn new(gate: &Gate, server: &str) -> Result<Self, BuildError> {
        let layers = gate.compile_layers(gate.host())?;
        let layers = layers.iter().map(|layer| ByLayer::new(layer, gate, server));
        Ok(Self::By(layers.collect()))
    }

    pub(super) fn hides(&self, tool: &str) -> bool {
        match self {
            Self::By(layers) => layers.iter().any(|layer| layer.hides(tool)),
            Self::Nothing => true,
        }
    }
}

impl ByLayer {
    fn new(layer: &LayerEngine, gate: &Gate, server: &str) -> Self {
        if layer.engine.is_trusted_server(server) {
            return Self::Every;
        }
        let analysis = Analysis::with_host(&layer.engine, gate.host());
        let own: Vec<_> = analysis
            .tools()
            .into_iter()
            .filter(|(of, _)| *of == server)
            .collect();
        let analysis = analysis.within(bounds(own.len()));
        let leaves = layer.leaves(server);
        let of_interest = own
            .into_iter()
            .filter(|(server, tool)| analysis.denies_every_call(server, tool) == leaves);
        let names = of_interest.map(|(_, tool)| tool.to_owned()).collect();
        match leaves {
            true => Self::Without(names),
            false => Self::Only(names),
        }
    }

    fn hides(&self, tool: &str) -> bool {
        match self {
            Self::Every => false,
            Self::Only(shown) => !shown.contains(tool),
            Self::Without(hidden) => hidden.contains(tool),
        }
    }
}
