//! Lists that a policy names but that do not exist.

use crate::diagnostic::Code;
use crate::document::{JsonPath, Report};
use crate::policy::{Lists, Policy};

/// Warns about each `@name` in the policy whose list does not exist.
pub(crate) fn missing_lists(policy: &Policy, document: &str, lists: &Lists, report: &Report) {
    let document = JsonPath::Document(document);
    let rules = JsonPath::Key(&document, "rules");
    for (index, rule) in policy.rules.iter().enumerate() {
        let place = JsonPath::Index(&rules, index);
        let conditions = JsonPath::Key(&place, "if");
        if let Some(domains) = &rule.conditions.domains {
            check_entries(
                &domains.allowed,
                lists,
                &JsonPath::Key(&conditions, "domains"),
                report,
            );
        }
        let place = JsonPath::Key(&conditions, "lists");
        for (index, list) in rule.conditions.lists.iter().flatten().enumerate() {
            check_entries(&list.allowed, lists, &JsonPath::Index(&place, index), report);
        }
    }
}

fn check_entries(allowed: &[Box<str>], lists: &Lists, condition: &JsonPath<'_>, report: &Report) {
    let place = JsonPath::Key(condition, "allowed");
    for (index, entry) in allowed.iter().enumerate() {
        let name = entry.strip_prefix('@');
        if name.is_some_and(|name| lists.effective(name).is_none()) {
            report.warning(Code::MissingList, &JsonPath::Index(&place, index), || {
                format!(
                    "found `{entry}`, a list that does not exist and so is empty, expected a dynamic list"
                )
            });
        }
    }
}
