//! The things that a text names to servers that take URIs, and to browsers that take what people type.

use std::borrow::Cow;
use std::fmt::Write;

use url::Host;

use super::file_uri::file_uri_paths;
use super::text::percent_decode;

/// The thing that a URI names.
#[derive(Debug, PartialEq, Eq)]
pub enum Uri<'t> {
    /// A path: the text has no scheme.
    Path,
    /// A file of this machine.
    File {
        /// Its path, without escapes.
        path: String,
        /// The query and the fragment, each with the character that it begins with.
        rest: &'t str,
    },
    /// A place of the web.
    Web,
    /// Nothing outside of the text.
    Nothing,
    /// Nothing that all programs agree on, or nothing that is known here.
    Other,
}

impl<'t> Uri<'t> {
    /// Reads a text as servers do that take `file:`, `http:` and `data:` URIs.
    ///
    /// Readers of URLs leave out tabs and line breaks, and what stands around the text
    /// (<https://url.spec.whatwg.org/#concept-basic-url-parser>), so that there is none of it.
    pub fn read(text: &'t str) -> Self {
        if text.contains(|one: char| one.is_control()) || text.trim() != text {
            return Self::Other;
        }
        let Some((scheme, rest)) = split_scheme(text) else {
            // Relative to a URL, two slashes begin a host.
            return match text.as_bytes() {
                [b'/' | b'\\', b'/' | b'\\', ..] => Self::Other,
                _ => Self::Path,
            };
        };
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => Self::Web,
            // Without a comma there is no data (RFC 2397).
            "data" if rest.contains(',') => Self::Nothing,
            "about" if is_blank(rest) => Self::Nothing,
            "file" => file(rest).unwrap_or(Self::Other),
            _ => Self::Other,
        }
    }
}

/// Returns `true` for the page of a browser that is empty.
pub fn is_about_blank(text: &str) -> bool {
    let split = split_scheme(text);
    split.is_some_and(|(scheme, rest)| scheme.eq_ignore_ascii_case("about") && is_blank(rest))
}

fn is_blank(rest: &str) -> bool {
    let rest = rest.strip_prefix("blank");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['#', '?']))
}

/// The scheme (RFC 3986, section 3.1) and what follows its `:`.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_part = |one: char| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '.');
    (scheme.starts_with(|one: char| one.is_ascii_alphabetic()) && scheme.chars().all(is_part))
        .then_some((scheme, rest))
}

/// Reads what follows `file:` (RFC 8089, section 2).
fn file(text: &str) -> Option<Uri<'_>> {
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let (path, rest) = text.split_at_checked(end)?;
    let path = match path.strip_prefix("//") {
        Some(after) => match after.split_at_checked(LOCALHOST.len()) {
            Some((host, path)) if host.eq_ignore_ascii_case(LOCALHOST) => path,
            _ => after,
        },
        None => path,
    };
    // `//` begins a host for some, `\` is a slash for others, and an encoded slash divides names for some alone.
    let is_clear = path.starts_with('/') && !path.starts_with("//") && !text.contains('\\');
    let encodes_slash = path.split('%').skip(1).any(|after| {
        let escape = after.get(..2).unwrap_or_default();
        escape.eq_ignore_ascii_case("2f")
    });
    // What is not UTF-8 would be decoded to another name.
    let path = percent_decode(path);
    let is_known = is_clear && !encodes_slash && !path.contains('\u{fffd}');
    is_known.then(|| Uri::File {
        path: path.into_owned(),
        rest,
    })
}

const LOCALHOST: &str = "localhost";

/// The `file:` URI of a path, with a query and a fragment: the given one where that names it already.
pub fn file_uri<'g>(path: &str, rest: &str, given: &'g str) -> Cow<'g, str> {
    let is_named = || {
        let body = given.strip_prefix("file://")?.strip_suffix(rest)?;
        let is_plain = body.starts_with('/') && body.bytes().all(|byte| byte == b'%' || is_plain(byte));
        Some(is_plain && percent_decode(body) == path)
    };
    if is_named() == Some(true) {
        return Cow::Borrowed(given);
    }
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        match is_plain(byte) {
            true => uri.push(char::from(byte)),
            // Writing a text to memory does not fail.
            false => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri.push_str(rest);
    Cow::Owned(uri)
}

/// Returns `true` for what a path in a URI may hold as it is (RFC 3986, section 3.3).
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte)
}

/// Every other path that some program opens where it is given this text, the `file:` URI of a path or the path itself: some
/// decode no escapes, others decode twice, and some know neither query nor fragment, or take them from a path as well.
pub fn other_readings(text: &str, path: &str) -> Vec<String> {
    if text == path && !path.contains(['%', '?', '#', '\\']) {
        return Vec::new();
    }
    let uri = match text == path {
        true => Cow::Owned(format!("file:{path}")),
        false => Cow::Borrowed(text),
    };
    let mut paths = file_uri_paths(&uri);
    let twice: Vec<String> = paths
        .iter()
        .map(|path| percent_decode(path).into_owned())
        .collect();
    paths.extend(twice);
    paths.retain(|other| other != path && other.starts_with('/'));
    paths
}

/// Returns `true` for a text without a scheme that begins with a host, as people type it into a browser. `localhost:3000` is one,
/// although a reader of URLs takes it for a scheme.
pub fn begins_with_host(text: &str) -> bool {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
    {
        Some((address, port)) => {
            let is_address = matches!(Host::parse(&format!("[{address}]")), Ok(Host::Ipv6(_)));
            if !is_address {
                return false;
            }
            (None, port)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            let (host, port) = authority.split_at_checked(end).unwrap_or_default();
            (Some(host), port)
        }
    };
    let is_port = |port: &str| {
        let digits = port.strip_prefix(':').unwrap_or_default();
        (1..=5).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_label = |label: &str| {
        let is_part = |one: char| one.is_alphanumeric() || matches!(one, '-' | '_');
        label.chars().all(is_part) && !label.is_empty() && !label.starts_with('-')
    };
    let is_host = host.is_none_or(|host| {
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_named = host.contains('.') || host.eq_ignore_ascii_case(LOCALHOST);
        is_named && host.split('.').all(is_label)
    });
    is_host && (port.is_empty() || is_port(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_file(text: &str, expected: Option<(&str, &str)>) {
        let expected = expected.map_or(Uri::Other, |(path, rest)| Uri::File {
            path: path.to_owned(),
            rest,
        });
        assert_eq!(Uri::read(text), expected, "{text:?}");
    }

    #[test]
    fn files_of_this_machine_are_known() {
        check_file("file:///srv/a", Some(("/srv/a", "")));
        check_file("FILE:///srv/a%20b", Some(("/srv/a b", "")));
        check_file("file://LocalHost/srv/a", Some(("/srv/a", "")));
        check_file("file:/srv/a", Some(("/srv/a", "")));
        check_file("file:///srv/%2e%2e/a", Some(("/srv/../a", "")));
        check_file("file:///srv/a?b#c", Some(("/srv/a", "?b#c")));
        check_file("file:///srv/100%", Some(("/srv/100%", "")));
        for text in [
            "file:srv/a",
            "file:",
            "file://",
            "file://host/a",
            "file://localhost",
            "file://localhost.example/a",
            "file://localhost:80/a",
            "file:////host/share",
            "file://localhost//host/share",
            "file:///srv%2Fa",
            "file:///srv%2fa",
            "file:///srv\\a",
            "file:///a?\\b",
            "file:///%ff",
            "fi\tle:///srv/a",
            " file:///srv/a",
            "file:///srv/a\n",
            "view-source:file:///srv/a",
        ] {
            check_file(text, None);
        }
    }

    #[test]
    fn schemes_say_what_is_named() {
        for text in ["http://a.example", "HTTPS://a.example", "http:/x", "https:x"] {
            assert_eq!(Uri::read(text), Uri::Web, "{text:?}");
        }
        for text in [
            "data:,x",
            "DATA:text/plain;base64,aGk=",
            "about:blank",
            "About:blank#x",
            "about:blank?x",
        ] {
            assert_eq!(Uri::read(text), Uri::Nothing, "{text:?}");
        }
        for text in [
            "a", "/srv/a", "~/a", "./a:b", "1:2", "a/b:c", "", ":x", "ä:b", "a?b",
        ] {
            assert_eq!(Uri::read(text), Uri::Path, "{text:?}");
        }
        for text in [
            "//host/x",
            "\\\\host\\x",
            "/\\host",
            "  data:,x",
            "data:x",
            "data:,x\nfile:///etc/passwd",
            "about:blanks",
            "about:BLANK",
            "about:config",
            "javascript:alert(1)",
            "jar:file:///a!/b",
            "blob:https://a.example/1",
            "view-source:http://a.example",
            "ftp://a.example/x",
            "C:\\x",
            "C:/x",
            "localhost:3000",
            "ht\ttp://a.example",
            "http://a.example/\u{85}",
            "a\u{a0}",
            "a\0",
        ] {
            assert_eq!(Uri::read(text), Uri::Other, "{text:?}");
        }
    }

    #[test]
    fn a_path_has_one_uri() {
        let check = |path: &str, rest: &str, given: &str, expected: &str| {
            assert_eq!(file_uri(path, rest, given), expected);
        };
        check("/srv/a", "", "file:///srv/a", "file:///srv/a");
        check("/srv/a", "", "file:/srv/a", "file:///srv/a");
        check("/srv/a", "", "FILE:///srv/a", "file:///srv/a");
        check("/srv/a", "", "file:///srv/x/../a", "file:///srv/a");
        check("/srv/a b", "", "file:///srv/a b", "file:///srv/a%20b");
        check("/srv/(a)", "", "file:///srv/%28a%29", "file:///srv/%28a%29");
        check("/srv/a%b?", "#c", "file:///srv/a%b%3F#c", "file:///srv/a%b%3F#c");
        check("/srv/ä#", "", "file:///srv/ä%23", "file:///srv/%C3%A4%23");
        check("/", "", "file:///..", "file:///");
    }

    #[test]
    fn other_readers_take_other_paths() {
        let check = |text: &str, path: &str, expected: &[&str]| {
            let found = other_readings(text, path);
            for one in expected {
                assert!(found.iter().any(|other| other == one), "{text} {one} {found:?}");
            }
            assert_eq!(found.is_empty(), expected.is_empty(), "{found:?}");
        };
        check("/srv/a", "/srv/a", &[]);
        check("/srv/a%2e", "/srv/a%2e", &["/srv/a."]);
        check("/srv/a?b", "/srv/a?b", &["/srv/a"]);
        check("file:///srv/a%20b", "/srv/a b", &["/srv/a%20b"]);
        check("file:///srv/a?b", "/srv/a", &["/srv/a?b"]);
        check("file:///srv/%252e", "/srv/%2e", &["/srv/%252e", "/srv/."]);
    }

    #[test]
    fn hosts_are_told_from_other_texts() {
        for text in [
            "localhost",
            "localhost:3000/x",
            "LOCALHOST:3000",
            "example.com/docs",
            "example.com.",
            "bücher.example?x",
            "[::1]:80",
            "[::1]/a",
            "127.0.0.1",
            "127.0.0.1:8080#a",
            "app.localhost:3000",
        ] {
            assert!(begins_with_host(text), "{text}");
        }
        for text in [
            "",
            "docs",
            "web:3000",
            "user@example.com",
            "user:pw@example.com",
            "example.com:80@evil.example",
            "//example.com",
            "example.com\\@evil.example",
            "example.com:x",
            "example.com:",
            "example.com:123456",
            "javascript:alert(1)",
            "javascript:1.5",
            "mailto:a@example.com",
            ".example.com",
            "a..b",
            "-a.example",
            "[::1",
            "[::1]x",
            "[x]",
            "exa mple.com",
            " example.com",
            "exa\tmple.com",
            "example.com%2f",
            "about:blank",
        ] {
            assert!(!begins_with_host(text), "{text}");
        }
    }
}
