//! URLs, remotes and bare hosts that stand for all others between the patterns that anything names.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::borrow::Cow;
use std::collections::BTreeSet;

use super::atoms::Atoms;
use super::choice::Choice;
use super::label::Label;
use crate::net::{Key, Location, LocationKind, Scope};
use crate::sort;

/// How hosts are written under the argument's roles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Url,
    Remote,
    Bare,
}

impl Form {
    fn write(self, host: &str, path: &str) -> String {
        let host = match self {
            Self::Url | Self::Remote => bracketed(host),
            Self::Bare => Cow::Borrowed(host),
        };
        match self {
            Self::Url => format!("https://{host}/"),
            Self::Remote => format!("https://{host}/{path}.git"),
            Self::Bare if path.is_empty() => host.into_owned(),
            Self::Bare => format!("{host}/{path}"),
        }
    }
}

/// How the labels of URLs begin that are neither http(s) nor git's.
pub(super) const BY_OTHER_PROTOCOL: &str = "by another protocol";

/// A repository that no pattern names.
const REPOSITORY: &str = "some-owner/some-repository";

/// Which patterns a host meets: hosts of one class lie in one region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostClass {
    kind: LocationKind,
    /// The keys by which it is granted, and those by which it is restricted.
    keys: [Vec<(Scope, String)>; 2],
    /// Whether a pattern names this host, and not one above it.
    is_named: bool,
}

/// The class of what was read from the text.
pub(super) fn class(atoms: &Atoms, text: &str, location: &Location<'_>) -> HostClass {
    let is_known = |key: &(Scope, String)| atoms.domains.contains(key);
    let known = |keys: Vec<Key<'_>>| {
        let keys = keys.into_iter().map(|key| (key.scope, key.text.into_owned()));
        let mut keys: Vec<(Scope, String)> = keys.filter(is_known).collect();
        sort::sort(&mut keys);
        keys.dedup();
        keys
    };
    let host = location.shown_host();
    let is_host = |scope| atoms.domains.contains(&(scope, host.to_owned()));
    HostClass {
        is_named: [Scope::Host, Scope::Suffix, Scope::Within]
            .into_iter()
            .any(is_host),
        kind: location.kind(text),
        keys: location.keys().map(known),
    }
}

/// A value for each place between the patterns.
pub(super) fn choices(atoms: &Atoms, found: &mut Vec<Choice>) {
    let form = match atoms.reading {
        reading if reading.is_remote => Form::Remote,
        reading if reading.is_url => Form::Url,
        _ => Form::Bare,
    };
    let path = match form {
        Form::Remote => REPOSITORY,
        Form::Url | Form::Bare => "",
    };
    let mut hosts: BTreeSet<&str> = BTreeSet::new();
    for (scope, text) in &atoms.domains {
        let host = text.split_once('/').map_or(&**text, |(host, _)| host);
        match scope {
            Scope::Star => {}
            Scope::Suffix => {
                let label = Label::Of("a host below", text.clone());
                let below = format!("some-host.{text}");
                found.push(Choice::text(form.write(&below, path), label));
                if form == Form::Remote {
                    found.push(odd(&below, path, &below));
                }
                hosts.insert(text);
            }
            Scope::Host | Scope::Within => {
                hosts.insert(host);
            }
            Scope::Exact | Scope::Below | Scope::Folded | Scope::FoldedBelow => {
                hosts.insert(host);
                if form == Form::Url {
                    continue;
                }
                let is_below = matches!(scope, Scope::Below | Scope::FoldedBelow);
                let rest = text.split_once('/').map_or("", |(_, rest)| rest);
                let rest = match (is_below, rest) {
                    (true, "") => REPOSITORY.to_owned(),
                    (true, rest) => format!("{rest}/some-repository"),
                    (false, rest) => rest.to_owned(),
                };
                let label = match is_below {
                    true => Label::Of("below", text.clone()),
                    false => Label::Is(text.clone()),
                };
                found.push(Choice::text(form.write(host, &rest), label));
                if form == Form::Remote {
                    found.push(odd(host, &rest, text));
                }
                let other = rest.to_ascii_uppercase();
                if other != rest {
                    let label = Label::Of("in other letters", text.clone());
                    found.push(Choice::text(form.write(host, &other), label));
                }
            }
        }
    }
    for host in &hosts {
        found.push(Choice::text(
            form.write(host, path),
            Label::Is((*host).to_owned()),
        ));
        if form == Form::Remote {
            found.push(odd(host, path, host));
        }
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            let carrier = address.to_ipv6_mapped().to_string();
            let label = Label::Of("an IPv6 address that carries", (*host).to_owned());
            found.push(Choice::text(form.write(&format!("[{carrier}]"), path), label));
        }
        if form != Form::Bare {
            let label = Label::Of("by another protocol, at", (*host).to_owned());
            found.push(Choice::text(format!("ftp://{}/{path}", bracketed(host)), label));
        }
        if form != Form::Bare && !host.contains(':') {
            let label = Label::Of("by another protocol, below", (*host).to_owned());
            found.push(Choice::text(format!("ftp://some-host.{host}/{path}"), label));
        }
    }
    let (other, address) = (other_host(&hosts), other_address(&hosts));
    found.push(Choice::text(
        form.write(&other, path),
        Label::Words("any other host"),
    ));
    found.push(Choice::text(
        form.write(&address, path),
        Label::Words("an IP address that nothing names"),
    ));
    found.push(Choice::text(
        form.write("localhost", path),
        Label::Words("localhost"),
    ));
    if form != Form::Bare {
        let label = Label::Words("by another protocol, at any other host");
        found.push(Choice::text(format!("ftp://{other}/{path}"), label));
        let label = Label::Words("by another protocol, at an IP address");
        found.push(Choice::text(format!("ftp://{address}/{path}"), label));
    }
    if form == Form::Remote {
        found.push(odd(&other, path, "any other host"));
        let label = Label::Words("a remote by its name, whatever it stands for");
        found.push(Choice::text("some-remote".to_owned(), label));
    } else {
        found.push(Choice::text(
            "no host".to_owned(),
            Label::Words("a text that is no URL"),
        ));
    }
}

/// A remote before whose host there are two `@`, which programs read in two ways.
fn odd(host: &str, path: &str, shown: &str) -> Choice {
    let label = Label::Of("with `@` in the user name, at", shown.to_owned());
    Choice::text(format!("some@user@{host}:{path}"), label)
}

/// An IPv6 address as it stands in a URL, whether it is written in brackets or not.
fn bracketed(host: &str) -> Cow<'_, str> {
    match host.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{host}]").into(),
        Err(_) => host.into(),
    }
}

/// An address of the range for documentation (RFC 5737) that is none of these, and that none of them is the end of.
fn other_address(hosts: &BTreeSet<&str>) -> String {
    let mut addresses = (1..=254).map(|last| format!("192.0.2.{last}"));
    let is_free = |address: &String| !tails(address).any(|tail| hosts.contains(tail));
    addresses
        .find(is_free)
        .unwrap_or_else(|| "198.51.100.1".to_owned())
}

/// The address, and the rest of it after each dot.
fn tails(address: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(address), |rest| rest.split_once('.').map(|(_, rest)| rest))
}

/// A host that is below none of these.
fn other_host(hosts: &BTreeSet<&str>) -> String {
    let names = ["example", "test", "invalid", "some-domain"];
    let is_free = |name: &&&str| {
        let mut known = hosts.iter();
        !known.any(|host| **host == ***name || host.ends_with(&format!(".{name}")))
    };
    let name = names.iter().find(is_free).copied().unwrap_or("other-domain");
    format!("some-host.{name}")
}
