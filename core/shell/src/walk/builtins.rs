//! The commands that change what the shell itself does next.

use super::Walk;
use super::state::{Flow, State};
use crate::fault::{Construct, Place};
use crate::reading::{Value, Word as Expanded};
use crate::syntax::tree::Simple;

/// POSIX's special builtins, before which assignments stay in some shells.
const SPECIAL: &[&str] = &[
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
    "source", "times", "trap", "unset",
];

/// What changes variables, the working directory, or what runs next.
const STATEFUL: &[&str] = &[
    "break", "cd", "continue", "exit", "export", "read", "return", "unset",
];

/// What changes how the shell reads what follows, in a way that is not followed here.
const UNREAD: &[&str] = &[
    "-",
    ".",
    "alias",
    "autoload",
    "bind",
    "declare",
    "disable",
    "emulate",
    "enable",
    "eval",
    "exec",
    "float",
    "getopts",
    "hash",
    "integer",
    "let",
    "local",
    "mapfile",
    "nocorrect",
    "noglob",
    "popd",
    "private",
    "pushd",
    "readarray",
    "readonly",
    "setopt",
    "shift",
    "shopt",
    "source",
    "trap",
    "typeset",
    "unalias",
    "unfunction",
    "unsetopt",
    "vared",
    "zmodload",
];

/// What shells do themselves without a change to what follows.
const PLAIN: &[&str] = &[
    "[", "[[", "bg", "builtin", "bye", "caller", "chdir", "command", "compgen", "complete", "compopt",
    "dirs", "disown", "echo", "false", "fc", "fg", "help", "history", "jobs", "kill", "limit", "logout",
    "print", "printf", "pwd", "rehash", "sched", "set", "suspend", "test", "true", "type", "ulimit", "umask",
    "unhash", "unlimit", "wait", "whence", "where", "which",
];

/// Returns `true` if one of the shells has a command of its own by this name.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    [SPECIAL, STATEFUL, UNREAD, PLAIN]
        .iter()
        .any(|names| names.contains(&name))
}

/// Variables that change how the shell expands words, finds directories and finds programs.
const SHELLS_OWN: &[&str] = &[
    "CDPATH",
    "GLOBIGNORE",
    "HOME",
    "IFS",
    "OLDPWD",
    "PATH",
    "PWD",
    "cdpath",
    "path",
];

pub(super) fn keeps_assignments(words: &[Expanded]) -> bool {
    program(words).is_some_and(|name| SPECIAL.contains(&name))
}

fn program(words: &[Expanded]) -> Option<&str> {
    words.first().and_then(Expanded::exact)
}

impl<'s> Walk<'s> {
    /// Looks at the name of a variable that changes.
    pub(super) fn name(&mut self, place: Place, name: &str) {
        if SHELLS_OWN.contains(&name) {
            self.fault(place, Construct::Variable(name.to_owned()));
        }
    }

    /// The state after a command.
    pub(super) fn effect(&mut self, simple: &'s Simple, words: &[Expanded], state: &State) -> Flow {
        let mut flow = Flow::both(state);
        let Some((first, arguments)) = words.split_first() else {
            return flow;
        };
        let Some(name) = first.exact() else {
            self.fault(first.place, Construct::UnknownProgram);
            return flow;
        };
        match name {
            "cd" => {
                if let Some(success) = &mut flow.success {
                    self.enter(arguments, success);
                }
            }
            // With a redirection that fails, bash goes on. So it does after `return`, `break` and `continue` where there is nothing to
            // leave, which a subshell decides as well: what follows is read with what they may have left unchanged.
            "exit" if simple.redirects.is_empty() => flow = Flow::default(),
            "read" | "unset" | "export" => {
                for word in arguments {
                    // What has no name is a fault where programs are looked up.
                    let Some(text) = word.exact() else { continue };
                    let (name, value) = match text.split_once('=') {
                        Some((name, value)) if first.exact() == Some("export") => (name, Some(value)),
                        _ => (text, None),
                    };
                    if first.exact() == Some("export") && value.is_none() {
                        continue;
                    }
                    self.name(word.place, name);
                    for state in [&mut flow.success, &mut flow.failure].into_iter().flatten() {
                        match value {
                            Some(value) => state.set(name, &Value::Exact(value.to_owned())),
                            None => state.forget(name),
                        }
                    }
                }
                if arguments.iter().any(|word| word.exact().is_none()) {
                    self.forget_exported(arguments, &mut flow);
                }
            }
            "command" | "builtin" | "time" => {
                let mut changes = arguments.iter().filter_map(Expanded::exact);
                if changes.any(|word| STATEFUL.contains(&word) || UNREAD.contains(&word))
                    && !is_lookup(arguments)
                {
                    self.fault(simple.place, Construct::Keyword(name.to_owned()));
                }
            }
            _ if UNREAD.contains(&name) => self.fault(first.place, Construct::Keyword(name.to_owned())),
            _ => {}
        }
        flow
    }

    /// `export name="$unknown"` sets a name that is known to a value that is not.
    fn forget_exported(&mut self, arguments: &[Expanded], flow: &mut Flow) {
        for word in arguments {
            let Value::Unknown { before, .. } = &word.value else {
                continue;
            };
            let Some((name, _)) = before.split_once('=') else {
                self.fault(word.place, Construct::UnknownWord);
                continue;
            };
            for state in [&mut flow.success, &mut flow.failure].into_iter().flatten() {
                state.forget(name);
            }
        }
    }

    /// The directories after `cd`.
    fn enter(&mut self, arguments: &[Expanded], state: &mut State) {
        let target = match arguments {
            [] => Some(self.home.to_owned()),
            [one] => one.exact().map(str::to_owned),
            [dashes, one] if dashes.exact() == Some("--") => one.exact().map(str::to_owned),
            _ => None,
        };
        match target {
            Some(path) if !path.is_empty() && !path.starts_with(['-', '+']) => state.enter(&path),
            _ => state.directories = None,
        }
    }

    /// What a loop may change before it runs a command again.
    pub(super) fn havoc(&self, commands: &[&'s Simple], state: &State) -> State {
        let mut state = state.clone();
        for simple in commands {
            {
                let names = simple.words.iter().map(|word| self.single(word, &state));
                let mut changed: Vec<Value> = names.collect();
                let first = (!changed.is_empty()).then(|| changed.remove(0));
                for one in &simple.assignments {
                    // A count stays a number.
                    let value = self.single(&one.value, &state);
                    match (state.variable(&one.name).cloned(), &value) {
                        (Some(_), Value::Unknown { is_number: true, .. }) => state.set(&one.name, &value),
                        _ => state.forget(&one.name),
                    }
                }
                match first.as_ref().and_then(Value::exact) {
                    Some("cd") => state.directories = None,
                    Some("read" | "unset" | "export") => {
                        for value in &changed {
                            let text = match value {
                                Value::Exact(text) => text.as_str(),
                                Value::Unknown { before, .. } => before,
                                _ => continue,
                            };
                            state.forget(text.split('=').next().unwrap_or_default());
                        }
                    }
                    _ => {}
                }
            }
        }
        state
    }
}

/// `command -v` only says what would run.
fn is_lookup(arguments: &[Expanded]) -> bool {
    arguments
        .first()
        .and_then(Expanded::exact)
        .is_some_and(|word| matches!(word, "-v" | "-V"))
}
