//! The servers of an agent's configuration, whatever it is written in.

use std::collections::BTreeSet;

/// A server.
pub(super) struct Server<'s> {
    pub(super) name: &'s str,
    pub(super) way: Way,
}

/// How a server is spoken to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is started as a program, with these arguments.
    Program(Vec<String>),
    /// It has an address.
    Url(Address),
}

/// The address of a server, and what is sent along.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) url: String,
    /// Headers with their values, which may be secrets, or variables that the agent fills in.
    pub(super) headers: Vec<(String, String)>,
    /// Headers with the variables of the environment that hold their values.
    pub(super) variables: Vec<(String, String)>,
    /// The variable that holds a bearer token.
    pub(super) token: Option<String>,
}

/// The command that takes the place of a server.
pub(super) struct Guarded {
    /// The program and its arguments.
    pub(super) command: Vec<String>,
    /// The variables that it needs.
    pub(super) environment: Vec<(String, String)>,
    /// The variables of the agent's environment that it needs.
    pub(super) inherits: Vec<String>,
}

/// The plan for a server.
pub(super) enum Plan {
    /// The guard is put before it.
    Guard(Guarded),
    /// This guard is before it.
    Already,
    /// A guard with other arguments is before it, and stays.
    Differs,
    /// It stays as it is, for this reason.
    Leave(&'static str),
}

/// A configuration with the guard in it.
#[derive(Debug, Default)]
pub(super) struct Wrapped {
    pub(super) text: String,
    /// The names of all servers.
    pub(super) names: BTreeSet<String>,
    pub(super) changed: Vec<String>,
    pub(super) already: Vec<String>,
    /// Servers with a guard that has other arguments.
    pub(super) differing: Vec<String>,
    /// Servers that were left as they are, and why.
    pub(super) left: Vec<(String, &'static str)>,
}

impl Wrapped {
    /// Notes the plan for the server of this name, and returns the guard that is to be put before it.
    pub(super) fn note(&mut self, name: String, plan: Plan) -> Option<Guarded> {
        match plan {
            Plan::Guard(guard) => {
                self.changed.push(name);
                return Some(guard);
            }
            Plan::Already => self.already.push(name),
            Plan::Differs => self.differing.push(name),
            Plan::Leave(reason) => self.left.push((name, reason)),
        }
        None
    }
}

/// A configuration without the guards that were put into it.
#[derive(Debug, Default)]
pub(super) struct Unwrapped {
    pub(super) text: String,
    /// For each server that a plan is asked for, the guard that was before it.
    pub(super) guards: Vec<Option<Vec<String>>>,
    /// Servers whose guard cannot be taken away.
    pub(super) stuck: Vec<String>,
}

pub(super) const NOT_ASKED_FOR: &str = "it was not asked for";

pub(super) const OBSERVES: &str = "the guard before it only observes (`--observe`), and lets every call pass";

pub(super) const DIFFERS: &str = "a guard is before it, with other arguments than this one would have";

impl Guarded {
    /// The guard, with the flags that lead to the server.
    pub(super) fn before(way: &Way, mut command: Vec<String>) -> Self {
        let (mut environment, mut inherits) = (Vec::new(), Vec::new());
        match way {
            Way::Program(program) => {
                command.push("--".to_owned());
                command.extend(program.iter().cloned());
            }
            Way::Url(address) => {
                command.extend(["--url".to_owned(), address.url.clone()]);
                for (at, (name, value)) in address.headers.iter().enumerate() {
                    // Whoever lists processes sees their arguments.
                    let variable = format!("CALLGATE_HEADER_{}", at + 1);
                    command.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
                    environment.push((variable, value.clone()));
                }
                for (name, variable) in &address.variables {
                    command.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
                    inherits.push(variable.clone());
                }
                if let Some(variable) = &address.token {
                    command.extend(["--token-env".to_owned(), variable.clone()]);
                    inherits.push(variable.clone());
                }
            }
        }
        Self {
            command,
            environment,
            inherits,
        }
    }
}

pub(super) const AMBIGUOUS: &str = "it has a command and an address, and agents differ about which counts";

/// A plan with a short guard.
#[cfg(test)]
pub(super) fn planned(server: &Server<'_>) -> Plan {
    match &server.way {
        Way::Program(command) if command[0] == "/bin/callgate" => Plan::Already,
        way => {
            let guard = ["/bin/callgate", "guard", "--server", server.name].map(str::to_owned);
            Plan::Guard(Guarded::before(way, guard.into()))
        }
    }
}

/// Why the guard cannot stand before an address, if it cannot.
pub(super) fn unsuitable(url: &str) -> Option<&'static str> {
    if !cfg!(feature = "http") {
        return Some("it has an address, and this build of the guard does not speak HTTP");
    }
    let is_http = ["http://", "https://"].iter().any(|scheme| {
        url.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    });
    (!is_http && !url.starts_with('$')).then_some("its address is not one of HTTP")
}
