//! The paths in `file:` URIs.

use url::Url;

use super::text::percent_decode;

/// How many characters the schemes before the path of a `file:` URI may have, tabs and line breaks included.
const LONGEST_SCHEMES: usize = 64;

/// Every path that some program reads from a `file:` URI, which may stand behind other schemes (`view-source:file:…`).
/// Empty for any other text.
///
/// The URL standard takes out a host, dot segments, tabs and line breaks, and turns a `\` into a `/`
/// (<https://url.spec.whatwg.org/#url-parsing>); other programs take what stands behind `file:` or `file://`. Some decode
/// escapes, and some know neither query nor fragment.
pub fn file_uri_paths(text: &str) -> Vec<String> {
    let Some(rest) = after_file_scheme(text) else {
        return Vec::new();
    };
    let parsed = Url::parse(&format!("file:{rest}")).ok();
    let parsed = parsed.as_ref().map(Url::path);
    let whole = [Some(rest), rest.strip_prefix("//"), parsed];
    let cut = whole.map(|text| text.and_then(|text| text.split(['?', '#']).next()));
    let mut paths: Vec<String> = Vec::new();
    for path in whole.into_iter().chain(cut).flatten() {
        for path in [path, &percent_decode(path)] {
            if !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
    }
    paths
}

/// Returns `false` only if what stands at this place of JSON text, a `:` or a `\`, has no part in the schemes of a `file:` URI.
pub fn may_be_file_scheme(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    at < LONGEST_SCHEMES
        && match text.get(at) {
            Some(b':') => matches!(before.last(), Some(b'e' | b'E' | b'\t' | b'\n' | b'\r')),
            // An escape may stand for any character.
            Some(b'\\') => before.iter().all(|byte| *byte == b':' || is_of_scheme(*byte)),
            _ => false,
        }
}

/// The text behind `file:`.
fn after_file_scheme(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let head = bytes.get(..LONGEST_SCHEMES).unwrap_or(bytes);
    let mut start = 0;
    for (at, byte) in head.iter().copied().enumerate() {
        match byte {
            b':' if head.get(start..at).is_some_and(is_file) => return text.get(at + 1..),
            b':' => start = at + 1,
            _ if is_of_scheme(byte) => {}
            _ => return None,
        }
    }
    None
}

/// Returns `true` for what a scheme is made of (RFC 3986, section 3.1), and for the white space that readers of URLs leave out.
fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'\t' | b'\n' | b'\r')
}

fn is_file(scheme: &[u8]) -> bool {
    let characters = scheme.iter().filter(|byte| !byte.is_ascii_whitespace());
    characters.map(u8::to_ascii_lowercase).eq(*b"file")
}
