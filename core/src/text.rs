//! Small helpers for text: paths, their components, and the tokens of JSON Pointers.

/// Returns `true` if `path` is `directory` or below it, compared as text: the rest must begin with a `/`.
///
/// Both should be collapsed; a `/` at the end of `directory` is ignored. Every comparison of paths with directories
/// ends up here, so that `/a` never contains `/ab`.
pub(crate) fn is_at_or_below(path: &str, directory: &str) -> bool {
    strip_directory(path, directory).is_some()
}

/// `path` relative to `directory`: empty for the directory itself, `None` if `path` is not at or below it.
pub(crate) fn strip_directory<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// Returns `true` if no component of the relative path `names` is empty, `.` or `..`.
pub(crate) fn has_only_normal_components(names: &str) -> bool {
    let mut before = b'/';
    for (at, byte) in names.bytes().enumerate() {
        // Only the first byte of a component tells whether more of it has to be looked at.
        if before == b'/' && (byte == b'/' || byte == b'.') {
            let rest = names.as_bytes().get(at..).unwrap_or_default();
            if matches!(
                rest,
                [b'/', ..] | [b'.'] | [b'.', b'/', ..] | [b'.', b'.'] | [b'.', b'.', b'/', ..]
            ) {
                return false;
            }
        }
        before = byte;
    }
    before != b'/'
}

/// Escapes `~` and `/` in a token of a JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901#section-3)).
pub(crate) fn escape_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Unescapes a token of a JSON Pointer; `None` if a `~` is neither `~0` nor `~1`.
pub(crate) fn unescape_token(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escaped, rest) = match part.strip_prefix('0') {
            Some(rest) => ('~', rest),
            None => ('/', part.strip_prefix('1')?),
        };
        text.push(escaped);
        text.push_str(rest);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_contains_itself_and_what_continues_it_at_a_slash() {
        for (path, directory, rest) in [
            ("/a", "/a", Some("")),
            ("/a/b", "/a", Some("b")),
            ("/a/b/c", "/a/", Some("b/c")),
            ("/ab", "/a", None),
            ("/", "/a", None),
            ("/a", "/", Some("a")),
            ("/", "/", Some("")),
            ("~/a", "~", Some("a")),
            ("~/a", "/", None),
        ] {
            assert_eq!(strip_directory(path, directory), rest, "{path} {directory}");
            assert_eq!(is_at_or_below(path, directory), rest.is_some());
        }
    }

    #[test]
    fn normal_components_are_told_from_others() {
        for (names, expected) in [
            ("a", true),
            ("a/b.c/.d/...", true),
            ("", false),
            ("a//b", false),
            ("a/", false),
            ("/a", false),
            (".", false),
            ("a/./b", false),
            ("a/..", false),
            ("é/ /\0", true),
            ("long/enough//for/words", false),
            ("long/enough/for/.words", true),
        ] {
            assert_eq!(has_only_normal_components(names), expected, "{names:?}");
        }
    }

    #[test]
    fn tokens_keep_their_names() {
        for name in ["", "a", "~", "/", "~1", "a/b~c", "~0"] {
            assert_eq!(unescape_token(&escape_token(name)).as_deref(), Some(name));
        }
        assert_eq!(unescape_token("a~2"), None);
        assert_eq!(unescape_token("~"), None);
    }
}
