//! String functions of URLs, which accept every value.

use std::borrow::Cow;

use url::{Host, ParseError, Url};

use super::simple::{normal_form, simple_host};
use super::text::LINE_BREAKS;

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
    if let Some(normal) = normal_form(value) {
        return Cow::Borrowed(normal);
    }
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
    if let Some((Host::Domain(host), _)) = simple_host(value) {
        return Cow::Borrowed(host);
    }
    match parse_head(value) {
        Ok(url) => Cow::Owned(host_text(&url).to_owned()),
        Err(_) => Cow::Borrowed(value),
    }
}

/// Parses the URL as far as its host and port. It is valid if the whole URL is, and has the same scheme and host; the rest,
/// however long, changes neither.
pub(super) fn parse_head(value: &str) -> Result<Url, ParseError> {
    let Some((scheme, rest)) = value.split_once(':') else {
        return Url::parse(value);
    };
    let mut shown = rest.chars().filter(|one| !LINE_BREAKS.contains(one));
    let is_authority = shown.next() == Some('/') && shown.next() == Some('/');
    if !is_authority
        && let Some(alone) = value.get(..=scheme.len())
        && let Ok(url) = Url::parse(alone)
        && url.scheme() != FILE
    {
        // Without `//`, only a special scheme is followed by a host, and no special scheme is valid alone but `file`.
        return Ok(url);
    }
    let authority = rest.trim_start_matches(|one| matches!(one, '/' | '\\') || LINE_BREAKS.contains(&one));
    // What ends the authority stays: white space at the end of a text would be dropped.
    let after = authority
        .find(['/', '?', '#'])
        .and_then(|end| authority.get(end + 1..));
    let end = value.len() - after.map_or(0, str::len);
    let (before, authority) = value
        .get(..end)
        .and_then(|head| head.split_at_checked(value.len() - authority.len()))
        .unwrap_or((value, ""));
    let url = Url::parse(&match long_user(authority) {
        // Any other user leaves the host as it is.
        Some(host) => Cow::Owned(format!("{before}x{host}")),
        None => Cow::Borrowed(value.get(..end).unwrap_or(value)),
    })?;
    match url.scheme() {
        // A path that begins with a drive's letter has no host before it.
        FILE => Url::parse(value),
        _ => Ok(url),
    }
}

const FILE: &str = "file";

/// The rest of an authority from the `@` after its user on. `None` if there is no user, or only a `:`: an empty name with
/// an empty password is left out, and may stand before an empty host.
fn long_user(authority: &str) -> Option<&str> {
    // Where the scheme is special, a `\\` ends the authority.
    let first = authority.split('\\').next()?;
    let (user, _) = first.rsplit_once('@')?;
    let mut shown = user.chars().filter(|one| !LINE_BREAKS.contains(one));
    let is_empty = matches!((shown.next(), shown.next()), (None | Some(':'), None));
    authority.get(user.len()..).filter(|_| !is_empty)
}

pub(super) fn host_text(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tests::config;

    proptest! {
        #![proptest_config(config(50_000))]

        #[test]
        fn the_head_has_the_host_of_the_whole(value in nearly_url()) {
            let read = |url: Result<Url, ParseError>| {
                url.ok().map(|url| (url.scheme().to_owned(), url.host().map(|host| host.to_owned())))
            };
            prop_assert_eq!(read(parse_head(&value)), read(Url::parse(&value)));
        }
    }

    fn nearly_url() -> impl Strategy<Value = String> {
        let pieces = [
            "http",
            "https",
            "ws",
            "file",
            "ssh",
            "hxxp",
            "blob",
            ":",
            "://",
            ":///",
            "/",
            "//",
            "\\",
            "?",
            "#",
            "@",
            "a",
            "a.b",
            "h:80",
            "80",
            "C:",
            "C|",
            "[::1]",
            "[",
            "%2f",
            "%",
            " ",
            "\t",
            "\n",
            "\0",
            "ü",
            "..",
            ".",
            "localhost",
            "1.2.3",
            "A",
        ];
        let piece = prop::sample::select(pieces.to_vec());
        let tail = prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat());
        let head = prop::sample::select(vec![
            "https:",
            "http://",
            "file:",
            "file://",
            "ssh:",
            "ssh://",
            "x:/",
            " https://",
            "",
        ]);
        (head, tail).prop_map(|(head, tail)| head.to_owned() + &tail)
    }

    #[test]
    fn an_empty_user_may_stand_before_an_empty_host() {
        for value in [
            "ssh://:@",
            "ssh://:\t@",
            "ssh://\n:\t@/a",
            "https://:\t@",
            "ssh://::@",
            "ssh://a@",
            "ssh://\t@/",
        ] {
            let read = |url: Result<Url, ParseError>| url.ok().map(|url| host_text(&url).to_owned());
            assert_eq!(read(parse_head(value)), read(Url::parse(value)), "{value:?}");
        }
    }

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
