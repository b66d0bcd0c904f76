//! Names of arguments, and of members in them, that differ by case alone from those that are judged.
//!
//! Decoders of Go and C# take such a name for the other, so that a server would read another value than the one that was judged.

use std::borrow::Cow;

use super::value::Value;
use crate::model::PointerTree;
use crate::program::Tool;

/// A name, and the one that some programs take it for.
pub(super) type Misspelt = (String, String);

/// A member of the arguments, or one in them where conditions look, that some programs take for one that the tool's annotation,
/// schema, conditions or ceiling name: the least.
pub(super) fn misspelt_argument(
    tool: &Tool,
    members: &[(Cow<'_, str>, Value<'_>)],
    depth: usize,
) -> Option<Misspelt> {
    let conditioned = [&tool.siblings, &*tool.conditioned, &tool.ceiling.places];
    let known = || {
        let keys = conditioned.into_iter().flat_map(PointerTree::keys);
        let aliases = tool.aliases.keys().map(|alias| &**alias);
        tool.member_names().chain(aliases).chain(keys.map(|(key, _)| key))
    };
    let found = members.iter().filter_map(|(name, value)| {
        let below: Vec<&PointerTree> = conditioned
            .into_iter()
            .filter_map(|tree| tree.key(name))
            .collect();
        if below.iter().any(|tree| !tree.is_leaf()) {
            return misspelt_member(&*value.read(depth).ok()?, &below);
        }
        let is_known = !below.is_empty() || tool.names(name);
        let other = known().find(|known| !is_known && are_same_without_case(known, name))?;
        Some((name.to_string(), other.to_owned()))
    });
    found.min()
}

/// A member in an argument, where pointers lead.
pub(super) fn misspelt_member(value: &Value<'_>, nodes: &[&PointerTree]) -> Option<Misspelt> {
    let every: Vec<&PointerTree> = nodes.iter().filter_map(|node| node.every()).collect();
    match value {
        Value::Array(items) => {
            let named = nodes.iter().flat_map(|node| node.items(items.len()));
            let named = named.filter_map(|(at, below)| misspelt_member(items.get(at)?, &[below]));
            let all = items.iter().filter(|_| !every.is_empty());
            named
                .chain(all.filter_map(|item| misspelt_member(item, &every)))
                .min()
        }
        Value::Object(members) => {
            let meant = |(name, member): &(Cow<'_, str>, Value<'_>)| {
                let mut below: Vec<_> = nodes.iter().filter_map(|node| node.key(name)).collect();
                below.extend(&every);
                if !below.is_empty() {
                    return misspelt_member(member, &below);
                }
                let mut known = nodes.iter().flat_map(|node| node.keys()).map(|(key, _)| key);
                let other = known.find(|known| are_same_without_case(known, name))?;
                Some((name.to_string(), other.to_owned()))
            };
            members.iter().filter_map(meant).min()
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::IllFormed(_)
        | Value::Raw(_)
        | Value::Unread => None,
    }
}

/// Returns `true` if some program that compares names without case takes them for one: for Go `ſ` is an `s`, and the sign for
/// Kelvin a `k`.
fn are_same_without_case(one: &str, other: &str) -> bool {
    let folded = |name: char| name.to_uppercase().flat_map(char::to_lowercase);
    match one.is_ascii() && other.is_ascii() {
        true => one.eq_ignore_ascii_case(other),
        false => one.chars().flat_map(folded).eq(other.chars().flat_map(folded)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_decoders_do() {
        for (one, other) in [
            ("path", "PATH"),
            ("path", "Path"),
            ("files", "file\u{17f}"),
            ("key", "\u{212a}ey"),
        ] {
            assert!(are_same_without_case(one, other), "{one} {other}");
        }
        for (one, other) in [("path", "paths"), ("path", "path "), ("a", "\u{e4}")] {
            assert!(!are_same_without_case(one, other), "{one} {other}");
        }
    }
}
