//! Signatures of scripts: HMAC-SHA-256 (RFC 2104, FIPS 180-4).

use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The minimum length of a key in bytes: a shorter one can be guessed.
const SHORTEST_KEY: usize = 16;

/// Returns `true` if `signature`, in hexadecimal, is the script's signature with the key.
///
/// The signed message is the script's path, a NUL, which no path contains, and the SHA-256 of its content as 64
/// lower-case hexadecimal digits. The comparison takes constant time.
pub(super) fn is_signed(key: &str, path: &str, content_sha256: &str, signature: &str) -> bool {
    let content = content_sha256.to_ascii_lowercase();
    let Some(signature) = bytes(signature).filter(|_| bytes(&content).is_some()) else {
        return false;
    };
    if key.len() < SHORTEST_KEY || path.is_empty() || path.contains('\0') {
        return false;
    }
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else {
        return false;
    };
    mac.update(path.as_bytes());
    mac.update(b"\0");
    mac.update(content.as_bytes());
    mac.verify_slice(&signature).is_ok()
}

/// Decodes 64 hexadecimal digits.
fn bytes(hexadecimal: &str) -> Option<[u8; 32]> {
    let mut digits = hexadecimal.chars().map(|digit| digit.to_digit(16));
    let mut bytes = [0; 32];
    for byte in &mut bytes {
        let (high, low) = (digits.next()??, digits.next()??);
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    digits.next().is_none().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    // From `printf '%s\0%s' /srv/tools/run.py <64 × 0> | openssl dgst -sha256 -hmac contract-key-0001`.
    const KEY: &str = "contract-key-0001";
    const PATH: &str = "/srv/tools/run.py";
    const CONTENT: &str = "0000000000000000000000000000000000000000000000000000000000000000";
    const SIGNATURE: &str = "51c393bf0a59babffb5e0ab49b396322d7f673f93c7905f87f382ef73f238cda";

    #[test]
    fn a_signature_is_of_one_path_one_content_and_one_key() {
        assert!(is_signed(KEY, PATH, CONTENT, SIGNATURE));
        assert!(is_signed(KEY, PATH, CONTENT, &SIGNATURE.to_uppercase()));
        let other = CONTENT.replacen('0', "1", 1);
        assert!(!is_signed(KEY, PATH, &other, SIGNATURE));
        assert!(!is_signed(KEY, "/srv/tools/run.p", CONTENT, SIGNATURE));
        assert!(!is_signed("contract-key-0002", PATH, CONTENT, SIGNATURE));
        for malformed in [
            "",
            "00",
            SIGNATURE.trim_start_matches('5'),
            &format!("{SIGNATURE}0"),
            &"é".repeat(32),
        ] {
            assert!(!is_signed(KEY, PATH, CONTENT, malformed), "{malformed:?}");
            assert!(!is_signed(KEY, PATH, malformed, SIGNATURE), "{malformed:?}");
        }
    }
}
