//! Domain patterns and directories with a `*`, a scheme or a query where none may be.

use crate::diagnostic::{Code, Severity};
use crate::document::{JsonPath, Report};
use crate::model::{Effect, MatchType};
use crate::net::domain_pattern_fault;
use crate::policy::{Lists, Rule};

/// Reports each pattern and directory of the rules at `rules` that is compared as it stands although it looks as if it
/// meant more, with this severity; and, as a warning, each whole top-level domain that a rule allows, also through a
/// list.
pub(crate) fn check(rules: &[Rule], path: &JsonPath<'_>, lists: &Lists, severity: Severity, report: &Report) {
    for rule in rules {
        let place = JsonPath::Index(path, rule.index);
        let conditions = JsonPath::Key(&place, "if");
        let grants = rule.effect == Effect::Allow;
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
            check_patterns(&domains.allowed, &place, lists, grants, severity, report);
        }
        let place = JsonPath::Key(&conditions, "lists");
        for (index, list) in rule.conditions.lists.iter().flatten().enumerate() {
            let place = JsonPath::Index(&place, index);
            match list.match_type {
                MatchType::Domains => {
                    let place = JsonPath::Key(&place, "allowed");
                    check_patterns(&list.allowed, &place, lists, grants, severity, report);
                }
                MatchType::Emails | MatchType::Identifiers => {}
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
        check_patterns(patterns, &place, &Lists::default(), true, severity, report);
    }
}

fn check_patterns(
    patterns: &[Box<str>],
    path: &JsonPath<'_>,
    lists: &Lists,
    grants: bool,
    severity: Severity,
    report: &Report,
) {
    for (index, pattern) in patterns.iter().enumerate() {
        let place = JsonPath::Index(path, index);
        if let Some(name) = pattern.strip_prefix('@') {
            for entry in lists.effective(name).unwrap_or_default() {
                // A list is resolved anew, often by a program: a mistake in it must not stop the engine.
                check_pattern(entry, Some(name), grants, Severity::Warning, &place, report);
            }
        } else {
            check_pattern(pattern, None, grants, severity, &place, report);
        }
    }
}

fn check_pattern(
    pattern: &str,
    list: Option<&str>,
    grants: bool,
    severity: Severity,
    place: &JsonPath<'_>,
    report: &Report,
) {
    let found = || match list {
        Some(list) => format!("found `{pattern}` in the list `@{list}`"),
        None => format!("found `{pattern}`"),
    };
    if let Some((what, help)) = domain_pattern_fault(pattern) {
        report.add(severity, Code::InvalidValue, place, || {
            let message = format!("{}, {what}, expected a host, `*.host` or `host/path`", found());
            (message, Some(help.to_owned()))
        });
    } else if grants && is_whole_domain(pattern) {
        report.warning(
            Code::WholeDomain,
            place,
            format_args!(
                "{}, a whole top-level domain, expected a narrower pattern",
                found()
            ),
        );
    }
}

/// Returns `true` if the pattern is `*.` and a name without a dot.
fn is_whole_domain(pattern: &str) -> bool {
    let parent = pattern.strip_prefix("*.").unwrap_or_default();
    let parent = parent.strip_suffix('.').unwrap_or(parent);
    !parent.is_empty() && !parent.contains('.') && !parent.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_domain_is_one_below_which_anybody_has_hosts() {
        for (pattern, expected) in [
            ("*.com", true),
            ("*.com.", true),
            ("*.co.uk", false),
            ("*", false),
            ("com", false),
            ("*.localhost", false),
        ] {
            assert_eq!(is_whole_domain(pattern), expected, "{pattern}");
        }
    }
}
