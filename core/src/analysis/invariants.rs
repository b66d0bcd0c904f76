//! Statements about all calls, proven over the regions or refuted by a call.

use serde::Serialize;
use serde_json::{Value, json};

use super::divided::{Divided, Group, Mode, Picks};
use super::inexact::{CEILING, PATTERN};
use super::{Analysis, Cuts};
use crate::bind::Call;
use crate::engine::{Engine, Imagined};
use crate::model::Effect;
use crate::net::{DomainSet, Location, PathEnding, UrlKind};
use crate::path::{expand_tilde, lexical};
use crate::policy::{Calls, Invariant};
use crate::program::Tool;
use crate::role::RoleSet;
use crate::text::is_at_or_below;

/// What is known of a statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "result")]
pub enum Outcome {
    /// It holds for every call.
    Proven {
        /// How many regions of calls it is about.
        regions: usize,
    },
    /// It does not hold.
    Refuted {
        /// A call that shows it.
        call: Value,
        /// How that call is decided.
        decision: &'static str,
        /// The rule that decides.
        rule: String,
    },
    /// Regions are not exact.
    Unknown {
        /// Where, and why.
        because: Vec<String>,
    },
    /// It is about no call.
    Empty,
}

/// A statement and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// Its name, or its place in the document.
    pub name: String,
    /// What is known.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Holds the statements of an engine's documents against all calls of its tools.
pub fn check_invariants(engine: &Engine) -> Vec<Statement> {
    let statements = engine.invariants().iter().enumerate();
    statements
        .map(|(at, invariant)| {
            let name = invariant.name.as_deref().map(str::to_owned);
            Statement {
                name: name.unwrap_or_else(|| format!("invariants[{at}]")),
                outcome: outcome(engine, invariant),
            }
        })
        .collect()
}

fn outcome(engine: &Engine, invariant: &Invariant) -> Outcome {
    let texts = |texts: &Option<Vec<Box<str>>>| texts.iter().flatten().map(|text| text.to_string()).collect();
    let calls = &invariant.calls;
    let mut analysis = Analysis::on(Imagined::new(engine, None));
    analysis.cuts = Cuts {
        directories: calls.within.iter().map(|within| within.to_string()).collect(),
        domains: texts(&calls.domains),
        values: texts(&calls.values),
    };
    let (mut regions, mut because) = (0, Vec::new());
    for tool in &analysis.imagined.program().tools {
        let holds = |patterns: &Option<Vec<crate::glob::NamePattern>>, name: &str| {
            let patterns = patterns.as_ref();
            patterns.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(name)))
        };
        if !holds(&calls.server, &tool.server) || !holds(&calls.tool, &tool.name) {
            continue;
        }
        let mut held = Held::new(&analysis, tool, invariant);
        if let Some(refuted) = held.refuted() {
            return refuted;
        }
        regions += held.regions;
        if held.regions > 0 {
            let name = format!("{}/{}", tool.server, tool.name);
            because.extend(held.reasons().into_iter().map(|why| format!("{name}: {why}")));
        }
    }
    if !because.is_empty() {
        Outcome::Unknown { because }
    } else if regions == 0 {
        Outcome::Empty
    } else {
        Outcome::Proven { regions }
    }
}

/// A statement that is held against the calls of one tool.
struct Held<'a, 'e> {
    divided: Divided<'a, 'e>,
    invariant: &'a Invariant,
    domains: Option<DomainSet>,
    within: Option<String>,
    /// How many regions the statement is about.
    regions: usize,
}

/// A region of one group: the call that stands for it, and how strict the engine is about it.
struct Stand {
    group: usize,
    picks: Picks,
    strictness: u8,
    is_meant: bool,
}

impl<'a, 'e> Held<'a, 'e> {
    fn new(analysis: &'a Analysis<'e>, tool: &'e Tool, invariant: &'a Invariant) -> Self {
        let program = analysis.imagined.program();
        let calls = &invariant.calls;
        let absolute =
            |path: &str| lexical(&expand_tilde(path, &program.home), &program.current).into_owned();
        Self {
            divided: Divided::new(analysis, tool),
            invariant,
            domains: calls
                .domains
                .as_ref()
                .map(|domains| DomainSet::new(domains.iter().map(|one| &**one), PathEnding::Below)),
            within: calls.within.as_deref().map(absolute),
            regions: 0,
        }
    }

    /// A decision that the statement excludes.
    fn is_bad(&self, strictness: u8) -> bool {
        let mut decisions = self.invariant.decisions.iter();
        decisions.any(|effect| *effect as u8 == strictness) == self.invariant.is_never
    }

    /// Why it is not known whether the statement holds, although no call refutes it.
    fn reasons(&mut self) -> Vec<String> {
        self.divided.note_inexact();
        let may_deny = self.is_bad(Effect::Deny as u8);
        let reasons = self.divided.inexact.iter();
        // What is not exact there is denied.
        let matters = |why: &&String| may_deny || !(why.starts_with(PATTERN) || *why == CEILING);
        reasons.filter(matters).cloned().collect()
    }

    fn refuted(&mut self) -> Option<Outcome> {
        for mode in self.divided.modes() {
            let groups = self.divided.groups(&mode);
            let least = self.divided.least(&mode, &groups);
            let mut stands = Vec::new();
            for group in 0..groups.len().max(1) {
                for picks in self.divided.picks(&groups, &least, group) {
                    let is_meant = self.is_meant(&mode, &groups, &picks);
                    let (strictness, _) = self.judge(&mode, &groups, &picks);
                    stands.push(Stand {
                        group,
                        picks,
                        strictness,
                        is_meant,
                    });
                }
            }
            let mut meant = stands.iter().filter(|stand| stand.is_meant);
            self.regions += meant.clone().count();
            let found = meant.find_map(|stand| self.made_bad(stand, &stands));
            if let Some(picks) = found {
                return Some(self.shown(&mode, &groups, &picks));
            }
        }
        None
    }

    /// A call in the region whose decision is excluded: its own, or the stricter one of another part of the call.
    fn made_bad(&self, stand: &Stand, stands: &[Stand]) -> Option<Picks> {
        if self.is_bad(stand.strictness) {
            return Some(stand.picks.clone());
        }
        let mut stricter = stands.iter().filter(|other| {
            other.group != stand.group && other.strictness > stand.strictness && self.is_bad(other.strictness)
        });
        let other = stricter.next()?;
        let mut picks = stand.picks.clone();
        if let (Some(place), Some(own)) = (picks.get_mut(other.group), other.picks.get(other.group)) {
            place.clone_from(own);
        }
        Some(picks)
    }

    fn judge(&mut self, mode: &Mode, groups: &[Group], picks: &Picks) -> (u8, (Value, &'static str, String)) {
        let arguments = self.divided.arguments(mode, groups, picks);
        let tool = self.divided.tool;
        let call = Call::from_value(&tool.server, &tool.name, &arguments);
        let verdict = self.divided.analysis.imagined.judge(&call);
        let (decision, rule) = (verdict.decision.as_str(), verdict.rule.to_string());
        (verdict.decision.strictness(), (arguments, decision, rule))
    }

    fn shown(&mut self, mode: &Mode, groups: &[Group], picks: &Picks) -> Outcome {
        let (_, (arguments, decision, rule)) = self.judge(mode, groups, picks);
        let tool = self.divided.tool;
        Outcome::Refuted {
            call: json!({"serverName": tool.server, "toolName": tool.name, "arguments": arguments}),
            decision,
            rule,
        }
    }

    /// Whether the statement is about the call: one of its values is meant, or all calls are.
    fn is_meant(&self, mode: &Mode, groups: &[Group], picks: &Picks) -> bool {
        let Calls {
            roles,
            within,
            domains,
            values,
            ..
        } = &self.invariant.calls;
        if roles.is_none() && within.is_none() && domains.is_none() && values.is_none() {
            return true;
        }
        let wanted: Option<RoleSet> = roles.as_ref().map(|roles| roles.iter().copied().collect());
        let given = groups.iter().zip(picks).flat_map(|(group, picks)| {
            let chosen = group.slots.iter().zip(&group.choices).zip(picks);
            chosen.filter_map(|((slot, choices), pick)| Some((*slot, choices.get(*pick)?.value.as_ref()?)))
        });
        let fixed = mode.fixed.iter().enumerate();
        let fixed = fixed.filter_map(|(slot, choice)| Some((slot, choice.as_ref()?.value.as_ref()?)));
        let mut all = given.chain(fixed);
        all.any(|(slot, value)| {
            let own = self.divided.roles_at(mode, slot).own;
            let Value::String(text) = value else { return false };
            wanted.is_none_or(|wanted| own.intersects(wanted)) && self.names(own, text)
        })
    }

    fn names(&self, roles: RoleSet, text: &str) -> bool {
        let program = self.divided.analysis.imagined.program();
        let is_within =
            |within: &String| roles.intersects(program.path_roles) && is_at_or_below(text, within);
        let is_in_domains = |domains: &DomainSet| {
            let kind = match roles.contains(crate::role::RoleId::GIT_REMOTE_URL) {
                true => UrlKind::GitRemote,
                false => UrlKind::Fetch,
            };
            roles.intersects(program.url_roles) && domains.restricts(&Location::new(text, kind)).is_some()
        };
        let is_value = |values: &Vec<Box<str>>| values.iter().any(|value| **value == *text);
        self.within.as_ref().is_none_or(is_within)
            && self.domains.as_ref().is_none_or(is_in_domains)
            && self.invariant.calls.values.as_ref().is_none_or(is_value)
    }
}
