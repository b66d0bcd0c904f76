//! From what is written to the commands that may run: words are expanded, and what earlier commands change is followed.

mod builtins;
mod compound;
mod fields;
mod state;

use crate::fault::{Construct, NotUnderstood, Place};
use crate::limits::{MAX_BYTES, MAX_COMMANDS, MAX_WORDS};
use crate::reading::{
    Assignment, Command, Joiner, Reading, Redirection, RedirectionKind, Shells, Value, Within,
    Word as Expanded,
};
use crate::syntax::tree::{
    AndOr, Condition, List, Node, Operator, Part, Pipeline, Redirect, Script, Simple, Target, Word,
};
use crate::{Surroundings, syntax};
pub use builtins::is_builtin;
use state::{Flow, State};

/// Reads a text that runs in these surroundings.
pub(crate) fn read(text: &str, surroundings: &Surroundings<'_>) -> Reading {
    let script = match crate::characters::check(text).and_then(|()| syntax::parse(text)) {
        Ok(script) => script,
        Err(fault) => {
            return Reading {
                commands: Vec::new(),
                not_understood: vec![fault],
            };
        }
    };
    let mut walk = Walk {
        script: &script,
        home: surroundings.home,
        reading: Reading::default(),
        joiner: Joiner::default(),
        within: Within::default(),
        words: 0,
        bytes: 0,
    };
    let state = State::new(surroundings.directory);
    walk.list(&script.list, &state);
    walk.reading
}

/// The limits of everything that a text stands for.
const FULL: &str = "256 commands, or words of 256 KiB";

struct Walk<'s> {
    script: &'s Script,
    home: &'s str,
    reading: Reading,
    /// How the next command is joined to the one before.
    joiner: Joiner,
    within: Within,
    words: usize,
    bytes: usize,
}

impl<'s> Walk<'s> {
    fn fault(&mut self, place: Place, construct: Construct) {
        let fault = NotUnderstood { place, construct };
        // A loop over words finds the same again.
        if self.reading.not_understood.len() < 64 && !self.reading.not_understood.contains(&fault) {
            self.reading.not_understood.push(fault);
        }
    }

    /// Walks with something more that commands stand in.
    fn inside<T>(&mut self, change: impl FnOnce(&mut Within), walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.within;
        change(&mut self.within);
        let result = walk(self);
        self.within = before;
        result
    }

    fn list(&mut self, list: &'s List, state: &State) -> Flow {
        let mut flow = Flow::both(state);
        let mut last = state.clone();
        let mut joiner = None;
        for item in &list.items {
            if self.is_full() {
                let last = self.reading.commands.last().map(|command| command.place);
                self.fault(last.unwrap_or_default(), Construct::Limit(FULL));
                break;
            }
            // What nothing reaches is read all the same.
            let now = flow.any().unwrap_or_else(|| last.clone());
            if let Some(joiner) = joiner {
                self.joiner = joiner;
            }
            flow = if item.is_background {
                let out = self.inside(|within| within.background = true, |walk| walk.and_or(item, &now));
                // zsh runs only the last pipeline of `a && b &` in the background.
                if item.rest.is_empty() {
                    Flow::both(&now)
                } else {
                    out.or_unchanged(&now)
                }
            } else {
                self.and_or(item, &now)
            };
            joiner = Some(if item.is_background {
                Joiner::Background
            } else {
                Joiner::Sequence
            });
            last = now;
        }
        flow
    }

    fn and_or(&mut self, item: &'s AndOr, state: &State) -> Flow {
        let mut flow = self.pipeline(&item.first, state);
        for (condition, pipeline) in &item.rest {
            let entry = match condition {
                Condition::And => flow.success.clone(),
                Condition::Or => flow.failure.clone(),
            };
            self.joiner = match condition {
                Condition::And => Joiner::And,
                Condition::Or => Joiner::Or,
            };
            let is_reached = entry.is_some();
            let entry = entry.unwrap_or_else(|| state.clone());
            let next = self.inside(
                |within| within.conditional = true,
                |walk| walk.pipeline(pipeline, &entry),
            );
            let next = if is_reached { next } else { Flow::default() };
            flow = match condition {
                Condition::And => Flow {
                    success: next.success,
                    failure: State::merge(flow.failure, next.failure),
                },
                Condition::Or => Flow {
                    success: State::merge(flow.success, next.success),
                    failure: next.failure,
                },
            };
        }
        flow
    }

    fn pipeline(&mut self, pipeline: &'s Pipeline, state: &State) -> Flow {
        let mut flow = Flow::both(state);
        if let [only] = pipeline.stages.as_slice() {
            flow = self.node(only, state);
        } else {
            let last = pipeline.stages.len();
            for (at, stage) in pipeline.stages.iter().enumerate() {
                if at > 0 {
                    self.joiner = Joiner::Pipe;
                }
                let out = self.inside(
                    |within| {
                        within.pipeline = true;
                        within.input |= at > 0;
                    },
                    |walk| walk.node(stage, state),
                );
                // zsh runs the last one itself, the others in subshells.
                if at + 1 == last {
                    let out = State::merge(out.any(), Some(state.clone()));
                    flow = Flow {
                        success: out.clone(),
                        failure: out,
                    };
                }
            }
        }
        if pipeline.is_negated {
            std::mem::swap(&mut flow.success, &mut flow.failure);
        }
        flow
    }

    fn node(&mut self, node: &'s Node, state: &State) -> Flow {
        match node {
            Node::Simple(simple) => self.simple(simple, state),
            Node::Test(words, place) => self.test(words, *place, state),
            Node::Compound(compound, redirects, place) => {
                if !redirects.is_empty() {
                    let redirections = self.redirections(redirects, state, Shells::All);
                    self.emit(*place, state, Shells::All, Vec::new(), Vec::new(), redirections);
                }
                let reads = redirects
                    .iter()
                    .any(|one| one.descriptor.unwrap_or(0) == 0 && is_input(one.operator));
                let flow = self.inside(
                    |within| within.input |= reads,
                    |walk| walk.compound(compound, state),
                );
                // In dash, `&>` runs it in the background.
                if redirects.iter().any(|one| one.operator == Operator::Both) {
                    return flow.or_unchanged(state);
                }
                flow
            }
        }
    }

    fn simple(&mut self, simple: &'s Simple, state: &State) -> Flow {
        self.substitutions(&simple.words, state);
        if simple.words.is_empty() && simple.assignments.is_empty() {
            let construct = Construct::ShellsDiffer("a redirection without a command");
            self.fault(simple.place, construct);
        }
        let differs = simple.words.iter().any(|word| self.is_read_differently(word));
        let readings: &[Shells] = if differs {
            &[Shells::Bash, Shells::Dash]
        } else {
            &[Shells::All]
        };
        let is_set_and_read = !simple.assignments.is_empty() && simple.redirects.iter().any(has_variable);
        if is_set_and_read {
            let construct = Construct::ShellsDiffer("a redirection beside an assignment");
            self.fault(simple.place, construct);
        }
        let mut flow = Flow::default();
        for shells in readings {
            let mut words = Vec::new();
            for word in &simple.words {
                let values = self.fields(word, state, *shells);
                words.extend(values.into_iter().map(|value| Expanded {
                    place: word.place,
                    value,
                }));
            }
            let (assignments, mut changed) = self.assign(simple, &words, state);
            let redirections = self.redirections(&simple.redirects, state, *shells);
            if !words.is_empty() {
                // Assignments before a program are for it alone.
                changed = state.clone();
            }
            let effect = self.effect(simple, &words, &changed);
            self.emit(simple.place, state, *shells, assignments, words, redirections);
            let either = State::merge(flow.success.take(), effect.success);
            flow = Flow {
                success: either,
                failure: State::merge(flow.failure.take(), effect.failure),
            };
        }
        if simple.redirects.iter().any(|one| one.operator == Operator::Both) {
            return flow.or_unchanged(state);
        }
        flow
    }

    /// `[[ … ]]`, in which words are not divided and patterns are no names.
    fn test(&mut self, words: &'s [Word], place: Place, state: &State) -> Flow {
        self.substitutions(words, state);
        let bracket = |text: &str| Expanded {
            place,
            value: Value::Exact(text.to_owned()),
        };
        let mut expanded = vec![bracket("[[")];
        expanded.extend(words.iter().map(|word| Expanded {
            place: word.place,
            value: self.single(word, state),
        }));
        expanded.push(bracket("]]"));
        self.emit(place, state, Shells::All, Vec::new(), expanded, Vec::new());
        Flow::both(state)
    }

    /// The assignments of a command, and the state after them.
    fn assign(&mut self, simple: &'s Simple, words: &[Expanded], state: &State) -> (Vec<Assignment>, State) {
        let mut changed = state.clone();
        let mut assignments = Vec::new();
        if !words.is_empty() && !simple.assignments.is_empty() && builtins::keeps_assignments(words) {
            self.fault(simple.place, Construct::Assignment);
        }
        for one in &simple.assignments {
            self.substitutions([&one.value], &changed);
            let value = self.single(&one.value, &changed);
            if self.is_read_differently(&one.value) {
                let construct = Construct::ShellsDiffer("braces or `$'…'` in an assignment");
                self.fault(one.value.place, construct);
            }
            self.name(one.value.place, &one.name);
            changed.set(&one.name, &value);
            assignments.push(Assignment {
                name: one.name.clone(),
                value,
                place: one.value.place,
                is_exported: !words.is_empty(),
            });
        }
        (assignments, changed)
    }

    fn redirections(&mut self, redirects: &'s [Redirect], state: &State, shells: Shells) -> Vec<Redirection> {
        let mut found = Vec::new();
        for one in redirects {
            let kind = match one.operator {
                Operator::Read => RedirectionKind::Read,
                Operator::Write | Operator::Both => RedirectionKind::Write,
                Operator::Append => RedirectionKind::Append,
                Operator::ReadWrite => RedirectionKind::ReadWrite,
                Operator::Text => RedirectionKind::Text,
                Operator::Duplicate => RedirectionKind::Duplicate,
            };
            let target = match &one.target {
                Target::Descriptor => None,
                Target::Text(word) => {
                    self.substitutions([word], state);
                    Some(self.single(word, state))
                }
                Target::Document(number) => self.script.documents.get(*number).map(|word| {
                    self.substitutions([word], state);
                    self.single(word, state)
                }),
                Target::File(word) => Some(self.file(word, state, shells)),
            };
            let descriptor = if is_input(one.operator) { 0 } else { 1 };
            found.push(Redirection {
                place: one.place,
                descriptor: one.descriptor.unwrap_or(descriptor),
                kind,
                target,
            });
        }
        found
    }

    /// The file of a redirection, which has to be one in every shell.
    fn file(&mut self, word: &'s Word, state: &State, shells: Shells) -> Value {
        self.substitutions([word], state);
        let differs = self.is_read_differently(word);
        let mut values = self.fields(word, state, shells);
        let value = values.pop();
        match value {
            Some(value @ (Value::Exact(_) | Value::Pipe)) if values.is_empty() && !differs => {
                if value
                    .exact()
                    .is_some_and(|file| file.starts_with("/dev/tcp") || file.starts_with("/dev/udp"))
                {
                    self.fault(word.place, Construct::Redirection("to the network"));
                }
                value
            }
            other => {
                self.fault(
                    word.place,
                    Construct::Redirection("to a file that the text does not name"),
                );
                other.unwrap_or(Value::Pipe)
            }
        }
    }

    fn emit(
        &mut self,
        place: Place,
        state: &State,
        shells: Shells,
        assignments: Vec<Assignment>,
        words: Vec<Expanded>,
        redirections: Vec<Redirection>,
    ) {
        let joiner = std::mem::take(&mut self.joiner);
        self.words += words.len();
        let sizes = words.iter().map(|word| match &word.value {
            Value::Exact(text) => text.len(),
            Value::Pattern { pattern, .. } => pattern.len(),
            Value::Unknown { before, .. } => before.len(),
            Value::Pipe => 0,
        });
        self.bytes += sizes.sum::<usize>();
        if self.is_full() {
            self.fault(place, Construct::Limit(FULL));
            return;
        }
        self.reading.commands.push(Command {
            place,
            joiner,
            within: self.within,
            shells,
            directories: state.directories.clone(),
            assignments,
            words,
            redirections,
        });
    }

    /// Returns `true` if no more is read.
    fn is_full(&self) -> bool {
        self.reading.commands.len() >= MAX_COMMANDS || self.words > MAX_WORDS || self.bytes > MAX_BYTES
    }
}

fn has_variable(redirect: &Redirect) -> bool {
    match &redirect.target {
        Target::File(word) | Target::Text(word) => word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Variable { .. })),
        Target::Document(_) | Target::Descriptor => false,
    }
}

fn is_input(operator: Operator) -> bool {
    matches!(operator, Operator::Read | Operator::ReadWrite | Operator::Text)
}
