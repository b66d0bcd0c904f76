//! JSON Pointers as one tree, so that one pass over a value finds what all of them lead to.

use std::collections::BTreeMap;

use super::{ArgumentName, ConditionArgument, Segment};

/// Pointers with a common start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointerTree {
    /// The numbers of the pointers that end here.
    pub ends: Vec<usize>,
    /// Those that go on at a member or an item.
    keys: BTreeMap<Box<str>, PointerTree>,
    /// The keys that name an item of an array, in the order of the items.
    items: Vec<(usize, Box<str>)>,
    /// Those that go on at every item and member.
    every: Option<Box<PointerTree>>,
}

impl PointerTree {
    /// The places that these conditions look at, each with a number of its own. The first key is the argument's name.
    pub fn of_conditions<'c>(arguments: impl Iterator<Item = &'c ConditionArgument>) -> Self {
        let mut tree = Self::default();
        for (number, argument) in arguments.enumerate() {
            let node = match argument {
                ConditionArgument::Top(name) => tree.at(name),
                ConditionArgument::Pointer(names) => names.iter().fold(&mut tree, |node, name| node.at(name)),
            };
            if node.ends.is_empty() {
                node.ends.push(number);
            }
        }
        tree
    }

    /// The places of these arguments. The first key is the argument's name.
    pub(crate) fn of_names<'n>(names: impl Iterator<Item = &'n ArgumentName>) -> Self {
        let mut tree = Self::default();
        for (number, name) in names.enumerate() {
            if let Some(first) = name.first() {
                tree.at(first).insert(number, name);
            }
        }
        tree
    }

    /// Adds what follows the first segment of an argument's name.
    pub fn insert(&mut self, number: usize, name: &ArgumentName) {
        let segments = name.rest().iter();
        let node = segments.fold(self, |node, segment| match segment {
            Segment::Key(name) => node.at(name),
            Segment::Every => node.every.get_or_insert_default(),
        });
        node.ends.push(number);
    }

    /// The node below a key, made if need be.
    fn at(&mut self, key: &str) -> &mut Self {
        if let Some(item) = item_index(key)
            && let Err(place) = self.items.binary_search_by_key(&item, |(known, _)| *known)
        {
            self.items.insert(place, (item, key.into()));
        }
        self.keys.entry(key.into()).or_default()
    }

    /// The number of the place that a condition looks at.
    pub fn number(&self, argument: &ConditionArgument) -> Option<usize> {
        let node = match argument {
            ConditionArgument::Top(name) => self.key(name)?,
            ConditionArgument::Pointer(names) => names.iter().try_fold(self, |node, name| node.key(name))?,
        };
        node.ends.first().copied()
    }

    /// Returns `true` if no pointer goes on from here.
    pub fn is_leaf(&self) -> bool {
        self.keys.is_empty() && self.every.is_none()
    }

    /// The tree below the member with this name.
    pub fn key(&self, name: &str) -> Option<&Self> {
        self.keys.get(name)
    }

    /// The tree below every item and member.
    pub fn every(&self) -> Option<&Self> {
        self.every.as_deref()
    }

    /// Every key from here.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.keys.iter().map(|(name, node)| (&**name, node))
    }

    /// The tree below this item of an array.
    pub fn item(&self, at: usize) -> Option<&Self> {
        let found = self.items.binary_search_by_key(&at, |(item, _)| *item).ok()?;
        let (_, key) = self.items.get(found)?;
        self.keys.get(key)
    }

    /// The trees below each item of an array of this length.
    pub fn items(&self, length: usize) -> impl Iterator<Item = (usize, &Self)> {
        let there = self.items.iter().take_while(move |(item, _)| *item < length);
        there.filter_map(|(item, key)| Some((*item, self.keys.get(key)?)))
    }

    /// The numbers of all pointers that end here or go on from here.
    pub fn numbers(&self) -> Vec<usize> {
        let mut numbers = Vec::new();
        let mut nodes = vec![self];
        while let Some(node) = nodes.pop() {
            numbers.extend_from_slice(&node.ends);
            nodes.extend(node.keys.values().chain(node.every()));
        }
        numbers
    }
}

/// The item of an array that a token of a JSON Pointer names ([RFC 6901, section 4](https://www.rfc-editor.org/rfc/rfc6901#section-4)).
/// No argument that is read has as many items as 32 bits count.
pub fn item_index(token: &str) -> Option<usize> {
    let is_index = token == "0" || token.starts_with(|first: char| matches!(first, '1'..='9'));
    let item = token.parse::<u32>().ok().filter(|_| is_index)?;
    usize::try_from(item).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_index_names_an_item() {
        for (token, expected) in [
            ("0", Some(0)),
            ("12", Some(12)),
            ("01", None),
            ("+1", None),
            ("-", None),
            ("", None),
            ("4294967296", None),
            ("1a", None),
        ] {
            assert_eq!(item_index(token), expected, "{token}");
        }
    }

    #[test]
    fn each_place_has_one_number() {
        let top = |name: &str| ConditionArgument::Top(name.into());
        let pointer =
            |names: &[&str]| ConditionArgument::Pointer(names.iter().map(|one| (*one).into()).collect());
        let arguments = [
            top("a"),
            pointer(&["a", "b"]),
            pointer(&["a"]),
            top("c"),
            top("a"),
        ];
        let tree = PointerTree::of_conditions(arguments.iter());
        let numbers = arguments.each_ref().map(|one| tree.number(one));
        assert_eq!(numbers, [Some(0), Some(1), Some(0), Some(3), Some(0)]);
        assert_eq!(tree.number(&top("b")), None);
        assert_eq!(tree.number(&pointer(&["c", "b"])), None);
    }

    #[test]
    fn items_come_in_their_order() {
        let mut tree = PointerTree::default();
        for (number, name) in ["/x/10", "/x/9", "/x/name", "/x/*/9"].into_iter().enumerate() {
            tree.insert(number, &ArgumentName::parse(name).unwrap());
        }
        let items: Vec<usize> = tree.items(11).map(|(item, _)| item).collect();
        assert_eq!((items, tree.items(10).count()), (vec![9, 10], 1));
        let mut numbers = tree.numbers();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3]);
    }
}
