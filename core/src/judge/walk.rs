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

/// The roles that the rules are about in one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// The tool's resource roles.
    pub(crate) roles: RoleSet,
    /// Those that the sandbox did not resolve.
    pub(crate) judged: RoleSet,
    /// Every role that bears a value.
    pub(crate) valued: RoleSet,
}

impl View {
    /// Whether a restricting rule with conditions on values is heard in the chain of `role`: it is relevant to
    /// no role of the tool, and names `role`, or no judged role at all.
    fn overhears(&self, role: RoleId, relevant: RoleSet, named: RoleSet) -> bool {
        !relevant.intersects(self.roles) && (named.contains(role) || !named.intersects(self.judged))
    }
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

/// Which rules a walk may leave out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Omit<'g> {
    /// None: an explanation goes through all that are relevant.
    Nothing,
    /// Those that are filed under other keys or directories than the role's values have.
    AllBut {
        /// Every key of the values.
        gates: &'g [Gate],
        /// Every directory that a value lies within, where that is known beforehand.
        directories: Option<&'g [DirectoryId]>,
    },
}

/// Rules in the policy's order: the tool's own few, else merged from the index.
#[derive(Default)]
pub(crate) struct Walk<'p> {
    chain: &'p [RuleId],
    scope: Option<(&'p Program, RoleId, View)>,
    cursors: Vec<Cursor<'p>>,
    heads: BinaryHeap<Reverse<(RuleId, usize)>>,
    /// The cursor whose first rule was given out last.
    popped: Option<usize>,
    last: Option<(RuleId, Capacity)>,
}

impl<'p> Walk<'p> {
    /// The rules that can say anything about `role`.
    pub(crate) fn of_role(
        program: &'p Program,
        tool: &'p Tool,
        role: RoleId,
        view: View,
        omit: Omit<'_>,
    ) -> Self {
        if let Some(chain) = tool.chain(role) {
            return Self {
                chain,
                scope: Some((program, role, view)),
                ..Self::default()
            };
        }
        let mut walk = Self::default();
        for lane in program.lanes(&tool.buckets, role) {
            walk.push(&lane.open, Capacity::Relevant, None);
            match omit {
                Omit::AllBut {
                    directories: Some(directories),
                    ..
                } => {
                    for id in directories {
                        let rules = lane.by_directory.get(id).map(Vec::as_slice).unwrap_or_default();
                        walk.push(rules, Capacity::Relevant, Some(*id));
                    }
                }
                Omit::AllBut {
                    directories: None, ..
                }
                | Omit::Nothing => {
                    for (id, rules) in &lane.by_directory {
                        walk.push(rules, Capacity::Relevant, Some(*id));
                    }
                }
            }
            match omit {
                Omit::AllBut { gates, .. } if lane.by_gate.len() > gates.len() => {
                    for rules in gates.iter().filter_map(|gate| lane.by_gate.get(gate)) {
                        walk.push(rules, Capacity::Relevant, None);
                    }
                }
                Omit::AllBut { .. } | Omit::Nothing => {
                    lane.by_gate
                        .values()
                        .for_each(|rules| walk.push(rules, Capacity::Relevant, None));
                }
            }
        }
        for bucket in program.buckets(tool) {
            for group in &bucket.restricting {
                let valued = || group.needed.iter().all(|roles| roles.intersects(view.valued));
                if view.overhears(role, group.relevant, group.named)
                    && (matches!(omit, Omit::Nothing) || valued())
                {
                    walk.push(&group.rules, Capacity::Overheard, None);
                }
            }
        }
        walk
    }

    /// Every rule for the tool, for a call in which no role is in view.
    pub(crate) fn of_tool(program: &'p Program, tool: &'p Tool) -> Self {
        let mut walk = Self::default();
        for bucket in program.buckets(tool) {
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
        if let Some((program, role, view)) = self.scope {
            return self.next_of_chain(program, role, view);
        }
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

    fn next_of_chain(&mut self, program: &Program, role: RoleId, view: View) -> Option<Candidate> {
        while let Some((first, rest)) = self.chain.split_first() {
            self.chain = rest;
            let Some(rule) = program.rule(*first) else {
                continue;
            };
            let capacity = if rule.relevant.contains(role) {
                Capacity::Relevant
            } else if view.overhears(role, rule.relevant, rule.named) {
                Capacity::Overheard
            } else {
                continue;
            };
            return Some(Candidate {
                rule: *first,
                capacity,
                directory: None,
            });
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
