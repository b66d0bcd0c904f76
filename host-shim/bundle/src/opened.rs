//! A bundle whose signature was verified.

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::envelope::Envelope;
use crate::key::{PublicKey, hexadecimal};
use crate::payload::Payload;
use crate::refused::Refused;

/// A bundle that may be used now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The documents.
    pub payload: Payload,
    /// The digest of the text that was signed.
    pub(crate) digest: String,
    /// The id of the pinned key that signed it.
    pub(crate) key: String,
}

impl Opened {
    /// Opens an envelope where no revisions are remembered: its signature is verified by one of the pinned keys, then its payload is
    /// read, then its name, if one is expected, and its end are compared.
    ///
    /// # Errors
    /// Why the bundle is not used.
    pub fn read(
        text: &[u8],
        keys: &[PublicKey],
        name: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, Refused> {
        let envelope = Envelope::read(text)?;
        let (verified, key) = envelope.verified(keys)?;
        let digest = hexadecimal(&Sha256::digest(verified));
        let payload = Payload::read(verified)?;
        let found = payload.name();
        if let Some(expected) = name.filter(|expected| *expected != found) {
            return Err(Refused::OtherName {
                found: found.to_owned(),
                expected: expected.to_owned(),
            });
        }
        if payload.expires() <= now {
            return Err(Refused::Expired {
                name: found.to_owned(),
                expired: payload.expires(),
                now,
            });
        }
        Ok(Self { payload, digest, key })
    }
}
