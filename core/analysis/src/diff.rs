//! How two programs differ: the regions of calls about which their verdicts do.

use serde::Serialize;
use serde_json::Value;

use super::asked::{Asked, Judged};
use super::divided::{Divided, Group, Mode, Picks};
use super::rows::{Column, merged_by_key};
use super::together::without;
use super::{ANY_OTHER, Above, Analysis, Bounds, Place, Progress, Subject, Watcher, same};
use crate::imagined::Imagined;
use callgate_engine::engine::Engine;
use callgate_engine::host::Host;
use callgate_engine::sort;

/// Calls that are judged otherwise than before.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictChange {
    /// The arguments that conditions look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Column>,
    /// The other arguments; none where every call of the tool is judged alike.
    pub places: Vec<Column>,
    /// The verdict before.
    pub before: Judged,
    /// The verdict after.
    pub after: Judged,
    /// The arguments of such a call.
    pub arguments: Value,
    /// The context that a host gives with that call, where a verdict depends on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
}

/// How the verdicts about calls of one tool differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolChanges {
    /// The server.
    pub server_name: String,
    /// The tool; `*` stands for every tool of a trusted server that is not annotated.
    pub tool_name: String,
    /// Calls that are judged less strictly.
    pub looser: Vec<VerdictChange>,
    /// Calls that are judged more strictly.
    pub stricter: Vec<VerdictChange>,
    /// Calls about which another rule decides the same.
    pub other_rule: Vec<VerdictChange>,
    /// The differences that are not known, because the regions are not exact there.
    pub unknown: Vec<String>,
}

impl ToolChanges {
    /// Returns `true` if there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.looser.is_empty()
            && self.stricter.is_empty()
            && self.other_rule.is_empty()
            && self.unknown.is_empty()
    }
}

/// Two engines that are compared.
pub struct Comparison<'e> {
    /// Divided as the old program has it, and as the new one has it, each at the cuts of both.
    sides: [Analysis<'e>; 2],
    /// The server and name of every tool that one of the programs has, in order.
    tools: Vec<(&'e str, &'e str)>,
    watcher: Option<Watcher<'e>>,
    has_same_settings: bool,
    has_same_roles: bool,
}

/// The groups of one mode, and its most harmless call.
#[derive(PartialEq)]
struct Way {
    mode: Mode,
    groups: Vec<Group>,
    least: Picks,
}

/// The verdicts about one region, in the old program and in the new one.
pub(super) type Pair = [(u8, Judged); 2];

/// A change, and how strict the verdicts are before and after.
#[derive(Clone)]
pub(super) struct Found {
    change: VerdictChange,
    before: u8,
    after: u8,
}

impl Found {
    pub(super) fn new(when: Vec<Column>, places: Vec<Column>, pair: Pair, asked: Asked) -> Self {
        let [(before_rank, before), (after_rank, after)] = pair;
        Self {
            change: VerdictChange {
                when,
                places,
                before,
                after,
                arguments: asked.arguments,
                context: asked.context,
            },
            before: before_rank,
            after: after_rank,
        }
    }

    /// The verdicts before and after.
    pub(super) fn judged(&self) -> (&Judged, &Judged) {
        (&self.change.before, &self.change.after)
    }

    /// Says of the only argument that this is what its value is.
    pub(super) fn say(&mut self, is: &str) {
        for column in &mut self.change.places {
            column.is = vec![is.to_owned()];
        }
    }
}

impl<'e> Comparison<'e> {
    /// On a disk without links, where no repository has a remote.
    pub fn new(old: &'e Engine, new: &'e Engine) -> Self {
        Self::on(old, new, None)
    }

    /// With the links and repositories that a host has.
    pub fn with_host(old: &'e Engine, new: &'e Engine, host: &'e dyn Host) -> Self {
        Self::on(old, new, Some(host))
    }

    pub(super) fn on(old: &'e Engine, new: &'e Engine, host: Option<&'e dyn Host>) -> Self {
        let side = |own: &'e Engine, other: &'e Engine| {
            let mut analysis = Analysis::on(Imagined::new(own, host));
            analysis.other = Some(Imagined::new(other, host));
            analysis
        };
        let sides = [side(old, new), side(new, old)];
        let [first, second] = &sides;
        let (first, second) = (first.imagined.program(), second.imagined.program());
        Self {
            tools: sort::set(sides.iter().flat_map(Analysis::tools))
                .into_iter()
                .collect(),
            watcher: None,
            has_same_settings: same::settings(first, second),
            has_same_roles: same::roles(first, second),
            sides,
        }
    }

    /// With layers above both, on the same disk.
    #[must_use]
    pub fn below(self, above: &Above<'e>) -> Self {
        let sides = self.sides.map(|side| side.below(above));
        let tools = sort::set(sides.iter().flat_map(Analysis::tools));
        Self {
            tools: tools.into_iter().collect(),
            sides,
            ..self
        }
    }

    /// Looks at no more than this.
    #[must_use]
    pub fn within(self, bounds: Bounds) -> Self {
        let sides = self.sides.map(|side| side.within(bounds));
        Self { sides, ..self }
    }

    /// Tells the watcher of each tool that is asked for.
    #[must_use]
    pub fn watched(self, watcher: Watcher<'e>) -> Self {
        Self {
            watcher: Some(watcher),
            ..self
        }
    }

    /// The server and name of every tool that one of the programs has, in order; `*` for the other tools of a trusted server.
    pub fn tools(&self) -> Vec<(&'e str, &'e str)> {
        self.tools.clone()
    }

    /// How the verdicts about a tool's calls differ; `None` for a tool that neither program has.
    pub fn tool(&self, server: &str, name: &str) -> Option<ToolChanges> {
        let mut changes = ToolChanges {
            server_name: server.to_owned(),
            tool_name: name.to_owned(),
            looser: Vec::new(),
            stricter: Vec::new(),
            other_rule: Vec::new(),
            unknown: Vec::new(),
        };
        let [old, new] = &self.sides;
        let (old_program, new_program) = (old.imagined.program(), new.imagined.program());
        let (old_tool, new_tool) = (old_program.tool(server, name), new_program.tool(server, name));
        let is_unnamed = old_tool.is_none() && new_tool.is_none();
        let at = self.tools.binary_search(&(server, name)).ok()?;
        if let Some(watcher) = self.watcher {
            watcher(&Progress {
                subject: Subject::Tool { server, name },
                at: at + 1,
                of: self.tools.len(),
                part_of: None,
            });
        }
        if new.above.refuse(server, name) {
            return Some(changes);
        }
        if is_unnamed {
            self.add_unnamed((server, name), &mut changes);
            return Some(changes);
        }
        if let (Some(one), Some(other)) = (old_tool, new_tool)
            && self.has_same_settings
            && same::tools((old_program, one), (new_program, other))
        {
            return Some(changes);
        }
        // The harmless rest of a call that shows what is looser is that of the new program, and the other way round.
        let found_by_new = new_tool.map(|tool| {
            let mut divided = Divided::new(new, tool);
            let (ways, before) = (divided.ways(), divided.calls);
            let found = divided.changes(&ways, true);
            changes
                .looser
                .extend(only(&found, |before, after| after < before));
            changes
                .other_rule
                .extend(only(&found, |before, after| after == before));
            changes.unknown.append(&mut divided.inexact);
            (ways, divided.calls - before, found)
        });
        if let Some(tool) = old_tool {
            let mut divided = Divided::new(old, tool);
            let ways = divided.ways();
            // Most often it is the same, and so are the calls.
            let known = found_by_new.filter(|(other_ways, calls, _)| {
                let is_same = new_tool.is_some_and(|other| self.has_same_roles && tool.is_same(other));
                is_same && ways == *other_ways && divided.calls + calls <= old.bounds.calls
            });
            let found = match known {
                Some((_, _, found)) => found,
                None => divided.changes(&ways, false),
            };
            changes
                .stricter
                .extend(only(&found, |before, after| after > before));
            if new_tool.is_none() {
                changes
                    .looser
                    .extend(only(&found, |before, after| after < before));
                changes
                    .other_rule
                    .extend(only(&found, |before, after| after == before));
            }
            let new_reasons = divided
                .inexact
                .drain(..)
                .filter(|why| !changes.unknown.contains(why));
            let new_reasons: Vec<String> = new_reasons.collect();
            changes.unknown.extend(new_reasons);
        }
        Some(changes)
    }
}

impl Comparison<'_> {
    /// The change about tools that a trusted server has beside the annotated ones.
    fn add_unnamed(&self, (server, name): (&str, &str), changes: &mut ToolChanges) {
        let asked = Asked::empty();
        let [old, new] = &self.sides;
        // What other layers say of the tool counts for both, or for the one that trusts the server.
        if name != ANY_OTHER && old.is_trusted(server) != new.is_trusted(server) {
            changes.unknown = new.doubts(server, name);
        }
        let pair = differing(
            self.sides
                .each_ref()
                .map(|side| side.judge((server, name), &asked)),
        );
        let found = pair.map(|pair| Found::new(Vec::new(), Vec::new(), pair, asked));
        let found: Vec<Found> = found.into_iter().collect();
        changes.looser = only(&found, |before, after| after < before);
        changes.stricter = only(&found, |before, after| after > before);
        changes.other_rule = only(&found, |before, after| after == before);
    }
}

/// The changes between whose strictness that holds, those that differ in one argument together.
fn only(found: &[Found], is_wanted: impl Fn(u8, u8) -> bool) -> Vec<VerdictChange> {
    let wanted = found.iter().filter(|one| is_wanted(one.before, one.after));
    merged(wanted.map(|one| one.change.clone()).collect())
}

fn merged(changes: Vec<VerdictChange>) -> Vec<VerdictChange> {
    let columns = |change: &VerdictChange| change.when.len() + change.places.len();
    let most = changes.iter().map(columns).max().unwrap_or_default();
    (0..most).rev().fold(changes, |changes, at| {
        merged_by_key(
            changes,
            |change| change.when.iter_mut().chain(&mut change.places).nth(at),
            |change| {
                let (before, after) = (&change.before, &change.after);
                let layers = [before, after].map(|judged| judged.layer.as_deref().unwrap_or_default());
                let judged = [before.decision, &before.rule, after.decision, &after.rule];
                let judged = [&judged[..], &layers].concat();
                (
                    judged.join("\0"),
                    change.when.iter().chain(&change.places).cloned().collect(),
                )
            },
        )
    })
}

impl Divided<'_, '_> {
    /// The groups of every mode.
    fn ways(&mut self) -> Vec<Way> {
        self.note_inexact();
        self.forgive();
        self.note_unshown();
        let mut ways = Vec::new();
        for mode in self.modes() {
            let groups = self.groups(&mode);
            let least = self.least(&mode, &groups);
            ways.push(Way { mode, groups, least });
        }
        ways
    }

    /// Every region about which the verdicts differ, with how strict they are before and after.
    fn changes(&mut self, ways: &[Way], is_new: bool) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        for Way { mode, groups, least } in ways {
            let own = found.len();
            let has_roles = groups.iter().any(|group| self.bears_roles(mode, group));
            for at in 0..groups.len().max(1) {
                let is_about_roles = groups.get(at).is_none_or(|group| self.bears_roles(mode, group));
                for picks in self.picks(groups, least, at) {
                    // The most harmless call is shown with the arguments that rules look at.
                    if picks == *least && !is_about_roles && has_roles {
                        continue;
                    }
                    let asked = self.asked(mode, groups, &picks);
                    if let Some(pair) = self.judge_both(&asked, is_new) {
                        let places = groups.get(at).zip(picks.get(at));
                        let places = places.map(|(group, picks)| self.places(mode, group, picks));
                        found.push(self.change(mode, &places.unwrap_or_default(), pair, asked));
                    }
                }
            }
            for absences in self.absent_together(mode, groups) {
                let asked = self.asked(mode, groups, &without(least, &absences));
                if let Some(pair) = self.judge_both(&asked, is_new) {
                    let places = self.places_without(mode, groups, &absences);
                    let one = self.change(mode, &places, pair, asked);
                    let mut known = found.iter().skip(own);
                    if !known.any(|known| known.judged() == one.judged()) {
                        found.push(one);
                    }
                }
            }
            found.extend(self.changes_of_form(mode, groups, least, is_new));
        }
        found
    }

    pub(super) fn change(&self, mode: &Mode, places: &[Place], pair: Pair, asked: Asked) -> Found {
        let when = self.when(mode).iter().map(Column::new).collect();
        Found::new(when, places.iter().map(Column::new).collect(), pair, asked)
    }

    fn bears_roles(&self, mode: &Mode, group: &Group) -> bool {
        group
            .slots
            .iter()
            .any(|slot| self.are_valued(self.roles_at(mode, *slot)))
    }

    /// The verdicts, where they differ.
    pub(super) fn judge_both(&mut self, asked: &Asked, is_new: bool) -> Option<Pair> {
        // A tool that the other program does not know is denied there.
        let other = self.analysis.other.as_ref()?;
        let own = self.judge(asked);
        let other = self
            .analysis
            .above
            .judge(other, (&self.tool.server, &self.tool.name), asked);
        differing(match is_new {
            true => [other, own],
            false => [own, other],
        })
    }
}

/// The verdicts, where they differ.
fn differing(pair: Pair) -> Option<Pair> {
    let [before, after] = &pair;
    (before != after).then_some(pair)
}
