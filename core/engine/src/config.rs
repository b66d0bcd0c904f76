//! Everything an engine is built from, read and checked together.

mod kind;
mod options;
mod protected;
mod reader;
mod roles;
mod sandbox;

use crate::advice;
use crate::annotation::{self, Annotations, Programs, Tools};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{DocumentSource, JsonPath, Node, Relative, Report};
use crate::limits::Limits;
use crate::policy::{self, Ceiling, Invariant, Lists, Policy, Rule};
use crate::role::Registry;
use crate::world::{self, World};

pub use kind::DocumentKind;
pub use options::{
    Compatibility, Directories, HEURISTIC_PATHS, Options, PATH_CASE, RelativePaths, SANDBOX_ROLES,
    ServerPath, UnknownArguments, WorkspaceRoots, most,
};
pub use protected::{AGAINST, ProtectedPath};
use reader::Reader;
pub use roles::CATEGORIES;

/// A valid configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub policy: Policy,
    pub(crate) annotations: Annotations,
    /// The programs of shells, if a tool takes commands of one.
    pub(crate) programs: Option<Programs>,
    pub lists: Lists,
    pub protected_paths: Vec<ProtectedPath>,
    /// The directories that are one sandbox: `sandbox`, or the workspace roots of the ceiling. They are
    /// absolute, `~`, `~/…`, or (with a warning, and not of a ceiling) relative to the current directory.
    pub sandbox: Vec<Box<str>>,
    /// For each server with an allowlist, its domain patterns in document order.
    pub domain_allowlists: Vec<(Box<str>, Vec<Box<str>>)>,
    pub(crate) trusted_servers: Vec<Box<str>>,
    pub ceiling: Option<Ceiling>,
    pub(crate) options: Options,
    /// The built-in roles and those of the host.
    pub registry: Registry,
    pub(crate) world: Option<World>,
    /// Verdicts do not depend on them.
    pub invariants: Vec<Invariant>,
    /// Empty when loading was strict.
    pub warnings: Vec<Diagnostic>,
}

/// Reads the documents of an engine.
///
/// The policy and the annotations are required; any other document may be missing or null. Options and roles are read
/// first, because they set the limits, strictness and roles for the rest. The rest is read even if they are faulty, so that
/// a person sees every fault at once; roles that it names are then not said to be unknown.
///
/// # Errors
///
/// All diagnostics, warnings included, if there is an error, or a warning while loading is strict.
pub fn read(documents: &[(DocumentKind, DocumentSource<'_>)]) -> Result<Config, Vec<Diagnostic>> {
    let located = |faults| {
        let each = documents.iter();
        each.fold(faults, |faults, (kind, source)| {
            source.located(faults, kind.as_str())
        })
    };
    let mut config = read_documents(documents).map_err(located)?;
    config.warnings = located(config.warnings);
    Ok(config)
}

fn read_documents(documents: &[(DocumentKind, DocumentSource<'_>)]) -> Result<Config, Vec<Diagnostic>> {
    let mut reader = Reader::new(documents)?;
    reader.folder = reader.optional(DocumentKind::Folder, folder).flatten();
    reader.check(false)?;
    let options = reader
        .optional(DocumentKind::Options, |node, _| options::read(node))
        .unwrap_or_default();
    reader.limits = options.limits.clone();
    let has_world = reader.is_configured(DocumentKind::World);
    let earlier = reader.errors();
    let registry = reader.optional(DocumentKind::Roles, |node, _| roles::read(node, has_world));
    let registry = registry.unwrap_or_else(|| Registry::new(has_world));
    let are_roles_faulty = reader.errors() > earlier;

    let mut config = reader.config(options, registry);
    if are_roles_faulty {
        reader.diagnostics.retain(|fault| fault.code != Code::UnknownRole);
    }
    reader.check(config.options.strict)?;
    // These warnings point out deliberate behaviour of the engine. They are not faults of the document, so strict
    // loading accepts them.
    reader.diagnostics.extend(by_design(&config));
    config.warnings = reader.diagnostics;
    Ok(config)
}

impl Reader<'_> {
    /// The documents but for the options and the roles, as far as they can be read.
    fn config(&mut self, options: Options, registry: Registry) -> Config {
        let policy = self.required(DocumentKind::Policy, |node, limits| {
            let policy = policy::read(node, &registry, limits);
            advice::reachability(&policy.rules, node, &registry);
            policy
        });
        let annotations = self.required(DocumentKind::Annotations, |node, _| {
            let annotations = annotation::read(node, &registry, &options.harn_server);
            advice::artifacts(&annotations, node);
            annotations
        });
        let lists = self
            .optional(DocumentKind::Lists, Lists::read)
            .unwrap_or_default();
        let table = self.optional(DocumentKind::Programs, annotation::read_programs);
        let programs = annotations
            .as_ref()
            .and_then(|annotations| Programs::of(&annotations.tools, table, &registry));
        if let Some(policy) = &policy {
            let tools = annotations.as_ref().map(|annotations| Tools {
                annotated: &annotations.tools,
                programs: programs.as_ref(),
            });
            self.look_at_rules(policy, tools, &lists, &options, &registry);
        }
        let protected_paths = self.optional(DocumentKind::ProtectedPaths, |node, limits| {
            node.each("an array of paths", |item| ProtectedPath::read(item, limits))
        });
        let sandbox = self.optional(DocumentKind::Sandbox, |node, limits| {
            node.path(Relative::Warned, limits)
        });
        let domain_allowlists = self.domain_allowlists(&options);
        let trusted_servers = self.optional(DocumentKind::TrustedServers, |node, _| node.names());
        let world = self.optional(DocumentKind::World, |node, limits| {
            let world = world::read(node, limits);
            advice::world(&world, node);
            world
        });
        let ceiling = self.optional(DocumentKind::Ceiling, Ceiling::read);
        let invariants = self.optional(DocumentKind::Invariants, |node, limits| {
            Invariant::read(node, &registry, &lists, limits)
        });
        let mut config = Config {
            policy: policy.unwrap_or_default(),
            annotations: annotations.unwrap_or_default(),
            programs,
            lists,
            protected_paths: protected_paths.flatten().unwrap_or_default(),
            sandbox: sandbox.flatten().into_iter().collect(),
            domain_allowlists,
            trusted_servers: trusted_servers.flatten().unwrap_or_default(),
            ceiling,
            options,
            registry,
            world,
            invariants: invariants.flatten().unwrap_or_default(),
            warnings: Vec::new(),
        };
        self.look_at_servers(&mut config);
        config
    }

    /// Looks at what the rules name elsewhere.
    fn look_at_rules(
        &mut self,
        policy: &Policy,
        tools: Option<Tools<'_>>,
        lists: &Lists,
        options: &Options,
        registry: &Registry,
    ) {
        let report = Report::default();
        let name = DocumentKind::Policy.as_str();
        let document = JsonPath::Document(name);
        let rules = JsonPath::Key(&document, "rules");
        // What a counter cannot count is missed by the rules that look at it.
        let counters = policy.counters.iter().map(|counter| counter.rule.clone());
        let counters: Vec<Rule> = counters.collect();
        for (of_document, place) in [
            (&policy.rules, &rules),
            (&counters, &JsonPath::Key(&document, "counters")),
        ] {
            let severity = unlike_runtime(options);
            advice::missing_lists(of_document, place, lists, &report);
            advice::patterns(of_document, place, (lists, registry), severity, &report);
            if let Some(tools) = tools {
                advice::names(of_document, place, tools, &report);
            }
        }
        if let Some(tools) = tools
            && options.compatibility == Compatibility::Runtime
        {
            advice::cross_role(&policy.rules, &rules, registry, tools, &report);
        }
        self.diagnostics.extend(report.finish(name));
    }

    fn domain_allowlists(&mut self, options: &Options) -> Vec<(Box<str>, Vec<Box<str>>)> {
        let kind = DocumentKind::DomainAllowlists;
        let allowlists = self.optional(kind, |node, limits| {
            node.each_entry(|patterns| patterns.patterns(limits))
        });
        let Some(allowlists) = allowlists else {
            return Vec::new();
        };
        let report = Report::default();
        advice::allowlist_patterns(&allowlists, kind.as_str(), unlike_runtime(options), &report);
        self.diagnostics.extend(report.finish(kind.as_str()));
        allowlists
    }

    /// Looks at the servers that are named, and at the directories that a ceiling gives its workspace.
    fn look_at_servers(&mut self, config: &mut Config) {
        let options = &config.options;
        let named = advice::NamedServers {
            sandbox: &sandboxed(config),
            working_directories: keys(&options.working_directories),
            server_paths: keys(&options.server_paths),
            domain_allowlists: keys(&config.domain_allowlists),
            trusted: config.trusted_servers.iter().map(|name| &**name).collect(),
        };
        self.diagnostics
            .extend(advice::servers(&named, &config.annotations));
        if let Some(ceiling) = &config.ceiling {
            let found = advice::unbound(ceiling, DocumentKind::Ceiling.as_str(), &config.annotations);
            self.diagnostics.extend(found);
        }
        if options.workspace_roots == WorkspaceRoots::Sandbox {
            match sandbox::of_ceiling(config.ceiling.as_ref(), &config.sandbox) {
                Ok(roots) => config.sandbox = roots.to_vec(),
                Err(message) => self.diagnostics.push(Diagnostic::error(
                    Code::InvalidValue,
                    "options.workspaceRoots",
                    message,
                )),
            }
        }
    }
}

/// The existing runtime takes patterns that nothing matches, and compares them as they stand.
fn unlike_runtime(options: &Options) -> Severity {
    match options.compatibility {
        Compatibility::Careful => Severity::Error,
        Compatibility::Runtime => Severity::Warning,
    }
}

fn keys<V>(entries: &[(Box<str>, V)]) -> Vec<&str> {
    entries.iter().map(|(key, _)| &**key).collect()
}

fn sandboxed(config: &Config) -> advice::Sandboxed<'_> {
    advice::Sandboxed {
        directories: &config.sandbox,
        servers: &config.options.servers,
        roles: config.options.sandbox_roles,
        order: config.options.sandbox_order,
        is_careful: config.options.compatibility == Compatibility::Careful,
    }
}

/// Warnings about what the engine does on purpose.
fn by_design(config: &Config) -> Vec<Diagnostic> {
    let sandboxed = sandboxed(config);
    let mut found = advice::overridden(
        &config.policy,
        DocumentKind::Policy.as_str(),
        &config.registry,
        &config.annotations,
        &sandboxed,
        &config.domain_allowlists,
    );
    // In the existing runtime it is so for every server but two.
    if config.options.compatibility == Compatibility::Careful {
        found.extend(advice::unsandboxed(
            &sandboxed,
            &config.trusted_servers,
            &config.annotations,
        ));
    }
    if let Some(ceiling) = &config.ceiling {
        let name = DocumentKind::Ceiling.as_str();
        found.extend(advice::undeclared(ceiling, name, &config.annotations));
    }
    found
}

fn folder(node: &Node<'_, '_>, limits: &Limits) -> Option<Box<str>> {
    let folder = node.bounded_string(limits)?;
    if !folder.starts_with('/') || folder.contains('\0') {
        node.refuse(Code::InvalidPath, "expected an absolute path");
        return None;
    }
    Some(folder.into())
}

#[cfg(test)]
mod tests;
