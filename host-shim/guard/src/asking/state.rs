//! The `requestState` of a question: what the client gives back with the answer, from revision 2026-07-28 on.
//!
//! Whoever sends it may have made it up. It holds only for the call, the policy and the time that it was given out for, and the
//! guard takes it once.

use std::fs::File;
use std::io::{self, Read as _};

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::CallBinding;
use crate::digest::hex;

/// Tells the guard's own states from those of servers.
const PREFIX: &str = "callgate-1.";

/// The key of this process.
pub(crate) struct Key([u8; 32]);

impl Key {
    /// # Errors
    /// The operating system has no randomness.
    pub(super) fn new() -> io::Result<Self> {
        let mut key = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        Ok(Self(key))
    }

    /// A key that several processes have.
    pub(crate) fn of(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The code of a text in parts, in hexadecimal digits.
    pub(crate) fn code_of(&self, parts: &[&str]) -> String {
        self.code(parts).map(|code| hex(&code)).unwrap_or_default()
    }

    /// Returns `true` if this is the code of the parts.
    pub(crate) fn is_code_of(&self, code: &str, parts: &[&str]) -> bool {
        let given = unhex(code).zip(self.mac(parts));
        given.is_some_and(|(code, mac)| mac.verify_slice(&code).is_ok())
    }

    /// A name that nobody else can know.
    pub(super) fn secret(&self, of: &str) -> String {
        self.code_of(&[of])
    }

    /// The state of a question.
    pub(super) fn state(&self, question: &str, bound: CallBinding<'_>) -> Option<String> {
        Some(format!(
            "{PREFIX}{question}.{}",
            hex(&self.code(&parts(question, bound))?)
        ))
    }

    /// The question of a state; `None` unless it was given out for just this.
    pub(super) fn question<'s>(&self, state: &'s str, bound: CallBinding<'_>) -> Option<&'s str> {
        let (question, code) = state.strip_prefix(PREFIX)?.rsplit_once('.')?;
        let mac = self.mac(&parts(question, bound))?;
        mac.verify_slice(&unhex(code)?).ok()?;
        Some(question)
    }

    fn code(&self, parts: &[&str]) -> Option<[u8; 32]> {
        Some(self.mac(parts)?.finalize().into_bytes().into())
    }

    fn mac(&self, parts: &[&str]) -> Option<Hmac<Sha256>> {
        // A key of any length will do.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        for part in parts {
            // Each with its length, so that none runs into the next.
            mac.update(&part.len().to_be_bytes());
            mac.update(part.as_bytes());
        }
        Some(mac)
    }
}

/// Returns `true` if a state is one of a guard's own.
pub(super) fn is_own(state: &str) -> bool {
    state.starts_with(PREFIX)
}

fn parts<'a>(question: &'a str, bound: CallBinding<'a>) -> [&'a str; 5] {
    [question, bound.server, bound.tool, bound.arguments, bound.policy]
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_holds_for_what_it_was_given_out_for() {
        let (key, other) = (Key::new().unwrap(), Key::new().unwrap());
        let bound = CallBinding {
            server: "s",
            tool: "t",
            arguments: "a",
            policy: "p",
        };
        let state = key.state("q-1", bound).unwrap();
        assert!(is_own(&state));
        assert_eq!(key.question(&state, bound), Some("q-1"));
        assert_eq!(other.question(&state, bound), None);
        for changed in [
            CallBinding {
                server: "st",
                tool: "",
                ..bound
            },
            CallBinding { tool: "u", ..bound },
            CallBinding {
                arguments: "b",
                ..bound
            },
            CallBinding { policy: "q", ..bound },
        ] {
            assert_eq!(key.question(&state, changed), None);
        }
        for forged in [
            state.replace("q-1", "q-2"),
            state.trim_end_matches(|_| true).to_owned(),
            format!("{state}0"),
            state.get(..state.len() - 2).unwrap().to_owned(),
            state.replace("callgate-1.", ""),
            String::new(),
        ] {
            assert_eq!(key.question(&forged, bound), None, "{forged}");
        }
    }
}
