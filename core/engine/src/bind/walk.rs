//! One pass over an argument that finds what many JSON Pointers lead to.

use std::borrow::Cow;
use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::value::{PointerToken, Value};
use crate::model::{PointerTree, item_index};
use crate::sort;

/// One step on the way to a value.
#[derive(Clone, Copy)]
pub(super) struct WayStep<'v> {
    /// The place of the value in the array or object that holds it.
    pub(super) at: usize,
    /// Its name there, where it is the member of an object.
    pub(super) name: Option<&'v str>,
}

impl WayStep<'_> {
    pub(super) fn token(&self) -> PointerToken {
        match self.name {
            Some(name) => PointerToken::Member(name.to_owned()),
            None => PointerToken::Item(self.at),
        }
    }
}

/// The end of a pointer's way: its value, or the first that is of another type than the pointer expects.
#[derive(Clone, Copy)]
pub(super) enum Met<'v, 'a> {
    /// The value that it leads to.
    Value(&'v Value<'a>),
    /// A value that is not of the type that it expects there.
    Mismatch {
        found: &'v Value<'a>,
        expected: &'static str,
    },
}

/// Calls `visit`, with the pointer's number, for everything that the pointers of the tree lead to, `*` standing for each
/// item or member, these in the order of their names. For one pointer, values come in this order.
///
/// A member or item that is not there leads nowhere. Where many values are not of the type that a pointer expects, `visit`
/// hears of the first.
pub(super) fn walk<'v, 'a: 'v>(
    value: &'v Value<'a>,
    tree: &PointerTree,
    mut visit: impl FnMut(&[WayStep<'v>], usize, Met<'v, 'a>),
) {
    Walk {
        visit: &mut visit,
        way: Vec::new(),
        mismatched: BTreeSet::new(),
    }
    .go(value, &[tree]);
}

/// The names of the expected types, for messages.
const AN_OBJECT: &str = "an object";
const EITHER: &str = "an array or object";

/// The nodes that pointers have reached at one value.
type Nodes<'t> = SmallVec<[&'t PointerTree; 2]>;

struct Walk<'w, 'v, 'a> {
    /// Behind a reference, so that there is one walk, not one for each caller.
    visit: &'w mut dyn FnMut(&[WayStep<'v>], usize, Met<'v, 'a>),
    way: Vec<WayStep<'v>>,
    /// Nodes whose pointers met a value of another type: an array, if `true`, else neither an array nor an object.
    mismatched: BTreeSet<(*const PointerTree, bool)>,
}

impl<'v, 'a: 'v> Walk<'_, 'v, 'a> {
    fn go(&mut self, value: &'v Value<'a>, nodes: &[&PointerTree]) {
        for number in nodes.iter().flat_map(|node| &node.ends) {
            (self.visit)(&self.way, *number, Met::Value(value));
        }
        if nodes.iter().all(|node| node.is_leaf()) {
            return;
        }
        match value {
            Value::Array(items) => self.go_into_items(value, items, nodes),
            Value::Object(members) => self.go_into_members(members, nodes),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::IllFormed(_)
            | Value::Raw(_)
            | Value::Unread => {
                for node in nodes.iter().filter(|node| !node.is_leaf()) {
                    self.mismatch(value, node, false);
                }
            }
        }
    }

    fn go_into_items(&mut self, array: &'v Value<'a>, items: &'v [Value<'a>], nodes: &[&PointerTree]) {
        for node in nodes {
            self.mismatch(array, node, true);
            for (at, below) in node.items(items.len()) {
                if let Some(item) = items.get(at) {
                    self.step(at, None, item, &[below]);
                }
            }
        }
        let every: Nodes<'_> = nodes.iter().filter_map(|node| node.every()).collect();
        if !every.is_empty() {
            for (at, item) in items.iter().enumerate() {
                self.step(at, None, item, &every);
            }
        }
    }

    fn go_into_members(&mut self, members: &'v [(Cow<'a, str>, Value<'a>)], nodes: &[&PointerTree]) {
        let every: Nodes<'_> = nodes.iter().filter_map(|node| node.every()).collect();
        let mut order: Vec<usize> = Vec::new();
        if !every.is_empty() {
            let name = |at: &usize| members.get(*at).map(|(name, _)| name);
            order.extend(0..members.len());
            sort::sort_by(&mut order, |one, other| name(one).cmp(&name(other)));
        }
        for place in 0..members.len() {
            let at = order.get(place).copied().unwrap_or(place);
            let Some((name, member)) = members.get(at) else {
                continue;
            };
            let mut below: Nodes<'_> = nodes.iter().filter_map(|node| node.key(name)).collect();
            below.extend_from_slice(&every);
            if !below.is_empty() {
                self.step(at, Some(name), member, &below);
            }
        }
    }

    fn step(&mut self, at: usize, name: Option<&'v str>, value: &'v Value<'a>, nodes: &[&PointerTree]) {
        self.way.push(WayStep { at, name });
        self.go(value, nodes);
        self.way.pop();
    }

    /// Says, once, that pointers from here do not go on: those that name a member, if the value is an array, else all.
    fn mismatch(&mut self, found: &'v Value<'a>, node: &PointerTree, is_array: bool) {
        if !self.mismatched.insert((node, is_array)) {
            return;
        }
        let mut visit_all = |below: &PointerTree, expected| {
            for number in below.numbers() {
                (self.visit)(&self.way, number, Met::Mismatch { found, expected });
            }
        };
        for (key, below) in node.keys() {
            match item_index(key) {
                None => visit_all(below, AN_OBJECT),
                Some(_) if !is_array => visit_all(below, EITHER),
                Some(_) => {}
            }
        }
        if let Some(below) = node.every().filter(|_| !is_array) {
            visit_all(below, EITHER);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::bind::{Reached, descend};
    use crate::model::ArgumentName;

    #[test]
    fn one_pass_finds_what_every_pointer_leads_to() {
        let names = ["/x/*/a", "/x/1/a", "/x/name", "/x/*/*", "/x/7", "/x/*/a/b"];
        let mut tree = PointerTree::default();
        for (number, name) in names.into_iter().enumerate() {
            tree.insert(number, &ArgumentName::parse(name).unwrap());
        }
        let given = json!([{"b": 1, "a": 2}, {"a": 3}, 4, 5]);
        let value = Value::from(&given);
        let mut found = Vec::new();
        walk(&value, &tree, |way, number, met| {
            let way: Vec<String> = way
                .iter()
                .map(|step| step.name.map_or_else(|| step.at.to_string(), str::to_owned))
                .collect();
            let met = match met {
                Met::Value(value) => format!("{value:?}"),
                Met::Mismatch { expected, .. } => expected.to_owned(),
            };
            found.push((number, way.join("/"), met));
        });
        sort::sort_by(&mut found, |one, other| one.0.cmp(&other.0));
        let expected = [
            (0, "0/a", "Number(2.0)"),
            (0, "1/a", "Number(3.0)"),
            (0, "2", "an object"),
            (1, "1/a", "Number(3.0)"),
            (2, "", "an object"),
            (3, "0/a", "Number(2.0)"),
            (3, "0/b", "Number(1.0)"),
            (3, "1/a", "Number(3.0)"),
            (3, "2", "an array or object"),
            (5, "0/a", "an object"),
            (5, "2", "an object"),
        ];
        let expected = expected.map(|(number, way, met)| (number, way.to_owned(), met.to_owned()));
        assert_eq!(found, expected);
    }

    fn any_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![Just(json!(null)), Just(json!(1)), Just(json!("a"))];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let names = prop::sample::select(vec!["a", "b", "0", "1", "01"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
                prop::collection::btree_map(names, inner, 0..4).prop_map(|members| json!(members)),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_pointer_finds_the_same_among_others_as_by_itself(
            given in any_value(),
            names in prop::collection::vec("/x(/(a|b|0|1|01|[*])){0,4}", 0..8),
        ) {
            let names: Vec<ArgumentName> = names.iter().map(|name| ArgumentName::parse(name).unwrap()).collect();
            let mut tree = PointerTree::default();
            for (number, name) in names.iter().enumerate() {
                tree.insert(number, name);
            }
            let value = Value::from(&given);
            let mut found = vec![Vec::new(); names.len()];
            let mut mismatched = vec![false; names.len()];
            walk(&value, &tree, |way, number, met| {
                let place: Vec<PointerToken> = way.iter().map(WayStep::token).collect();
                match met {
                    Met::Value(value) => found[number].push((place, format!("{value:?}"))),
                    Met::Mismatch { .. } => mismatched[number] = true,
                }
            });
            for (number, name) in names.iter().enumerate() {
                let (mut alone, mut is_mismatched) = (Vec::new(), false);
                descend(&value, name.rest(), &mut Vec::new(), &mut |place, reached| match reached {
                    Reached::Value(value) => alone.push((place, format!("{value:?}"))),
                    Reached::Mismatch { .. } => is_mismatched = true,
                });
                prop_assert_eq!(&found[number], &alone, "{}", name);
                prop_assert_eq!(mismatched[number], is_mismatched, "{}", name);
            }
        }
    }
}
