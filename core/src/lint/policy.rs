//! Where deliberate behaviour of the engine overrides a policy (SPEC §15, the rows that are kept).

use crate::annotation::{Annotations, Tool};
use crate::diagnostic::{Code, Diagnostic};
use crate::document::{JsonPath, Report};
use crate::model::{Effect, SandboxOrder, ServerKind, Servers};
use crate::policy::{Policy, Rule};
use crate::role::{Category, Registry, RoleId, RoleSet};
use crate::seed::INTROSPECTION_TOOL;
use crate::text::is_at_or_below;

/// The servers and roles that the sandbox decides about.
pub(crate) struct Sandboxed<'c> {
    pub(crate) directories: &'c [Box<str>],
    pub(crate) servers: &'c Servers,
    pub(crate) roles: RoleSet,
    pub(crate) order: SandboxOrder,
    /// `false` under the defaults of the existing runtime, where the sandbox allows a call before any rule is heard.
    pub(crate) is_careful: bool,
}

/// Warns about each rule that does less or more than it seems to say:
///
/// - it asks about a directory within the sandbox, where asking about places is not heard (under the defaults of the existing
///   runtime: it restricts such a directory, or denies what the sandbox has already allowed);
/// - it denies the introspection tool, which has already been allowed;
/// - it allows a tool with URLs, and neither the rule nor an allowlist of the server names domains;
/// - it has a domain pattern with a port, but ports are not compared.
///
/// There is no warning about a rule that escalates calls outside the sandbox: that is how rules and sandbox work
/// together.
pub(crate) fn overridden(
    policy: &Policy,
    document: &str,
    registry: &Registry,
    annotations: &Annotations,
    sandbox: &Sandboxed<'_>,
    domain_allowlists: &[(Box<str>, Vec<Box<str>>)],
) -> Vec<Diagnostic> {
    let report = Report::default();
    let root = JsonPath::Document(document);
    let rules = JsonPath::Key(&root, "rules");
    let is_gated = |tool: &Tool| domain_allowlists.iter().any(|(server, _)| *server == tool.server);
    let open_tools: Vec<&Tool> = annotations
        .tools
        .iter()
        .filter(|tool| !is_gated(tool) && bears_urls(tool, registry))
        .collect();
    for (index, rule) in policy.rules.iter().enumerate() {
        let place = JsonPath::Index(&rules, index);
        let allows = rule.effect == Effect::Allow;
        let mut files = sandbox.servers.of_kind(ServerKind::Filesystem);
        let before = [
            restricts_the_sandbox(rule, registry, sandbox).then(|| {
                let servers: Vec<String> = sandbox
                    .servers
                    .sandboxed()
                    .map(|name| format!("`{name}`"))
                    .collect();
                format!("paths within the sandbox on {}", servers.join(" and "))
            }),
            (!allows && files.any(|server| matches_every_call(rule, server, INTROSPECTION_TOOL)))
                .then(|| "`list_allowed_directories`".to_owned()),
        ];
        for what in before.into_iter().flatten() {
            report.warning(
                Code::Overridden,
                &place,
                format_args!(
                    "the rule `{}` does not restrict {what}: allowed without it, expected other calls",
                    rule.name
                ),
            );
        }
        let is_open = |tool: &&&Tool| allows && matches_every_call(rule, &tool.server, &tool.name);
        if let Some(tool) = open_tools.iter().find(is_open) {
            report.warning(
                Code::Overridden,
                &place,
                format_args!(
                    "the rule `{}` allows every domain to `{}` on `{}`, expected `domains` or an allowlist",
                    rule.name, tool.name, tool.server
                ),
            );
        }
        if let Some(domains) = &rule.conditions.domains {
            let conditions = JsonPath::Key(&place, "if");
            let place = JsonPath::Key(&conditions, "domains");
            warn_of_ports(&domains.allowed, &JsonPath::Key(&place, "allowed"), &report);
        }
    }
    let allowlists = JsonPath::Document("domainAllowlists");
    for (server, patterns) in domain_allowlists {
        warn_of_ports(patterns, &JsonPath::Key(&allowlists, server), &report);
    }
    report.finish(document)
}

fn bears_urls(tool: &Tool, registry: &Registry) -> bool {
    tool.arguments
        .iter()
        .flat_map(|argument| argument.roles.possible())
        .any(|role| registry.get(role).category == Category::Url)
}

/// Returns `true` if the rule restricts something that the sandbox allows all the same.
fn restricts_the_sandbox(rule: &Rule, registry: &Registry, sandbox: &Sandboxed<'_>) -> bool {
    let conditions = &rule.conditions;
    let is_careful = sandbox.is_careful;
    if is_careful && (rule.effect == Effect::Deny || conditions.tool.is_some() || !conditions.args.is_empty())
    {
        return false;
    }
    let meets_paths = |roles: &[_]| {
        let roles: RoleSet = roles.iter().copied().collect();
        roles.intersects(sandbox.roles)
    };
    // Of resources the sandbox decides about paths alone.
    let is_decided = |roles: &[RoleId]| {
        let mut resources = roles
            .iter()
            .filter(|role| registry.get(**role).is_resource_identifier());
        !is_careful && resources.all(|role| sandbox.roles.contains(*role))
    };
    let is_about_the_sandbox = match &conditions.paths {
        Some(paths) => {
            meets_paths(&paths.roles)
                && sandbox
                    .directories
                    .iter()
                    .any(|outer| is_at_or_below(&paths.within, outer))
        }
        None => rule.effect == Effect::Deny && !sandbox.directories.is_empty(),
    };
    sandbox.order == SandboxOrder::BeforeRules
        && rule.effect != Effect::Allow
        && is_about_the_sandbox
        && sandbox
            .servers
            .sandboxed()
            .any(|server| conditions.includes_server(server))
        && conditions.domains.is_none()
        && conditions
            .lists
            .iter()
            .flatten()
            .all(|list| is_decided(&list.roles))
        && conditions.roles.as_deref().is_none_or(meets_paths)
}

/// Returns `true` if the rule matches every call of the tool.
fn matches_every_call(rule: &Rule, server: &str, tool: &str) -> bool {
    let conditions = &rule.conditions;
    conditions.roles.is_none()
        && !conditions.name_values()
        && conditions.includes_server(server)
        && conditions.includes_tool(tool)
}

fn warn_of_ports(patterns: &[Box<str>], place: &JsonPath<'_>, report: &Report) {
    for (index, pattern) in patterns.iter().enumerate() {
        if has_port(pattern) {
            report.warning(
                Code::Overridden,
                &JsonPath::Index(place, index),
                format_args!("found `{pattern}`, but ports are not compared, expected a host without a port"),
            );
        }
    }
}

/// Returns `true` if a pattern is `host:digits`. An IPv6 address has more colons, or brackets.
fn has_port(pattern: &str) -> bool {
    let host = pattern.split('/').next().unwrap_or_default();
    host.rsplit_once(':').is_some_and(|(name, port)| {
        let is_host = !name.contains(':') || name.ends_with(']');
        is_host && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::{Json, Node};
    use crate::limits::Limits;
    use crate::{annotation, policy};

    /// Compares the warnings about one rule, each by the words that tell it from the others.
    fn check(effect: &str, conditions: Value, sandbox: &[&str], gated: &[&str], expected: &[&str]) {
        let policy = json!({"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": [{
            "name": "n", "description": "", "principle": "", "if": conditions, "then": effect, "reason": "",
        }]});
        let (report, registry) = (Report::default(), Registry::default());
        let policy = policy::read(
            &Node::document(&Json::from(&policy), "p", &report),
            &registry,
            &Limits::default(),
        );
        let annotations = annotations(&report);
        assert!(!report.has_errors());
        let servers = Servers::default();
        let gated: Vec<(Box<str>, Vec<Box<str>>)> = gated
            .iter()
            .map(|server| ((*server).into(), Vec::new()))
            .collect();
        let sandbox: Vec<Box<str>> = sandbox.iter().map(|directory| (*directory).into()).collect();
        let sandbox = Sandboxed {
            directories: &sandbox,
            ..by_default(&servers)
        };
        let found = overridden(&policy, "p", &registry, &annotations, &sandbox, &gated);
        assert_eq!(found.len(), expected.len(), "{conditions} {found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.to_string().contains(expected), "{found}");
        }
    }

    fn by_default(servers: &Servers) -> Sandboxed<'_> {
        Sandboxed {
            directories: &[],
            servers,
            roles: RoleSet::SANDBOX_SAFE,
            order: SandboxOrder::BeforeRules,
            is_careful: false,
        }
    }

    /// A tool with a URL, one with a remote and one without either.
    fn annotations(report: &Report) -> Annotations {
        let tool = |server: &str, name: &str, args: Value| json!({"toolName": name, "serverName": server, "comment": "", "args": args});
        let annotations = json!({"generatedAt": "", "servers": {
            "fetch": {"inputHash": "", "tools": [tool("fetch", "http_fetch", json!({"url": ["fetch-url"]}))]},
            "git": {"inputHash": "", "tools": [
                tool("git", "git_status", json!({"path": ["read-path"]})),
                tool("git", "git_push", json!({"remote": ["git-remote-url"]})),
            ]},
        }});
        annotation::read(
            &Node::document(&Json::from(&annotations), "annotations", report),
            &Registry::default(),
            annotation::HARN_SERVER,
        )
    }

    #[test]
    fn each_behaviour_that_is_kept_is_warned_of() {
        let within = |dir: &str| json!({"paths": {"roles": ["read-path"], "within": dir}});
        let (sandbox, introspection) = ("within the sandbox", "`list_allowed_directories`");
        for (conditions, place, denied, asked) in [
            (
                json!({"tool": ["git_reset"]}),
                &["/box"][..],
                &[sandbox][..],
                &[][..],
            ),
            (json!({"tool": ["git_reset"]}), &[], &[], &[]),
            (json!({"server": ["fetch"]}), &["/box"], &[], &[]),
            (json!({"roles": ["fetch-url"]}), &["/box"], &[], &[]),
            (
                json!({"roles": ["delete-history"], "server": ["git"]}),
                &["/box"],
                &[sandbox],
                &[],
            ),
            (within("/box/secret"), &["/box/"], &[sandbox], &[sandbox]),
            (within("/box"), &["/box"], &[sandbox], &[sandbox]),
            (within("~/box/x"), &["~/box"], &[sandbox], &[sandbox]),
            (within("/"), &["/box"], &[], &[]),
            (within("/boxer"), &["/box"], &[], &[]),
            (within("~/x"), &["/box"], &[], &[]),
            (within("/b/x"), &["/a", "/b"], &[sandbox], &[sandbox]),
            (within("/a/b"), &["/a", "/a/b"], &[sandbox], &[sandbox]),
            (within("/"), &["/a", "/b"], &[], &[]),
            (within("/c"), &["/a", "/b"], &[], &[]),
            (json!({"tool": ["git_reset"]}), &["/a", "/b"], &[sandbox], &[]),
            (
                json!({"domains": {"roles": ["git-remote-url"], "allowed": ["x"]}}),
                &["/box"],
                &[],
                &[],
            ),
            (
                json!({"tool": ["list_allowed_directories"]}),
                &[],
                &[introspection],
                &[introspection],
            ),
            (
                json!({"server": ["filesystem"]}),
                &[],
                &[introspection],
                &[introspection],
            ),
            (json!({"server": ["git"]}), &[], &[], &[]),
        ] {
            check("deny", conditions.clone(), place, &[], denied);
            check("escalate", conditions, place, &[], asked);
        }
        let (fetch, push) = (
            "every domain to `http_fetch` on `fetch`",
            "every domain to `git_push` on `git`",
        );
        for (conditions, gated, expected) in [
            (json!({"tool": ["git_push"]}), &[][..], &[push][..]),
            (json!({"tool": ["git_push"]}), &["fetch"], &[push]),
            (json!({"tool": ["git_push"]}), &["fetch", "git"], &[]),
            (json!({"tool": ["git_status"]}), &[], &[]),
            (json!({"server": ["git"]}), &[], &[push]),
            (json!({"server": ["fetch", "git"]}), &[], &[fetch]),
            (json!({"server": ["filesystem"]}), &[], &[]),
            (json!({"roles": ["git-remote-url"]}), &[], &[]),
            (within("/"), &[], &[]),
        ] {
            check("allow", conditions, &["/"], gated, expected);
        }
        let patterns = json!([
            "x.org:22",
            "x.org",
            "::1",
            "[::1]:80",
            "x.org:8080/a",
            "x:y",
            "x:"
        ]);
        let ports = ["allowed[0]: found `x.org:22`", "allowed[3]", "allowed[4]"];
        check(
            "allow",
            json!({"domains": {"roles": ["fetch-url"], "allowed": patterns}}),
            &[],
            &[],
            &ports,
        );
    }

    #[test]
    fn allowlists_with_ports_are_warned_of_too() {
        let allowlists = [("a-b".into(), vec!["*".into(), "x.org:443".into()])];
        let found = overridden(
            &Policy::default(),
            "p",
            &Registry::default(),
            &Annotations::default(),
            &by_default(&Servers::default()),
            &allowlists,
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "domainAllowlists[\"a-b\"][1]");
        assert_eq!(found[0].code, Code::Overridden);
    }
}
