//! The regions of one tool's calls, and what the engine says of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::choice::Choice;
use super::divided::{Divided, Extra, Group, Mode, Picks, one_by_one, products};
use super::inexact::hide_nothing;
use super::label::{Label, listed};
use super::rows::is_about_form;
use super::slots::{Accepts, Slot};
use super::{Part, Place, Region, ToolRegions, coupling};
use callgate_engine::judge::Decision;
use callgate_engine::model::Reach;
use callgate_engine::program::{Program, Tool, UnknownArguments};
use callgate_engine::role::RoleId;

/// How arguments are shown that no role is about.
pub(super) const ANY_ARGUMENT: &str = "any other argument";

/// A part, and what tells its regions apart.
pub(super) struct Cut {
    /// The arguments.
    pub(super) slots: Vec<usize>,
    /// `true` if an argument without a role does.
    pub(super) has_extra: bool,
    /// `true` if every call of the part lies in one of its regions.
    pub(super) is_whole: bool,
    pub(super) part: Part,
}

impl Divided<'_, '_> {
    pub(super) fn regions(mut self) -> ToolRegions {
        let parts = self.cuts().into_iter().map(|cut| cut.part).collect();
        ToolRegions {
            server_name: self.tool.server.to_string(),
            tool_name: self.tool.name.to_string(),
            parts,
            reads_below: self.reads_below(),
            inexact: self.inexact,
            calls: self.calls,
        }
    }

    /// The arguments under which a tool reads a whole tree. Only the directory that one names is held against protected paths.
    fn reads_below(&self) -> Vec<String> {
        let program = self.analysis.imagined.program();
        if program.protected.may_be_read() {
            return Vec::new();
        }
        let arguments = self.tool.arguments.iter();
        let reading = arguments.filter(|argument| {
            let roles = argument.roles.possible();
            let mut of_paths = roles.filter(|role| program.path_roles.contains(*role)).peekable();
            argument.reach == Some(Reach::Tree)
                && of_paths.peek().is_some()
                && of_paths.all(|role| role == RoleId::READ_PATH)
        });
        reading.map(|argument| argument.name.to_string()).collect()
    }

    /// Every part. What is absent together comes last.
    pub(super) fn cuts(&mut self) -> Vec<Cut> {
        self.note_inexact();
        let (mut parts, mut together) = (Vec::new(), Vec::new());
        for mode in self.modes() {
            let groups = self.groups(&mode);
            let least = self.least(&mode, &groups);
            let reaching = groups.iter().map(|group| self.may_reach(&mode, group));
            let reaching: Vec<bool> = reaching.collect();
            for at in (0..groups.len()).filter(|at| reaching.get(*at) == Some(&true)) {
                parts.push(self.part(&mode, &groups, &least, at));
            }
            if self.analysis.target.is_some() {
                if self.is_reached(&mode) {
                    parts.push(self.part(&mode, &groups, &least, groups.len()));
                }
                continue;
            }
            if groups.is_empty() {
                parts.push(self.part(&mode, &groups, &least, 0));
            }
            together.extend(self.parts_without(&mode, &groups, &least));
        }
        parts.extend(together);
        parts
    }

    /// Returns `true` if the division is exact and every region is denied. It ends at the first that is not. Calls that are all refused
    /// for their form say nothing: a tool may want what the analysis does not give it.
    pub(super) fn denies_all(mut self) -> bool {
        self.note_inexact();
        if !hide_nothing(&self.inexact) {
            return false;
        }
        for mode in self.modes() {
            let groups = self.groups(&mode);
            let least = self.least(&mode, &groups);
            let mut is_well_formed = false;
            for at in 0..groups.len().max(1) {
                for picks in self.picks(&groups, &least, at) {
                    let asked = self.asked(&mode, &groups, &picks);
                    let (_, judged) = self.judge(&asked);
                    if judged.decision != Decision::Deny.as_str() {
                        return false;
                    }
                    is_well_formed |= !is_about_form(&judged.rule);
                }
            }
            // Without any value of a role other rules decide.
            for absences in self.absent_together(&mode, &groups) {
                let (region, _) = self.region_without(&mode, &groups, &least, &absences);
                if region.decision != Decision::Deny.as_str() {
                    return false;
                }
            }
            if !is_well_formed {
                return false;
            }
        }
        // Bounds may have been met on the way.
        hide_nothing(&self.inexact)
    }

    /// The groups of arguments that are looked at together.
    pub(super) fn groups(&mut self, mode: &Mode) -> Vec<Group> {
        let mut groups = Vec::new();
        for members in self.coupled(mode) {
            let (mut slots, mut found) = (Vec::new(), Vec::new());
            for at in &members {
                let at = *at;
                let roles = self.roles_at(mode, at);
                let is_fixed = mode.fixed.get(at).is_some_and(Option::is_some);
                if self.are_valued(roles) && !is_fixed {
                    found.push(self.choices_for(at, roles));
                    slots.push(at);
                }
            }
            if let Some(context) = self.context
                && members.iter().any(|at| self.bears_address(mode, *at))
            {
                let contexts = self.contexts(mode);
                if contexts.len() > 1 {
                    found.push(contexts);
                    slots.push(context);
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
        groups.extend(self.extra());
        let compared = self.other.and_then(|_| self.without_role(mode));
        groups.extend(compared.or_else(|| self.known_text()));
        groups
    }

    /// Slots in groups that are judged apart, in both programs.
    fn coupled(&self, mode: &Mode) -> Vec<Vec<usize>> {
        let mut sets = coupling::groups(self.analysis.imagined.program(), self.tool, &mode.roles);
        for layer in &self.layers {
            sets.extend(coupling::groups(
                layer.imagined.program(),
                layer.tool,
                &mode.roles,
            ));
        }
        if let Some(other) = &self.other {
            let slot_of = |at: usize| self.slots.iter().position(|slot| slot.other == Some(at));
            let found = coupling::groups(other.imagined.program(), other.tool, &mode.other);
            sets.extend(
                found
                    .into_iter()
                    .map(|set| set.into_iter().filter_map(slot_of).collect()),
            );
        }
        // One context counts for all addresses of a call.
        sets.push(
            (0..self.slots.len())
                .filter(|at| self.bears_address(mode, *at))
                .collect(),
        );
        coupling::joined(sets, self.slots.len())
    }

    /// An annotated argument whose values no judgement looks at, unless they look like protected paths.
    fn without_role(&self, mode: &Mode) -> Option<Group> {
        let is_meant = |at: &usize| {
            let is_fixed = mode.fixed.get(*at).is_some_and(Option::is_some);
            let slot = self.slots.get(*at);
            let accepts = slot.is_some_and(|slot| matches!(slot.accepts, Accepts::Either | Accepts::Text));
            let roles = self.roles_at(mode, *at);
            accepts && !is_fixed && !self.are_valued(roles) && !self.are_data(roles.own)
        };
        let slot = (0..self.slots.len()).find(is_meant)?;
        let mut choices = vec![Choice::text(
            "some-text".to_owned(),
            Label::Words("any other text"),
        )];
        choices.extend(self.protected_texts());
        (choices.len() > 1).then(|| Group {
            slots: vec![slot],
            choices: vec![choices.into()],
            extra: None,
        })
    }

    /// An argument that no document names, as far as anything looks at it.
    fn extra(&self) -> Option<Group> {
        let program = self.analysis.imagined.program();
        let others = self.others().map(|other| (other.imagined.program(), other.tool));
        let sides: Vec<_> = std::iter::once((program, self.tool)).chain(others).collect();
        let mut choices = vec![Choice::absent()];
        // Rules decide about an introspection tool only where it is given arguments.
        let counts = |(program, tool): (&Program, &Tool)| {
            !tool.member(&self.unnamed).is_known || program.server(&tool.server).is_introspection(&tool.name)
        };
        if sides.iter().copied().any(counts) {
            choices.push(Choice::text("some-text".to_owned(), Label::Words("given")));
        }
        // What is known nobody asks about; what escalates is denied where it is protected.
        let mut is_let_through = sides.iter().map(|(program, tool)| {
            tool.member(&self.unnamed).is_known || program.unknown_arguments == UnknownArguments::Escalate
        });
        if is_let_through.any(|is_let_through| is_let_through) {
            choices.extend(self.protected_texts());
        }
        (choices.len() > 1).then(|| Group {
            slots: Vec::new(),
            choices: vec![choices.into()],
            extra: Some(Extra {
                argument: self.unnamed.clone(),
                shown: match self.tool.member(&self.unnamed).is_known {
                    true => ANY_ARGUMENT,
                    false => "an argument that nobody names",
                },
            }),
        })
    }

    pub(super) fn part(&mut self, mode: &Mode, groups: &[Group], least: &Picks, at: usize) -> Cut {
        let group = groups.get(at);
        let shown = groups.get(at).map(|group| self.each_place(mode, group));
        let shown = shown.unwrap_or_default();
        let mut regions = Vec::new();
        for picks in self.picks(groups, least, at) {
            let asked = self.asked(mode, groups, &picks);
            let (_, judged) = self.judge(&asked);
            let own = picks.get(at).into_iter().flatten();
            let places = shown
                .iter()
                .zip(own)
                .filter_map(|(places, pick)| places.get(*pick).cloned());
            regions.push(Region::new(places.collect(), judged, asked));
        }
        Cut {
            slots: group.map(|group| group.slots.clone()).unwrap_or_default(),
            has_extra: group.is_some_and(|group| group.extra.is_some()),
            is_whole: true,
            part: Part {
                when: self.when(mode),
                regions,
            },
        }
    }

    /// The place of each choice of each argument of the group, which many regions share.
    fn each_place(&self, mode: &Mode, group: &Group) -> Vec<Vec<Arc<Place>>> {
        let mut picks = vec![0; group.choices.len()];
        let mut shown = Vec::with_capacity(group.choices.len());
        for (nth, choices) in group.choices.iter().enumerate() {
            let mut places = Vec::with_capacity(choices.len());
            for pick in 0..choices.len() {
                if let Some(own) = picks.get_mut(nth) {
                    *own = pick;
                }
                let place = self.places(mode, group, &picks).into_iter().nth(nth);
                places.extend(place.map(Arc::new));
            }
            if let Some(own) = picks.get_mut(nth) {
                *own = 0;
            }
            shown.push(places);
        }
        shown
    }

    /// Every combination of the values of one group, with the most harmless ones of the others.
    pub(super) fn picks(&mut self, groups: &[Group], least: &Picks, at: usize) -> Vec<Picks> {
        let Some(group) = groups.get(at) else {
            return vec![least.clone()];
        };
        let sizes: Vec<usize> = group.choices.iter().map(|choices| choices.len()).collect();
        let room = self.analysis.bounds.calls.saturating_sub(self.calls);
        let all = sizes.iter().copied().try_fold(1, usize::checked_mul);
        let own: Vec<Vec<usize>> = match all {
            Some(all) if all <= room => products(&sizes, all).collect(),
            Some(_) | None => {
                let names = group
                    .slots
                    .iter()
                    .filter_map(|slot| Some(self.slots.get(*slot)?.name()));
                let names: Vec<String> = names.collect();
                let names = match names.as_slice() {
                    [] => "other arguments".to_owned(),
                    names => names.join(", "),
                };
                if let Some(few) = few_pairs(group, room) {
                    self.note_cut(format!("several values of more than one of {names} at once"));
                    return few.into_iter().map(|picks| with(least, at, picks)).collect();
                }
                self.note_cut(format!(
                    "{names} are looked at one by one: their combinations are too many"
                ));
                let base = least.get(at).cloned().unwrap_or_default();
                one_by_one(&sizes, &base, room)
            }
        };
        own.into_iter().map(|picks| with(least, at, picks)).collect()
    }

    pub(super) fn places(&self, mode: &Mode, group: &Group, picks: &[usize]) -> Vec<Place> {
        let chosen = group.choices.iter().zip(picks);
        let labels = chosen.filter_map(|(choices, pick)| Some(&choices.get(*pick)?.label));
        match &group.extra {
            None => group
                .slots
                .iter()
                .zip(labels)
                .map(|(slot, label)| Place {
                    within: label.directory().map(str::to_owned),
                    ..self.place(mode, *slot, label.to_string())
                })
                .collect(),
            Some(extra) => labels
                .map(|label| Place {
                    argument: extra.shown.to_owned(),
                    roles: Vec::new(),
                    is: label.to_string(),
                    within: None,
                })
                .collect(),
        }
    }

    pub(super) fn place(&self, mode: &Mode, slot: usize, is: String) -> Place {
        let registry = &self.analysis.imagined.program().registry;
        let roles = mode.roles.get(slot).into_iter().flatten();
        Place {
            argument: self.slots.get(slot).map(Slot::name).unwrap_or_default(),
            roles: roles.map(|role| registry.name(*role).to_owned()).collect(),
            is,
            within: None,
        }
    }

    pub(super) fn when(&self, mode: &Mode) -> Vec<Place> {
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

/// Every combination in which at most one argument has two values at once, if there are some and not more than `most`.
fn few_pairs(group: &Group, most: usize) -> Option<Vec<Vec<usize>>> {
    let of_kind = |is_pair: bool| {
        let each = group.choices.iter().map(move |choices| {
            let all = choices.iter().enumerate();
            let wanted = all.filter(|(_, choice)| choice.is_pair() == is_pair);
            wanted.map(|(pick, _)| pick).collect::<Vec<usize>>()
        });
        each.collect::<Vec<Vec<usize>>>()
    };
    let (single, pairs) = (of_kind(false), of_kind(true));
    if pairs.iter().all(Vec::is_empty) {
        return None;
    }
    let with_pairs = pairs.iter().enumerate().filter(|(_, own)| !own.is_empty());
    let with_pairs = with_pairs.map(|(at, own)| {
        let mut all = single.clone();
        if let Some(place) = all.get_mut(at) {
            place.clone_from(own);
        }
        all
    });
    let mut found = Vec::new();
    for all in std::iter::once(single.clone()).chain(with_pairs) {
        let sizes: Vec<usize> = all.iter().map(Vec::len).collect();
        let room = most - found.len();
        let own = products(&sizes, room.saturating_add(1)).map(|picks| {
            let each = all.iter().zip(picks);
            each.map(|(choices, pick)| choices.get(pick).copied().unwrap_or_default())
                .collect()
        });
        found.extend(own);
        if found.len() > most {
            return None;
        }
    }
    Some(found)
}

/// The most harmless choices, but these of one group.
fn with(least: &Picks, at: usize, picks: Vec<usize>) -> Picks {
    let mut whole = least.clone();
    if let Some(own) = whole.get_mut(at) {
        *own = picks;
    }
    whole
}
