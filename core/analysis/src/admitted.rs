//! Paths that the patterns of a capability ceiling admit, one for each place in which they admit any.

use serde_json::Value;

use super::ceilings::{beginning, constraints, workspace};
use super::choice::Choice;
use super::divided::{Divided, SlotRoles};
use super::label::Label;
use super::places;
use super::slots::Slot;
use crate::imagined::Imagined;
use callgate_engine::program::ArgumentConstraint;
use callgate_engine::role::RoleSet;
use callgate_engine::text::{is_at_or_below, strip_directory};

/// The reason why an argument that a ceiling's patterns constrain is not divided exactly.
pub(super) const ADMITTED: &str = "which values the capability ceiling's patterns admit for";

impl Divided<'_, '_> {
    /// Adds paths that the ceiling admits to those of an argument that its patterns are about, where it refuses the known ones.
    pub(super) fn add_admitted(&mut self, slot: usize, roles: SlotRoles, choices: &mut Vec<Choice>) {
        let program = self.analysis.imagined.program();
        let Some(name) = self.slots.get(slot).map(Slot::name) else {
            return;
        };
        let constraints: Vec<&ArgumentConstraint> = constraints(program, self.tool)
            .into_iter()
            .filter(|(nth, _)| self.is_about(*nth, slot))
            .map(|(_, constraint)| constraint)
            .collect();
        if constraints.is_empty() {
            return;
        }
        if roles.own.intersection(program.resource_roles) != roles.own.intersection(program.path_roles) {
            self.note(format!("{ADMITTED} `{name}`"));
            return;
        }
        let atoms = self.atoms(roles);
        let mut added = Vec::new();
        for choice in &*choices {
            let text = choice.value.as_ref().and_then(Value::as_str);
            let (Label::Under(directory, _), Some(text)) = (&choice.label, text) else {
                continue;
            };
            let imagined = &self.analysis.imagined;
            if self.admits(&constraints, text)
                || !constraints.iter().all(|one| reaches(imagined, one, directory))
            {
                continue;
            }
            let each = constraints
                .iter()
                .flat_map(|one| one.patterns.iter().map(move |pattern| (*one, pattern)));
            let tried = each.flat_map(|(constraint, pattern)| {
                let (begin, rest) = beginning(program, constraint, pattern);
                let mut begins = imagined.forms(&begin).into_all();
                let paths = begins.find_map(|begin| instances(directory, &begin, &rest));
                let shown = pattern.text.as_str();
                paths.into_iter().flatten().map(move |path| (path, shown))
            });
            let itself = (!atoms.kinds.is_removed).then(|| (directory.clone(), "it"));
            let mut right = tried.chain(itself).filter(|(path, _)| {
                places::lies_right_in(&atoms, path, directory)
                    && !imagined.is_matched(path, atoms.kinds.is_removed, !atoms.kinds.is_changed)
                    && self.admits(&constraints, path)
            });
            added.push(right.next().map(|(path, pattern)| {
                Choice::text(path, Label::Matches(directory.clone(), pattern.to_owned()))
            }));
        }
        if added.iter().any(Option::is_none) {
            self.note(format!("{ADMITTED} `{name}`"));
        }
        choices.extend(added.into_iter().flatten());
    }

    /// Notes what patterns of the ceiling are about and values do not stand for: arguments that are not paths.
    pub(super) fn note_constrained(&mut self) {
        let program = self.analysis.imagined.program();
        let mut odd = Vec::new();
        for (nth, _) in constraints(program, self.tool) {
            for (slot, own) in self
                .slots
                .iter()
                .enumerate()
                .filter(|(slot, _)| self.is_about(nth, *slot))
            {
                let argument = own.argument.and_then(|at| self.tool.arguments.get(at));
                let roles = argument.into_iter().flat_map(|one| one.roles.possible());
                let roles: RoleSet = roles.collect();
                let is_path = roles.intersects(program.path_roles);
                let is_valued = roles.intersects(program.valued_roles);
                let is_looked_at = !own.tests.is_empty() || own.is_required || is_valued;
                if !is_path && is_looked_at || is_path && !own.tests.is_empty() || !own.is_top() {
                    odd.push(slot);
                }
            }
            for name in self
                .tool
                .ceiling
                .constraints
                .get(nth)
                .into_iter()
                .flat_map(|(_, of)| of.names())
            {
                let mut required = self.tool.semantics.arg_schema.required.iter();
                let has_slot = self.slots.iter().any(|slot| slot.name() == name.to_string());
                if !has_slot && (!name.rest().is_empty() || required.any(|key| name.first() == Some(key))) {
                    self.inexact.push(format!("{ADMITTED} `{name}`"));
                }
            }
        }
        for slot in odd {
            let name = self.slots.get(slot).map(Slot::name).unwrap_or_default();
            self.note(format!("{ADMITTED} `{name}`"));
        }
    }

    /// Returns `true` if a constraint looks at the slot.
    fn is_about(&self, nth: usize, slot: usize) -> bool {
        let looked_at = self
            .tool
            .ceiling
            .constraints
            .get(nth)
            .map(|(_, looked_at)| looked_at.names());
        let Some(own) = self.slots.get(slot).map(Slot::name) else {
            return false;
        };
        looked_at
            .unwrap_or_default()
            .iter()
            .any(|name| name.to_string() == own)
    }

    /// Returns `true` if every constraint has a pattern that holds for the path as it is written and for what it stands for.
    fn admits(&self, constraints: &[&ArgumentConstraint], path: &str) -> bool {
        let imagined = &self.analysis.imagined;
        let program = imagined.program();
        let (home, canonical) = (imagined.forms(&program.home), imagined.forms(path));
        constraints.iter().all(|constraint| {
            let written = workspace(program, constraint);
            let meant = imagined.forms(written);
            let lexical = [Some((written, written)), Some((&*program.home, &*program.home))];
            let known = [
                Some((written, meant.meant())),
                Some((&*program.home, home.meant())),
            ];
            let mut patterns = constraint.patterns.iter();
            patterns.any(|pattern| pattern.holds(path, lexical) && pattern.holds(canonical.meant(), known))
        })
    }
}

/// Returns `true` if a pattern may match something in the directory.
fn reaches(imagined: &Imagined<'_>, constraint: &ArgumentConstraint, directory: &str) -> bool {
    constraint.patterns.iter().any(|pattern| {
        let (begin, _) = beginning(imagined.program(), constraint, pattern);
        let mut begins = imagined.forms(&begin).into_all();
        begins.any(|begin| is_at_or_below(directory, &begin))
    })
}

/// Paths in the directory that the rest of a pattern, which begins at `begin`, may match.
fn instances(directory: &str, begin: &str, pattern: &str) -> Option<Vec<String>> {
    let given: Vec<&str> = strip_directory(directory, begin)?
        .split('/')
        .filter(|name| !name.is_empty())
        .collect();
    let names: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty()).collect();
    let mut found = Vec::new();
    // `**` stands for the names of the directory, or for some more.
    for more in [&[][..], &["some-file"], &["x", "some-file"]] {
        let mut path = begin.trim_end_matches('/').to_owned();
        let mut left = given.iter();
        for name in &names {
            let mut push = |name: &str| {
                path.push('/');
                path.push_str(name);
            };
            if *name == "**" {
                left.by_ref().for_each(|name| push(name));
                more.iter().for_each(|name| push(name));
            } else if let Some(known) = left.next() {
                push(known);
            } else {
                push(&written_out(name));
            }
        }
        found.push(path);
    }
    Some(found)
}

/// A name that a pattern for names may match.
fn written_out(pattern: &str) -> String {
    let mut found = String::new();
    let mut rest = pattern.chars();
    while let Some(one) = rest.next() {
        match one {
            '*' => found.push_str("some"),
            '?' => found.push('s'),
            '\\' => found.extend(rest.next()),
            '[' => {
                found.extend(rest.next());
                rest.by_ref().find(|one| *one == ']');
            }
            '{' => {
                let inside: String = rest.by_ref().take_while(|one| *one != '}').collect();
                found.push_str(&written_out(inside.split(',').next().unwrap_or_default()));
            }
            other => found.push(other),
        }
    }
    found
}
