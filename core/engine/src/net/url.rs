//! String functions of URLs, which accept every value.

use std::borrow::Cow;

use url::Url;

/// Parses `value` as a WHATWG URL and serializes it, without the final `/` if the path is just `/` and nothing
/// follows. A value that does not parse is returned unchanged.
///
/// The input may be untrusted; takes time linear in its length.
///
/// Standard: <https://url.spec.whatwg.org/#concept-basic-url-parser>.
///
/// ```
/// assert_eq!(callgate_engine::net::normalize_url("HTTPS://Example.com:443/"), "https://example.com");
/// assert_eq!(callgate_engine::net::normalize_url("https://example.com/a/"), "https://example.com/a/");
/// ```
pub fn normalize_url(value: &str) -> Cow<'_, str> {
    match Url::parse(value) {
        Ok(url) => Cow::Owned(normalized(&url).to_owned()),
        Err(_) => Cow::Borrowed(value),
    }
}

/// [`normalize_url`] of a value that was parsed.
pub(super) fn normalized(url: &Url) -> &str {
    let text = url.as_str();
    let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    match bare {
        true => text.strip_suffix('/').unwrap_or(text),
        false => text,
    }
}

/// The host name of `value` as serialized by the parser; empty for a URL without a host. A value that does not parse
/// is returned unchanged.
///
/// This is for display and compatibility. Do not decide by it: `file://github.com/etc/passwd` has the host
/// `github.com`.
pub fn extract_domain(value: &str) -> Cow<'_, str> {
    match Url::parse(value) {
        Ok(url) => Cow::Owned(host_text(&url).to_owned()),
        Err(_) => Cow::Borrowed(value),
    }
}

pub(super) fn host_text(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizing_keeps_everything_but_the_lone_slash() {
        #[track_caller]
        fn check(value: &str, expected: &str) {
            assert_eq!(normalize_url(value), expected, "{value:?}");
            assert_eq!(normalize_url(expected), expected, "normalizing twice, {value:?}");
        }
        check("https://bitbucket.org:443/a/b", "https://bitbucket.org/a/b");
        check("https://Bücher.example/", "https://xn--bcher-kva.example");
        check("https://github.com@127.0.0.1/", "https://github.com@127.0.0.1");
        check("http://.:/", "http://.");
        check("https://[::ffff:127.0.0.1]", "https://[::ffff:7f00:1]");
        check("file://localhost/etc/passwd", "file:///etc/passwd");
        check("file:///", "file://");
        check("git://xn--bcher-kva.example/", "git://xn--bcher-kva.example");
        check("https://127.0.0.1:abc?q=1", "https://127.0.0.1:abc?q=1");
        check("//example.com/", "//example.com/");
        check("", "");
        // The existing runtime cuts a last `/` from query, fragment and path too (`normalize-url-slash`).
        check("https://example.com/?next=/", "https://example.com/?next=/");
        check("https://example.com/#/", "https://example.com/#/");
        check("https://example.com/a//", "https://example.com/a//");
        check("https://example.com/a/b/", "https://example.com/a/b/");
    }

    #[test]
    fn a_domain_is_the_host_as_printed() {
        #[track_caller]
        fn check(value: &str, expected: &str) {
            assert_eq!(extract_domain(value), expected, "{value:?}");
        }
        check("HTTPS://evil.example:443", "evil.example");
        check("https://[2001:db8::1]?next=/", "[2001:db8::1]");
        check("ssh://bücher.example:8443/a/b", "b%C3%BCcher.example");
        check("wss://github.com@github.com./a/b", "github.com.");
        check("mailto:a@example.com", "");
        check("x://", "");
        check("github.com/x", "github.com/x");
        check("", "");
    }
}
