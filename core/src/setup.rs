//! Everything that an engine is built from, read and checked together.

mod options;
mod part;
mod roles;

use std::borrow::Cow;

use serde_json::Value;

use crate::annotation::{self, Annotations};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{self, Input, Node, Relative, Report};
use crate::limits::Limits;
use crate::policy::{self, Lists, Policy};
use crate::role::Registry;

pub(crate) use options::{Directories, Options, UnknownArguments};
pub use part::Part;

/// What an engine is built from, without a fault.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The rules.
    pub(crate) policy: Policy,
    /// The tools.
    pub(crate) annotations: Annotations,
    /// What `@names` stand for.
    pub(crate) lists: Lists,
    /// Paths that no call may touch: absolute, `~` or `~/…`.
    pub(crate) protected_paths: Vec<Box<str>>,
    /// `allowedDirectory`: absolute, `~`, `~/…`, or (with a warning) relative to the current directory.
    pub(crate) sandbox: Option<Box<str>>,
    /// For each gated server the domain patterns that pass, in the order of the document.
    pub(crate) domain_allowlists: Vec<(Box<str>, Vec<Box<str>>)>,
    /// The servers whose every call is allowed.
    pub(crate) trusted_servers: Vec<Box<str>>,
    /// How the engine behaves.
    pub(crate) options: Options,
    /// The built-in roles and those of the host.
    pub(crate) registry: Registry,
    /// What is doubtful and did not stop loading; empty when loading was strict.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads the parts of an engine.
///
/// The policy and the annotations are required; any other part may be missing or null, and is then not
/// configured. Options and roles are read first, since the limits, strictness and roles that they set hold
/// for all other parts: where one of the two has an error, the rest is not read.
///
/// # Errors
///
/// Every diagnostic of every part, warnings among them, where one is an error, or where loading is strict
/// and there are warnings.
pub(crate) fn read(parts: &[(Part, Input<'_>)]) -> Result<Setup, Vec<Diagnostic>> {
    let mut reader = Reader::new(parts)?;
    let options = reader.optional(Part::Options, |node, _| options::read(node));
    let options = options.unwrap_or_default();
    reader.limits = options.limits.clone();
    let registry = reader.optional(Part::Roles, |node, _| roles::read(node));
    let registry = registry.unwrap_or_default();
    reader.check(false)?;

    let policy = reader.required(Part::CompiledPolicy, |node, limits| {
        policy::read(node, &registry, limits)
    });
    let annotations = reader.required(Part::ToolAnnotations, |node, _| annotation::read(node, &registry));
    let lists = reader.optional(Part::DynamicLists, Lists::read);
    let lists = lists.unwrap_or_default();
    if let Some(policy) = &policy {
        let report = Report::default();
        let name = Part::CompiledPolicy.key();
        policy::missing_lists(policy, name, &lists, &report);
        reader.diagnostics.extend(report.finish(name));
    }
    let protected_paths = reader.optional(Part::ProtectedPaths, read_protected_paths);
    let sandbox = reader.optional(Part::AllowedDirectory, |node, limits| {
        node.path(Relative::Warned, limits).map(Box::from)
    });
    let domain_allowlists = reader.optional(Part::ServerDomainAllowlists, read_allowlists);
    let trusted_servers = reader.optional(Part::TrustedServers, |node, _| node.names());
    reader.check(options.strict)?;
    Ok(Setup {
        policy: policy.unwrap_or_default(),
        annotations: annotations.unwrap_or_default(),
        lists,
        protected_paths: protected_paths.flatten().unwrap_or_default(),
        sandbox: sandbox.flatten(),
        domain_allowlists: domain_allowlists.unwrap_or_default(),
        trusted_servers: trusted_servers.flatten().unwrap_or_default(),
        options,
        registry,
        warnings: reader.diagnostics,
    })
}

fn read_protected_paths(node: &Node<'_, '_>, limits: &Limits) -> Option<Vec<Box<str>>> {
    node.each(|item| item.path(Relative::Refused, limits).map(Box::from))
}

fn read_allowlists(node: &Node<'_, '_>, limits: &Limits) -> Vec<(Box<str>, Vec<Box<str>>)> {
    let Some(servers) = node.object() else {
        return Vec::new();
    };
    servers
        .entries()
        .filter_map(|(server, patterns)| Some((server.into(), patterns.patterns(limits)?)))
        .collect()
}

/// Reads one part after the other and keeps what is said about them.
struct Reader<'a> {
    parts: &'a [(Part, Input<'a>)],
    limits: Limits,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn new(parts: &'a [(Part, Input<'a>)]) -> Result<Self, Vec<Diagnostic>> {
        let twice = Part::ALL
            .iter()
            .filter(|part| parts.iter().filter(|(one, _)| one == *part).count() > 1);
        let diagnostics: Vec<Diagnostic> = twice
            .map(|part| {
                Diagnostic::error(
                    Code::DuplicateKey,
                    part.key(),
                    format!("the part `{}` is given twice, expected once", part.key()),
                )
            })
            .collect();
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        Ok(Self {
            parts,
            limits: Limits::default(),
            diagnostics,
        })
    }

    /// What `read` makes of a part; `None` where the part is not configured or is no JSON.
    fn optional<T>(&mut self, part: Part, read: impl FnOnce(&Node<'_, '_>, &Limits) -> T) -> Option<T> {
        let value = self.load(part)?;
        if value.is_null() {
            return None;
        }
        Some(self.read(part, &value, read))
    }

    /// The same for a part that must be there.
    fn required<T>(&mut self, part: Part, read: impl FnOnce(&Node<'_, '_>, &Limits) -> T) -> Option<T> {
        if self.parts.iter().all(|(one, _)| *one != part) {
            let message = format!("`{}` is missing, expected the document", part.key());
            self.diagnostics
                .push(Diagnostic::error(Code::MissingField, part.key(), message));
        }
        let value = self.load(part)?;
        Some(self.read(part, &value, read))
    }

    fn load(&mut self, part: Part) -> Option<Cow<'a, Value>> {
        let (_, input) = self.parts.iter().find(|(one, _)| *one == part)?;
        match document::load(*input, part.key(), &self.limits) {
            Ok(value) => Some(value),
            Err(faults) => {
                self.diagnostics.extend(faults);
                None
            }
        }
    }

    fn read<T>(&mut self, part: Part, value: &Value, read: impl FnOnce(&Node<'_, '_>, &Limits) -> T) -> T {
        let report = Report::default();
        let read = read(&Node::document(value, part.key(), &report), &self.limits);
        self.diagnostics.extend(report.finish(part.key()));
        read
    }

    /// Ends the reading where there are errors, and with `strict` where there are warnings.
    fn check(&mut self, strict: bool) -> Result<(), Vec<Diagnostic>> {
        let refused = |fault: &Diagnostic| match fault.severity {
            Severity::Error => true,
            Severity::Warning => strict,
        };
        if self.diagnostics.iter().any(refused) {
            return Err(std::mem::take(&mut self.diagnostics));
        }
        Ok(())
    }
}
