//! The options of an engine.

use crate::annotation::HARN_SERVER;
use crate::diagnostic::{Code, Severity};
use crate::document::{DEEPEST, Node, Object, Relative, did_you_mean, keys, listed};
use crate::limits::Limits;
use crate::model::{SandboxOrder, ServerKind, Servers};
use crate::named::{Named, named};
use crate::path::{PathCase, lexical};
use crate::role::{RoleId, RoleSet};
use crate::table::TextTable;

/// How an engine behaves where SPEC allows a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub compatibility: Compatibility,
    /// `heuristicPaths`: whether every argument that looks like a path is checked against the protected paths.
    pub heuristic_paths: bool,
    pub unknown_arguments: UnknownArguments,
    /// `clientArguments`: arguments that clients add to the calls of every tool.
    pub client_arguments: Vec<Box<str>>,
    /// `None` leaves it to the host.
    pub path_case: Option<PathCase>,
    pub(crate) directories: Directories,
    /// `None` leaves it to the set of defaults.
    pub relative_paths: Option<RelativePaths>,
    /// `serverPaths`: for servers that see the disk under other names, their name of each directory of the host.
    pub server_paths: Vec<(Box<str>, Vec<ServerPath>)>,
    /// `harnServer`: the server of the tools in a Harn file, which does not name one.
    pub harn_server: Box<str>,
    pub(crate) workspace_roots: WorkspaceRoots,
    /// `serverAliases` and `sandboxServers`.
    pub servers: Servers,
    /// `sandboxRoles`: the roles that the sandbox decides about.
    pub sandbox_roles: RoleSet,
    /// `sandbox`.
    pub sandbox_order: SandboxOrder,
    /// `workingDirectory`: for servers that are started in a repository, that directory: absolute, `~` or `~/…`.
    pub working_directories: Vec<(Box<str>, Box<str>)>,
    /// `true` if a warning refuses a document.
    pub strict: bool,
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compatibility: Compatibility::Careful,
            heuristic_paths: true,
            unknown_arguments: UnknownArguments::Schema,
            client_arguments: Vec::new(),
            path_case: None,
            directories: Directories::Fresh,
            relative_paths: None,
            server_paths: Vec::new(),
            harn_server: HARN_SERVER.into(),
            workspace_roots: WorkspaceRoots::Bounds,
            servers: Servers::default(),
            sandbox_roles: RoleSet::SANDBOX_SAFE,
            sandbox_order: SandboxOrder::BeforeRules,
            working_directories: Vec::new(),
            strict: false,
            limits: Limits::default(),
        }
    }
}

named! {
    /// Which defaults hold where the existing runtime decides otherwise than SPEC.
    pub enum Compatibility {
        /// Those of SPEC.
        Careful = "careful",
        /// Those of the existing runtime, repaired as SPEC §15 says.
        Runtime = "runtime",
    }
}

named! {
    /// The treatment of an argument that neither the annotation's `args` nor its schema names.
    pub enum UnknownArguments {
        /// Denied if the schema lists properties.
        Schema = "schema",
        /// Ignored.
        Ignore = "ignore",
        /// Escalated, whatever the schema says.
        Escalate = "escalate",
        /// Denied, whatever the schema says.
        Deny = "deny",
    }
}

named! {
    /// When the directories of rules, protected paths and the sandbox are resolved.
    pub enum Directories {
        /// In every evaluation.
        Fresh = "fresh",
        /// When the engine is built or refreshed.
        Pinned = "pinned",
    }
}

named! {
    /// The treatment of relative paths by a gate; the tool's server would read them in its own working directory.
    pub enum RelativePaths {
        /// Sends their canonical form.
        Canonical = "canonical",
        /// Sends them as they were given, where there is a sandbox.
        AsGiven = "as-given",
        /// Refuses them.
        Deny = "deny",
    }
}

named! {
    /// The purpose of a capability ceiling's workspace roots.
    pub enum WorkspaceRoots {
        /// Paths must lie within one of them; they grant nothing.
        Bounds = "bounds",
        /// As `Bounds`, and together they form the sandbox. Relative paths are resolved against the first.
        Sandbox = "sandbox",
    }
}

/// A directory of the host, and what a server calls it; both absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPath {
    pub host: Box<str>,
    pub server: Box<str>,
}

pub const HEURISTIC_PATHS: &[(&str, bool)] = &[("on", true), ("off", false)];

pub const PATH_CASE: &[(&str, PathCase)] = &[
    ("sensitive", PathCase::Sensitive),
    ("insensitive", PathCase::Insensitive),
];

/// The roles that the sandbox can decide about.
pub const SANDBOX_ROLES: &[(&str, RoleId)] = &[
    ("read-path", RoleId::READ_PATH),
    ("write-path", RoleId::WRITE_PATH),
    ("delete-path", RoleId::DELETE_PATH),
    ("write-history", RoleId::WRITE_HISTORY),
    ("delete-history", RoleId::DELETE_HISTORY),
];

/// Reads the options; a missing one has its default. Faults go to the document's report.
///
/// An unknown key is an error: a misspelled option would leave the engine less strict than it looks.
pub(super) fn read(node: &Node<'_, '_>) -> Options {
    let defaults = Options::default();
    let Some(object) = node.object_of(keys::OPTIONS, Severity::Error) else {
        return defaults;
    };
    let limits = object.read_or_default("limits", |node| Some(read_limits(node)));
    let aliases = object.read_or_default("serverAliases", |node| Some(read_aliases(node)));
    let sandboxed = object.read("sandboxServers", |node| node.names());
    let servers = Servers {
        aliases,
        are_listed: sandboxed.is_some(),
        sandboxed: sandboxed.unwrap_or(defaults.servers.sandboxed),
    };
    Options {
        compatibility: object.read_or("compatibility", defaults.compatibility, |node| node.word()),
        heuristic_paths: object.read_or("heuristicPaths", defaults.heuristic_paths, |node| {
            node.one_of(HEURISTIC_PATHS)
        }),
        unknown_arguments: object.read_or("unknownArguments", defaults.unknown_arguments, |node| node.word()),
        client_arguments: object.read_or_default("clientArguments", |node| node.names()),
        path_case: object.read("pathCase", |node| node.one_of(PATH_CASE)),
        directories: object.read_or("directories", defaults.directories, |node| node.word()),
        relative_paths: object.read("relativePaths", |node| node.word()),
        server_paths: object.read_or_default("serverPaths", |node| {
            Some(node.each_entry(|prefixes| Some(read_server_paths(prefixes))))
        }),
        harn_server: object.read_or("harnServer", defaults.harn_server, |node| {
            node.name().map(Box::from)
        }),
        workspace_roots: object.read_or("workspaceRoots", defaults.workspace_roots, |node| node.word()),
        servers,
        sandbox_roles: object.read_or("sandboxRoles", defaults.sandbox_roles, |node| {
            let roles = node.each("an array of roles", |item| item.one_of(SANDBOX_ROLES))?;
            Some(roles.into_iter().collect())
        }),
        sandbox_order: object.read_or("sandbox", defaults.sandbox_order, |node| node.word()),
        working_directories: object.read_or_default("workingDirectory", |node| {
            let directory = |node: &Node<'_, '_>| node.path(Relative::Refused, &limits);
            Some(node.each_entry(directory))
        }),
        strict: object.read_or("strict", defaults.strict, |node| node.boolean()),
        limits,
    }
}

fn read_aliases(node: &Node<'_, '_>) -> TextTable<ServerKind> {
    let object = node.object();
    let entries = object.iter().flat_map(Object::entries);
    let read = |(server, node): (&str, Node<'_, '_>)| {
        let kind = node.word()?;
        if let Some(own) = ServerKind::find(server).filter(|own| *own != kind) {
            let own = own.word();
            node.refuse(
                Code::InvalidValue,
                &format!("but `{server}` is of the kind `{own}`, expected another server"),
            );
            return None;
        }
        Some((server.into(), kind))
    };
    entries.filter_map(read).collect()
}

fn read_server_paths(node: &Node<'_, '_>) -> Vec<ServerPath> {
    let object = node.object();
    let entries = object.iter().flat_map(Object::entries);
    entries
        .filter_map(|(host, node)| read_server_path(host, &node))
        .collect()
}

fn read_server_path(host: &str, node: &Node<'_, '_>) -> Option<ServerPath> {
    let server = node.string()?;
    for path in [host, server] {
        if !path.starts_with('/') || path.contains('\0') {
            node.error(Code::InvalidPath, format_args!("found the path `{path}`, expected an absolute path of the host, and what the server calls it"));
            return None;
        }
    }
    let collapsed = |path: &str| lexical(path, "/").as_ref().into();
    Some(ServerPath {
        host: collapsed(host),
        server: collapsed(server),
    })
}

/// The highest value of a limit: the same on every target, whatever the size of its integers. Depth is bounded by the
/// stack.
pub fn most(limit: &str) -> u64 {
    if limit == "depth" {
        DEEPEST as u64
    } else {
        u64::from(u32::MAX)
    }
}

fn read_limits(node: &Node<'_, '_>) -> Limits {
    let mut limits = Limits::default();
    let Some(object) = node.object() else {
        return limits;
    };
    for (name, node) in object.entries() {
        let Some(bound) = limits.named_mut(name) else {
            node.fault(Severity::Error, Code::UnknownKey, || {
                let names = || Limits::TABLE.iter().map(|(name, _)| *name);
                let message = format!("found the limit `{name}`, expected one of {}", listed(names()));
                (message, did_you_mean(name, names()))
            });
            continue;
        };
        let most = most(name);
        match node.value().as_u64().filter(|value| *value <= most) {
            Some(value) => *bound = usize::try_from(value).unwrap_or(*bound),
            None => node.refuse(
                Code::InvalidValue,
                &format!("expected an integer from 0 to {most}"),
            ),
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::{Json, Report};
    use crate::role::Registry;

    fn check(value: Value, expected: Options, faults: &[&str]) {
        let report = Report::default();
        assert_eq!(
            read(&Node::document(&Json::from(&value), "options", &report)),
            expected
        );
        let found: Vec<String> = report.finish("options").iter().map(ToString::to_string).collect();
        assert_eq!(found, faults);
    }

    #[test]
    fn every_option_has_a_default_and_a_spelling() {
        check(json!({}), Options::default(), &[]);
        check(
            json!({
                "compatibility": "runtime", "heuristicPaths": "off", "unknownArguments": "escalate", "pathCase": "insensitive",
                "clientArguments": ["toolCallId"],
                "directories": "pinned", "strict": true, "limits": {"depth": 8, "rules": 0},
                "harnServer": "vm", "workspaceRoots": "sandbox", "relativePaths": "as-given",
                "serverPaths": {"fs": {"/srv/": "/work"}}, "serverAliases": {"fs": "filesystem"},
                "sandboxServers": ["filesystem", "notes"], "sandboxRoles": ["read-path", "write-path"],
                "sandbox": "after-rules", "workingDirectory": {"git": "~/repo"},
            }),
            Options {
                compatibility: Compatibility::Runtime,
                heuristic_paths: false,
                unknown_arguments: UnknownArguments::Escalate,
                client_arguments: vec!["toolCallId".into()],
                path_case: Some(PathCase::Insensitive),
                directories: Directories::Pinned,
                relative_paths: Some(RelativePaths::AsGiven),
                server_paths: vec![(
                    "fs".into(),
                    vec![ServerPath {
                        host: "/srv".into(),
                        server: "/work".into(),
                    }],
                )],
                harn_server: "vm".into(),
                workspace_roots: WorkspaceRoots::Sandbox,
                servers: Servers {
                    aliases: [("fs".into(), ServerKind::Filesystem)].into_iter().collect(),
                    are_listed: true,
                    sandboxed: vec!["filesystem".into(), "notes".into()],
                },
                sandbox_roles: [RoleId::READ_PATH, RoleId::WRITE_PATH].into_iter().collect(),
                sandbox_order: SandboxOrder::AfterRules,
                working_directories: vec![("git".into(), "~/repo".into())],
                strict: true,
                limits: Limits {
                    depth: 8,
                    rules: 0,
                    ..Limits::default()
                },
            },
            &[],
        );
    }

    #[test]
    fn the_sandbox_decides_about_the_roles_of_paths() {
        let named: RoleSet = SANDBOX_ROLES.iter().map(|(_, role)| *role).collect();
        assert_eq!(named, RoleSet::SANDBOX_SAFE);
        let registry = Registry::new(false);
        for (name, role) in SANDBOX_ROLES {
            assert_eq!(registry.name(*role), *name);
        }
    }

    #[test]
    fn options_about_servers_are_read_strictly() {
        check(
            json!({
                "serverAliases": {"fs": "filesystm", "git": "filesystem", "x": 5, "filesystem": "filesystem"},
                "sandboxServers": "git", "sandboxRoles": ["read-path", "fetch-url"], "sandbox": "after",
                "workingDirectory": {"git": "repo"},
            }),
            Options {
                servers: Servers {
                    aliases: [("filesystem".into(), ServerKind::Filesystem)]
                        .into_iter()
                        .collect(),
                    ..Servers::default()
                },
                ..Options::default()
            },
            &[
                "error[unknown-value] at options.serverAliases.fs: found `\"filesystm\"`, expected one of `filesystem`, `git` \
                 (help: did you mean `filesystem`?)",
                "error[invalid-value] at options.serverAliases.git: found `\"filesystem\"`, but `git` is of the kind `git`, \
                 expected another server",
                "error[wrong-type] at options.serverAliases.x: found `5`, expected one of `filesystem`, `git`",
                "error[wrong-type] at options.sandboxServers: found `\"git\"`, expected an array of names",
                "error[unknown-value] at options.sandboxRoles[1]: found `\"fetch-url\"`, expected one of `read-path`, \
                 `write-path`, `delete-path`, `write-history`, `delete-history`",
                "error[unknown-value] at options.sandbox: found `\"after\"`, expected one of `before-rules`, `after-rules`",
                "error[invalid-path] at options.workingDirectory.git: found `\"repo\"`, a relative path, expected an absolute \
                 path, `~` or `~/…` (help: begin it with `/` or `~/`)",
            ],
        );
    }

    #[test]
    fn a_misspelled_option_is_refused() {
        check(
            json!({"heuristicPath": "off", "pathCase": "Sensitive", "strict": "yes"}),
            Options::default(),
            &[
                "error[unknown-key] at options.heuristicPath: found the key `heuristicPath`, expected one of \
                 `compatibility`, `heuristicPaths`, `unknownArguments`, `clientArguments`, `pathCase`, `directories`, `relativePaths`, `serverPaths`, `harnServer`, `workspaceRoots`, \
                 `serverAliases`, `sandboxServers`, `sandboxRoles`, `sandbox`, `workingDirectory`, `strict`, `limits` \
                 (help: did you mean `heuristicPaths`?)",
                "error[unknown-value] at options.pathCase: found `\"Sensitive\"`, expected one of `sensitive`, \
                 `insensitive` (help: did you mean `sensitive`?)",
                "error[wrong-type] at options.strict: found `\"yes\"`, expected `true` or `false`",
            ],
        );
    }

    #[test]
    fn limits_are_integers_of_any_target() {
        for (limits, expected) in [
            (
                json!({"depth": 121}),
                "found `121`, expected an integer from 0 to 120",
            ),
            (
                json!({"rules": -1}),
                "found `-1`, expected an integer from 0 to 4294967295",
            ),
            (
                json!({"rules": 1.5}),
                "found `1.5`, expected an integer from 0 to 4294967295",
            ),
            (
                json!({"links": 4294967296_u64}),
                "found `4294967296`, expected an integer from 0 to 4294967295",
            ),
            (
                json!({"rules": "1"}),
                "found `\"1\"`, expected an integer from 0 to 4294967295",
            ),
            (
                json!({"valueBytes": 1}),
                "found the limit `valueBytes`, expected one of `document_bytes`",
            ),
        ] {
            let value = json!({"limits": limits});
            let report = Report::default();
            assert_eq!(
                read(&Node::document(&Json::from(&value), "options", &report)),
                Options::default()
            );
            let faults = report.finish("options");
            assert_eq!(faults.len(), 1);
            assert!(faults[0].message.starts_with(expected), "{}", faults[0]);
        }
    }
}
