//! Where a policy runs into something that the engine does by design (SPEC §15, the rows that are kept).

use crate::diagnostic::{Code, Diagnostic};
use crate::document::{Place, Report};
use crate::role::{Category, Registry, RoleSet};

use super::{Effect, Policy, Rule};

/// The servers on which the sandbox decides before any rule does.
const SANDBOXED: [&str; 2] = ["filesystem", "git"];

/// The tool whose call is allowed before any rule is read.
const INTROSPECTION: (&str, &str) = ("filesystem", "list_allowed_directories");

/// Warns of each rule of the policy, the document of that name, that does less or more than it seems to say:
///
/// - it restricts what lies within the sandbox, which is allowed before;
/// - it denies the introspection tool, which is allowed before;
/// - it allows a server with URLs, names no domain, and neither does an allowlist;
/// - a domain pattern has a port, which no comparison looks at.
pub(crate) fn overridden(
    policy: &Policy,
    document: &str,
    registry: &Registry,
    sandbox: Option<&str>,
    domain_allowlists: &[(Box<str>, Vec<Box<str>>)],
) -> Vec<Diagnostic> {
    let report = Report::default();
    let root = Place::Document(document);
    let rules = Place::Key(&root, "rules");
    let open_servers: Vec<&str> = url_servers(registry)
        .filter(|server| domain_allowlists.iter().all(|(listed, _)| **listed != **server))
        .collect();
    for (index, rule) in policy.rules.iter().enumerate() {
        let place = Place::Index(&rules, index);
        let before = [
            sandbox
                .is_some_and(|sandbox| restricts_the_sandbox(rule, sandbox))
                .then_some("paths within the sandbox on `filesystem` and `git`"),
            restricts_introspection(rule).then_some("`list_allowed_directories`"),
        ];
        for what in before.into_iter().flatten() {
            report.warning(Code::Overridden, &place, || {
                format!(
                    "the rule `{}` does not restrict {what}: allowed before it is read, expected other calls",
                    rule.name
                )
            });
        }
        if let Some(server) = open_servers.iter().find(|server| allows_any_domain(rule, server)) {
            report.warning(Code::Overridden, &place, || {
                format!(
                    "the rule `{}` allows every domain on `{server}`, expected `domains` or an allowlist",
                    rule.name
                )
            });
        }
        if let Some(domains) = &rule.conditions.domains {
            let conditions = Place::Key(&place, "if");
            let place = Place::Key(&conditions, "domains");
            warn_of_ports(&domains.allowed, &Place::Key(&place, "allowed"), &report);
        }
    }
    let allowlists = Place::Document("serverDomainAllowlists");
    for (server, patterns) in domain_allowlists {
        warn_of_ports(patterns, &Place::Key(&allowlists, server), &report);
    }
    report.finish(document)
}

/// The servers whose tools bear URL roles.
fn url_servers(registry: &Registry) -> impl Iterator<Item = &'static str> {
    registry
        .iter()
        .filter(|(_, definition)| definition.category == Category::Url)
        .flat_map(|(_, definition)| definition.server_names)
        .copied()
}

fn restricts_the_sandbox(rule: &Rule, sandbox: &str) -> bool {
    let conditions = &rule.conditions;
    let meets_paths = |roles: &[_]| {
        let roles: RoleSet = roles.iter().copied().collect();
        roles.intersects(RoleSet::SANDBOX_SAFE)
    };
    // A rule that also names domains or lists is judged by those roles, which the sandbox does not resolve.
    rule.effect != Effect::Allow
        && SANDBOXED.iter().any(|server| conditions.includes_server(server))
        && conditions.domains.is_none()
        && conditions.lists.is_none()
        && conditions.roles.as_deref().is_none_or(meets_paths)
        && conditions
            .paths
            .as_ref()
            .is_none_or(|paths| meets_paths(&paths.roles) && may_overlap(&paths.within, sandbox))
}

/// Whether one directory may lie within the other, as far as their texts tell: links are not followed, and
/// a path from home may be anywhere among absolute ones.
fn may_overlap(one: &str, other: &str) -> bool {
    let continues = |long: &str, short: &str| {
        let short = short.trim_end_matches('/');
        long.strip_prefix(short)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    one.starts_with('/') != other.starts_with('/') || continues(one, other) || continues(other, one)
}

fn restricts_introspection(rule: &Rule) -> bool {
    let (server, tool) = INTROSPECTION;
    let conditions = &rule.conditions;
    let includes_tool = conditions
        .tool
        .as_ref()
        .is_none_or(|tools| tools.iter().any(|one| **one == *tool));
    rule.effect != Effect::Allow
        && conditions.roles.is_none()
        && !conditions.name_values()
        && conditions.includes_server(server)
        && includes_tool
}

fn allows_any_domain(rule: &Rule, server: &str) -> bool {
    rule.effect == Effect::Allow
        && rule.conditions.roles.is_none()
        && !rule.conditions.name_values()
        && rule.conditions.includes_server(server)
}

fn warn_of_ports(patterns: &[Box<str>], place: &Place<'_>, report: &Report) {
    for (index, pattern) in patterns.iter().enumerate() {
        if has_port(pattern) {
            report.warning(Code::Overridden, &Place::Index(place, index), || {
                format!("found `{pattern}`, but ports are not compared, expected a host without a port")
            });
        }
    }
}

/// Whether a pattern is `host:digits`; an IPv6 address has more colons or brackets.
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
    use crate::document::Node;
    use crate::limits::Limits;

    /// What is said about one rule, by the words that tell the warnings apart.
    fn check(effect: &str, conditions: Value, sandbox: Option<&str>, gated: &[&str], expected: &[&str]) {
        let rules = json!([{
            "name": "n", "description": "", "principle": "", "if": conditions, "then": effect, "reason": "",
        }]);
        let report = Report::default();
        let registry = Registry::default();
        let node = Node::document(&rules, "rules", &report);
        let policy = Policy {
            rules: super::super::document::read_rules(&node, &registry, &Limits::default()),
            list_definitions: Vec::new(),
        };
        assert!(!report.has_errors());
        let gated: Vec<(Box<str>, Vec<Box<str>>)> = gated
            .iter()
            .map(|server| ((*server).into(), Vec::new()))
            .collect();
        let found = overridden(&policy, "p", &registry, sandbox, &gated);
        assert_eq!(found.len(), expected.len(), "{rules} {found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.to_string().contains(expected), "{found}");
        }
    }

    #[test]
    fn each_behaviour_that_is_kept_is_warned_of() {
        let within = |dir: &str| json!({"paths": {"roles": ["read-path"], "within": dir}});
        let (sandbox, introspection) = ("within the sandbox", "`list_allowed_directories`");
        for (conditions, place, expected) in [
            (json!({"tool": ["git_reset"]}), Some("/box"), &[sandbox][..]),
            (json!({"tool": ["git_reset"]}), None, &[]),
            (json!({"server": ["fetch"]}), Some("/box"), &[]),
            (json!({"roles": ["fetch-url"]}), Some("/box"), &[]),
            (
                json!({"roles": ["delete-history"], "server": ["git"]}),
                Some("/box"),
                &[sandbox],
            ),
            (within("/box/secret"), Some("/box/"), &[sandbox]),
            (within("/"), Some("/box"), &[sandbox]),
            (within("/boxer"), Some("/box"), &[]),
            (within("~/x"), Some("/box"), &[sandbox]),
            (within("~/x"), Some("~/box"), &[]),
            (
                json!({"domains": {"roles": ["git-remote-url"], "allowed": ["x"]}}),
                Some("/box"),
                &[],
            ),
            (
                json!({"tool": ["list_allowed_directories"]}),
                None,
                &[introspection],
            ),
            (json!({"server": ["filesystem"]}), None, &[introspection]),
            (json!({"server": ["git"]}), None, &[]),
        ] {
            check("deny", conditions.clone(), place, &[], expected);
            check("escalate", conditions, place, &[], expected);
        }
        for (conditions, gated, expected) in [
            (
                json!({"tool": ["git_push"]}),
                &[][..],
                &["every domain on `fetch`"][..],
            ),
            (
                json!({"tool": ["git_push"]}),
                &["fetch"],
                &["every domain on `git`"],
            ),
            (json!({"tool": ["git_push"]}), &["fetch", "git"], &[]),
            (json!({"server": ["git"]}), &[], &["every domain on `git`"]),
            (json!({"server": ["filesystem"]}), &[], &[]),
            (json!({"roles": ["git-remote-url"]}), &[], &[]),
            (within("/"), &[], &[]),
        ] {
            check("allow", conditions, Some("/"), gated, expected);
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
            None,
            &[],
            &ports,
        );
    }

    #[test]
    fn allowlists_with_ports_are_warned_of_too() {
        let allowlists = [("a-b".into(), vec!["*".into(), "x.org:443".into()])];
        let found = overridden(&Policy::default(), "p", &Registry::default(), None, &allowlists);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "serverDomainAllowlists[\"a-b\"][1]");
        assert_eq!(found[0].code, Code::Overridden);
    }
}
