//! Dynamic lists
//! `{generatedAt, lists: {name: {values, manualAdditions, manualRemovals, resolvedAt, inputHash}}}`.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Severity};
use crate::document::{Node, keys};
use crate::limits::Limits;
use crate::sort;

/// The lists that `@names` refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    effective: BTreeMap<Box<str>, Vec<Box<str>>>,
}

impl Lists {
    /// The entries of a list: (values ∪ manual additions) − manual removals, each once; `None` if there is no such
    /// list.
    pub fn effective(&self, name: &str) -> Option<&[Box<str>]> {
        self.effective.get(name).map(Vec::as_slice)
    }

    /// The names of the lists.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.effective.keys().map(|name| &**name)
    }

    /// Reads dynamic lists with at most `list_entries` entries in total. Faults go to the document's report.
    pub fn read(document: &Node<'_, '_>, limits: &Limits) -> Self {
        let mut lists = Self::default();
        let Some(file) = document.object_of(keys::LISTS, Severity::Warning) else {
            return lists;
        };
        file.optional_string("generatedAt");
        let node = file.required("lists", "an object of lists");
        let Some(object) = node.and_then(|node| node.object()) else {
            return lists;
        };
        let mut entries = 0;
        for (name, node) in object.entries() {
            if let Some(effective) = read_list(&node, limits, &mut entries) {
                lists.effective.insert(name.into(), effective);
            }
        }
        document.check_limit(entries, "entries", "list_entries", limits.list_entries);
        lists
    }
}

fn read_list(node: &Node<'_, '_>, limits: &Limits, entries: &mut usize) -> Option<Vec<Box<str>>> {
    let list = node.object_of(keys::RESOLVED_LIST, Severity::Warning)?;
    list.optional_string("resolvedAt");
    list.optional_string("inputHash");
    let mut entries_of = |key| {
        let node = list.required(key, "an array of strings")?;
        let patterns = node.patterns(limits)?;
        *entries += patterns.len();
        Some(patterns)
    };
    let (values, additions, removals) = (
        entries_of("values"),
        entries_of("manualAdditions"),
        entries_of("manualRemovals"),
    );
    let (values, additions, removals) = (values?, additions?, removals?);
    if values.iter().any(|value| **value == *"*") {
        node.fault(Severity::Warning, Code::WildcardList, || {
            let message =
                "found `*` among the generated values, which as a domain matches everything, expected names";
            let help = "put `*` into `manualAdditions` if a person means it";
            (message.to_owned(), Some(help.to_owned()))
        });
    }
    let mut dropped = sort::set(removals.iter().map(|value| &**value));
    let kept = values.iter().chain(&additions).map(|value| &**value);
    Some(
        kept.filter(|value| dropped.insert(value))
            .map(Box::from)
            .collect(),
    )
}

/// The entries of a condition with every `@name` replaced by its list, and the names without a list.
pub fn expand(allowed: &[Box<str>], lists: &Lists) -> (Vec<Box<str>>, Vec<Box<str>>) {
    let mut entries = Vec::with_capacity(allowed.len());
    let mut missing = Vec::new();
    for entry in allowed {
        match entry.strip_prefix('@') {
            None => entries.push(entry.clone()),
            Some(name) => match lists.effective(name) {
                Some(values) => entries.extend_from_slice(values),
                None => missing.push(name.into()),
            },
        }
    }
    (entries, missing)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::{Json, Report};

    fn read(value: Value, limits: &Limits) -> (Lists, Vec<String>) {
        let report = Report::default();
        let lists = Lists::read(&Node::document(&Json::from(&value), "lists", &report), limits);
        let faults = report.finish("lists").iter().map(ToString::to_string).collect();
        (lists, faults)
    }

    fn list(values: Value, additions: Value, removals: Value) -> Value {
        json!({
            "values": values, "manualAdditions": additions, "manualRemovals": removals,
            "resolvedAt": "t", "inputHash": "h",
        })
    }

    #[test]
    fn a_list_is_its_values_and_additions_without_the_removals() {
        let document = json!({"generatedAt": "t", "lists": {
            "l": list(json!(["b", "a", "b", "gone"]), json!(["c", "a", "out"]), json!(["gone", "out"])),
            "constructor": list(json!([]), json!(["*"]), json!([])),
        }});
        let (lists, faults) = read(document, &Limits::default());
        assert_eq!(faults, [""; 0]);
        let text = |entries: &[&str]| {
            entries
                .iter()
                .map(|entry| Box::from(*entry))
                .collect::<Vec<Box<str>>>()
        };
        assert_eq!(lists.effective("l"), Some(text(&["b", "a", "c"]).as_slice()));
        assert_eq!(lists.effective("toString"), None);
        assert_eq!(
            expand(&text(&["x", "@l", "@none", "@constructor", "@"]), &lists),
            (text(&["x", "b", "a", "c", "*"]), text(&["none", ""]))
        );
    }

    #[test]
    fn faults_have_their_place() {
        let document = json!({"generatedAt": "t", "lists": {
            "a-b": {"values": "x", "manualAdditions": [], "resolvedAt": "t", "inputHash": "h"},
            "star": list(json!(["*"]), json!([1]), json!([])),
        }});
        let (_, faults) = read(document, &Limits::default());
        for (fault, start) in faults.iter().zip([
            "error[wrong-type] at lists.lists[\"a-b\"].values: ",
            "error[missing-field] at lists.lists[\"a-b\"]: the field `manualRemovals`",
            "error[wrong-type] at lists.lists.star.manualAdditions[0]: ",
        ]) {
            assert!(fault.starts_with(start), "{fault}");
        }
        assert_eq!(faults.len(), 3);
        let limits = Limits {
            list_entries: 2,
            ..Limits::default()
        };
        let lists =
            json!({"generatedAt": "t", "lists": {"l": list(json!(["*", "b"]), json!([]), json!(["c"]))}});
        let (_, faults) = read(lists, &limits);
        assert!(
            faults[0].starts_with("warning[wildcard-list] at lists.lists.l: "),
            "{faults:?}"
        );
        assert!(
            faults[1].starts_with("error[limit] at lists: `3` entries"),
            "{faults:?}"
        );
    }
}
