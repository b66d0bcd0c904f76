//! The canonical form of a host.

use std::iter::once;

use url::Host;

/// What kind of thing a host is, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostKind {
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
    kind: HostKind,
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

    /// The same for a host that the parser of URLs has split; it has mapped that of a special scheme already.
    pub(super) fn new<S: AsRef<str>>(host: Host<S>) -> Option<Self> {
        let (text, kind, embedded) = match host {
            Host::Domain(name) => {
                let name = name.as_ref();
                let name = name.strip_suffix('.').unwrap_or(name);
                let is_loopback = name
                    .strip_suffix("localhost")
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                let kind = if is_loopback {
                    HostKind::Loopback
                } else {
                    HostKind::Name
                };
                (name.to_owned(), kind, None)
            }
            Host::Ipv4(address) => (address.to_string(), HostKind::Address, None),
            Host::Ipv6(address) => {
                let text = Host::<&str>::Ipv6(address).to_string();
                (text, HostKind::Address, address.to_ipv4_mapped())
            }
        };
        (!text.is_empty() && !text.ends_with('.')).then(|| Self {
            text: text.into(),
            kind,
            embedded: embedded.map(|inner| inner.to_string().into()),
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn kind(&self) -> HostKind {
        self.kind
    }

    /// The host and the address embedded in it.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        once(self.text()).chain(self.embedded())
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
    fn check(written: &str, expected: Option<(&str, HostKind)>) {
        let host = CanonicalHost::parse(written);
        let seen = host.as_ref().map(|host| (host.text(), host.kind()));
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
            check(written, Some(("github.com", HostKind::Name)));
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
            check(written, Some(("127.0.0.1", HostKind::Address)));
        }
        check("[::1]", Some(("[::1]", HostKind::Address)));
        check("[0:0::0:1]", Some(("[::1]", HostKind::Address)));
        check("bücher.example", Some(("xn--bcher-kva.example", HostKind::Name)));
        check("LocalHost.", Some(("localhost", HostKind::Loopback)));
        check("a.localhost", Some(("a.localhost", HostKind::Loopback)));
        check("notlocalhost", Some(("notlocalhost", HostKind::Name)));
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
