//! The canonical form of a host.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::iter::once;

use url::Host;

/// The kind of a host, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostKind {
    /// A name for the resolver, public or not.
    Name,
    /// A name that means this machine, or one that only means something within it or its network.
    Loopback,
    /// An IP address.
    Address,
}

/// A host in lower case, IDNA-mapped, without a trailing dot; an address in its canonical spelling.
///
/// INVARIANT: `text` is not empty and does not end with a dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CanonicalHost {
    text: String,
    kind: HostKind,
    embedded: Vec<Box<str>>,
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
        match host {
            Host::Domain(name) => Self::named(name.as_ref()),
            Host::Ipv4(address) => Some(Self::address(address.to_string(), Vec::new())),
            Host::Ipv6(address) => {
                let text = Host::<&str>::Ipv6(address).to_string();
                Some(Self::address(text, carried(address)))
            }
        }
    }

    fn address(text: String, embedded: Vec<Ipv4Addr>) -> Self {
        Self {
            text,
            kind: HostKind::Address,
            embedded: embedded.iter().map(|inner| inner.to_string().into()).collect(),
        }
    }

    /// The same for a name in canonical form but for a trailing dot.
    fn named(name: &str) -> Option<Self> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let kind = match is_own(name) {
            true => HostKind::Loopback,
            false => HostKind::Name,
        };
        (!name.is_empty() && !name.ends_with('.')).then_some(Self {
            text: name.to_owned(),
            kind,
            embedded: Vec::new(),
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn kind(&self) -> HostKind {
        self.kind
    }

    /// Returns `true` if it is an address, or has no characters but those of names and of patterns of them.
    pub(super) fn is_plain(&self) -> bool {
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._*".contains(&byte);
        self.kind == HostKind::Address || self.text.bytes().all(is_of_name)
    }

    /// The host and the addresses embedded in it.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        once(self.text()).chain(self.embedded())
    }

    /// The IPv4 addresses that packets to this IPv6 address may end up at.
    pub(super) fn embedded(&self) -> impl Iterator<Item = &str> {
        self.embedded.iter().map(|address| &**address)
    }
}

/// Names that systems give to this machine in `/etc/hosts`: Debian, Fedora, Alpine, macOS and others.
const OWN: [&str; 9] = [
    "broadcasthost",
    "ip6-localhost",
    "ip6-loopback",
    "localhost.localdomain",
    "localhost4",
    "localhost4.localdomain4",
    "localhost6",
    "localhost6.localdomain6",
    "loopback",
];

/// Top-level domains without a public name: of this machine (RFC 6761, section 6.3), and for private use alone, where containers
/// find the machine that they run on and clouds their metadata (`host.docker.internal`, `metadata.google.internal`).
const OWN_DOMAINS: [&str; 2] = ["localhost", "internal"];

/// Returns `true` if the name means this machine, or something in it or its network, whoever asks.
fn is_own(name: &str) -> bool {
    let is_below = |domain: &&str| {
        let rest = name.strip_suffix(*domain);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    OWN_DOMAINS.iter().any(is_below) || OWN.contains(&name)
}

/// The IPv4 addresses that an IPv6 address carries: mapped and compatible (RFC 4291), translated (RFC 2765), NAT64
/// (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo's server and client (RFC 4380) and ISATAP (RFC 5214).
fn carried(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    let mut found = Vec::new();
    match address.segments() {
        // The addresses of this machine and of nothing are not compatible ones.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => {}
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            found.push(of(high, low));
        }
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => found.push(of(high, low)),
        // The prefix may have 48, 56, 64 or 96 bits, and the bits 64 to 71 are never part of the address.
        [0x64, 0xff9b, 1, third, fourth, fifth, high, low] => {
            let fourth = fourth & 0xff;
            found.push(of(third, fourth << 8 | fifth >> 8));
            found.push(of(third << 8 | fourth, fifth));
            found.push(of(fourth << 8 | fifth >> 8, fifth << 8 | high >> 8));
            found.push(of(high, low));
        }
        [0x2002, high, low, ..] => found.push(of(high, low)),
        [0x2001, 0, server, server_low, _, _, high, low] => {
            found.push(of(server, server_low));
            found.push(of(!high, !low));
        }
        [.., 0 | 0x200, 0x5efe, high, low] => found.push(of(high, low)),
        _ => {}
    }
    found
}

/// The canonical form of a domain that stands outside a URL; `None` if it is not a host, or longer than any host may be.
pub fn canonical_domain(written: &str) -> Option<String> {
    let written = Some(written).filter(|written| written.len() <= LONGEST_WRITTEN)?;
    let host = CanonicalHost::parse(written.trim_matches('.'))?;
    Some(host.text().to_owned())
}

/// Bytes of a domain as it may be written: four for each of the 253 that its canonical form may have.
pub(super) const LONGEST_WRITTEN: usize = 1_012;

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
        for own in OWN {
            check(&own.to_uppercase(), Some((own, HostKind::Loopback)));
            check(&format!("{own}."), Some((own, HostKind::Loopback)));
        }
        for own in ["host.docker.internal", "metadata.google.internal", "internal"] {
            check(own, Some((own, HostKind::Loopback)));
        }
        for name in [
            "notlocalhost",
            "localhost.example",
            "internal.example",
            "localhost7",
            "metadata",
        ] {
            check(name, Some((name, HostKind::Name)));
        }
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
    fn an_ipv6_address_may_carry_ipv4_addresses() {
        for written in [
            "[::ffff:169.254.169.254]",
            "[::169.254.169.254]",
            "[::ffff:0:169.254.169.254]",
            "[64:ff9b::169.254.169.254]",
            "[64:ff9b:1::169.254.169.254]",
            "[64:ff9b:1:a9fe:a9:fe00::]",
            "[64:ff9b:1:a9:fe:a9fe::]",
            "[64:ff9b:1:0:a9:fea9:fe00:0]",
            "[2002:a9fe:a9fe::1]",
            "[2001:0:a9fe:a9fe::]",
            "[2001::f00:5601:5601]",
            "[fe80::5efe:169.254.169.254]",
            "[2001:db8::200:5efe:a9fe:a9fe]",
        ] {
            let host = CanonicalHost::parse(written).unwrap();
            assert!(host.embedded().any(|one| one == "169.254.169.254"), "{written}");
        }
        for written in [
            "[::]",
            "[::1]",
            "[2606:4700::1]",
            "[fe80::a9fe:a9fe]",
            "[2001:db8::1]",
            "1.2.3.4",
            "a.b",
        ] {
            assert_eq!(
                CanonicalHost::parse(written).unwrap().embedded().count(),
                0,
                "{written}"
            );
        }
    }

    #[test]
    fn tails_are_the_host_and_every_suffix() {
        assert_eq!(tails("a.b.c").collect::<Vec<_>>(), ["a.b.c", "b.c", "c"]);
        assert_eq!(tails("").collect::<Vec<_>>(), [""]);
        assert_eq!(tails(".a").collect::<Vec<_>>(), [".a", "a"]);
    }
}
