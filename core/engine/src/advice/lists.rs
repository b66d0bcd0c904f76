//! Lists that rules name as `@name`.

use crate::diagnostic::Code;
use crate::document::{JsonPath, Report};
use crate::model::MatchType;
use crate::policy::{Lists, Rule};

/// Warns about each `@name` in the rules at `path` whose list does not exist.
pub fn missing_lists(rules: &[Rule], path: &JsonPath<'_>, lists: &Lists, report: &Report) {
    each_list_name(rules, path, |name, _, path| {
        if lists.effective(name).is_none() {
            report.warning(
                Code::MissingList,
                path,
                format_args!(
                    "found `@{name}`, a list that does not exist and counts as empty, expected a dynamic list"
                ),
            );
        }
    });
}

/// The condition under which a list is named.
#[derive(Clone, Copy)]
pub(super) enum Use {
    Domains,
    Lists(MatchType),
}

/// Visits each list that the rules at `path` name, with its condition and the place of its name.
pub(super) fn each_list_name<'r>(
    rules: &'r [Rule],
    path: &JsonPath<'_>,
    mut visit: impl FnMut(&'r str, Use, &JsonPath<'_>),
) {
    let mut visit_names = |allowed: &'r [Box<str>], condition: Use, path: &JsonPath<'_>| {
        let path = JsonPath::Key(path, "allowed");
        for (index, entry) in allowed.iter().enumerate() {
            if let Some(name) = entry.strip_prefix('@') {
                visit(name, condition, &JsonPath::Index(&path, index));
            }
        }
    };
    for (index, rule) in rules.iter().enumerate() {
        let rule_path = JsonPath::Index(path, index);
        let conditions = JsonPath::Key(&rule_path, "if");
        if let Some(domains) = &rule.conditions.domains {
            let path = JsonPath::Key(&conditions, "domains");
            visit_names(&domains.allowed, Use::Domains, &path);
        }
        let lists = JsonPath::Key(&conditions, "lists");
        for (index, list) in rule.conditions.lists.iter().flatten().enumerate() {
            let path = JsonPath::Index(&lists, index);
            visit_names(&list.allowed, Use::Lists(list.match_type), &path);
        }
    }
}
