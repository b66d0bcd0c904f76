//! Sorting with a single instance of the standard library's sort.
//!
//! An instance of the sort for each type was a seventh of the code of the WebAssembly module, which has to be downloaded.
//! A verdict about few values does not use it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A stable sort in the items' own order.
pub fn sort<T: Ord>(items: &mut Vec<T>) {
    sort_by(items, T::cmp);
}

/// A stable sort in the order of `compare`.
pub fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let places = order_by(items, compare);
    let mut taken: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(places.into_iter().filter_map(|at| taken.get_mut(at)?.take()));
}

/// The places of the items in the order of `compare`; those of equal items stay in their order.
pub fn order_by<T>(items: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..items.len()).collect();
    sort_places(
        &mut places,
        &|one, other| match (items.get(one), items.get(other)) {
            (Some(one), Some(other)) => compare(one, other),
            (one, other) => one.is_some().cmp(&other.is_some()),
        },
    );
    places
}

/// Sorts numbers in ascending order.
pub fn sort_numbers(numbers: &mut [usize]) {
    sort_places(numbers, &|one, other| one.cmp(&other));
}

fn sort_places(places: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    places.sort_by(|one, other| compare(*one, *other));
}

/// A map of the entries, in which later ones replace earlier ones. `collect` would instantiate another sort.
pub fn map<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(entries);
    map
}

/// A set of the items. `collect` would instantiate another sort.
pub fn set<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_and_equal_items_keep_their_order() {
        for count in [0, 1, 2, 3, 40, 1000] {
            let mut items: Vec<(usize, usize)> = (0..count).map(|at| (at * 7919 % 13, at)).collect();
            let mut expected = items.clone();
            expected.sort();
            sort_by(&mut items, |one, other| one.0.cmp(&other.0));
            assert_eq!(items, expected);
            items.reverse();
            sort(&mut items);
            assert_eq!(items, expected);
        }
    }
}
