//! Layers, one above the other (SPEC §11a): each is an engine of its own, and the strictest of their verdicts stands.
//!
//! The calls of a tool are divided as the lowest layer reads them, and cut by everything that the layers above compare as well. What
//! is said of a region is what all of them together say of its call.

use std::sync::Arc;

use callgate_engine::bind::{Prepared, View};
use callgate_engine::engine::Engine;
use callgate_engine::host::Host;
use callgate_engine::judge::Verdict;
use callgate_engine::judge::layers::{Said, join};
use callgate_engine::program::{Program, Tool};

use super::Analysis;
use super::asked::{self, Asked, Judged};
use super::divided::{Divided, Other};
use crate::imagined::Imagined;

/// A layer above others.
#[derive(Clone)]
pub struct Layer<'e> {
    /// Its name.
    pub name: &'e str,
    /// Its engine.
    pub engine: &'e Engine,
    /// Returns `true` if it leaves the tools of the server that it does not know to the layers below.
    pub leaves: Arc<dyn Fn(&str) -> bool + 'e>,
}

/// The layers above an engine.
pub struct Above<'e> {
    /// The uppermost first.
    pub layers: Vec<Layer<'e>>,
    /// The name of the lowest layer, which is the engine.
    pub lowest: &'e str,
}

/// The layers above an engine as they are asked; none for an engine that stands alone.
#[derive(Default)]
pub(super) struct Uppers<'e> {
    layers: Vec<(Layer<'e>, Imagined<'e>)>,
    lowest: &'e str,
}

impl<'e> Uppers<'e> {
    pub(super) fn new(above: &Above<'e>, host: Option<&'e dyn Host>) -> Self {
        let layers = above.layers.iter();
        let layers = layers.map(|layer| (layer.clone(), Imagined::new(layer.engine, host)));
        Self {
            layers: layers.collect(),
            lowest: above.lowest,
        }
    }

    /// The server and name of every tool that one of the layers annotates.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&'e str, &'e str)> {
        let tools = self
            .layers
            .iter()
            .flat_map(|(layer, _)| &layer.engine.program().tools);
        tools.map(|tool| (&*tool.server, &*tool.name))
    }

    /// The tool in each layer that judges its calls.
    pub(super) fn judging<'a>(&'a self, tool: &Tool) -> Vec<Other<'a, 'e>> {
        let each = self.layers.iter().filter_map(|(_, imagined)| {
            let program = imagined.program();
            let known = program.tool(&tool.server, &tool.name)?;
            let is_judged = !program.server(&tool.server).is_trusted;
            is_judged.then_some(Other {
                imagined,
                tool: known,
            })
        });
        each.collect()
    }

    /// The name and the program of each layer.
    pub(super) fn programs(&self) -> impl Iterator<Item = (&'e str, &'e Program)> {
        self.layers
            .iter()
            .map(|(layer, _)| (layer.name, layer.engine.program()))
    }

    /// Returns `true` if a layer denies every call of the tool, since it does not know it and does not leave it.
    pub(super) fn refuse(&self, server: &str, name: &str) -> bool {
        self.layers.iter().any(|(layer, imagined)| {
            let program = imagined.program();
            let is_known = program.tool(server, name).is_some() || program.server(server).is_trusted;
            !is_known && !(layer.leaves)(server)
        })
    }

    /// The verdict about a call of the tool, and how strict it is: that of the lowest layer and all others.
    pub(super) fn judge(
        &self,
        lowest: &Imagined<'_>,
        (server, tool): (&str, &str),
        asked: &Asked,
    ) -> (u8, Judged) {
        let call = asked::call(server, tool, &asked.arguments, asked.context.as_ref());
        if self.layers.is_empty() {
            let verdict = lowest.judge(&call);
            return (verdict.decision.strictness(), Judged::new(&verdict, None));
        }
        let own = lowest.gate(&call);
        let each = self.layers.iter().map(|(_, imagined)| imagined.gate(&call));
        let each: Vec<(Verdict<'_>, Prepared)> = each.collect();
        // Most often all send the same.
        let is_one = each.iter().all(|(_, prepared)| *prepared == own.1);
        let given = (!is_one).then(|| asked.arguments.to_string());
        let sent = |(_, prepared): &(Verdict<'_>, Prepared)| {
            prepared.apply_to_json(given.as_deref()?, View::Transport)
        };
        let (own_sent, sent): (_, Vec<Option<String>>) = (sent(&own), each.iter().map(sent).collect());
        let said = self.layers.iter().zip(&each).zip(&sent);
        let said = said.map(|(((layer, _), (verdict, _)), sent)| Said {
            verdict,
            arguments: sent.as_deref(),
            leaves: (layer.leaves)(server),
        });
        let said: Vec<Said<'_, '_>> = said.collect();
        let lowest = Said {
            verdict: &own.0,
            arguments: own_sent.as_deref(),
            leaves: false,
        };
        let joined = join(&said, lowest);
        let mut names = self
            .layers
            .iter()
            .map(|(layer, _)| layer.name)
            .chain([self.lowest]);
        let layer = names.nth(joined.layer).filter(|_| !joined.differs);
        (
            joined.verdict.decision.strictness(),
            Judged::new(&joined.verdict, layer),
        )
    }
}

impl Analysis<'_> {
    /// The verdict about a call of the tool, and how strict it is.
    pub(super) fn judge(&self, tool: (&str, &str), asked: &Asked) -> (u8, Judged) {
        self.above.judge(&self.imagined, tool, asked)
    }
}

impl Divided<'_, '_> {
    /// The verdict about a call, and how strict it is.
    pub(super) fn judge(&mut self, asked: &Asked) -> (u8, Judged) {
        self.calls += 1;
        self.analysis.judge((&self.tool.server, &self.tool.name), asked)
    }
}
