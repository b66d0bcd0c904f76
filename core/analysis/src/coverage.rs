//! How much of a policy scenarios reach: the rules, and the regions of each tool's calls.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::divided::Divided;
use super::placing::{Frame, Key, Placed, Placing};
use super::regions::Cut;
use super::rows::{is_about_form, is_about_others};
use super::{Analysis, Place, Region, asked, portable};
use callgate_engine::bind::Call;
use callgate_engine::judge::Verdict;

/// A rule, and how many scenarios it decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoveredRule {
    /// Its name.
    pub rule: String,
    /// How many scenarios it decided.
    pub scenarios: usize,
    /// `true` if it decides any region, so that a scenario can reach it.
    pub decides: bool,
}

/// A region that no scenario reaches.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unreached {
    /// The server.
    pub server_name: String,
    /// The tool.
    pub tool_name: String,
    /// `allow`, `escalate` or `deny`.
    pub decision: &'static str,
    /// The rule that decides.
    pub rule: String,
    /// The arguments that conditions look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Place>,
    /// The other arguments.
    pub places: Vec<Place>,
    /// The arguments of such a call, with paths from the sandbox or the home directory where they may be so.
    pub arguments: Value,
    /// The context that a host gives with that call, where the verdict depends on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
}

/// The rules and regions that scenarios reach, and those that they do not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoverageReport {
    /// Every rule, in order; those of one name together.
    pub rules: Vec<CoveredRule>,
    /// How many regions all tools have.
    pub regions: usize,
    /// Those that no scenario reaches.
    pub unreached: Vec<Unreached>,
    /// How many scenarios lie in no region: what their calls name is not told apart exactly.
    pub outside: usize,
    /// How many tools have regions that are not exact, so that there may be more.
    pub inexact: usize,
}

impl CoverageReport {
    /// How many rules decided a scenario, of those that can.
    pub fn rules_covered(&self) -> (usize, usize) {
        let can = self
            .rules
            .iter()
            .filter(|rule| rule.decides || rule.scenarios > 0);
        let did = self.rules.iter().filter(|rule| rule.scenarios > 0);
        (did.count(), can.count())
    }

    /// How many regions a scenario reached, of all.
    pub fn regions_covered(&self) -> (usize, usize) {
        (self.regions.saturating_sub(self.unreached.len()), self.regions)
    }
}

/// A scenario's call as the division sees it, the decision, and the rule that made it.
type Reached = (Placed, &'static str, String);

/// Counts what scenarios reach.
///
/// A scenario reaches the regions that the values of its call lie in, as far as their verdict shows: the same rule decides it
/// alike. Calls that are refused for their form, whatever the policy says, do not count.
pub struct Coverage<'a, 'e> {
    analysis: &'a Analysis<'e>,
    /// By server and tool, with how many scenarios there are.
    reached: BTreeMap<(String, String), BTreeMap<Reached, usize>>,
    rules: BTreeMap<String, usize>,
}

impl<'a, 'e> Coverage<'a, 'e> {
    /// Nothing is reached yet.
    pub fn new(analysis: &'a Analysis<'e>) -> Self {
        Self {
            analysis,
            reached: BTreeMap::new(),
            rules: BTreeMap::new(),
        }
    }

    /// Adds scenarios of one tool, each the call and the verdict about it, in the place that they were judged in: another
    /// analysis of the same documents where that was another one.
    pub fn add<'c>(
        &mut self,
        place: &Analysis<'_>,
        server: &str,
        tool: &str,
        scenarios: impl IntoIterator<Item = (&'c Call<'c>, &'c Verdict<'c>)>,
    ) {
        let divided = place.divided(server, tool);
        let mut placing = divided.as_ref().map(Placing::new);
        let reached = self
            .reached
            .entry((server.to_owned(), tool.to_owned()))
            .or_default();
        for (call, verdict) in scenarios {
            *self.rules.entry(verdict.rule.to_string()).or_default() += 1;
            if let Some(placing) = &mut placing {
                let one = (
                    placing.place(call),
                    verdict.decision.as_str(),
                    verdict.rule.to_string(),
                );
                *reached.entry(one).or_default() += 1;
            }
        }
    }

    /// The coverage so far.
    pub fn report(&self) -> CoverageReport {
        let mut found = CoverageReport {
            rules: Vec::new(),
            regions: 0,
            unreached: Vec::new(),
            outside: 0,
            inexact: 0,
        };
        let mut deciding: BTreeSet<String> = BTreeSet::new();
        for (server, tool) in self.analysis.tools() {
            let Some(mut divided) = self.analysis.watched_tool(server, tool) else {
                continue;
            };
            let mut cuts = divided.cuts();
            found.inexact += usize::from(!divided.inexact.is_empty());
            keep_telling(&mut cuts);
            let regions = cuts.iter().flat_map(|cut| &cut.part.regions);
            deciding.extend(regions.map(|region| region.rule.clone()));
            let known = self.reached.get(&(server.to_owned(), tool.to_owned()));
            self.add_tool(&divided, &cuts, known, &mut found);
        }
        found.rules = self.rules(&deciding);
        found
    }

    fn add_tool(
        &self,
        divided: &Divided<'_, '_>,
        cuts: &[Cut],
        reached: Option<&BTreeMap<Reached, usize>>,
        found: &mut CoverageReport,
    ) {
        let mut placing = Placing::new(divided);
        let (mut inside, mut outside): (BTreeSet<&Placed>, BTreeSet<&Placed>) = Default::default();
        for cut in cuts {
            let mut known: BTreeMap<Option<Key>, Vec<&Reached>> = BTreeMap::new();
            for one in reached.into_iter().flat_map(BTreeMap::keys) {
                for key in one.0.keys(cut) {
                    known.entry(key).or_default().push(one);
                }
            }
            let (mut frames, mut within): (BTreeSet<Frame>, BTreeSet<&Placed>) = Default::default();
            for region in &cut.part.regions {
                found.regions += 1;
                let keys = placing
                    .place(&call_of(divided, region, &region.arguments))
                    .keys(cut);
                let own = keys.iter().filter_map(|key| known.get(key)).flatten();
                let mut is_reached = false;
                for (placed, decision, rule) in own {
                    within.insert(placed);
                    is_reached |= *decision == region.decision && *rule == region.rule;
                }
                if !is_reached {
                    let one = self.unreached(&mut placing, cut, region, &keys);
                    found.unreached.push(one);
                }
                frames.extend(keys.into_iter().flatten().map(|key| key.frame));
            }
            if cut.is_whole {
                let all = reached.into_iter().flat_map(BTreeMap::keys);
                let of_part = all.filter(|one| one.0.frame().is_some_and(|frame| frames.contains(frame)));
                outside.extend(of_part.map(|one| &one.0).filter(|one| !within.contains(one)));
                inside.append(&mut within);
            }
        }
        let counts = reached.into_iter().flatten();
        let is_outside =
            |one: &Placed| one.frame().is_some() && (outside.contains(one) || !inside.contains(one));
        let counts = counts.filter(|((placed, ..), _)| is_outside(placed));
        found.outside += counts.map(|(_, count)| count).sum::<usize>();
    }

    fn unreached(
        &self,
        placing: &mut Placing<'_, '_, '_>,
        cut: &Cut,
        region: &Region,
        keys: &[Option<Key>],
    ) -> Unreached {
        let divided = placing.divided;
        let shown = |place: &Place| Place {
            is: portable::label(&self.analysis.imagined, &place.is),
            within: None,
            ..place.clone()
        };
        Unreached {
            server_name: divided.tool.server.to_string(),
            tool_name: divided.tool.name.to_string(),
            decision: region.decision,
            rule: region.rule.clone(),
            when: cut.part.when.iter().map(shown).collect(),
            places: region.places.iter().map(|place| shown(place)).collect(),
            arguments: self.portable(placing, cut, region, keys),
            context: region.context.clone(),
        }
    }

    /// The arguments of the call that stands for the region, as they mean the same in another checkout.
    fn portable(
        &self,
        placing: &mut Placing<'_, '_, '_>,
        cut: &Cut,
        region: &Region,
        keys: &[Option<Key>],
    ) -> Value {
        let imagined = &self.analysis.imagined;
        portable::arguments(imagined, &region.arguments, |changed| {
            let call = call_of(placing.divided, region, changed);
            let verdict = imagined.judge(&call);
            verdict.decision.as_str() == region.decision
                && *verdict.rule == *region.rule
                && placing.place(&call).keys(cut) == keys
        })
    }

    fn rules(&self, deciding: &BTreeSet<String>) -> Vec<CoveredRule> {
        let mut seen = BTreeSet::new();
        let rules = self.analysis.imagined.program().rules.iter();
        let named = rules.filter(|rule| seen.insert(rule.name.to_string()));
        named
            .map(|rule| CoveredRule {
                rule: rule.name.to_string(),
                scenarios: self.rules.get(&*rule.name).copied().unwrap_or_default(),
                decides: deciding.contains(&*rule.name),
            })
            .collect()
    }
}

/// A call with these arguments, in the context of the region.
fn call_of<'v>(divided: &Divided<'_, 'v>, region: &Region, arguments: &'v Value) -> Call<'v> {
    let (server, tool) = (&divided.tool.server, &divided.tool.name);
    asked::call(server, tool, arguments, region.context.as_ref())
}

/// Keeps the regions that say something of the policy: those of calls that are not refused for their form, and, where there are
/// others, not those about arguments without a role.
fn keep_telling(cuts: &mut [Cut]) {
    let mut has_roles = false;
    for cut in &mut *cuts {
        let regions = &mut cut.part.regions;
        regions.retain(|region| !is_about_form(&region.rule));
        has_roles |= regions.iter().any(|region| !is_about_others(&region.places));
    }
    if has_roles {
        for cut in cuts {
            cut.part.regions.retain(|region| !is_about_others(&region.places));
        }
    }
}
