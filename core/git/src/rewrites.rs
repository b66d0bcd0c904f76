//! The rules of `url.<base>.insteadOf` and `pushInsteadOf` (`alias_url` in `remote.c` of git).

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::files::Error;
use crate::steps::Steps;

/// The steps of looking a prefix up.
const LOOK_UP: usize = 32;

/// The rules of one of the two keys.
#[derive(Default)]
pub(crate) struct Rewrites {
    /// Each base with its position in the order of first mention.
    bases: BTreeMap<Vec<u8>, usize>,
    /// Each prefix with its replacement; of several bases, the one that was mentioned first.
    rules: BTreeMap<Vec<u8>, (usize, Vec<u8>)>,
}

impl Rewrites {
    pub(crate) fn add(&mut self, base: &[u8], prefix: &[u8]) {
        let next = self.bases.len();
        let place = *self.bases.entry(base.to_vec()).or_insert(next);
        let rule = self
            .rules
            .entry(prefix.to_vec())
            .or_insert_with(|| (place, base.to_vec()));
        if place < rule.0 {
            *rule = (place, base.to_vec());
        }
    }

    /// `url` with its longest known prefix replaced; unchanged if it has none.
    pub(crate) fn apply(&self, url: &[u8], steps: &Steps) -> Result<Vec<u8>, Error> {
        Ok(self.rewrite(url, steps)?.unwrap_or_else(|| url.to_vec()))
    }

    /// `url` with its longest known prefix replaced; `None` if it has none.
    pub(crate) fn rewrite(&self, url: &[u8], steps: &Steps) -> Result<Option<Vec<u8>>, Error> {
        let mut start = url;
        loop {
            // The greatest rule that is not greater than `start`. If it is not a prefix of `start`, a rule that is can
            // only be as long as what the two have in common.
            let up_to = (Bound::Unbounded, Bound::Included(start));
            steps.take(LOOK_UP + start.len())?;
            let Some((prefix, (_, base))) = self.rules.range::<[u8], _>(up_to).next_back() else {
                return Ok(None);
            };
            if let Some(rest) = url.strip_prefix(prefix.as_slice()) {
                steps.take(base.len() + rest.len())?;
                return Ok(Some([base, rest].concat()));
            }
            let common = start.iter().zip(prefix).take_while(|(one, other)| one == other);
            start = start.split_at(common.count()).0;
        }
    }
}
