//! The servers of an agent's configuration, whatever it is written in.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

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
    Leave(Cow<'static, str>),
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
    pub(super) left: Vec<(String, Cow<'static, str>)>,
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

/// The flag that says where an address is, and the variable that has it.
const URL_ENV: &str = "--url-env";
const URL_VARIABLE: &str = "CALLGATE_URL";

/// Returns `true` if the word ends the flags of a guard, and begins what leads to its server.
pub(super) fn leads(word: &str) -> bool {
    matches!(word, "--" | "--url" | URL_ENV)
}

pub(super) const NOT_ASKED_FOR: &str = "it was not asked for";

pub(super) const ELSEWHERE: &str = "it looks like a server, in a place where no agent is known to have them";

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
                // Whoever lists processes sees their arguments, and an address may hold a key or a password anywhere.
                command.extend([URL_ENV.to_owned(), URL_VARIABLE.to_owned()]);
                environment.push((URL_VARIABLE.to_owned(), address.url.clone()));
                for (at, (name, value)) in address.headers.iter().enumerate() {
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

/// The words of a command. Some agents take it for a line of a shell, if no program has the name.
///
/// # Errors
/// Why it is a line that only a shell can take apart.
pub(super) fn words_of(command: &str) -> Result<Vec<String>, &'static str> {
    let is_one = !command.trim().contains(char::is_whitespace) || is_program(command);
    if is_one {
        return Ok(vec![command.to_owned()]);
    }
    split(command).ok_or("its command is a line that only a shell can take apart")
}

fn is_program(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::home_dir().unwrap_or_default();
    match name.strip_prefix("~/") {
        Some(rest) => home.join(rest).is_file(),
        None if name.contains('/') => {
            // The whole of `/bin/sh -c x` is not a path, and a folder with a space may be on a disk that is not here.
            Path::new(name).is_file() || !is_path(name.split_whitespace().next().unwrap_or_default())
        }
        None => std::env::split_paths(&paths).any(|folder| folder.join(name).is_file()),
    }
}

/// Returns `true` if the first word of a command can be a program by itself.
fn is_path(word: &str) -> bool {
    !word.starts_with('/') || Path::new(word).is_file()
}

/// The words of a line, with quotes and escapes as in a shell; `None` if it has more than words.
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut rest = line.chars();
    while let Some(one) = rest.next() {
        match (quote, one) {
            (Some(open), one) if one == open => quote = None,
            (Some('\''), one) => word.get_or_insert_default().push(one),
            (None, '\'' | '"') => {
                quote = Some(one);
                word.get_or_insert_default();
            }
            (_, '`') | (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '\n' | '#') => return None,
            (_, '$') if rest.as_str().starts_with('(') => return None,
            (_, '\\') => word.get_or_insert_default().push(rest.next()?),
            (None, one) if one.is_whitespace() => words.extend(word.take()),
            (_, one) => word.get_or_insert_default().push(one),
        }
    }
    words.extend(word);
    (quote.is_none() && !words.is_empty()).then_some(words)
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
    let is_http = ["http://", "https://"].iter().any(|scheme| {
        url.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    });
    (!is_http && !url.starts_with('$')).then_some("its address is not one of HTTP")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart_and_a_program_is_not() {
        let some = |words: &[&str]| Ok(words.iter().map(|&word| word.to_owned()).collect());
        for (line, expected) in [
            ("npx -y server", some(&["npx", "-y", "server"])),
            (
                " npx  -y 'a b' \"c d\" e\\ f ''",
                some(&["npx", "-y", "a b", "c d", "e f", ""]),
            ),
            ("npx -y s --key=${KEY}", some(&["npx", "-y", "s", "--key=${KEY}"])),
            ("/bin/sh -c x", some(&["/bin/sh", "-c", "x"])),
            ("cat", some(&["cat"])),
            ("/gone/My App/serve", some(&["/gone/My App/serve"])),
        ] {
            assert_eq!(words_of(line), expected, "{line}");
        }
        for line in ["a | b", "a && b", "a > b", "a $(b)", "a `b`", "a 'b", "a b\\"] {
            assert!(words_of(line).is_err(), "{line}");
        }
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("My App");
        std::fs::write(&program, "").unwrap();
        let program = program.to_str().unwrap();
        assert_eq!(words_of(program), some(&[program]));
    }
}
