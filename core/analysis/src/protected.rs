//! Texts that look like protected paths, and which argument of a tool shows what becomes of them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::choice::Choice;
use super::divided::{Divided, Extra, Group, SlotRoles};
use super::label::Label;
use super::places;
use super::regions::ANY_ARGUMENT;
use super::slots::{self, Accepts, Slot};
use crate::imagined::Imagined;
use callgate_engine::path::PathCase;
use callgate_engine::program::Program;
use callgate_engine::role::RoleSet;
use callgate_engine::text::is_at_or_below;

impl<'e> Divided<'_, 'e> {
    /// Returns `true` if a call with an argument that nobody names is refused or escalates for it.
    fn refuses_others(&self) -> bool {
        !self.tool.member(&self.unnamed).is_known
    }

    /// An argument that may hold a text, and that neither a role nor a condition is about.
    fn text_without_role(&self) -> Option<&'e str> {
        let is_looked_at = |slot: &Slot<'_>| self.is_valued(slot) || !slot.tests.is_empty();
        let mut names = self.tool.member_names();
        names.find(|name| {
            let mut slots = self.slots.iter().filter(|slot| slot.begins_at(name));
            self.accepts(name) != Accepts::Nothing
                && !slots.any(|slot| is_looked_at(slot) || self.is_data(slot))
        })
    }

    /// An argument that the annotation or the schema names, and that may hold a text that looks like a protected path, where others
    /// are refused.
    pub(super) fn known_text(&self) -> Option<Group> {
        let argument = self.text_without_role().filter(|_| self.refuses_others())?;
        let accepts = self.accepts(argument);
        let mut choices = vec![Choice::absent()];
        choices.extend(self.protected_texts().into_iter().map(|choice| Choice {
            value: choice.value.map(|text| slots::as_accepted(accepts, &text)),
            ..choice
        }));
        (choices.len() > 1).then(|| Group {
            slots: Vec::new(),
            choices: vec![choices.into()],
            extra: Some(Extra {
                argument: argument.to_owned(),
                shown: ANY_ARGUMENT,
            }),
        })
    }

    /// The slot that shows what is protected, where every argument that may hold a text is looked at.
    pub(super) fn text_in_place_of_value(&self) -> Option<usize> {
        if !self.refuses_others() || self.text_without_role().is_some() {
            return None;
        }
        let is_meant = |slot: &Slot<'_>| {
            slot.accepts != Accepts::Nothing
                && (self.is_valued(slot) || !slot.tests.is_empty())
                && !self.is_path(self.possible_roles(slot))
                && !self.is_data(slot)
        };
        let slots = self.slots.iter().enumerate().filter(|(_, slot)| is_meant(slot));
        // Of the values that conditions look at, not all may be looked at.
        let found = slots.min_by_key(|(_, slot)| (!slot.tests.is_empty(), !slot.is_top()));
        found.map(|(at, _)| at)
    }

    fn accepts(&self, argument: &str) -> Accepts {
        slots::accepts(self.analysis.imagined.program(), self.tool, argument)
    }

    /// Returns `true` if a judgement may look at a value there for its role.
    fn is_valued(&self, slot: &Slot<'_>) -> bool {
        self.are_valued(self.possible_roles(slot))
    }

    /// Returns `true` if no text there is looked at as a path.
    fn is_data(&self, slot: &Slot<'_>) -> bool {
        self.are_data(self.possible_roles(slot).own)
    }

    /// Returns `true` if no text under the roles is looked at as a path.
    pub(super) fn are_data(&self, roles: RoleSet) -> bool {
        let program = self.analysis.imagined.program();
        program.defaults.looks_by_role
            && roles.intersects(RoleSet::DATA)
            && !roles.intersects(program.resource_roles)
    }

    fn possible_roles(&self, slot: &Slot<'_>) -> SlotRoles {
        SlotRoles {
            own: slot.possible_roles(self.tool).collect(),
            other: RoleSet::default(),
        }
    }

    /// Texts that look like protected paths, which an argument without the role of a path may not hold.
    pub(super) fn protected_texts(&self) -> Vec<Choice> {
        let others = self.others().map(|other| other.imagined.program());
        let programs = std::iter::once(self.analysis.imagined.program()).chain(others);
        let programs: Vec<&Program> = programs.filter(|program| program.heuristic_paths).collect();
        let mut choices = Vec::new();
        for program in &programs {
            let sandbox: Vec<&str> = program.sandbox.iter().map(|path| &**path).collect();
            let patterns = program.protected.patterns.iter();
            let instances =
                patterns.flat_map(|one| places::matching(&one.directory, one.pattern.as_str(), &sandbox));
            let paths = program.protected.paths.iter().map(|one| one.path.to_string());
            let label = || Label::Words("a text that looks like a protected path");
            choices.extend(
                paths
                    .chain(instances.map(|(_, path)| path))
                    .map(|path| Choice::text(path, label())),
            );
            // The sandbox excepts what lies in it by its own letters alone.
            if program.path_case == PathCase::Insensitive {
                let folded = |path: &str| PathCase::Insensitive.fold_text(path).into_owned();
                let is_excepted = |path: &&str| {
                    let mut protected = program.protected.paths.iter();
                    protected.any(|one| is_at_or_below(&folded(path), &folded(&one.path)))
                };
                let excepted = program.sandbox.iter().map(|path| &**path).filter(is_excepted);
                choices
                    .extend(excepted.map(|path| Choice::text(places::other_case(path), in_other_letters())));
            }
        }
        self.add_distinguished(&programs, &mut choices);
        // Most often both programs protect the same.
        let mut seen = BTreeSet::new();
        choices.retain(|choice| {
            let text = choice.value.as_ref().and_then(Value::as_str);
            seen.insert(text.map(str::to_owned))
        });
        choices
    }

    /// Adds texts that look like paths and that one program may protect and another not: those in a sandbox, which excepts from what
    /// is protected, and protected paths in other letters.
    fn add_distinguished(&self, programs: &[&Program], choices: &mut Vec<Choice>) {
        let others: Vec<&Imagined<'_>> = self.others().map(|other| other.imagined).collect();
        if others.is_empty() {
            return;
        }
        let folded = |path: &str| PathCase::Insensitive.fold_text(path).into_owned();
        let is_protected = |path: &str| {
            let mut all = programs.iter().flat_map(|program| &program.protected.paths);
            all.any(|one| is_at_or_below(&folded(path), &folded(&one.path)))
                || self.analysis.imagined.is_matched(path, false, false)
                || others.iter().any(|other| other.is_matched(path, false, false))
        };
        let sandboxes = programs.iter().flat_map(|program| &program.sandbox);
        let excepted = sandboxes.filter(|path| is_protected(path)).map(|path| {
            let label = Label::Words("a text that looks like a path in the sandbox");
            Choice::text(format!("{}/some-file", path.trim_end_matches('/')), label)
        });
        choices.extend(excepted);
        let path_case = self.analysis.imagined.program().path_case;
        if others.iter().any(|other| other.program().path_case != path_case) {
            let texts = choices
                .iter()
                .filter_map(|choice| choice.value.as_ref()?.as_str());
            let others = texts.map(|path| Choice::text(places::other_case(path), in_other_letters()));
            let others: Vec<Choice> = others.collect();
            choices.extend(others);
        }
    }
}

fn in_other_letters() -> Label {
    Label::Words("a text that looks like a protected path in other letters")
}
