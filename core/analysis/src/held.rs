//! A statement held against the calls of one tool.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::asked::{Asked, written};
use super::choice::Choice;
use super::divided::{Divided, Group, Mode, Picks};
use super::inexact::{is_asked, is_denied};
use super::label::Label;
use super::meant::Meant;
use super::rows::{UNKNOWN_ARGUMENT, is_about_form};
use super::slots::Accepts;
use super::together::without;
use super::{Analysis, Cuts};
use crate::imagined::Imagined;
use callgate_engine::model::Effect;
use callgate_engine::policy::Invariant;
use callgate_engine::program::Tool;
use callgate_engine::role::RoleSet;

/// The answer to a statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "result")]
pub enum Outcome {
    /// It holds for every call.
    Proven {
        /// How many regions of calls it is about.
        regions: usize,
        /// The disk that the proof assumes, if links could change it.
        #[serde(skip_serializing_if = "Option::is_none")]
        on: Option<&'static str>,
        /// `true` if it says what is never allowed, and calls that it is about escalate: a person may approve them.
        #[serde(rename = "butForApprovals", skip_serializing_if = "std::ops::Not::not")]
        but_for_approvals: bool,
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

/// An analysis that looks at what the statement tells apart.
pub(super) fn about<'e>(imagined: Imagined<'e>, invariant: &Invariant) -> Analysis<'e> {
    let texts = |texts: &Option<Vec<Box<str>>>| texts.iter().flatten().map(|text| text.to_string()).collect();
    let calls = &invariant.calls;
    let mut analysis = Analysis::on(imagined);
    analysis.cuts = Cuts {
        directories: calls.within.iter().map(|within| within.to_string()).collect(),
        domains: texts(&calls.domains),
        values: texts(&calls.values),
        roles: match (&calls.roles, &calls.values) {
            (Some(roles), _) => roles.iter().copied().collect(),
            (None, Some(_)) => RoleSet::ALL,
            (None, None) => RoleSet::default(),
        },
    };
    analysis.is_about_several = may_rise(invariant);
    analysis
}

/// Returns `true` if the statement excludes a decision and not a less strict one. Several values of an argument are then looked
/// at as well: together they are judged at least as strictly as the strictest of them by itself, so that none of them need come
/// to it alone.
fn may_rise(invariant: &Invariant) -> bool {
    let excluded =
        [Effect::Allow, Effect::Escalate, Effect::Deny].map(|effect| is_excluded(invariant, effect as u8));
    !excluded.is_sorted_by(|one, other| one >= other)
}

pub(super) fn is_excluded(invariant: &Invariant, strictness: u8) -> bool {
    let mut decisions = invariant.decisions.iter();
    decisions.any(|effect| *effect as u8 == strictness) == invariant.is_never
}

/// A statement that is held against the calls of one tool.
pub(super) struct HeldStatement<'a, 'e> {
    divided: Divided<'a, 'e>,
    invariant: &'a Invariant,
    meant: Meant<'a>,
    /// The branch that is checked out, where that is known.
    branch: Option<&'a str>,
    /// How many regions the statement is about.
    pub(super) regions: usize,
    /// `true` if one of them escalates.
    pub(super) escalates: bool,
}

/// A region of one group: the call that stands for it, and how strict the engine is about it.
struct Stand {
    group: usize,
    picks: Picks,
    strictness: u8,
    is_meant: bool,
    /// `true` if it is refused because its arguments are not what the tool has.
    is_about_form: bool,
}

/// A call and its verdict.
struct Judged {
    strictness: u8,
    decision: &'static str,
    rule: String,
    asked: Asked,
}

impl<'a, 'e> HeldStatement<'a, 'e> {
    pub(super) fn new(
        analysis: &'a Analysis<'e>,
        tool: &'e Tool,
        invariant: &'a Invariant,
        branch: Option<&'a str>,
    ) -> Self {
        Self {
            divided: Divided::new(analysis, tool),
            invariant,
            meant: Meant::new(analysis.imagined.program(), &invariant.calls),
            branch,
            regions: 0,
            escalates: false,
        }
    }

    /// A decision that the statement excludes.
    fn is_bad(&self, strictness: u8) -> bool {
        is_excluded(self.invariant, strictness)
    }

    /// Returns `true` if the tool has calls that the statement is about, or may have some among those that were not looked at.
    pub(super) fn may_be_about_calls(&self) -> bool {
        let program = self.divided.analysis.imagined.program();
        let tool = self.divided.tool;
        self.regions > 0 || self.divided.is_cut_short && self.meant.may_be_of_tool(program, tool)
    }

    /// Why it is not known whether the statement holds, although no call refutes it.
    pub(super) fn reasons(&mut self) -> Vec<String> {
        self.divided.note_inexact();
        let may_deny = self.is_bad(Effect::Deny as u8);
        let reasons = self.divided.inexact.iter();
        // A question takes the place of permission, never of a denial.
        let may_ask = self.is_bad(Effect::Escalate as u8) && !self.is_bad(Effect::Allow as u8);
        let matters = |why: &&String| may_deny || !is_denied(why) || (may_ask && is_asked(why));
        reasons.filter(matters).cloned().collect()
    }

    pub(super) fn refuted(&mut self) -> Option<Outcome> {
        for mode in self.divided.modes() {
            let groups = self.divided.groups(&mode);
            let least = self.divided.least(&mode, &groups);
            let mut stands = Vec::new();
            for group in 0..groups.len().max(1) {
                for picks in self.divided.picks(&groups, &least, group) {
                    let judged = self.judge(&mode, &groups, &picks);
                    stands.push(Stand {
                        group,
                        is_meant: self.is_meant(&mode, &groups, &picks),
                        is_about_form: self.is_about_form(&judged),
                        strictness: judged.strictness,
                        picks,
                    });
                }
            }
            for absences in self.divided.absent_together(&mode, &groups) {
                let picks = without(&least, &absences);
                let judged = self.judge(&mode, &groups, &picks);
                stands.push(Stand {
                    group: absences.first().map_or(0, |(group, ..)| *group),
                    is_meant: self.is_meant(&mode, &groups, &picks),
                    is_about_form: self.is_about_form(&judged),
                    strictness: judged.strictness,
                    picks,
                });
            }
            // What is refused for its form is refused whatever the policy says.
            stands.retain(|stand| !stand.is_about_form);
            for stand in stands.iter().filter(|stand| stand.is_meant) {
                self.regions += 1;
                self.escalates |= stand.strictness == Effect::Escalate as u8;
            }
            let alone = self.made_bad(&mode, &groups, &stands);
            let found = alone.or_else(|| match self.divided.analysis.is_about_several {
                true => self.made_bad_by_another_value(&mode, &groups, &stands),
                false => None,
            });
            if let Some(judged) = found {
                return Some(self.shown(judged));
            }
        }
        None
    }

    /// A call in one of the regions whose decision is excluded: that of its region, or the stricter one of another part of
    /// the call.
    fn made_bad(&mut self, mode: &Mode, groups: &[Group], stands: &[Stand]) -> Option<Judged> {
        for stand in stands.iter().filter(|stand| stand.is_meant) {
            if self.is_bad(stand.strictness) {
                return Some(self.judge(mode, groups, &stand.picks));
            }
            for other in stands {
                let is_stricter = other.group != stand.group && other.strictness > stand.strictness;
                if !is_stricter || !self.is_bad(other.strictness) {
                    continue;
                }
                let mut picks = stand.picks.clone();
                if let (Some(place), Some(own)) = (picks.get_mut(other.group), other.picks.get(other.group)) {
                    place.clone_from(own);
                }
                // What is meant may be what was replaced.
                if !self.is_meant(mode, groups, &picks) {
                    continue;
                }
                let judged = self.judge(mode, groups, &picks);
                if self.is_bad(judged.strictness) {
                    return Some(judged);
                }
            }
        }
        None
    }

    /// The same with a second value of an argument, which is judged more strictly than the first one.
    fn made_bad_by_another_value(
        &mut self,
        mode: &Mode,
        groups: &[Group],
        stands: &[Stand],
    ) -> Option<Judged> {
        for (at, group) in groups.iter().enumerate() {
            let own: Vec<&Stand> = stands.iter().filter(|stand| stand.group == at).collect();
            for (nth, slot) in group.slots.iter().enumerate() {
                let accepts = self.divided.slots.get(*slot).map(|slot| slot.accepts);
                if !matches!(accepts, Some(Accepts::Either | Accepts::Array)) {
                    continue;
                }
                for (one, other) in differing(group, &own, (at, nth)) {
                    if !self.is_bad(other.strictness) {
                        continue;
                    }
                    let Some(both) = both(groups, (at, nth), [one, other]) else {
                        continue;
                    };
                    let mut picks = one.picks.clone();
                    if let Some(pick) = picks.get_mut(at).and_then(|picks| picks.get_mut(nth)) {
                        *pick = 0;
                    }
                    let judged = self.judge(mode, &both, &picks);
                    if self.is_bad(judged.strictness) {
                        return Some(judged);
                    }
                }
            }
        }
        None
    }

    fn judge(&mut self, mode: &Mode, groups: &[Group], picks: &Picks) -> Judged {
        let asked = self.divided.asked(mode, groups, picks);
        let call = asked.call(self.divided.tool);
        let verdict = self.divided.analysis.imagined.judge(&call);
        Judged {
            strictness: verdict.decision.strictness(),
            decision: verdict.decision.as_str(),
            rule: verdict.rule.to_string(),
            asked,
        }
    }

    /// Returns `true` if the call is refused because its arguments are not what the tool has.
    fn is_about_form(&self, judged: &Judged) -> bool {
        let program = self.divided.analysis.imagined.program();
        let tool = self.divided.tool;
        // Whether a place is one that the server knows is a matter of configuration, and so is what nobody names.
        is_about_form(&judged.rule)
            && judged.rule != UNKNOWN_ARGUMENT
            && program.server(&tool.server).paths.is_none()
    }

    fn shown(&self, judged: Judged) -> Outcome {
        let tool = self.divided.tool;
        Outcome::Refuted {
            call: written(
                &tool.server,
                &tool.name,
                &judged.asked.arguments,
                judged.asked.context.as_ref(),
            ),
            decision: judged.decision,
            rule: judged.rule,
        }
    }

    /// Returns `true` if the statement is about the call: one of its values is meant, or all calls are.
    fn is_meant(&self, mode: &Mode, groups: &[Group], picks: &Picks) -> bool {
        if self.meant.is_every_call() {
            return true;
        }
        let given = groups.iter().zip(picks).flat_map(|(group, picks)| {
            let chosen = group.slots.iter().zip(&group.choices).zip(picks);
            chosen.filter_map(|((slot, choices), pick)| Some((*slot, choices.get(*pick)?.value.as_ref()?)))
        });
        let fixed = mode.fixed.iter().enumerate();
        let fixed = fixed.filter_map(|(slot, choice)| Some((slot, choice.as_ref()?.value.as_ref()?)));
        let mut all = given.chain(fixed);
        all.any(|(slot, value)| {
            let own = self.divided.roles_at(mode, slot).own;
            match value {
                Value::String(text) => self.names(own, text),
                Value::Array(items) => {
                    let mut texts = items.iter().filter_map(Value::as_str);
                    texts.any(|text| self.names(own, text))
                }
                _ => false,
            }
        })
    }

    fn names(&self, roles: RoleSet, text: &str) -> bool {
        let program = self.divided.analysis.imagined.program();
        self.meant.names(program, roles, text, self.branch)
    }
}

/// Regions that differ in one argument alone: those that are meant, and the first of each decision.
type Alike<'s> = (Vec<&'s Stand>, [Option<&'s Stand>; 3]);

/// Regions that differ in one argument alone, of which the first is meant and the second judged more strictly: one for each
/// decision.
fn differing<'s>(group: &Group, own: &[&'s Stand], (at, nth): (usize, usize)) -> Vec<(&'s Stand, &'s Stand)> {
    let mut alike: BTreeMap<Vec<usize>, Alike<'s>> = BTreeMap::new();
    for stand in own
        .iter()
        .filter(|stand| text_of(group, stand, (at, nth)).is_some())
    {
        let mut others = stand.picks.get(at).cloned().unwrap_or_default();
        if let Some(pick) = others.get_mut(nth) {
            *pick = 0;
        }
        let (meant, firsts) = alike.entry(others).or_default();
        if stand.is_meant {
            meant.push(stand);
        }
        if let Some(first) = firsts.get_mut(usize::from(stand.strictness)) {
            first.get_or_insert(stand);
        }
    }
    let mut found = Vec::new();
    for (meant, firsts) in alike.into_values() {
        for one in meant {
            let stricter = firsts
                .iter()
                .flatten()
                .filter(|other| other.strictness > one.strictness);
            found.extend(stricter.map(|other| (one, *other)));
        }
    }
    found
}

/// The groups in which an argument has the values of both regions, as its only choice.
fn both(groups: &[Group], (at, nth): (usize, usize), stands: [&Stand; 2]) -> Option<Vec<Group>> {
    let group = groups.get(at)?;
    let texts = stands.map(|stand| text_of(group, stand, (at, nth)));
    let texts: Vec<Value> = texts.into_iter().flatten().map(Value::from).collect();
    let value = Choice::value(Value::Array(texts), Label::Words("several values"));
    let mut found: Vec<Group> = groups.iter().map(Group::shared).collect();
    *found.get_mut(at)?.choices.get_mut(nth)? = [value].into();
    Some(found)
}

/// The text of an argument in a region, if it is one.
fn text_of<'g>(group: &'g Group, stand: &Stand, (at, nth): (usize, usize)) -> Option<&'g str> {
    let pick = *stand.picks.get(at)?.get(nth)?;
    group.choices.get(nth)?.get(pick)?.value.as_ref()?.as_str()
}
