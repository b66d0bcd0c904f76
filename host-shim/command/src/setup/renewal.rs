//! Bundles at addresses, which are renewed, and signed ones, which end.

use std::path::Path;
use std::time::Duration;

use callgate_bundle::{Remote, Timestamp};

use super::{Added, Setup};
use crate::above::Upper;
use crate::signed::{self, Pinned};
use crate::terminal::Failure;

impl Setup {
    /// The address of the bundle, if it has one.
    fn remote(&self) -> Result<Option<Remote>, Failure> {
        let remote = self.bundle.as_deref().map(|named| self.pinned.remote(named));
        remote.transpose().map(Option::flatten)
    }

    /// How often bundles are to be renewed, if one is at an address.
    pub(crate) fn renewal(&self) -> Option<Duration> {
        let mut named = self.bundle.iter().chain(self.above.named());
        let has_address = named.any(|named| signed::address(named).is_some());
        has_address.then(|| self.pinned.refresh())
    }

    /// Asks for newer bundles at their addresses. A newer one with which its gate can be built is in its file then.
    ///
    /// # Errors
    /// Why one that is in use may not be the newest.
    pub(crate) fn renew(&self, add: Added<'_>) -> Result<(), String> {
        let host = self.host().map_err(Failure::told)?;
        let mut renewed = Ok(());
        for Upper { bundle, pinned } in self.uppers().map_err(Failure::told)? {
            let with = |builder| self.upper(builder, &host, add);
            if let Some(remote) = pinned.remote(&bundle).map_err(Failure::told)? {
                let own = pinned.renew(&remote, Duration::ZERO, &with);
                renewed = renewed.and(own.and(remote.failure().map_or(Ok(()), Err)));
            }
        }
        let Some(remote) = self.remote().map_err(Failure::told)? else {
            return renewed;
        };
        self.pinned.renew(&remote, Duration::ZERO, &|builder| {
            Ok(add(self.laid_over(builder, &host)?)?.build()?)
        })?;
        renewed.and(remote.failure().map_or(Ok(()), Err))
    }

    /// The documents of each layer above, in one text; `None` for one that cannot be used as it is.
    pub(crate) fn documents_above(&self) -> Result<Vec<Option<String>>, Failure> {
        let host = self.host()?;
        let texts = self.uppers()?.into_iter().map(|Upper { bundle, pinned }| {
            let built = pinned.build(&bundle, &|builder| self.upper(builder, &host, &Ok));
            let (gate, _) = built.ok()?;
            let documents = gate.documents().iter();
            let texts = documents.map(|document| format!("{:?}\n{}\n", document.part, document.text));
            Some(
                texts.fold(format!("{}\n{:?}\n", gate.name(), gate.leaves()), |all, text| {
                    all + &text
                }),
            )
        });
        Ok(texts.collect())
    }

    /// The earliest end of the signed bundles, if there are any.
    pub(crate) fn expires(&self) -> Result<Option<Timestamp>, Failure> {
        let end = |pinned: &Pinned, file: &Path| -> Result<Option<Timestamp>, Failure> {
            match pinned.keys() {
                [] => Ok(None),
                _ => Ok(Some(signed::open(&pinned.trust()?, file)?.payload.expires())),
            }
        };
        let mut ends = Vec::new();
        for upper in self.uppers()? {
            ends.extend(end(&upper.pinned, &upper.file()?)?);
        }
        if let Some(file) = self.bundle()? {
            ends.extend(end(&self.pinned, &file)?);
        }
        Ok(ends.into_iter().min())
    }
}
