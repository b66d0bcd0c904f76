//! Statements that must hold about all verdicts: `[{name?, never | always: {decision, …}}]`.

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, Relative, keys};
use crate::glob::NamePattern;
use crate::limits::Limits;
use crate::model::Effect;
use crate::net::domain_pattern_fault;
use crate::role::{Registry, RoleId};

use super::Lists;
use super::conditions::read_names;
use super::lists::expand;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Invariant {
    pub name: Option<Box<str>>,
    /// `true` if no such call is decided so; otherwise every such call is.
    pub is_never: bool,
    pub decisions: Vec<Effect>,
    pub calls: Calls,
}

/// Which calls a statement is about: all conditions must hold, a missing one always holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    pub server: Option<Vec<NamePattern>>,
    pub tool: Option<Vec<NamePattern>>,
    /// One of these roles is borne by the argument that the rest is about.
    pub roles: Option<Vec<RoleId>>,
    /// A directory.
    pub within: Option<Box<str>>,
    pub domains: Option<Vec<Box<str>>>,
    pub values: Option<Vec<Box<str>>>,
}

impl Invariant {
    /// Reads the statements of a document.
    pub fn read(
        node: &Node<'_, '_>,
        registry: &Registry,
        lists: &Lists,
        limits: &Limits,
    ) -> Option<Vec<Self>> {
        node.each("an array of statements", |item| {
            let statement = item.object_of(keys::INVARIANT, Severity::Error)?;
            let name = statement.read_if_present("name", |node| node.string().map(Box::<str>::from));
            let calls = |node: &Node<'_, '_>| read_calls(node, registry, lists, limits);
            let never = statement.read_if_present("never", calls);
            let always = statement.read_if_present("always", calls);
            let (is_never, (decisions, calls)) = match (never?, always?) {
                (Some(never), None) => (true, never),
                (None, Some(always)) => (false, always),
                (None, None) | (Some(_), Some(_)) => {
                    item.refuse(Code::MissingField, "expected exactly one of `never` and `always`");
                    return None;
                }
            };
            Some(Self {
                name: name?,
                is_never,
                decisions,
                calls,
            })
        })
    }
}

fn read_calls(
    node: &Node<'_, '_>,
    registry: &Registry,
    lists: &Lists,
    limits: &Limits,
) -> Option<(Vec<Effect>, Calls)> {
    let object = node.object_of(keys::INVARIANT_CALLS, Severity::Error)?;
    let decisions = object.require("decision", "one of `allow`, `escalate`, `deny`", |node| {
        let decisions = node.one_or_each("an array of decisions", |item| item.word())?;
        if decisions.is_empty() {
            node.refuse(Code::InvalidValue, "expected at least one decision");
            return None;
        }
        Some(decisions)
    });
    let domain = |item: &Node<'_, '_>| {
        let pattern = item.string()?;
        let Some((what, help)) = domain_pattern_fault(pattern) else {
            return Some(Box::<str>::from(pattern));
        };
        item.fault(Severity::Error, Code::InvalidValue, || {
            let message = format!("found `{pattern}`, {what}, expected a host, `*.host` or `host/path`");
            (message, Some(help.to_owned()))
        });
        None
    };
    let text = |item: &Node<'_, '_>| item.string().map(Box::<str>::from);
    let server = object.read_if_present("server", |node| read_names(node, limits));
    let tool = object.read_if_present("tool", |node| read_names(node, limits));
    let roles = object.read_if_present("roles", |node| node.roles(registry));
    let within = object.read_if_present("within", |node| read_directory(node, limits));
    let domains = object.read_if_present("domains", |node| read_texts(node, lists, domain));
    let values = object.read_if_present("values", |node| read_texts(node, lists, text));
    let calls = Calls {
        server: server?,
        tool: tool?,
        roles: roles?,
        within: within?,
        domains: domains?,
        values: values?,
    };
    Some((decisions?, calls))
}

/// A directory, and not a pattern of them.
fn read_directory(node: &Node<'_, '_>, limits: &Limits) -> Option<Box<str>> {
    let path = node.path(Relative::Warned, limits)?;
    if path.contains('*') {
        node.refuse(
            Code::InvalidPath,
            "but `within` is not a glob, expected a directory",
        );
        return None;
    }
    Some(path)
}

/// Texts, a `@name` standing for what is in that list.
fn read_texts(
    node: &Node<'_, '_>,
    lists: &Lists,
    text: impl Fn(&Node<'_, '_>) -> Option<Box<str>>,
) -> Option<Vec<Box<str>>> {
    let texts = node.one_or_each("an array of strings", text)?;
    let (entries, missing) = expand(&texts, lists);
    if let Some(name) = missing.first() {
        node.error(
            Code::MissingList,
            format_args!("found `@{name}`, a list that does not exist, expected a dynamic list"),
        );
        return None;
    }
    Some(entries)
}
