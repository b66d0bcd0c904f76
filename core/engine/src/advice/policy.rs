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
pub struct Sandboxed<'c> {
    pub(crate) directories: &'c [Box<str>],
    pub(crate) servers: &'c Servers,
    pub roles: RoleSet,
    pub(crate) order: SandboxOrder,
    /// `false` under the defaults of the existing runtime, where the sandbox allows a call before any rule is heard.
    pub is_careful: bool,
}

/// Warns about each rule that does less or more than it seems to say:
///
/// - it asks about a directory within the sandbox, or about a whole server with a sandbox, where asking about places is not heard
///   (under the defaults of the existing runtime: it restricts such a directory, or denies what the sandbox has already allowed);
/// - it denies the introspection tool, which has already been allowed;
/// - it allows a tool with URLs, and neither the rule, nor one before it, nor an allowlist of the server says which;
/// - it has a domain pattern with a port, but ports are not compared.
///
/// There is no warning about a rule that escalates calls outside the sandbox: that is how rules and sandbox work
/// together.
pub fn overridden(
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
            unasked_tool(rule, registry, annotations, sandbox).map(|tool| {
                format!(
                    "calls of `{}` on `{}` whose paths lie in the sandbox",
                    tool.name, tool.server
                )
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
        let is_open = |tool: &&&Tool| {
            allows
                && matches_every_call(rule, &tool.server, &tool.name)
                && !decides_urls(policy.rules.iter().take(index), tool, registry)
        };
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
    roles_of(tool)
        .iter()
        .any(|role| registry.get(role).category == Category::Url)
}

/// Returns `true` if the rule restricts something that the sandbox allows all the same.
fn restricts_the_sandbox(rule: &Rule, registry: &Registry, sandbox: &Sandboxed<'_>) -> bool {
    let conditions = &rule.conditions;
    let is_careful = sandbox.is_careful;
    let is_heard = rule.effect == Effect::Deny
        || conditions.tool.is_some()
        || !conditions.args.is_empty()
        || !conditions.context.is_empty()
        || !conditions.counts.is_empty();
    if is_careful && is_heard {
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

/// A tool that a rule about whole servers seems to ask about, and whose calls the sandbox allows unasked.
fn unasked_tool<'t>(
    rule: &Rule,
    registry: &Registry,
    annotations: &'t Annotations,
    sandbox: &Sandboxed<'_>,
) -> Option<&'t Tool> {
    let conditions = &rule.conditions;
    let asks_about_servers = sandbox.is_careful
        && rule.effect == Effect::Escalate
        && conditions.server.is_some()
        && conditions.tool.is_none()
        && conditions.roles.is_none()
        && !conditions.name_values();
    if !asks_about_servers || sandbox.order != SandboxOrder::BeforeRules || sandbox.directories.is_empty() {
        return None;
    }
    annotations.tools.iter().find(|tool| {
        let roles = roles_of(tool);
        let mut resources = roles
            .iter()
            .filter(|role| registry.get(*role).is_resource_identifier());
        conditions.includes_server(&tool.server)
            && sandbox.servers.is_sandboxed(&tool.server)
            && roles.intersects(sandbox.roles)
            && resources.all(|role| sandbox.roles.contains(role))
            && !tool.semantics.acts(roles)
    })
}

fn roles_of(tool: &Tool) -> RoleSet {
    let arguments = tool.arguments.iter();
    arguments.flat_map(|argument| argument.roles.possible()).collect()
}

/// Returns `true` if these rules decide about every URL of the tool.
fn decides_urls<'r>(rules: impl Iterator<Item = &'r Rule>, tool: &Tool, registry: &Registry) -> bool {
    let is_url = |role: &RoleId| registry.get(*role).category == Category::Url;
    let urls: RoleSet = roles_of(tool).iter().filter(is_url).collect();
    let decided = rules.filter(|rule| {
        let conditions = &rule.conditions;
        !conditions.name_values()
            && conditions.includes_server(&tool.server)
            && conditions.includes_tool(&tool.name)
    });
    let decided = decided.fold(RoleSet::default(), |all, rule| match &rule.conditions.roles {
        Some(roles) => all.union(roles.iter().copied().collect()),
        None => urls,
    });
    urls.without(decided) == RoleSet::default()
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
mod tests;
