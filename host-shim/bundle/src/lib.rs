//! Bundles that travel: every document of a bundle in one signed file.
//!
//! ```
//! use callgate_bundle::{Envelope, NamedText, Payload, SecretKey, Timestamp, Trust};
//!
//! let policy = NamedText { name: "callgate.json".into(), text: "{\"policy\": {\"rules\": []}}".into() };
//! let payload = Payload::new("acme", 7, "2030-01-01T00:00:00Z".parse()?, vec![policy])?;
//! let key = SecretKey::generate()?;
//! let mut envelope = Envelope::of(&payload)?;
//! envelope.sign(&key)?;
//!
//! # let folder = std::env::temp_dir().join(format!("callgate-bundle-{}", std::process::id()));
//! let trust = Trust { keys: vec![key.public()], name: Some("acme".into()), state: folder };
//! let now: Timestamp = "2029-12-31T00:00:00Z".parse()?;
//! let opened = trust.open(envelope.to_json().as_bytes(), now)?;
//! trust.accept(&opened)?;
//! assert_eq!(opened.payload.revision(), 7);
//! # std::fs::remove_dir_all(&trust.state)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The file is an envelope of DSSE (<https://github.com/secure-systems-lab/dsse>) with signatures by Ed25519. A bundle is used
//! only if a key that the user has pinned signed it, if it has the name that is expected, if it has not expired, and if its
//! revision is not lower than the highest that was accepted under its name. Each of these is a [`Refused`] of its own, and
//! nothing falls back to a bundle without a signature.
//!
//! The payload is read only once a signature has been verified. Reading is strict: a member that is not known, a name that occurs
//! twice and a text that is too long are refused. This crate knows no engine: what the documents say is for whoever judges by them.

#[cfg(feature = "http")]
mod address;
#[cfg(feature = "http")]
mod credentials;
mod envelope;
#[cfg(feature = "http")]
mod http;
mod json;
mod key;
mod opened;
mod payload;
mod refused;
#[cfg(feature = "http")]
mod registry;
#[cfg(feature = "http")]
mod remote;
#[cfg(unix)]
mod state;
#[cfg(unix)]
mod trust;

#[cfg(feature = "http")]
pub use address::is_address;
#[cfg(feature = "http")]
pub use credentials::Credentials;
pub use envelope::{Envelope, MOST_BYTES, is_envelope};
pub use jiff::Timestamp;
pub use key::{PublicKey, SecretKey};
pub use opened::Opened;
pub use payload::{NamedText, Payload, expiry, is_name};
pub use refused::Refused;
#[cfg(feature = "http")]
pub use remote::Remote;
#[cfg(unix)]
pub use trust::Trust;
