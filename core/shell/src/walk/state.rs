//! What earlier commands of a text change for later ones.

use std::collections::BTreeMap;

use crate::limits::MAX_DIRECTORIES;
use crate::reading::Value;

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    Exact(String),
    Number,
    /// A name that matches a pattern, as [`Value::Pattern`] has it.
    Pattern(String, String),
    Unknown,
}

/// The working directories that are possible, and the variables that the text sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) directories: Option<Vec<String>>,
    variables: BTreeMap<String, Variable>,
}

impl State {
    pub(super) fn new(directory: &str) -> Self {
        Self {
            directories: directory.starts_with('/').then(|| vec![directory.to_owned()]),
            variables: BTreeMap::new(),
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    pub(super) fn set(&mut self, name: &str, value: &Value) {
        let value = match value {
            Value::Exact(text) => Variable::Exact(text.clone()),
            Value::Pattern { before, pattern, .. } => Variable::Pattern(before.clone(), pattern.clone()),
            Value::Unknown {
                is_number: true,
                is_many: false,
                ..
            } => Variable::Number,
            Value::Pipe | Value::Unknown { .. } => Variable::Unknown,
        };
        self.variables.insert(name.to_owned(), value);
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.variables.insert(name.to_owned(), Variable::Unknown);
    }

    /// What is so in both.
    pub(super) fn merge(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (mut one, other) = match (one, other) {
            (Some(one), Some(other)) => (one, other),
            (one, other) => return one.or(other),
        };
        if one == other {
            return Some(one);
        }
        one.directories = match (one.directories, other.directories) {
            (Some(mut all), Some(more)) => {
                for directory in more {
                    if !all.contains(&directory) {
                        all.push(directory);
                    }
                }
                (all.len() <= MAX_DIRECTORIES).then_some(all)
            }
            _ => None,
        };
        for (name, value) in &mut one.variables {
            let theirs = other.variables.get(name);
            if theirs != Some(value) {
                let both = [Some(&*value), theirs].map(|one| is_number(one));
                *value = if both == [true, true] {
                    Variable::Number
                } else {
                    Variable::Unknown
                };
            }
        }
        for name in other.variables.into_keys() {
            one.variables.entry(name).or_insert(Variable::Unknown);
        }
        Some(one)
    }

    /// The directories after `cd` to a path.
    pub(super) fn enter(&mut self, path: &str) {
        let Some(directories) = &mut self.directories else {
            if path.starts_with('/') {
                self.directories = Some(vec![join("/", path)]);
            }
            return;
        };
        for directory in directories.iter_mut() {
            *directory = join(directory, path);
        }
        directories.dedup();
    }
}

fn is_number(variable: Option<&Variable>) -> bool {
    match variable {
        Some(Variable::Number) => true,
        Some(Variable::Exact(text)) => !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit()),
        _ => false,
    }
}

/// The path as a shell's `cd` reads it: `..` takes the last name away, whatever links are there.
pub(crate) fn join(directory: &str, path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { directory };
    for name in base.split('/').chain(path.split('/')) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

/// The state after a command, if it succeeds and if it fails; `None` if nothing comes after.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub(super) success: Option<State>,
    pub(super) failure: Option<State>,
}

impl Flow {
    pub(super) fn both(state: &State) -> Self {
        Self {
            success: Some(state.clone()),
            failure: Some(state.clone()),
        }
    }

    pub(super) fn any(self) -> Option<State> {
        State::merge(self.success, self.failure)
    }

    /// What it changes may not have changed.
    pub(super) fn or_unchanged(self, state: &State) -> Self {
        let either = State::merge(self.any(), Some(state.clone()));
        Self {
            success: either.clone(),
            failure: either,
        }
    }
}
