//! Which of a call's arguments a caller must hand over.

use crate::model::{Effect, Roles};
use crate::program::{Program, Tool};
use crate::role::RoleSet;
use crate::sort;

/// The parts of one tool's arguments that a judgement may look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interest<'e> {
    /// The members that the annotation names, each once and sorted, and whether their values may matter.
    pub members: Vec<(&'e str, bool)>,
    /// `true` if the values of all other members may matter too.
    pub others: bool,
    /// `true` if strings that start with `/`, `.` or `~`, and such items of arrays, of any depth, matter under any name.
    pub path_like: bool,
}

impl<'e> Interest<'e> {
    /// For calls of the tool. If it is not annotated, only what looks like a path matters.
    pub(super) fn new(program: &'e Program, tool: Option<&'e Tool>) -> Self {
        let mut interest = Self {
            members: Vec::new(),
            others: false,
            path_like: program.heuristic_paths,
        };
        if let Some(tool) = tool {
            interest.add(tool, program);
        }
        interest
    }

    fn add(&mut self, tool: &'e Tool, program: &Program) {
        // A rule that allows has to look at what no annotation names.
        self.others |= tool.unjudged.is_some_and(|effect| effect != Effect::Allow);
        for argument in &tool.arguments {
            let possible: RoleSet = argument.roles.possible().collect();
            // Of texts in an array it then matters which item they are.
            let is_within = program.heuristic_paths && !argument.name.rest().is_empty();
            let matters = possible.intersects(program.valued_roles) || is_within;
            match argument.name.first() {
                Some(name) => self.members.push((name, matters)),
                None => self.others |= matters,
            }
            if let Roles::Conditional { when, .. } = &argument.roles {
                let seen = when.iter().filter_map(|clause| clause.condition.argument.first());
                self.members.extend(seen.map(|name| (name, true)));
            }
            // Git remotes are looked up in the repository that the member `path` names, whatever its roles.
            if possible.intersects(program.url_roles) {
                self.members.push(("path", true));
            }
        }
        self.members
            .extend(tool.conditioned.keys().map(|(name, _)| (name, true)));
        for name in tool.ceiling.names() {
            match name.first() {
                Some(name) => self.members.push((name, true)),
                None => self.others = true,
            }
        }
        for (alias, key) in &tool.semantics.arg_schema.arg_aliases {
            let matters = self.others || self.members.contains(&(&**key, true));
            self.members.push((alias, matters));
        }
        sort::sort_by(&mut self.members, |one, other| {
            (one.0, !one.1).cmp(&(other.0, !other.1))
        });
        self.members.dedup_by_key(|(name, _)| *name);
    }
}
