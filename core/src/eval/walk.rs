//! Going through the rules of one tool and role in the policy's order, without those that cannot match.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::program::{DirectoryId, Gate, Program, RuleId, Tool};
use crate::role::{RoleId, RoleSet};

/// In which capacity a rule comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capacity {
    /// It is relevant to the judged role.
    Relevant,
    /// It restricts, and is relevant to no judged role.
    Overheard,
}

/// A rule that comes up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) rule: RuleId,
    pub(crate) capacity: Capacity,
    /// The directory that it and the rules filed with it ask about.
    pub(crate) directory: Option<DirectoryId>,
}

struct Cursor<'p> {
    rules: &'p [RuleId],
    capacity: Capacity,
    directory: Option<DirectoryId>,
}

/// Rules in the policy's order, merged from the index.
#[derive(Default)]
pub(crate) struct Walk<'p> {
    cursors: Vec<Cursor<'p>>,
    heads: BinaryHeap<Reverse<(RuleId, usize)>>,
    /// The cursor whose first rule was given out last.
    popped: Option<usize>,
    last: Option<(RuleId, Capacity)>,
}

impl<'p> Walk<'p> {
    /// The rules that can say anything about `role`.
    ///
    /// `roles` are the tool's resource roles, `judged` those of them that are judged in this call. `gates` are the keys of the role's values; with
    /// `None` no rule is left out for them, as an explanation wants it.
    pub(crate) fn of_role(
        program: &'p Program,
        tool: &'p Tool,
        role: RoleId,
        roles: RoleSet,
        judged: RoleSet,
        gates: Option<&[Gate]>,
    ) -> Self {
        let mut walk = Self::default();
        for lane in program.lanes(&tool.buckets, role) {
            walk.push(&lane.open, Capacity::Relevant, None);
            for (directory, rules) in &lane.by_directory {
                walk.push(rules, Capacity::Relevant, Some(*directory));
            }
            match gates {
                Some(gates) if lane.by_gate.len() > gates.len() => {
                    for rules in gates.iter().filter_map(|gate| lane.by_gate.get(gate)) {
                        walk.push(rules, Capacity::Relevant, None);
                    }
                }
                Some(_) | None => lane
                    .by_gate
                    .values()
                    .for_each(|rules| walk.push(rules, Capacity::Relevant, None)),
            }
        }
        for at in &tool.buckets {
            let Some(bucket) = program.index.buckets.get(*at) else {
                continue;
            };
            for (relevant, named, rules) in &bucket.restricting {
                let concerns = named.contains(role) || !named.intersects(judged);
                if !relevant.intersects(roles) && concerns {
                    walk.push(rules, Capacity::Overheard, None);
                }
            }
        }
        walk
    }

    /// Every rule for the tool, for a call in which no role is in view.
    pub(crate) fn of_tool(program: &'p Program, tool: &'p Tool) -> Self {
        let mut walk = Self::default();
        for bucket in tool
            .buckets
            .iter()
            .filter_map(|at| program.index.buckets.get(*at))
        {
            walk.push(&bucket.all, Capacity::Relevant, None);
        }
        walk
    }

    fn push(&mut self, rules: &'p [RuleId], capacity: Capacity, directory: Option<DirectoryId>) {
        if let Some(first) = rules.first() {
            self.heads.push(Reverse((*first, self.cursors.len())));
            self.cursors.push(Cursor {
                rules,
                capacity,
                directory,
            });
        }
    }

    /// The next rule in order, each once.
    pub(crate) fn next(&mut self) -> Option<Candidate> {
        self.advance();
        while let Some(Reverse((rule, at))) = self.heads.pop() {
            self.popped = Some(at);
            let Some(cursor) = self.cursors.get(at) else {
                continue;
            };
            let (capacity, directory) = (cursor.capacity, cursor.directory);
            if self.last.replace((rule, capacity)) != Some((rule, capacity)) {
                return Some(Candidate {
                    rule,
                    capacity,
                    directory,
                });
            }
            self.advance();
        }
        None
    }

    /// Leaves out the other rules of the last candidate's directory: no value lies within it.
    pub(crate) fn drop_directory(&mut self) {
        self.popped = None;
    }

    fn advance(&mut self) {
        let Some(at) = self.popped.take() else { return };
        let Some(cursor) = self.cursors.get_mut(at) else {
            return;
        };
        cursor.rules = cursor.rules.get(1..).unwrap_or_default();
        if let Some(next) = cursor.rules.first() {
            self.heads.push(Reverse((*next, at)));
        }
    }
}
