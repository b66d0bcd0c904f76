//! The regions of one tool's calls, and what the engine says of each.

use std::collections::BTreeMap;

use super::choice::Choice;
use super::divided::{Divided, Extra, Group, Mode, Picks, products};
use super::label::{Label, listed};
use super::slots::{Slot, UNNAMED};
use super::{Part, Place, Region, ToolRegions, coupling};
use crate::bind::Call;
use crate::role::RoleSet;

impl Divided<'_, '_> {
    pub(super) fn regions(mut self) -> ToolRegions {
        self.note_inexact();
        let mut parts = Vec::new();
        for mode in self.modes() {
            let groups = self.groups(&mode);
            let least = self.least(&mode, &groups);
            let reaching = groups.iter().map(|group| self.may_reach(&mode, group));
            let reaching: Vec<bool> = reaching.collect();
            for at in (0..groups.len()).filter(|at| reaching.get(*at) == Some(&true)) {
                parts.push(self.part(&mode, &groups, &least, at));
            }
            if groups.is_empty() && self.analysis.target.is_none() {
                parts.push(self.part(&mode, &groups, &least, 0));
            }
        }
        ToolRegions {
            server_name: self.tool.server.to_string(),
            tool_name: self.tool.name.to_string(),
            parts,
            inexact: self.inexact,
            calls: self.calls,
        }
    }

    /// What is looked at together.
    pub(super) fn groups(&mut self, mode: &Mode) -> Vec<Group> {
        let program = self.analysis.imagined.program();
        let mut groups = Vec::new();
        for members in coupling::groups(program, self.tool, &mode.roles) {
            let (mut slots, mut found) = (Vec::new(), Vec::new());
            for at in members {
                let roles: RoleSet = mode.roles.get(at).into_iter().flatten().copied().collect();
                let is_fixed = mode.fixed.get(at).is_some_and(Option::is_some);
                if roles.intersects(program.valued_roles) && !is_fixed {
                    found.push(self.choices_for(at, roles));
                    slots.push(at);
                }
            }
            if !slots.is_empty() {
                groups.push(Group {
                    slots,
                    choices: found,
                    extra: None,
                });
            }
        }
        groups.extend(self.extras());
        groups
    }

    /// Arguments without a role, as far as anything looks at them.
    fn extras(&self) -> Vec<Group> {
        let program = self.analysis.imagined.program();
        let extra = |extra: Extra, choices: Vec<Choice>| Group {
            slots: Vec::new(),
            choices: vec![choices.into()],
            extra: Some(extra),
        };
        let mut groups = Vec::new();
        let accepts_any = self.tool.member(UNNAMED).is_known;
        if let Some(path) = program
            .protected
            .paths
            .first()
            .filter(|_| program.heuristic_paths && accepts_any)
        {
            let label = Label::Words("a text that looks like a protected path");
            groups.push(extra(
                Extra::Text,
                vec![
                    Choice::text("some-text".to_owned(), Label::Words("any other text")),
                    Choice::text(path.to_string(), label),
                ],
            ));
        }
        if !accepts_any {
            groups.push(extra(
                Extra::Unknown,
                vec![
                    Choice::absent(),
                    Choice::text("some-text".to_owned(), Label::Words("given")),
                ],
            ));
        }
        groups
    }

    fn part(&mut self, mode: &Mode, groups: &[Group], least: &Picks, at: usize) -> Part {
        let mut regions = Vec::new();
        let sizes: Vec<usize> = groups
            .get(at)
            .map(|group| group.choices.iter().map(|choices| choices.len()).collect())
            .unwrap_or_default();
        let room = self.analysis.bounds.calls.saturating_sub(self.calls);
        let all = sizes.iter().copied().try_fold(1, usize::checked_mul);
        let picks: Vec<Vec<usize>> = match all {
            Some(all) if all <= room => products(&sizes, all).collect(),
            Some(_) | None => {
                let names: Vec<String> = groups
                    .get(at)
                    .into_iter()
                    .flat_map(|group| &group.slots)
                    .filter_map(|slot| Some(self.slots.get(*slot)?.name()))
                    .collect();
                self.note(format!(
                    "{} are looked at one by one: their combinations are too many",
                    names.join(", ")
                ));
                let base = least.get(at).cloned().unwrap_or_default();
                one_by_one(&sizes, &base, room)
            }
        };
        for picks in picks {
            let mut whole = least.clone();
            if let Some(own) = whole.get_mut(at) {
                own.clone_from(&picks);
            }
            let arguments = self.arguments(mode, groups, &whole);
            let call = Call::from_value(&self.tool.server, &self.tool.name, &arguments);
            self.calls += 1;
            let verdict = self.analysis.imagined.judge(&call);
            let (decision, rule) = (verdict.decision.as_str(), verdict.rule.to_string());
            regions.push(Region {
                places: groups
                    .get(at)
                    .map(|group| self.places(mode, group, &picks))
                    .unwrap_or_default(),
                decision,
                rule,
                arguments,
            });
        }
        Part {
            when: self.when(mode),
            regions,
        }
    }

    fn places(&self, mode: &Mode, group: &Group, picks: &[usize]) -> Vec<Place> {
        let chosen = group.choices.iter().zip(picks);
        let labels = chosen.filter_map(|(choices, pick)| Some(choices.get(*pick)?.label.to_string()));
        match group.extra {
            None => group
                .slots
                .iter()
                .zip(labels)
                .map(|(slot, is)| self.place(mode, *slot, is))
                .collect(),
            Some(extra) => labels
                .map(|is| Place {
                    argument: match extra {
                        Extra::Text => "any other argument".to_owned(),
                        Extra::Unknown => "an argument that nobody names".to_owned(),
                    },
                    roles: Vec::new(),
                    is,
                })
                .collect(),
        }
    }

    fn place(&self, mode: &Mode, slot: usize, is: String) -> Place {
        let registry = &self.analysis.imagined.program().registry;
        let roles = mode.roles.get(slot).into_iter().flatten();
        Place {
            argument: self.slots.get(slot).map(Slot::name).unwrap_or_default(),
            roles: roles.map(|role| registry.name(*role).to_owned()).collect(),
            is,
        }
    }

    fn when(&self, mode: &Mode) -> Vec<Place> {
        let fixed = mode.fixed.iter().enumerate();
        let fixed: Vec<(usize, &Choice)> = fixed
            .filter_map(|(at, choice)| Some((at, choice.as_ref()?)))
            .collect();
        let mut alike: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (nth, (at, choice)) in fixed.iter().enumerate() {
            let known = alike.entry(*at).or_default();
            known.push(choice.label.to_string());
            for labels in &mode.alike {
                let label = labels.get(nth).map(ToString::to_string);
                known.extend(label.filter(|label| !known.contains(label)));
            }
        }
        alike
            .into_iter()
            .map(|(at, labels)| self.place(mode, at, listed(&labels, " or ")))
            .collect()
    }
}

/// The base, with each place in turn changed to every other choice.
fn one_by_one(sizes: &[usize], base: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        for pick in 0..*size {
            let mut picks = base.to_vec();
            if let Some(own) = picks.get_mut(at) {
                *own = pick;
            }
            found.push(picks);
        }
    }
    found.truncate(most);
    found
}
