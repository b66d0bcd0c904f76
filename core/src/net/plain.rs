//! Simple URLs, whose host every parser reads as written.

use core::net::Ipv4Addr;

/// The host of a simple `http` or `https` URL: it is in canonical form, without a port or a user, and the parser
/// would neither change nor refuse it. `None` says nothing about the value.
///
/// Most URLs are simple, and this check costs a fraction of parsing them. It only accepts labels of lower-case
/// letters, digits and single hyphens between them, of which the last starts with a letter, so that IDNA maps nothing
/// and no label is a number; or four decimal numbers that form an IPv4 address. The host ends with the value, or at
/// the `/`, `?` or `#` that ends the authority; nothing after that can move the host or make the URL invalid
/// (<https://url.spec.whatwg.org/#authority-state>).
pub(super) fn plain_host(value: &str) -> Option<&str> {
    let rest = value.strip_prefix("http")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix("://")?;
    let (mut first, mut before) = (b'0', b'.');
    let mut end = rest.len();
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => {}
            b'.' | b'-' if !matches!(before, b'.' | b'-') => {}
            b'/' | b'?' | b'#' => {
                end = at;
                break;
            }
            _ => return None,
        }
        if before == b'.' {
            first = byte;
        }
        before = byte;
    }
    let host = rest.get(..end)?;
    let is_name = first.is_ascii_lowercase() && before != b'-' && before != b'.';
    (is_name || host.parse::<Ipv4Addr>().is_ok()).then_some(host)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::*;
    use crate::net::host::CanonicalHost;

    #[test]
    fn a_host_that_needs_no_parser_is_found() {
        for (value, host) in [
            ("https://github.com", "github.com"),
            ("http://a/", "a"),
            ("https://docs-1.example.org?x=@evil.com", "docs-1.example.org"),
            ("https://1.2.3.4.example#@evil.com", "1.2.3.4.example"),
            ("http://192.168.1.1/admin", "192.168.1.1"),
            ("https://localhost/%zz\\@evil.com", "localhost"),
        ] {
            assert_eq!(plain_host(value), Some(host), "{value:?}");
        }
    }

    #[test]
    fn what_the_parser_reads_otherwise_is_left_to_it() {
        for value in [
            "",
            "https://",
            "https:///",
            "https:github.com",
            "HTTPS://github.com",
            "ftp://github.com",
            "httpss://a.b",
            " https://github.com",
            "https://GitHub.com",
            "https://github.com.",
            "https://github..com",
            "https://.com",
            "https://github.com:443",
            "https://a@github.com",
            "https://github.com\\x",
            "https://git\nhub.com",
            "https://github.com\n",
            "https://github.com ",
            "https://127.0.0.1.",
            "https://127.0.0.01",
            "https://127.0.0.256",
            "https://127.0.0.1.1",
            "https://127.1/",
            "https://0x7f.1",
            "https://a.0x7f",
            "https://a.1",
            "https://[::1]/",
            "https://xn--bcher-kva.de",
            "https://b--c.de",
            "https://-a.de",
            "https://a-.de",
            "https://a.-b",
            "https://a.b-",
            "https://bücher.de",
            "https://a_b.de",
            "https://a%2eb",
        ] {
            assert_eq!(plain_host(value), None, "{value:?}");
        }
    }

    fn nearly_plain() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "http",
            "https",
            "://",
            ":",
            "/",
            "//",
            "a",
            "github.com",
            "x-y",
            "-",
            "--",
            ".",
            "..",
            "1",
            "0x7f",
            "0xg",
            "127.0.0.1",
            "xn--",
            "xn--bcher-kva",
            "localhost",
            "@",
            "?",
            "#",
            "\\",
            "%",
            "%2e",
            "_",
            " ",
            "\n",
            "\t",
            "\0",
            "A",
            "ü",
            "。",
            "\u{ad}",
            "[",
            "]",
            "*",
            "e5",
            "9z",
        ]);
        let tail = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
        let head = prop::sample::select(vec!["https://", "http://", "https://a.", "https://a", ""]);
        (head, tail).prop_map(|(head, tail)| head.to_owned() + &tail)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_parser_agrees(value in prop_oneof![nearly_plain(), "https?://[a-z0-9.-]{1,20}([/?#].{0,9})?"]) {
            if let Some(host) = plain_host(&value) {
                let url = Url::parse(&value).unwrap();
                prop_assert_eq!(url.host_str(), Some(host));
                let read = CanonicalHost::from_parsed(url.host().unwrap()).unwrap();
                prop_assert_eq!(CanonicalHost::from_plain(host), read);
                prop_assert!(matches!(url.scheme(), "http" | "https"));
                prop_assert_eq!((url.username(), url.password(), url.port()), ("", None, None));
            }
        }
    }
}
