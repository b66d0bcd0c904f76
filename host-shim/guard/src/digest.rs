//! Digests of texts.

use sha2::{Digest as _, Sha256};

/// `sha256:` and the digest in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
