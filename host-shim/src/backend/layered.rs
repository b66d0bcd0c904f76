//! Engines one above the other: each judges a call by its own documents, and the strictest verdict stands (SPEC §11a).

use std::collections::BTreeSet;
use std::sync::Arc;

use callgate_engine::approval::{Approving, Offer};
use callgate_engine::bind::CallError;
use callgate_engine::engine::Operation;
use callgate_engine::judge::Decision;
use callgate_engine::judge::layers::{self, Said};
use callgate_engine::model::Semantics;
use callgate_engine::policy::Ceiling;
use serde_json::{Value, json};

use super::{Backend, EngineFault, EngineKind, References, Reply, Request, Response, Unanswered};
use crate::leaves::Leaves;

/// An engine under a name.
pub(crate) struct Layer {
    pub(crate) name: String,
    pub(crate) backend: Arc<dyn Backend>,
    /// The servers of whose tools the layers below it decide where it annotates none of that name; none for the lowest.
    pub(crate) leaves: Leaves,
    /// The servers whose every call it allows.
    pub(crate) trusted: Vec<String>,
}

/// The layers, the uppermost first. There is one at least.
pub(crate) struct Layered {
    pub(crate) upper: Vec<Layer>,
    pub(crate) lowest: Layer,
}

/// What a layer says of a call.
struct Answer<'l> {
    layer: &'l Layer,
    response: Response,
    /// It leaves the server of the call to the layers below.
    leaves: bool,
}

impl Answer<'_> {
    fn said(&self) -> Said<'_, 'static> {
        Said {
            verdict: &self.response.verdict,
            arguments: self.response.arguments.as_deref(),
            leaves: self.leaves,
        }
    }

    fn shown(&self) -> Value {
        let mut shown = json!({"layer": self.layer.name, "verdict": self.response.verdict});
        if self.said().is_left() {
            shown["left"] = true.into();
        }
        shown
    }
}

impl Layered {
    fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.upper.iter().chain([&self.lowest])
    }

    /// The name by which approvals hold in a layer; none for the lowest, which has those that it had before others stood above it.
    fn approving<'l>(&self, layer: &'l Layer) -> Option<&'l str> {
        (!std::ptr::eq(layer, &raw const self.lowest)).then_some(&*layer.name)
    }

    /// What each layer says. If one does not answer, nothing is known.
    fn answers(&self, request: &Request<'_>) -> Result<Result<Vec<Answer<'_>>, CallError>, EngineFault> {
        let call = match request.call.read() {
            Ok(call) => call,
            Err(error) => return Ok(Err(error)),
        };
        let mut answers = Vec::new();
        for layer in self.layers() {
            // Layers choose the names of their rules by themselves, so that those of one may be those of another.
            let own = request
                .approvals
                .map(|given| given.approvals.of_layer(self.approving(layer)));
            let approvals = own.as_ref().zip(request.approvals);
            let request = Request {
                approvals: approvals.map(|(approvals, given)| Approving { approvals, ..given }),
                ..*request
            };
            let response = match layer.backend.judge(&request)? {
                Ok(response) => response,
                Err(error) => return Ok(Err(error)),
            };
            answers.push(Answer {
                layer,
                response,
                leaves: layer.leaves.has(call.server()),
            });
        }
        Ok(Ok(answers))
    }
}

/// The response of layers, of which there is one at least.
fn joined(answers: &[Answer<'_>]) -> Option<Response> {
    let (lowest, above) = answers.split_last()?;
    let above: Vec<Said<'_, 'static>> = above.iter().map(Answer::said).collect();
    let joined = layers::join(&above, lowest.said());
    let stands = answers.get(joined.layer)?;
    let explanation = stands.response.explanation.clone().map(|mut explanation| {
        let counters = answers.iter().filter_map(|answer| {
            let counters = answer.response.explanation.as_ref()?.get("counters");
            counters?.as_array().cloned()
        });
        let counters: Vec<Value> = counters.flatten().collect();
        if let Some(members) = explanation.as_object_mut() {
            if !counters.is_empty() {
                members.insert("counters".to_owned(), counters.into());
            }
            if !joined.differs {
                members.insert("layer".to_owned(), (*stands.layer.name).into());
            }
            members.insert("verdict".to_owned(), json!(joined.verdict));
            members.insert("layers".to_owned(), answers.iter().map(Answer::shown).collect());
        }
        explanation
    });
    Some(Response {
        verdict: joined.verdict,
        arguments: stands.response.arguments.clone(),
        explanation,
    })
}

impl Backend for Layered {
    fn kind(&self) -> EngineKind {
        self.lowest.backend.kind()
    }

    fn judge(&self, request: &Request<'_>) -> Result<Result<Response, CallError>, EngineFault> {
        match self.answers(request)? {
            Ok(answers) => joined(&answers).map(Ok).ok_or(EngineFault::Failed),
            Err(error) => Ok(Err(error)),
        }
    }

    /// One offer does not cover what several layers ask about.
    fn offer(&self, request: &Request<'_>) -> Result<Result<Option<Offer>, CallError>, EngineFault> {
        let asked = Request {
            approvals: None,
            explain: None,
            ..*request
        };
        let answers = match self.answers(&asked)? {
            Ok(answers) => answers,
            Err(error) => return Ok(Err(error)),
        };
        let Some((lowest, above)) = answers.split_last() else {
            return Err(EngineFault::Failed);
        };
        let above: Vec<Said<'_, 'static>> = above.iter().map(Answer::said).collect();
        let opinions = layers::opinions(&above, lowest.said()).into_iter();
        let asking = opinions.filter(|(_, said)| said.verdict.decision != Decision::Allow);
        let mut asking = asking.filter_map(|(at, _)| answers.get(at));
        match (asking.next(), asking.next()) {
            (Some(one), None) => Ok(one.layer.backend.offer(request)?.map(|offer| {
                offer.map(|offer| Offer {
                    layer: self.approving(one.layer).map(str::to_owned),
                    ..offer
                })
            })),
            (_, _) => Ok(Ok(None)),
        }
    }

    fn semantics(&self, server: &str, tool: &str) -> Result<Option<Semantics>, EngineFault> {
        for layer in self.layers() {
            if let Some(semantics) = layer.backend.semantics(server, tool)? {
                return Ok(Some(semantics));
            }
        }
        Ok(None)
    }

    /// Those that each layer annotates, leaves or trusts: calls of others are denied.
    fn tools(&self) -> Result<Vec<(String, String)>, EngineFault> {
        let mut each: Vec<(&Layer, BTreeSet<(String, String)>)> = Vec::new();
        for layer in self.layers() {
            each.push((layer, layer.backend.tools()?.into_iter().collect()));
        }
        let all: BTreeSet<(String, String)> = each.iter().flat_map(|(_, own)| own).cloned().collect();
        let passes = |tool: &(String, String)| {
            let (server, _) = tool;
            each.iter().all(|(layer, own)| {
                own.contains(tool) || layer.leaves.has(server) || layer.trusted.contains(server)
            })
        };
        Ok(all.into_iter().filter(passes).collect())
    }

    /// Each holds within its layer; the recursion, which the host counts, is limited by the least.
    fn ceiling(&self) -> Result<Option<Ceiling>, EngineFault> {
        let mut least: Option<Ceiling> = None;
        for layer in self.layers() {
            let Some(found) = layer.backend.ceiling()? else {
                continue;
            };
            let limit = |ceiling: &Ceiling| ceiling.recursion_limit.unwrap_or(u32::MAX);
            if least.as_ref().is_none_or(|least| limit(&found) < limit(least)) {
                least = Some(found);
            }
        }
        Ok(least)
    }

    /// No layer has a world.
    fn references(self: Arc<Self>) -> Result<References, Unanswered> {
        Err(Unanswered::NoWorld)
    }

    fn enforce(&self, _: Option<&str>, _: &Operation<'_>, _: Option<&str>) -> Result<Reply, Unanswered> {
        Err(Unanswered::NoWorld)
    }
}
