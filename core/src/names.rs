//! Tables that are made once and looked up often, in about the time that one comparison takes.
//!
//! The hash has no secret, so that two runs are the same; what is filed comes from the setup, whose author could
//! only slow down their own engine.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::bytes;

/// So many names are told apart by comparing them; more by a tree.
const FEW: usize = 16;

/// Where entries of a list stand, by their hashes.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// Places in the list, each at the slot of its hash or the next free one; a power of two, of which at least
    /// half are [`FREE`].
    slots: Box<[u32]>,
}

const FREE: u32 = u32::MAX;

impl Slots {
    /// Files the entries of a list that have these hashes, in the list's order.
    pub(crate) fn new(hashes: impl ExactSizeIterator<Item = usize>) -> Self {
        let size = (hashes.len() * 2).next_power_of_two();
        let mut filed = Self {
            slots: vec![FREE; size].into(),
        };
        for (at, hash) in hashes.enumerate() {
            let free = filed
                .probe(hash)
                .find(|slot| filed.slots.get(*slot) == Some(&FREE));
            if let Some(slot) = free.and_then(|slot| filed.slots.get_mut(slot)) {
                *slot = at as u32;
            }
        }
        filed
    }

    /// The place of the first entry with the hash that is the wanted one.
    pub(crate) fn find(&self, hash: usize, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        for slot in self.probe(hash) {
            match self.slots.get(slot).copied() {
                None | Some(FREE) => return None,
                Some(at) if is_wanted(at as usize) => return Some(at as usize),
                Some(_) => {}
            }
        }
        None
    }

    /// Every slot, from the one of the hash.
    fn probe(&self, hash: usize) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        (0..=mask).map(move |step| hash.wrapping_add(step) & mask)
    }
}

/// Names and what they stand for.
#[derive(Debug)]
pub(crate) struct Names<T> {
    entries: Box<[(Box<str>, T)]>,
    slots: Slots,
}

impl<T> Names<T> {
    /// A table of the entries; of several with one name the first is found.
    pub(crate) fn new(entries: impl IntoIterator<Item = (Box<str>, T)>) -> Self {
        let entries: Box<[_]> = entries.into_iter().collect();
        Self {
            slots: Slots::new(entries.iter().map(|(name, _)| hash(name))),
            entries,
        }
    }

    /// What the name stands for.
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let is_wanted = |at: usize| {
            self.entries
                .get(at)
                .is_some_and(|(known, _)| bytes::equal(known, name))
        };
        let at = self.slots.find(hash(name), is_wanted)?;
        self.entries.get(at).map(|(_, value)| value)
    }
}

/// Tells names that have come before from new ones, while a list of them grows.
#[derive(Debug, Default)]
pub(crate) struct Earlier<'t>(BTreeSet<Cow<'t, str>>);

impl<'t> Earlier<'t> {
    /// Whether the name is one of the earlier ones, to which each name is added that is not.
    pub(crate) fn holds<'n>(
        &mut self,
        mut earlier: impl ExactSizeIterator<Item = &'n Cow<'t, str>>,
        name: Cow<'t, str>,
    ) -> bool
    where
        't: 'n,
    {
        if earlier.len() < FEW {
            return earlier.any(|known| bytes::equal(known, &name));
        }
        if self.0.is_empty() {
            self.0.extend(earlier.cloned());
        }
        !self.0.insert(name)
    }
}

/// Multiplies each eight bytes in turn, the last eight once more: names mostly differ at their end.
pub(crate) fn hash(name: &str) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| (state.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, _) = name.as_bytes().as_chunks::<8>();
    let state = words.iter().fold(name.len() as u64, |state, word| {
        mix(state, u64::from_le_bytes(*word))
    });
    let last = match name.as_bytes().last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => name.bytes().fold(0, |word, byte| (word << 8) | u64::from(byte)),
    };
    (mix(state, last) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 8, 1000] {
            let names = (0..count).map(|at| (format!("argument{at}").into(), at));
            let table = Names::new(names);
            for at in 0..count {
                assert_eq!(table.get(&format!("argument{at}")), Some(&at));
            }
            for other in ["", "a", "argument", "argument-1", "argumenu0", "argument00000000"] {
                assert_eq!(table.get(other), None, "{other:?} of {count}");
            }
        }
    }

    #[test]
    fn the_first_of_equal_names_is_found() {
        let table = Names::new([("a".into(), 1), ("b".into(), 2), ("a".into(), 3)]);
        assert_eq!(table.get("a"), Some(&1));
    }

    #[test]
    fn a_name_that_came_before_is_told_from_a_new_one() {
        for count in [0, 1, FEW - 1, FEW, FEW + 1, 3 * FEW] {
            let mut earlier = Earlier::default();
            let mut names: Vec<Cow<'_, str>> = Vec::new();
            for at in 0..count {
                let name: Cow<'_, str> = Cow::Owned(format!("argument{at}"));
                assert!(!earlier.holds(names.iter(), name.clone()), "{name} of {count}");
                names.push(name);
            }
            for name in &names {
                assert!(earlier.holds(names.iter(), name.clone()), "{name} of {count}");
            }
            assert!(
                !earlier.holds(names.iter(), Cow::Borrowed("argument")),
                "of {count}"
            );
        }
    }

    #[test]
    fn equal_hashes_do_not_hide_each_other() {
        let slots = Slots::new([7, 7, 7].into_iter());
        for wanted in 0..3 {
            assert_eq!(slots.find(7, |at| at == wanted), Some(wanted));
        }
        assert_eq!(slots.find(7, |_| false), None);
        assert_eq!(slots.find(6, |_| true), None);
    }
}
