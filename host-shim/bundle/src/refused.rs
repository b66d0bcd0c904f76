//! Why a bundle is not used.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;

/// Why a bundle is not used. Messages begin in the middle of a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The file is too long.
    TooLong {
        /// Bytes of the longest that is read.
        most: usize,
    },
    /// The file is no envelope: what was found where, and what was expected.
    NotAnEnvelope(String),
    /// No key has signed it.
    Unsigned,
    /// Other keys than the pinned ones have signed it.
    UnknownKey {
        /// The keys that signed, as the envelope names them.
        signed: Vec<String>,
        /// The keys that are pinned.
        pinned: Vec<String>,
    },
    /// The signature of a pinned key does not fit the payload: one of the two was changed.
    BadSignature {
        /// The key.
        key: String,
    },
    /// What was signed is no bundle: what was found where, and what was expected.
    BadPayload(String),
    /// It is another bundle.
    OtherName {
        /// Its name.
        found: String,
        /// The name that is expected.
        expected: String,
    },
    /// Its time is over.
    Expired {
        /// Its name.
        name: String,
        /// Its end.
        expired: Timestamp,
        /// The time of the clock.
        now: Timestamp,
    },
    /// A higher revision was accepted before.
    RolledBack {
        /// Its name.
        name: String,
        /// Its revision.
        found: u64,
        /// The highest that was accepted.
        accepted: u64,
    },
    /// Another text was accepted under the same revision.
    OtherText {
        /// Its name.
        name: String,
        /// Its revision.
        revision: u64,
    },
    /// It cannot be kept.
    Unkept {
        /// The file that was to have it.
        file: PathBuf,
        /// The message of the operating system.
        reason: String,
    },
    /// What was accepted before cannot be read or written.
    State {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { most } => {
                write!(
                    formatter,
                    "it has more than {most} bytes, expected a signed bundle"
                )
            }
            Self::NotAnEnvelope(why) => write!(formatter, "it is not a signed bundle: {why}"),
            Self::Unsigned => formatter.write_str("it has no signature, expected one by a pinned key"),
            Self::UnknownKey { signed, pinned } => {
                let (signed, pinned) = (quoted(signed), quoted(pinned));
                write!(
                    formatter,
                    "no pinned key signed it: it is signed by {signed}, expected {pinned}"
                )
            }
            Self::BadSignature { key } => write!(
                formatter,
                "the signature of the key `{key}` does not fit what is signed: the bundle was changed since"
            ),
            Self::BadPayload(why) => write!(formatter, "what is signed is not a bundle: {why}"),
            Self::OtherName { found, expected } => {
                write!(formatter, "it is the bundle `{found}`, expected `{expected}`")
            }
            Self::Expired { name, expired, now } => {
                write!(
                    formatter,
                    "the bundle `{name}` expired at {expired}, and it is {now:.0}"
                )
            }
            Self::RolledBack {
                name,
                found,
                accepted,
            } => write!(
                formatter,
                "revision {found} of the bundle `{name}` is lower than {accepted}, which was accepted before"
            ),
            Self::OtherText { name, revision } => write!(
                formatter,
                "another text was accepted before as revision {revision} of the bundle `{name}`, expected a higher revision"
            ),
            Self::Unkept { file, reason } => {
                write!(formatter, "it cannot be kept as `{}`: {reason}", file.display())
            }
            Self::State { file, reason } => write!(
                formatter,
                "the file of the revisions that were accepted, `{}`: {reason}",
                file.display()
            ),
        }
    }
}

impl std::error::Error for Refused {}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
