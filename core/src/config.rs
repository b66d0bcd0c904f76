//! Everything an engine is built from, read and checked together.

mod kind;
mod options;
mod reader;
mod roles;
mod sandbox;

use crate::annotation::{self, Annotations};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::{DocumentSource, JsonPath, Node, Relative, Report};
use crate::limits::Limits;
use crate::lint;
#[cfg(feature = "analysis")]
use crate::policy::Invariant;
use crate::policy::{self, Ceiling, Lists, Policy};
use crate::role::Registry;
use crate::world::{self, World};

pub use kind::DocumentKind;
pub(crate) use options::{
    Compatibility, Directories, HEURISTIC_PATHS, Options, PATH_CASE, RelativePaths, SANDBOX_ROLES,
    ServerPath, UnknownArguments, WorkspaceRoots, most,
};
use reader::Reader;
pub(crate) use roles::CATEGORIES;

/// A valid configuration.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) policy: Policy,
    pub(crate) annotations: Annotations,
    pub(crate) lists: Lists,
    /// Absolute, `~` or `~/…`, and patterns, which may begin with `**` too.
    pub(crate) protected_paths: Vec<Box<str>>,
    /// The directories that are one sandbox: `sandbox`, or the workspace roots of the ceiling. They are
    /// absolute, `~`, `~/…`, or (with a warning, and not of a ceiling) relative to the current directory.
    pub(crate) sandbox: Vec<Box<str>>,
    /// For each server with an allowlist, its domain patterns in document order.
    pub(crate) domain_allowlists: Vec<(Box<str>, Vec<Box<str>>)>,
    pub(crate) trusted_servers: Vec<Box<str>>,
    pub(crate) ceiling: Option<Ceiling>,
    pub(crate) options: Options,
    /// The built-in roles and those of the host.
    pub(crate) registry: Registry,
    pub(crate) world: Option<World>,
    #[cfg(feature = "analysis")]
    pub(crate) invariants: Vec<Invariant>,
    /// Empty when loading was strict.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads the documents of an engine.
///
/// The policy and the annotations are required; any other document may be missing or null. Options and roles are read
/// first, because they set the limits, strictness and roles for the rest. If either has an error, nothing else is
/// read.
///
/// # Errors
///
/// All diagnostics, warnings included, if there is an error, or a warning while loading is strict.
pub(crate) fn read(documents: &[(DocumentKind, DocumentSource<'_>)]) -> Result<Config, Vec<Diagnostic>> {
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
    let registry = reader.optional(DocumentKind::Roles, |node, _| roles::read(node, has_world));
    let registry = registry.unwrap_or_else(|| Registry::new(has_world));
    reader.check(false)?;

    let policy = reader.required(DocumentKind::Policy, |node, limits| {
        let policy = policy::read(node, &registry, limits);
        lint::reachability(&policy.rules, node, &registry);
        policy
    });
    let annotations = reader.required(DocumentKind::Annotations, |node, _| {
        let annotations = annotation::read(node, &registry, &options.harn_server);
        lint::artifacts(&annotations, node);
        annotations
    });
    let lists = reader
        .optional(DocumentKind::Lists, Lists::read)
        .unwrap_or_default();
    // The existing runtime takes such patterns, and compares them as they stand.
    let unlike_runtime = match options.compatibility {
        Compatibility::Careful => Severity::Error,
        Compatibility::Runtime => Severity::Warning,
    };
    if let Some(policy) = &policy {
        let report = Report::default();
        let name = DocumentKind::Policy.as_str();
        lint::missing_lists(policy, name, &lists, &report);
        let document = JsonPath::Document(name);
        let rules = JsonPath::Key(&document, "rules");
        lint::patterns(&policy.rules, &rules, &lists, unlike_runtime, &report);
        if let Some(annotations) = &annotations {
            lint::names(&policy.rules, &rules, annotations, &report);
            if options.compatibility == Compatibility::Runtime {
                lint::unheard(&policy.rules, &rules, &registry, annotations, &report);
            }
        }
        reader.diagnostics.extend(report.finish(name));
    }
    let protected_paths = reader.optional(DocumentKind::ProtectedPaths, |node, limits| {
        node.paths_or_patterns(limits)
    });
    let sandbox = reader.optional(DocumentKind::Sandbox, |node, limits| {
        node.path(Relative::Warned, limits)
    });
    let domain_allowlists = reader.optional(DocumentKind::DomainAllowlists, |node, limits| {
        node.each_entry(|patterns| patterns.patterns(limits))
    });
    if let Some(allowlists) = &domain_allowlists {
        let report = Report::default();
        let name = DocumentKind::DomainAllowlists.as_str();
        lint::allowlist_patterns(allowlists, name, unlike_runtime, &report);
        reader.diagnostics.extend(report.finish(name));
    }
    let trusted_servers = reader.optional(DocumentKind::TrustedServers, |node, _| node.names());
    let world = reader.optional(DocumentKind::World, |node, limits| {
        let world = world::read(node, limits);
        lint::world(&world, node);
        world
    });
    let ceiling = reader.optional(DocumentKind::Ceiling, Ceiling::read);
    #[cfg(feature = "analysis")]
    let invariants = reader.optional(DocumentKind::Invariants, |node, limits| {
        Invariant::read(node, &registry, &lists, limits)
    });
    // Verdicts do not depend on them: who only judges need not read them.
    #[cfg(not(feature = "analysis"))]
    reader.optional(DocumentKind::Invariants, |node, _| {
        node.array("an array of statements").map(|_| ())
    });
    let annotations = annotations.unwrap_or_default();
    let named = options.working_directories.iter().map(|(server, _)| &**server);
    let found = lint::servers(
        &options.servers,
        named,
        DocumentKind::Options.as_str(),
        &annotations,
    );
    reader.diagnostics.extend(found);
    let mut sandbox: Vec<Box<str>> = sandbox.flatten().into_iter().collect();
    if let Some(ceiling) = &ceiling {
        let found = lint::unbound(ceiling, DocumentKind::Ceiling.as_str(), &annotations);
        reader.diagnostics.extend(found);
    }
    if options.workspace_roots == WorkspaceRoots::Sandbox {
        match sandbox::of_ceiling(ceiling.as_ref(), &sandbox) {
            Ok(roots) => sandbox = roots.to_vec(),
            Err(message) => reader.diagnostics.push(Diagnostic::error(
                Code::InvalidValue,
                "options.workspaceRoots",
                message,
            )),
        }
    }
    reader.check(options.strict)?;
    let policy = policy.unwrap_or_default();
    let domain_allowlists = domain_allowlists.unwrap_or_default();
    // These warnings point out deliberate behaviour of the engine. They are not faults of the document, so strict
    // loading accepts them.
    let by_design = lint::overridden(
        &policy,
        DocumentKind::Policy.as_str(),
        &registry,
        &annotations,
        &lint::Sandboxed {
            directories: &sandbox,
            servers: &options.servers,
            roles: options.sandbox_roles,
            order: options.sandbox_order,
        },
        &domain_allowlists,
    );
    reader.diagnostics.extend(by_design);
    if let Some(ceiling) = &ceiling {
        let by_design = lint::undeclared(ceiling, DocumentKind::Ceiling.as_str(), &annotations);
        reader.diagnostics.extend(by_design);
    }
    Ok(Config {
        policy,
        annotations,
        lists,
        protected_paths: protected_paths.flatten().unwrap_or_default(),
        sandbox,
        domain_allowlists,
        trusted_servers: trusted_servers.flatten().unwrap_or_default(),
        ceiling,
        options,
        registry,
        world,
        #[cfg(feature = "analysis")]
        invariants: invariants.flatten().unwrap_or_default(),
        warnings: reader.diagnostics,
    })
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
