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
    let mut head = text.as_bytes().iter().take(LONGEST_SCHEMES).copied();
    // Behind a scheme an escape may stand for any character.
    head.find(|byte| !is_scheme(char::from(*byte)) && *byte != b':')
        .is_some_and(|byte| byte == b'\\')
        || after_file_scheme(text).is_some()
}

/// The text behind `file:`.
fn after_file_scheme(text: &str) -> Option<&str> {
    // How much of `file` the scheme is so far; `None` if it is another one.
    let mut found = Some(0);
    for (at, character) in text.char_indices().take(LONGEST_SCHEMES) {
        match character {
            ':' if found == Some("file".len()) => return text.get(at + 1..),
            ':' => found = Some(0),
            '\t' | '\n' | '\r' => {}
            _ if is_scheme(character) => {
                let is_next =
                    |count: &usize| "file".chars().nth(*count) == Some(character.to_ascii_lowercase());
                found = found.filter(is_next).map(|count| count + 1);
            }
            _ => return None,
        }
    }
    None
}

fn is_scheme(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.')
}
