//! Domain patterns and directories with a `*`, a scheme or a query where none may be.

use core::net::Ipv6Addr;

use crate::diagnostic::{Code, Severity};
use crate::document::{JsonPath, Report, impossible_path, literal_wildcard};
use crate::model::{Effect, MatchType};
use crate::net::domain_pattern_fault;
use crate::policy::{ListCondition, Lists, Rule};
use crate::role::{Category, Registry, RoleId, Step, is_plain_name};
use crate::world::is_canonical_address;

/// Reports each pattern and directory of the rules at `rules` that is compared as it stands although it looks as if it
/// meant more, with this severity; and, as a warning, each whole top-level domain or public suffix that a rule allows, and each
/// that stands there as if it were a host, also through a list.
pub fn check(
    rules: &[Rule],
    path: &JsonPath<'_>,
    (lists, registry): (&Lists, &Registry),
    severity: Severity,
    report: &Report,
) {
    for rule in rules {
        let place = JsonPath::Index(path, rule.index);
        let conditions = JsonPath::Key(&place, "if");
        let grants = rule.effect == Effect::Allow;
        if let Some(paths) = &rule.conditions.paths
            && let Some((what, help)) = impossible_path(&paths.within)
        {
            let place = JsonPath::Key(&conditions, "paths");
            let place = JsonPath::Key(&place, "within");
            report.add(severity, Code::InvalidPath, &place, || {
                let message = format!("found `{}`, {what}, expected a directory", paths.within);
                (message, Some(help.to_owned()))
            });
        }
        if let Some(paths) = &rule.conditions.paths
            && let Some(what) = literal_wildcard(&paths.within)
        {
            let place = JsonPath::Key(&conditions, "paths");
            let place = JsonPath::Key(&place, "within");
            let found = &paths.within;
            report.warning(
                Code::Overridden,
                &place,
                format_args!("found `{found}`, {what}, expected a directory by its name"),
            );
        }
        if let Some(paths) = &rule.conditions.paths
            && paths.within.contains('*')
        {
            let place = JsonPath::Key(&conditions, "paths");
            report.add(
                severity,
                Code::InvalidPath,
                &JsonPath::Key(&place, "within"),
                || {
                    let message = format!(
                        "found `{}`, but `within` is not a glob, expected a directory",
                        paths.within
                    );
                    let help = "everything in a directory lies within it; name the directory without the `*`";
                    (message, Some(help.to_owned()))
                },
            );
        }
        if let Some(domains) = &rule.conditions.domains {
            let place = JsonPath::Key(&conditions, "domains");
            let place = JsonPath::Key(&place, "allowed");
            let use_of = Use {
                grants,
                compares_paths: compares_paths(&domains.roles, registry),
            };
            check_patterns(&domains.allowed, &place, lists, use_of, severity, report);
        }
        let place = JsonPath::Key(&conditions, "lists");
        for (index, list) in rule.conditions.lists.iter().flatten().enumerate() {
            let place = JsonPath::Index(&place, index);
            let place = JsonPath::Key(&place, "allowed");
            match list.match_type {
                MatchType::Domains => {
                    let use_of = Use {
                        grants,
                        compares_paths: compares_paths(&list.roles, registry),
                    };
                    check_patterns(&list.allowed, &place, lists, use_of, severity, report);
                }
                MatchType::Emails | MatchType::Identifiers => {
                    check_names(list, &place, lists, registry, severity, report);
                }
            }
        }
    }
}

/// The same for the patterns of each server with a domain allowlist.
pub(crate) fn check_allowlists(
    allowlists: &[(Box<str>, Vec<Box<str>>)],
    document: &str,
    severity: Severity,
    report: &Report,
) {
    let path = JsonPath::Document(document);
    for (server, patterns) in allowlists {
        let place = JsonPath::Key(&path, server);
        let use_of = Use {
            grants: true,
            compares_paths: true,
        };
        check_patterns(patterns, &place, &Lists::default(), use_of, severity, report);
    }
}

/// The use that is made of domain patterns.
#[derive(Clone, Copy)]
struct Use {
    /// They allow what they match.
    grants: bool,
    /// They are compared with more of a value than its host.
    compares_paths: bool,
}

impl Use {
    /// The fault of a pattern that no value can meet in this use.
    fn fault(self, pattern: &str) -> Option<(&'static str, &'static str)> {
        if self.grants && pattern.parse::<Ipv6Addr>().is_ok() {
            return Some((
                "an IPv6 address without brackets, which no host in a URL is",
                "write it in brackets, as URLs do: `[::1]`",
            ));
        }
        (!self.compares_paths && pattern.contains('/')).then_some((
            "which has a path, and of a URL only the host is compared",
            "leave out the `/` and what follows it",
        ))
    }
}

/// Returns `true` if patterns are compared with more than the host of a value under one of the roles: with the repository of a
/// remote, or with what follows a host that is not in a URL.
fn compares_paths(roles: &[RoleId], registry: &Registry) -> bool {
    roles.iter().any(|role| {
        let definition = registry.get(*role);
        definition.category != Category::Url || definition.canonicalize == Step::GitUrl
    })
}

/// Reports each entry of a list of names or addresses that no value of the condition's roles can be.
fn check_names(
    list: &ListCondition,
    path: &JsonPath<'_>,
    lists: &Lists,
    registry: &Registry,
    severity: Severity,
    report: &Report,
) {
    for (index, entry) in list.allowed.iter().enumerate() {
        let place = JsonPath::Index(path, index);
        let (entries, name) = match entry.strip_prefix('@') {
            Some(name) => (lists.effective(name).unwrap_or_default(), Some(name)),
            None => (std::slice::from_ref(entry), None),
        };
        for entry in entries {
            let faults = list
                .roles
                .iter()
                .map(|role| entry_fault(entry, list.match_type, *role, registry));
            let Some(Some((what, help))) = faults.reduce(|one, other| one.and(other)) else {
                continue;
            };
            // A list is resolved anew, often by a program: a mistake in it must not stop the engine.
            let (severity, of_list) = match name {
                Some(name) => (Severity::Warning, format!(" in the list `@{name}`")),
                None => (severity, String::new()),
            };
            report.add(severity, Code::InvalidValue, &place, || {
                (format!("found `{entry}`{of_list}, {what}"), Some(help.to_owned()))
            });
        }
    }
}

/// The fault of an entry that no value of the role can be, and what to do about it.
fn entry_fault(
    entry: &str,
    match_type: MatchType,
    role: RoleId,
    registry: &Registry,
) -> Option<(&'static str, &'static str)> {
    const NO_PATTERN: &str =
        "lists have no patterns; write an entry for each, or a rule by another condition";
    if match_type == MatchType::Emails {
        return entry
            .contains('*')
            .then_some(("a pattern, expected an e-mail address", NO_PATTERN));
    }
    let definition = registry.get(role);
    if definition.has_names() && !is_plain_name(&definition.canonicalize.apply(entry)) {
        return Some((
            "which no identifier is, expected a name",
            "a name has no white space and none of `/ \\ ? # %`; the owner and the repository are two arguments",
        ));
    }
    if definition.category == Category::Address && !is_canonical_address(entry) {
        return Some((
            "which no place has as its address, expected `root:<key>/…` or `mod:<name>/…`",
            "addresses are compared as they are answered: without `.`, `..`, a `/` at the end, and not in their older form",
        ));
    }
    if role != RoleId::BRANCH_NAME {
        return None;
    }
    if entry.contains(['*', '?', '[']) {
        Some(("a pattern, expected the name of a branch", NO_PATTERN))
    } else if entry.trim() != entry {
        Some((
            "which has white space around it, expected the name of a branch",
            "no branch has any; leave it out",
        ))
    } else {
        None
    }
}

fn check_patterns(
    patterns: &[Box<str>],
    path: &JsonPath<'_>,
    lists: &Lists,
    use_of: Use,
    severity: Severity,
    report: &Report,
) {
    for (index, pattern) in patterns.iter().enumerate() {
        let place = JsonPath::Index(path, index);
        if let Some(name) = pattern.strip_prefix('@') {
            for entry in lists.effective(name).unwrap_or_default() {
                // A list is resolved anew, often by a program: a mistake in it must not stop the engine.
                check_pattern(entry, Some(name), use_of, Severity::Warning, &place, report);
            }
        } else {
            check_pattern(pattern, None, use_of, severity, &place, report);
        }
    }
}

fn check_pattern(
    pattern: &str,
    list: Option<&str>,
    use_of: Use,
    severity: Severity,
    place: &JsonPath<'_>,
    report: &Report,
) {
    let found = || match list {
        Some(list) => format!("found `{pattern}` in the list `@{list}`"),
        None => format!("found `{pattern}`"),
    };
    let fault = domain_pattern_fault(pattern).or_else(|| use_of.fault(pattern));
    if let Some((what, help)) = fault {
        report.add(severity, Code::InvalidValue, place, || {
            let message = format!("{}, {what}, expected a host, `*.host` or `host/path`", found());
            (message, Some(help.to_owned()))
        });
    } else if let Some(what) = whole_domain(pattern, use_of.grants) {
        report.warning(
            Code::WholeDomain,
            place,
            format_args!("{}, {what}, expected a narrower pattern", found()),
        );
    }
}

/// Names that registries keep for everybody, below the two letters of a country or by themselves.
const SHARED: [&str; 10] = ["ac", "co", "com", "edu", "gov", "mil", "ne", "net", "or", "org"];

/// The part of the net that the pattern names whole, where everybody may have hosts.
fn whole_domain(pattern: &str, grants: bool) -> Option<&'static str> {
    let lower = pattern.to_ascii_lowercase();
    let pattern = lower.strip_suffix('.').unwrap_or(&lower);
    let is_shared = |name: &str| SHARED.contains(&name);
    let is_country = |name: &str| name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let parent = pattern.strip_prefix("*.");
    let is_public = match parent.unwrap_or(pattern).split_once('.') {
        Some((name, country)) => is_shared(name) && is_country(country),
        None => is_shared(pattern),
    };
    match parent {
        Some(parent) if grants && is_public && parent.contains('.') => Some("a whole public suffix"),
        Some(parent) if grants && !matches!(parent, "" | "localhost") && !parent.contains('.') => {
            Some("a whole top-level domain")
        }
        None if is_public => Some("a public suffix, which stands for a host of this name alone"),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_domain_is_one_below_which_anybody_has_hosts() {
        let (top, suffix, host) = (
            Some("a whole top-level domain"),
            Some("a whole public suffix"),
            Some("a public suffix, which stands for a host of this name alone"),
        );
        for (pattern, granted, restricted) in [
            ("*.com", top, None),
            ("*.COM.", top, None),
            ("*.dev", top, None),
            ("*.co.uk", suffix, None),
            ("*.com.au", suffix, None),
            ("co.uk", host, host),
            ("com", host, host),
            ("com.br.", host, host),
            ("*", None, None),
            ("*.localhost", None, None),
            ("localhost", None, None),
            ("metadata", None, None),
            ("t.co", None, None),
            ("*.t.co", None, None),
            ("*.bbc.co.uk", None, None),
            ("co.example", None, None),
            ("github.com/acme/*", None, None),
        ] {
            assert_eq!(whole_domain(pattern, true), granted, "{pattern}");
            assert_eq!(whole_domain(pattern, false), restricted, "{pattern}");
        }
    }
}
