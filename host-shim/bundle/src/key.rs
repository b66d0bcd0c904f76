//! Keys, and the lines of text that they are kept as.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

/// The words before the base64 text of a key.
const SECRET: &str = "callgate-private-key ed25519 ";
const PUBLIC: &str = "callgate-public-key ed25519 ";

/// A key that signs.
#[derive(Debug)]
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// Makes one from the randomness of the operating system.
    ///
    /// # Errors
    /// When the operating system gives none.
    #[cfg(unix)]
    pub fn generate() -> std::io::Result<Self> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(std::io::Error::other)?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Reads the line `callgate-private-key ed25519 BASE64`, where the base64 text is the seed of RFC 8032.
    ///
    /// # Errors
    /// What was expected. The message has nothing of the text.
    pub fn read(text: &str) -> Result<Self, String> {
        let seed = bytes_of(text, SECRET)?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// The line that [`SecretKey::read`] reads.
    pub fn to_line(&self) -> String {
        format!("{SECRET}{}\n", STANDARD.encode(self.0.as_bytes()))
    }

    /// The half that others pin.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

/// A key that is pinned: what it has signed is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads the line `callgate-public-key ed25519 BASE64`.
    ///
    /// # Errors
    /// What was expected, or that anybody could sign for the key.
    pub fn read(text: &str) -> Result<Self, String> {
        let key = VerifyingKey::from_bytes(&bytes_of(text, PUBLIC)?);
        match key {
            Ok(key) if !key.is_weak() => Ok(Self(key)),
            Ok(_) | Err(_) => Err("the bytes are not a public key of Ed25519".to_owned()),
        }
    }

    /// The SHA-256 digest of the key's 32 bytes in hexadecimal digits, by which an envelope names it.
    pub fn id(&self) -> String {
        hexadecimal(&Sha256::digest(self.0.as_bytes()))
    }

    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        // Strict, so that all programs agree about each signature.
        self.0
            .verify_strict(message, &Signature::from_bytes(signature))
            .is_ok()
    }
}

/// The line that [`PublicKey::read`] reads.
impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PUBLIC}{}", STANDARD.encode(self.0.as_bytes()))
    }
}

fn bytes_of(text: &str, words: &str) -> Result<[u8; 32], String> {
    let line = text.strip_suffix('\n').unwrap_or(text);
    let bytes = line
        .strip_prefix(words)
        .and_then(|rest| STANDARD.decode(rest).ok());
    let bytes: Option<[u8; 32]> = bytes.and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| format!("expected one line, `{words}` and 32 bytes in base64"))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
