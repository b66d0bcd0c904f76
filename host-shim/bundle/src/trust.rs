//! Which bundles are used: those that a pinned key signed, and never an older one than before.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::key::PublicKey;
use crate::opened::Opened;
use crate::refused::Refused;
use crate::state::{Accepted, State};

/// Whom a user trusts.
#[derive(Clone, Debug)]
pub struct Trust {
    /// The keys that are pinned: one of them must have signed. Without any, nothing is used.
    pub keys: Vec<PublicKey>,
    /// The name that a bundle must have, if one is expected.
    pub name: Option<String>,
    /// The folder that has the revisions that were accepted, which only this user may write to.
    pub state: PathBuf,
}

impl Trust {
    /// Opens an envelope as [`Opened::read`] does; then its revision is compared.
    ///
    /// # Errors
    /// Why the bundle is not used.
    pub fn open(&self, text: &[u8], now: Timestamp) -> Result<Opened, Refused> {
        let opened = Opened::read(text, &self.keys, self.name.as_deref(), now)?;
        opened.follows(&self.accepted(&opened)?)?;
        Ok(opened)
    }

    /// Returns `true` if this very bundle was the last that was accepted under its name.
    ///
    /// # Errors
    /// When what was accepted cannot be read.
    pub fn has_accepted(&self, opened: &Opened) -> Result<bool, Refused> {
        Ok(self.accepted(opened)?.contains(&opened.accepted()))
    }

    /// Remembers the bundle's revision: from now on a lower one is refused, and another text under the same one.
    ///
    /// # Errors
    /// When another process has accepted a higher revision since, or when this one cannot be remembered.
    pub fn accept(&self, opened: &Opened) -> Result<(), Refused> {
        match self.has_accepted(opened)? {
            true => Ok(()),
            false => self.accept_once(opened, || Ok(())),
        }
    }

    /// The same once `keep` has kept the bundle, while no other process accepts one: what is kept is never older than what was
    /// accepted.
    pub(crate) fn accept_once(
        &self,
        opened: &Opened,
        keep: impl FnOnce() -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let (name, next) = (opened.payload.name(), opened.accepted());
        State(&self.state).accept((name, &opened.key), &next, || {
            let before = self.accepted(opened)?;
            opened.follows(&before)?;
            keep()?;
            Ok(before.contains(&next))
        })
    }

    /// What was accepted under the bundle's name, of each key that is pinned. A bundle that another key signed has no say in it.
    fn accepted(&self, opened: &Opened) -> Result<Vec<Accepted>, Refused> {
        let (state, name) = (State(&self.state), opened.payload.name());
        let accepted = self.keys.iter().map(|key| state.accepted(name, &key.id()));
        accepted.filter_map(Result::transpose).collect()
    }
}

impl Opened {
    fn accepted(&self) -> Accepted {
        Accepted::new(self.payload.revision(), &self.digest)
    }

    fn follows(&self, accepted: &[Accepted]) -> Result<(), Refused> {
        let (name, revision) = (self.payload.name().to_owned(), self.payload.revision());
        let highest = accepted.iter().map(|one| one.revision).max().unwrap_or(0);
        if revision < highest {
            return Err(Refused::RolledBack {
                name,
                found: revision,
                accepted: highest,
            });
        }
        let is_other = |one: &Accepted| one.revision == revision && one.sha256 != self.digest;
        match accepted.iter().any(is_other) {
            true => Err(Refused::OtherText { name, revision }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
