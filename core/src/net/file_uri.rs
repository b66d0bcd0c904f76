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
pub(crate) fn file_uri_paths(text: &str) -> Vec<String> {
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

/// Returns `false` only if JSON text cannot stand for a `file:` URI.
pub(crate) fn may_be_file_uri(text: &str) -> bool {
    // An escape may stand for any character.
    matches!(file_path(text), Ok(_) | Err(Some(b'\\')))
}

/// The text behind `file:`.
fn after_file_scheme(text: &str) -> Option<&str> {
    text.get(file_path(text).ok()?..)
}

/// Where the text behind `file:` begins; else the byte that ends the schemes, if there is one.
fn file_path(text: &str) -> Result<usize, Option<u8>> {
    let head = text.as_bytes();
    let head = head.get(..LONGEST_SCHEMES).unwrap_or(head);
    let mut start = 0;
    for (at, byte) in head.iter().copied().enumerate() {
        match byte {
            b':' if head.get(start..at).is_some_and(is_file) => return Ok(at + 1),
            b':' => start = at + 1,
            b'\t' | b'\n' | b'\r' | b'+' | b'-' | b'.' => {}
            _ if byte.is_ascii_alphanumeric() => {}
            other => return Err(Some(other)),
        }
    }
    Err(None)
}

fn is_file(scheme: &[u8]) -> bool {
    let characters = scheme.iter().filter(|byte| !byte.is_ascii_whitespace());
    characters.map(u8::to_ascii_lowercase).eq(*b"file")
}
