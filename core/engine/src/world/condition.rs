//! Conditions: named predicates over a call's context.

use serde_json::Value;

use super::context::Context;
use super::place::{Action, Located};
use super::signature::is_signed;
use super::{World, find};
use crate::cost::{KNOWN_PATH, SIGNATURE};
use crate::named::{Named, named};
use crate::path::Resolver;

/// A condition, as a world names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    name: Box<str>,
    predicate: Predicate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Predicate {
    BuiltIn(BuiltIn),
    /// The host's predicate with this name.
    Host(Box<str>),
}

named! {
    /// The conditions that every world can name.
    pub enum BuiltIn {
        /// The context says that there is a contract.
        HasContract = "has_contract",
        /// The place is addressed by the name of a mod that the session has.
        ModInSession = "mod_in_session",
        /// The place lies within a mod that the session has, whatever its address.
        PathInSessionMods = "path_in_session_mods",
        /// The command is in the context's whitelist.
        CommandWhitelisted = "command_whitelisted",
        /// The script is signed under the contract's key.
        ExecSigned = "exec_signed",
    }
}

impl Condition {
    /// The condition with this name.
    pub fn parse(name: &str) -> Option<Self> {
        let predicate = match name.strip_prefix("host:") {
            Some("") => return None,
            Some(name) => Predicate::Host(name.into()),
            None => Predicate::BuiltIn(BuiltIn::find(name)?),
        };
        let name = name.into();
        Some(Self { name, predicate })
    }

    /// The built-in condition that it is.
    pub fn built_in(&self) -> Option<BuiltIn> {
        match self.predicate {
            Predicate::BuiltIn(built_in) => Some(built_in),
            Predicate::Host(_) => None,
        }
    }

    /// The name, as a world has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the built-in conditions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BuiltIn::names()
    }
}

/// The subject that conditions are evaluated on.
pub(crate) struct Subject<'s> {
    pub context: &'s Context,
    pub mode: &'s str,
    pub root: &'s str,
    pub subdirectory: Option<&'s str>,
    /// The place, if it is given by its address.
    pub located: Option<&'s Located>,
    /// The action, unless visibility is judged.
    pub action: Option<&'s Action<'s>>,
}

impl World {
    /// The names of all conditions that do not hold.
    pub(super) fn unmet(
        &self,
        conditions: &[Condition],
        subject: &Subject<'_>,
        resolver: &mut Resolver<'_, '_>,
    ) -> Vec<String> {
        let mut unmet = Vec::new();
        for condition in conditions {
            if !self.holds(condition, subject, resolver) {
                unmet.push(condition.name.to_string());
            }
        }
        unmet
    }

    fn holds(&self, condition: &Condition, subject: &Subject<'_>, resolver: &mut Resolver<'_, '_>) -> bool {
        let context = subject.context;
        resolver.facts.take_steps(match &condition.predicate {
            Predicate::BuiltIn(BuiltIn::CommandWhitelisted) => context.command_whitelist.len(),
            Predicate::BuiltIn(BuiltIn::ExecSigned) => SIGNATURE,
            Predicate::BuiltIn(_) | Predicate::Host(_) => 1,
        });
        let built_in = match &condition.predicate {
            Predicate::Host(name) => return resolver.facts.condition(name, &subject.text()),
            Predicate::BuiltIn(built_in) => built_in,
        };
        match built_in {
            BuiltIn::HasContract => context.has_contract,
            BuiltIn::ModInSession => {
                let name = match subject.located {
                    Some(located) => located.mod_name.as_deref(),
                    None => context.mod_name.as_deref(),
                };
                name.is_some_and(|name| context.has_mod(name) && find(&self.mounts, name).is_some())
            }
            BuiltIn::PathInSessionMods => match subject.located {
                Some(located) => self.is_in_session_mods(located, context, resolver),
                None => false,
            },
            BuiltIn::CommandWhitelisted => {
                let command = subject.action.and_then(|action| action.command);
                command.is_some_and(|command| {
                    let mut entries = context.command_whitelist.iter();
                    entries.any(|entry| is_listed(command, entry))
                })
            }
            BuiltIn::ExecSigned => {
                context.has_contract
                    && match (
                        &context.contract_key,
                        &context.script_host_path,
                        &context.content_sha256,
                        &context.script_signature,
                    ) {
                        (Some(key), Some(path), Some(content), Some(signature)) => {
                            is_signed(key, path, content, signature)
                        }
                        _ => false,
                    }
            }
        }
    }

    fn is_in_session_mods(
        &self,
        located: &Located,
        context: &Context,
        resolver: &mut Resolver<'_, '_>,
    ) -> bool {
        resolver.facts.take_steps(self.mounts.len() * KNOWN_PATH);
        let mut mounts = self.mounts.iter().filter(|mount| context.has_mod(&mount.name));
        let holds = mounts.any(|mount| {
            let directory = resolver.resolve(&mount.path, "/");
            directory.is_ok_and(|directory| located.path.is_within(&directory))
        });
        holds && !resolver.facts.has_failed()
    }
}

impl Subject<'_> {
    /// The subject as JSON text, for the host's own predicates.
    fn text(&self) -> String {
        let members = [
            ("mode", Some(self.mode)),
            ("tool", self.action.map(|action| action.tool)),
            ("command", self.action.and_then(|action| action.command)),
            ("root_key", Some(self.root)),
            ("subdirectory", self.subdirectory),
            ("address", self.located.map(|located| located.address.as_str())),
        ];
        let mut text = String::from("{");
        for (name, value) in members {
            let value = value.map_or(Value::Null, Value::from).to_string();
            text.extend(["\"", name, "\":", &value, ","]);
        }
        text.extend(["\"host\":", &self.context.host.to_string(), "}"]);
        text
    }
}

/// Characters with which a shell starts another command or substitutes text.
const CONTROL: [char; 12] = [';', '&', '|', '<', '>', '$', '`', '(', ')', '\n', '\r', '\0'];

/// Returns `true` if the command is the entry, or the entry followed by a space and arguments that cannot start
/// another command.
fn is_listed(command: &str, entry: &str) -> bool {
    !entry.is_empty()
        && command
            .strip_prefix(entry)
            .is_some_and(|rest| rest.is_empty() || (rest.starts_with(' ') && !rest.contains(CONTROL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_found_by_its_name() {
        for name in Condition::names().chain(["host:x", "host:a:b"]) {
            let condition = Condition::parse(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(*condition.name, *name);
        }
        for name in ["", "host:", "has-contract", "HAS_CONTRACT", "host"] {
            assert_eq!(Condition::parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_listed_command_is_the_entry_or_continues_it() {
        for (command, entry, expected) in [
            ("git status", "git status", true),
            ("git status --short", "git status", true),
            ("git statusx", "git status", false),
            ("git statu", "git status", false),
            ("git\tstatus", "git status", false),
            ("git status\t-s", "git status", false),
            (" git status", "git status", false),
            ("git status; rm -rf /", "git status", false),
            ("git status ; rm -rf /", "git status", false),
            ("git status && rm", "git status", false),
            ("git status | sh", "git status", false),
            ("git status $(rm)", "git status", false),
            ("git status `rm`", "git status", false),
            ("git status > /etc/x", "git status", false),
            ("git status \nrm", "git status", false),
            ("a | b", "a | b", true),
            ("a | b -c", "a | b", true),
            ("", "", false),
            (" rm", "", false),
            ("rm", "", false),
        ] {
            assert_eq!(is_listed(command, entry), expected, "{command:?} {entry:?}");
        }
    }
}
