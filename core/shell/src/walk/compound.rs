//! Compound commands.

use super::Walk;
use super::state::{Flow, State, Variable};
use crate::fault::Place;
use crate::reading::{Assignment, Shells, Value};
use crate::syntax::tree::{Compound, List, Node, Simple, Word};

impl<'s> Walk<'s> {
    pub(super) fn compound(&mut self, compound: &'s Compound, state: &State) -> Flow {
        match compound {
            Compound::Group(list) => self.list(list, state),
            Compound::Subshell(list) => {
                self.inside(|within| within.subshell = true, |walk| walk.list(list, state));
                Flow::both(state)
            }
            Compound::If(branches, otherwise) => self.branches(branches, otherwise.as_ref(), state),
            Compound::For(name, words, list) => self.turns(name, words.as_deref(), list, state),
            Compound::Loop(condition, list) => {
                let state = self.after_turns(&[condition, list], state);
                let flow = self.inside(
                    |within| within.repeated = true,
                    |walk| walk.list(condition, &state),
                );
                let entry = flow.any().unwrap_or_else(|| state.clone());
                self.inside(
                    |within| {
                        within.repeated = true;
                        within.conditional = true;
                    },
                    |walk| walk.list(list, &entry),
                );
                Flow::both(&state)
            }
            Compound::Case(subject, arms) => {
                self.substitutions([subject], state);
                let mut out = Some(state.clone());
                for (patterns, list) in arms {
                    self.substitutions(patterns, state);
                    let flow = self.inside(|within| within.conditional = true, |walk| walk.list(list, state));
                    out = State::merge(out, flow.any());
                }
                Flow {
                    success: out.clone(),
                    failure: out,
                }
            }
        }
    }

    fn branches(&mut self, branches: &'s [(List, List)], otherwise: Option<&'s List>, state: &State) -> Flow {
        let mut out = Flow::default();
        let mut entry = Some(state.clone());
        for (condition, list) in branches {
            let now = entry.unwrap_or_else(|| state.clone());
            let flow = self.list(condition, &now);
            let inner = flow.success.clone().unwrap_or_else(|| now.clone());
            let then = self.inside(|within| within.conditional = true, |walk| walk.list(list, &inner));
            if flow.success.is_some() {
                out = either(out, then);
            }
            entry = flow.failure;
        }
        match (otherwise, entry) {
            (Some(list), entry) => {
                let now = entry.unwrap_or_else(|| state.clone());
                let last = self.inside(|within| within.conditional = true, |walk| walk.list(list, &now));
                either(out, last)
            }
            (None, Some(entry)) => either(out, Flow::both(&entry)),
            (None, None) => out,
        }
    }

    fn turns(&mut self, name: &str, words: Option<&'s [Word]>, list: &'s List, state: &State) -> Flow {
        let mut values = Vec::new();
        let mut is_exact = words.is_some();
        for word in words.unwrap_or_default() {
            self.substitutions([word], state);
            let found = self.fields(word, state, Shells::All);
            is_exact &= !self.is_read_differently(word) && found.iter().all(|value| value.exact().is_some());
            values.extend(found);
        }
        let place = words
            .and_then(|words| words.first())
            .map_or(Place::default(), |word| word.place);
        let unknown = Value::Unknown {
            before: String::new(),
            is_many: true,
            is_number: false,
        };
        if words.is_none() {
            values.push(unknown.clone());
        }
        self.name(place, name);
        let assignments = vec![Assignment {
            name: name.to_owned(),
            value: unknown,
            place,
            is_exported: false,
        }];
        self.emit(place, state, Shells::All, assignments, Vec::new(), Vec::new());
        let leaves = may_leave(list);
        let mut state = if is_exact && !leaves {
            state.clone()
        } else {
            self.after_turns(&[list], state)
        };
        if words.is_some_and(|words| words.iter().any(|word| self.is_read_differently(word))) {
            // dash takes one turn with the word as it is written.
            for word in words.unwrap_or_default() {
                for value in self.fields(word, &state, Shells::Dash) {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
            }
        }
        for value in values {
            if self.is_full() {
                self.fault(place, crate::fault::Construct::Limit(super::FULL));
                break;
            }
            let mut entry = state.clone();
            entry.set(name, &value);
            let flow = self.inside(|within| within.repeated = true, |walk| walk.list(list, &entry));
            let after = if is_exact && !leaves {
                flow.any().unwrap_or(entry)
            } else {
                State::merge(flow.any(), Some(entry)).unwrap_or_else(|| state.clone())
            };
            state = if is_exact && !leaves {
                after
            } else {
                State::merge(Some(state.clone()), Some(after)).unwrap_or(state)
            };
        }
        Flow::both(&state)
    }

    /// What a loop may change before it runs its commands again, and after it.
    fn after_turns(&self, lists: &[&'s List], state: &State) -> State {
        let mut nodes = Vec::new();
        for list in lists {
            super::fields::each_of(list, &mut |simple| nodes.push(simple));
        }
        // Twice: a value may depend on one that a later command changes.
        let once = self.havoc(&nodes, state);
        let mut state = self.havoc(&nodes, &once);
        for name in lists.iter().flat_map(|list| loop_names(list)) {
            if !matches!(state.variable(&name), Some(Variable::Unknown)) {
                state.forget(&name);
            }
        }
        state
    }
}

fn either(one: Flow, other: Flow) -> Flow {
    Flow {
        success: State::merge(one.success, other.success),
        failure: State::merge(one.failure, other.failure),
    }
}

/// Returns `true` if something in it may leave a loop early.
fn may_leave(list: &List) -> bool {
    let mut leaves = false;
    super::fields::each_of(list, &mut |simple: &Simple| {
        let program = simple.words.first().and_then(Word::bare);
        leaves |= matches!(program, Some("break" | "continue") | None) && !simple.words.is_empty();
    });
    leaves
}

/// The variables of the loops in it.
fn loop_names(list: &List) -> Vec<String> {
    let mut names = Vec::new();
    for item in &list.items {
        let pipelines = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, one)| one));
        for node in pipelines.flat_map(|pipeline| &pipeline.stages) {
            let Node::Compound(compound, ..) = node else {
                continue;
            };
            match compound {
                Compound::For(name, _, list) => {
                    names.push(name.clone());
                    names.extend(loop_names(list));
                }
                Compound::Subshell(list) | Compound::Group(list) => names.extend(loop_names(list)),
                Compound::If(branches, otherwise) => {
                    names.extend(
                        branches
                            .iter()
                            .flat_map(|(one, other)| [loop_names(one), loop_names(other)])
                            .flatten(),
                    );
                    names.extend(otherwise.iter().flat_map(loop_names));
                }
                Compound::Loop(one, other) => names.extend([loop_names(one), loop_names(other)].concat()),
                Compound::Case(_, arms) => names.extend(arms.iter().flat_map(|(_, list)| loop_names(list))),
            }
        }
    }
    names
}
