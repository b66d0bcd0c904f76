//! Engines one above the other: each judges a call by its own documents, and the strictest verdict stands (SPEC §11a).

use std::collections::BTreeSet;
use std::sync::Arc;

use callgate_engine::approval::{Approving, Offer};
use callgate_engine::bind::CallError;
use callgate_engine::engine::Operation;
use callgate_engine::judge::{Decision, StructuralRule, Verdict};
use callgate_engine::model::Semantics;
use callgate_engine::policy::Ceiling;
use serde_json::{Value, json};

use super::{Backend, EngineFault, EngineKind, References, Reply, Request, Response, Unanswered};
use crate::leaves::Leaves;

/// Said of a call of which two layers would send different texts.
const DIFFERS: &str = "The layers of the policy would send the call in different forms, since their annotations or their sandboxes \
                       differ: give absolute paths without links, `~`, `.` and `..`, and URLs as they are normalized";

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
struct Said<'l> {
    layer: &'l Layer,
    response: Response,
    /// It does not know the tool, and leaves the server to the layers below.
    is_left: bool,
}

impl Said<'_> {
    /// Returns `true` if the layer says anything about the call: one that trusts the server allows whatever is sent.
    fn is_opinion(&self) -> bool {
        !self.is_left && !is_by(&self.response, StructuralRule::TrustedServer)
    }

    /// How strict the verdict is, and of two that allow the one by an approval first.
    fn rank(&self) -> (u8, bool) {
        let verdict = &self.response.verdict;
        (verdict.decision.strictness(), verdict.approval.is_some())
    }

    fn shown(&self) -> Value {
        let mut shown = json!({"layer": self.layer.name, "verdict": self.response.verdict});
        if self.is_left {
            shown["left"] = true.into();
        }
        shown
    }
}

fn is_by(response: &Response, rule: StructuralRule) -> bool {
    StructuralRule::parse(&response.verdict.rule) == Some(rule)
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
    fn said(&self, request: &Request<'_>) -> Result<Result<Vec<Said<'_>>, CallError>, EngineFault> {
        let call = match request.call.read() {
            Ok(call) => call,
            Err(error) => return Ok(Err(error)),
        };
        let mut said = Vec::new();
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
            let is_left = layer.leaves.has(call.server()) && is_by(&response, StructuralRule::UnknownTool);
            said.push(Said {
                layer,
                response,
                is_left,
            });
        }
        Ok(Ok(said))
    }
}

/// Those that say anything about the call; the lowest if none does.
fn opinions<'s, 'l>(said: &'s [Said<'l>]) -> Vec<&'s Said<'l>> {
    let opinions: Vec<_> = said.iter().filter(|said| said.is_opinion()).collect();
    match opinions.is_empty() {
        true => said.last().into_iter().collect(),
        false => opinions,
    }
}

/// The response of layers, of which there is one at least.
fn joined(said: &[Said<'_>]) -> Option<Response> {
    let opinions = opinions(said);
    // The uppermost of the strictest.
    let stands = *opinions.iter().rev().max_by_key(|said| said.rank())?;
    let Response {
        mut verdict,
        arguments,
        explanation,
    } = stands.response.clone();
    if let Decision::Escalate(roles) = &mut verdict.decision {
        // Whoever answers has to know everything that is asked. The reasons of others may name paths that an agent may not know.
        let others = opinions.iter().filter(|said| !std::ptr::eq(**said, stands));
        for other in others.map(|said| &said.response.verdict) {
            let Decision::Escalate(also) = &other.decision else {
                continue;
            };
            let new: Vec<_> = also
                .iter()
                .filter(|role| !roles.contains(role))
                .cloned()
                .collect();
            roles.extend(new);
            verdict.reason = format!(
                "{}; rule `{}` of another layer asks too",
                verdict.reason, other.rule
            )
            .into();
        }
    }
    let differs = opinions.iter().any(|said| said.response.arguments != arguments);
    // A denial sends nothing.
    let differs = differs && verdict.decision != Decision::Deny;
    if differs {
        verdict = Verdict {
            decision: Decision::Deny,
            rule: StructuralRule::InexactCall.as_str().into(),
            reason: DIFFERS.into(),
            approval: None,
        };
    }
    let explanation = explanation.map(|mut explanation| {
        let counters = said.iter().filter_map(|said| {
            let counters = said.response.explanation.as_ref()?.get("counters");
            counters?.as_array().cloned()
        });
        let counters: Vec<Value> = counters.flatten().collect();
        if let Some(members) = explanation.as_object_mut() {
            if !counters.is_empty() {
                members.insert("counters".to_owned(), counters.into());
            }
            if !differs {
                members.insert("layer".to_owned(), (*stands.layer.name).into());
            }
            members.insert("verdict".to_owned(), json!(verdict));
            members.insert("layers".to_owned(), said.iter().map(Said::shown).collect());
        }
        explanation
    });
    Some(Response {
        verdict,
        arguments,
        explanation,
    })
}

impl Backend for Layered {
    fn kind(&self) -> EngineKind {
        self.lowest.backend.kind()
    }

    fn judge(&self, request: &Request<'_>) -> Result<Result<Response, CallError>, EngineFault> {
        match self.said(request)? {
            Ok(said) => joined(&said).map(Ok).ok_or(EngineFault::Failed),
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
        let said = match self.said(&asked)? {
            Ok(said) => said,
            Err(error) => return Ok(Err(error)),
        };
        let asks = |said: &&Said<'_>| said.response.verdict.decision != Decision::Allow;
        let mut asking = opinions(&said).into_iter().filter(asks);
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
