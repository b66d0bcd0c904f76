//! The canonical form of a host.

use core::net::Ipv4Addr;

use url::Host;

/// What a host reaches, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// A name for the resolver, public or not.
    Name,
    /// A name that always means this machine (RFC 6761, section 6.3).
    Loopback,
    /// An IP address.
    Address,
}

/// A host in lower case, IDNA-mapped, without a trailing dot; an address in its canonical spelling.
///
/// INVARIANT: `text` is not empty and does not end with a dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CanonicalHost {
    text: Box<str>,
    reach: Reach,
    embedded: Option<Box<str>>,
}

impl CanonicalHost {
    /// The canonical form of a host as written in a URL, an SSH form or a pattern; `None` if it is not a host: empty,
    /// with an invalid character, or with a number that is not an address.
    ///
    /// Percent-escapes are decoded. Every numeric spelling of an IPv4 address is accepted
    /// (<https://url.spec.whatwg.org/#host-parsing>).
    pub(super) fn parse(written: &str) -> Option<Self> {
        Self::new(Host::parse(written).ok()?)
    }

    /// The canonical form of the host of a URL with a special scheme, which the parser has already mapped.
    pub(super) fn from_parsed(host: Host<&str>) -> Option<Self> {
        Self::new(host)
    }

    /// A host that is already in canonical form: a name or an IPv4 address.
    pub(super) fn from_plain(plain: &str) -> Self {
        if plain.ends_with(|c: char| c.is_ascii_digit()) && plain.parse::<Ipv4Addr>().is_ok() {
            Self {
                text: plain.into(),
                reach: Reach::Address,
                embedded: None,
            }
        } else {
            Self::from_name(plain)
        }
    }

    fn from_name(name: &str) -> Self {
        let is_loopback = name
            .strip_suffix("localhost")
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        Self {
            text: name.into(),
            reach: if is_loopback { Reach::Loopback } else { Reach::Name },
            embedded: None,
        }
    }

    fn new<S: AsRef<str>>(host: Host<S>) -> Option<Self> {
        match host {
            Host::Domain(name) => {
                let name = name.as_ref();
                let name = name.strip_suffix('.').unwrap_or(name);
                (!name.is_empty() && !name.ends_with('.')).then(|| Self::from_name(name))
            }
            Host::Ipv4(address) => Some(Self {
                text: address.to_string().into(),
                reach: Reach::Address,
                embedded: None,
            }),
            Host::Ipv6(address) => Some(Self {
                text: Host::<&str>::Ipv6(address).to_string().into(),
                reach: Reach::Address,
                embedded: address.to_ipv4_mapped().map(|inner| inner.to_string().into()),
            }),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn reach(&self) -> Reach {
        self.reach
    }

    /// The IPv4 address embedded in this IPv6 address.
    pub(super) fn embedded(&self) -> Option<&str> {
        self.embedded.as_deref()
    }
}

/// `host` and the rest of it after each dot: the suffixes that `*.x` is compared with.
pub(super) fn tails(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host), |rest| {
        let dot = rest.bytes().position(|byte| byte == b'.')?;
        rest.get(dot + 1..)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: Option<(&str, Reach)>) {
        let host = CanonicalHost::parse(written);
        let seen = host.as_ref().map(|host| (host.text(), host.reach()));
        assert_eq!(seen, expected, "{written:?}");
    }

    #[test]
    fn one_host_has_one_spelling() {
        for written in [
            "GitHub.com",
            "github.com.",
            "git\u{ad}hub.com",
            "ｇithub。com",
            "%67ithub%2ecom",
        ] {
            check(written, Some(("github.com", Reach::Name)));
        }
        for written in [
            "127.0.0.1",
            "127.1",
            "0x7f000001",
            "2130706433",
            "0177.0.0.1",
            "127.0.0.1.",
            "①②⑦.1",
        ] {
            check(written, Some(("127.0.0.1", Reach::Address)));
        }
        check("[::1]", Some(("[::1]", Reach::Address)));
        check("[0:0::0:1]", Some(("[::1]", Reach::Address)));
        check("bücher.example", Some(("xn--bcher-kva.example", Reach::Name)));
        check("LocalHost.", Some(("localhost", Reach::Loopback)));
        check("a.localhost", Some(("a.localhost", Reach::Loopback)));
        check("notlocalhost", Some(("notlocalhost", Reach::Name)));
        for nothing in [
            "",
            ".",
            "..",
            "evil.com..",
            "a b",
            "a/b",
            "a@b",
            "a:1",
            "::1",
            "[::1",
            "999.1.1.1",
            "xn--",
            "a%2fb",
        ] {
            check(nothing, None);
        }
    }

    #[test]
    fn tails_are_the_host_and_every_suffix() {
        assert_eq!(tails("a.b.c").collect::<Vec<_>>(), ["a.b.c", "b.c", "c"]);
        assert_eq!(tails("").collect::<Vec<_>>(), [""]);
        assert_eq!(tails(".a").collect::<Vec<_>>(), [".a", "a"]);
    }
}
